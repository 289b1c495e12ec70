#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
uniform sampler2D t1;
uniform usampler2D t2;
layout(location = 0) out vec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out vec4 o2;
layout(location = 3) out vec4 o3;
layout(location = 4) out vec4 o4;
layout(location = 5) out vec4 o5;
layout(location = 6) out vec4 o6;
layout(location = 7) out vec4 o7;
float sign_of(float a) { uint m = floatBitsToUint(a) & 0x7fffffffu; uint s = (floatBitsToUint(a) & 0x80000000u) | 0x3f800000u; return m > 0x7f800000u ? a : uintBitsToFloat(m == 0u ? 0u : s); }
vec4 sign_of(vec4 a) { return vec4(sign_of(a.x), sign_of(a.y), sign_of(a.z), sign_of(a.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x - k[0].y;
    vec4 f0 = texelFetch(t0, pos + ivec2(0, k[0].z), 0);
    precise vec4 v0 = f0;
    precise vec4 v3 = uintBitsToFloat((floatBitsToUint(v0) ^ uvec4(0x80000000u)));
    o0 = v3;
    precise vec4 v5 = uintBitsToFloat((floatBitsToUint(v0) & uvec4(0x7fffffffu)));
    o1 = v5;
    precise vec4 v7 = sign_of(v0);
    o2 = v7;
    precise vec4 v9 = sqrt(v0);
    o3 = v9;
    precise vec4 v11 = floor(v0);
    o4 = v11;
    precise vec4 v13 = ceil(v0);
    o5 = v13;
    precise vec4 v15 = trunc(v0);
    o6 = v15;
    precise vec4 v17 = roundEven(v0);
    o7 = v17;
}
