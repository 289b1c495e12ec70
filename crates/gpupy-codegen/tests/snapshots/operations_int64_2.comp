#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_int64x4 { i64vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_int64x4 { i64vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; int k[1]; };
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
    i64vec4 v0 = In_int64x4(b0).e[a0];
    i64vec4 v1 = In_int64x4(b1).e[a0];
    i64vec4 v19 = floor_mod_int64_four(v0, v1);
    if (t < k[0]) { Out_int64x4(b3).e[s0] = v19; }
    i64vec4 v21 = choose_long(lessThan(v0, v1), v0, v1);
    if (t < k[0]) { Out_int64x4(b4).e[s1] = v21; }
    i64vec4 v23 = choose_long(greaterThan(v0, v1), v0, v1);
    if (t < k[0]) { Out_int64x4(b5).e[s2] = v23; }
    i64vec4 v25 = (v0 & v1);
    if (t < k[0]) { Out_int64x4(b6).e[s3] = v25; }
}
