#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { vec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { vec4 e[]; } b1x4;
layout(binding = 3, std430) readonly buffer Bb2x4 { u8vec4 e[]; } b2x4;
layout(binding = 4, std430) buffer Bb3x4 { u8vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { u8vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { ivec4 e[]; } b6x4;
layout(binding = 8, std430) buffer Bb7x4 { uvec4 e[]; } b7x4;
layout(binding = 9, std430) buffer Bb8x4 { vec4 e[]; } b8x4;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 uint_of_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = choose(lessThan(uvec4(23u), uvec4(32u)), (v3 >> min(uvec4(23u), uvec4(31u))), uvec4(0u));
    uvec4 v8 = (v3 & uvec4(0x7fffffu));
    uvec4 v10 = (v8 | uvec4(0x800000u));
    uvec4 v11 = v10;
    ivec4 v12 = ivec4(v6);
    ivec4 v14 = (v12 - ivec4(150));
    ivec4 v15 = (-v14);
    uvec4 v16 = uvec4(v14);
    uvec4 v17 = uvec4(v15);
    uvec4 v18 = choose(lessThan(v16, uvec4(32u)), (v11 << min(v16, uvec4(31u))), uvec4(0u));
    uvec4 v19 = choose(lessThan(v17, uvec4(32u)), (v11 >> min(v17, uvec4(31u))), uvec4(0u));
    uvec4 v20 = (v18 | v19);
    bvec4 v22 = notEqual(v4, uvec4(0u));
    uvec4 v23 = (uvec4(0u) - v20);
    uvec4 v24 = choose(v22, v23, v20);
    return v24;
}
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    int s3 = number;
    int s4 = number;
    int s5 = number;
    precise vec4 v0 = b0x4.e[a0];
    precise vec4 v1 = b1x4.e[a0];
    bvec4 v2 = notEqual(uvec4(b2x4.e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = u8vec4(uvec4(v51)); }
    precise vec4 v53 = mix(v1, v0, v2);
    if (t < k[0]) { b4x4.e[s1] = v53; }
    bvec4 v55 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    if (t < k[0]) { b5x4.e[s2] = u8vec4(uvec4(v55)); }
    ivec4 v57 = choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)));
    if (t < k[0]) { b6x4.e[s3] = v57; }
    uvec4 v59 = uint_of_float32_four(v0);
    if (t < k[0]) { b7x4.e[s4] = v59; }
    precise vec4 v61 = v0;
    if (t < k[0]) { b8x4.e[s5] = v61; }
}
