#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { i64vec4 e[]; } b0x4;
layout(binding = 4, std430) buffer Bb3x4 { i64vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { i64vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { i64vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { i64vec4 e[]; } b6x4;
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
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
    i64vec4 v3 = (-v0);
    if (t < k[0]) { b3x4.e[s0] = v3; }
    i64vec4 v5 = choose_long(greaterThan(v0, (-v0)), v0, (-v0));
    if (t < k[0]) { b4x4.e[s1] = v5; }
    i64vec4 v7 = choose_long(greaterThan(choose_long(lessThan(v0, i64vec4(int64_t(0x1ul))), v0, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful))), choose_long(lessThan(v0, i64vec4(int64_t(0x1ul))), v0, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful)));
    if (t < k[0]) { b5x4.e[s2] = v7; }
    i64vec4 v9 = (~v0);
    if (t < k[0]) { b6x4.e[s3] = v9; }
}
