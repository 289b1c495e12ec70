#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { i64vec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { i64vec4 e[]; } b1x4;
layout(binding = 4, std430) buffer Bb3x4 { i64vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { i64vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { i64vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { i64vec4 e[]; } b6x4;
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
i64vec4 floor_div_int64_four(i64vec4 a, i64vec4 b) {
    i64vec4 v2 = choose_long(greaterThan(a, (-a)), a, (-a));
    u64vec4 v3 = u64vec4(v2);
    i64vec4 v4 = choose_long(greaterThan(b, (-b)), b, (-b));
    u64vec4 v5 = u64vec4(v4);
    u64vec4 v6 = choose_long(notEqual(v5, u64vec4(0x0ul)), (v3 / choose_long(greaterThan(v5, u64vec4(0x1ul)), v5, u64vec4(0x1ul))), u64vec4(0x0ul));
    u64vec4 v7 = (v6 * v5);
    bvec4 v8 = notEqual(v7, v3);
    u64vec4 v9 = choose_long(v8, u64vec4(0x1ul), u64vec4(0x0ul));
    u64vec4 v10 = (v6 + v9);
    u64vec4 v11 = (u64vec4(0x0ul) - v10);
    bvec4 v13 = lessThan(a, i64vec4(int64_t(0x0ul)));
    bvec4 v14 = lessThan(b, i64vec4(int64_t(0x0ul)));
    bvec4 v15 = notEqual(v13, v14);
    u64vec4 v16 = choose_long(v15, v11, v6);
    bvec4 v18 = equal(b, i64vec4(int64_t(0x0ul)));
    u64vec4 v19 = choose_long(v18, u64vec4(0x0ul), v16);
    i64vec4 v20 = i64vec4(v19);
    return v20;
}
i64vec4 floor_mod_int64_four(i64vec4 a, i64vec4 b) {
    i64vec4 v2 = floor_div_int64_four(a, b);
    i64vec4 v3 = (v2 * b);
    i64vec4 v4 = (a - v3);
    bvec4 v6 = equal(b, i64vec4(int64_t(0x0ul)));
    i64vec4 v7 = choose_long(v6, i64vec4(int64_t(0x0ul)), v4);
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
    i64vec4 v0 = b0x4.e[a0];
    i64vec4 v1 = b1x4.e[a0];
    i64vec4 v19 = floor_mod_int64_four(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = v19; }
    i64vec4 v21 = choose_long(lessThan(v0, v1), v0, v1);
    if (t < k[0]) { b4x4.e[s1] = v21; }
    i64vec4 v23 = choose_long(greaterThan(v0, v1), v0, v1);
    if (t < k[0]) { b5x4.e[s2] = v23; }
    i64vec4 v25 = (v0 & v1);
    if (t < k[0]) { b6x4.e[s3] = v25; }
}
