#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { ivec4 e[]; } b1x4;
layout(binding = 4, std430) buffer Bb3x4 { ivec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { ivec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { ivec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { ivec4 e[]; } b6x4;
layout(binding = 8, std430) buffer Bb7x4 { ivec4 e[]; } b7x4;
layout(binding = 9, std430) buffer Bb8x4 { ivec4 e[]; } b8x4;
layout(binding = 10, std430) buffer Bb9x4 { ivec4 e[]; } b9x4;
layout(binding = 11, std430) buffer Bb10x4 { ivec4 e[]; } b10x4;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec4 floor_div_int32_four(ivec4 a, ivec4 b) {
    ivec4 v2 = max(a, (-a));
    uvec4 v3 = uvec4(v2);
    ivec4 v4 = max(b, (-b));
    uvec4 v5 = uvec4(v4);
    uvec4 v6 = choose(notEqual(v5, uvec4(0u)), (v3 / max(v5, uvec4(1u))), uvec4(0u));
    uvec4 v7 = (v6 * v5);
    bvec4 v8 = notEqual(v7, v3);
    uvec4 v9 = uvec4(v8);
    uvec4 v10 = (v6 + v9);
    uvec4 v11 = (uvec4(0u) - v10);
    bvec4 v13 = lessThan(a, ivec4(0));
    bvec4 v14 = lessThan(b, ivec4(0));
    bvec4 v15 = notEqual(v13, v14);
    uvec4 v16 = choose(v15, v11, v6);
    bvec4 v18 = equal(b, ivec4(0));
    uvec4 v19 = choose(v18, uvec4(0u), v16);
    ivec4 v20 = ivec4(v19);
    return v20;
}
ivec4 floor_mod_int32_four(ivec4 a, ivec4 b) {
    ivec4 v2 = floor_div_int32_four(a, b);
    ivec4 v3 = (v2 * b);
    ivec4 v4 = (a - v3);
    bvec4 v6 = equal(b, ivec4(0));
    ivec4 v7 = choose(v6, ivec4(0), v4);
    return v7;
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
    int s6 = number;
    int s7 = number;
    ivec4 v0 = b0x4.e[a0];
    ivec4 v1 = b1x4.e[a0];
    ivec4 v19 = floor_mod_int32_four(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = v19; }
    ivec4 v21 = min(v0, v1);
    if (t < k[0]) { b4x4.e[s1] = v21; }
    ivec4 v23 = max(v0, v1);
    if (t < k[0]) { b5x4.e[s2] = v23; }
    ivec4 v25 = (v0 & v1);
    if (t < k[0]) { b6x4.e[s3] = v25; }
    ivec4 v27 = (v0 | v1);
    if (t < k[0]) { b7x4.e[s4] = v27; }
    ivec4 v29 = (v0 ^ v1);
    if (t < k[0]) { b8x4.e[s5] = v29; }
    ivec4 v31 = choose(lessThan(uvec4(v1), uvec4(32u)), (v0 << min(uvec4(v1), uvec4(31u))), ivec4(0));
    if (t < k[0]) { b9x4.e[s6] = v31; }
    ivec4 v33 = (v0 >> min(uvec4(v1), uvec4(31u)));
    if (t < k[0]) { b10x4.e[s7] = v33; }
}
