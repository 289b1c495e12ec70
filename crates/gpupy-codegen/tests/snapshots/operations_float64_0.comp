#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_float64x4 { dvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; int k[1]; };
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
dvec4 sign_of_float64_four(dvec4 a) {
    u64vec4 v1 = doubleBitsToUint64(a);
    u64vec4 v3 = (v1 & u64vec4(0x7ffffffffffffffful));
    u64vec4 v4 = (v1 ^ v3);
    u64vec4 v6 = (v4 | u64vec4(0x3ff0000000000000ul));
    bvec4 v8 = equal(v3, u64vec4(0x0ul));
    u64vec4 v9 = choose_long(v8, u64vec4(0x0ul), v6);
    precise dvec4 v10 = uint64BitsToDouble(v9);
    bvec4 v12 = greaterThan(v3, u64vec4(0x7ff0000000000000ul));
    precise dvec4 v13 = mix(v10, a, v12);
    return v13;
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
    precise dvec4 v0 = In_float64x4(b0).e[a0];
    precise dvec4 v3 = uint64BitsToDouble((doubleBitsToUint64(v0) ^ u64vec4(0x8000000000000000ul)));
    if (t < k[0]) { Out_float64x4(b3).e[s0] = v3; }
    precise dvec4 v5 = uint64BitsToDouble((doubleBitsToUint64(v0) & u64vec4(0x7ffffffffffffffful)));
    if (t < k[0]) { Out_float64x4(b4).e[s1] = v5; }
    precise dvec4 v7 = sign_of_float64_four(v0);
    if (t < k[0]) { Out_float64x4(b5).e[s2] = v7; }
    precise dvec4 v9 = sqrt(v0);
    if (t < k[0]) { Out_float64x4(b6).e[s3] = v9; }
}
