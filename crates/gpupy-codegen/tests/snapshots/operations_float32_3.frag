#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
uniform sampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out vec4 o2;
layout(location = 3) out ivec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out uvec4 o5;
int int_of_float(float a) { return a >= -2147483648.0 && a < 2147483648.0 ? int(a) : int(0x80000000u); }
ivec4 int_of_float(vec4 a) { return ivec4(int_of_float(a.x), int_of_float(a.y), int_of_float(a.z), int_of_float(a.w)); }
uint uint_of_float(float a) { uint b = floatBitsToUint(a); int s = int((b >> 23) & 0xffu) - 150; uint m = (b & 0x7fffffu) | 0x800000u; uint u = s >= 0 ? (s < 32 ? m << uint(s) : 0u) : (s > -24 ? m >> uint(-s) : 0u); return (b >> 31) != 0u ? 0u - u : u; }
uvec4 uint_of_float(vec4 a) { return uvec4(uint_of_float(a.x), uint_of_float(a.y), uint_of_float(a.z), uint_of_float(a.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x - k[0].y;
    vec4 f0 = texelFetch(t0, pos + ivec2(0, k[0].z), 0);
    vec4 f1 = texelFetch(t1, pos + ivec2(0, k[0].w), 0);
    uvec4 f2 = texelFetch(t2, pos + ivec2(0, k[1].x), 0);
    precise vec4 v0 = f0;
    precise vec4 v1 = f1;
    bvec4 v2 = notEqual(f2, uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    o0 = uvec4(v51);
    precise vec4 v53 = mix(v1, v0, v2);
    o1 = v53;
    precise vec4 v55 = v0;
    o2 = v55;
    ivec4 v57 = int_of_float(v0);
    o3 = v57;
    uvec4 v59 = uint_of_float(v0);
    o4 = v59;
    bvec4 v61 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    o5 = uvec4(v61);
}
