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
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
vec4 sign_of_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = (v4 | uvec4(0x3f800000u));
    bvec4 v8 = equal(v3, uvec4(0u));
    uvec4 v9 = choose(v8, uvec4(0u), v6);
    precise vec4 v10 = uintBitsToFloat(v9);
    bvec4 v12 = greaterThan(v3, uvec4(0x7f800000u));
    precise vec4 v13 = mix(v10, a, v12);
    return v13;
}
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v3 = uintBitsToFloat((floatBitsToUint(v0) ^ uvec4(0x80000000u)));
    o0 = v3;
    precise vec4 v5 = uintBitsToFloat((floatBitsToUint(v0) & uvec4(0x7fffffffu)));
    o1 = v5;
    precise vec4 v7 = sign_of_float32_four(v0);
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
