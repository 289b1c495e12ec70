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
    i64vec4 v3 = (-v0);
    if (t < k[0]) { Out_int64x4(b3).e[s0] = v3; }
    i64vec4 v5 = choose_long(greaterThan(v0, (-v0)), v0, (-v0));
    if (t < k[0]) { Out_int64x4(b4).e[s1] = v5; }
    i64vec4 v7 = choose_long(greaterThan(choose_long(lessThan(v0, i64vec4(int64_t(0x1ul))), v0, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful))), choose_long(lessThan(v0, i64vec4(int64_t(0x1ul))), v0, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful)));
    if (t < k[0]) { Out_int64x4(b5).e[s2] = v7; }
    i64vec4 v9 = (~v0);
    if (t < k[0]) { Out_int64x4(b6).e[s3] = v9; }
}
