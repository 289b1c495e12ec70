#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_int16x4 { i16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_int64x4 { i64vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_uint8x4 { u8vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; int k[1]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
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
    precise dvec4 v0 = In_float64x4(b0).e[a0];
    ivec4 v59 = ((choose(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v0), ivec4(int(0x80000000u))) << uvec4(16u)) >> uvec4(16u));
    if (t < k[0]) { Out_int16x4(b3).e[s0] = i16vec4(v59); }
    ivec4 v61 = choose(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v0), ivec4(int(0x80000000u)));
    if (t < k[0]) { Out_int32x4(b4).e[s1] = v61; }
    i64vec4 v63 = choose_long(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc3e0000000000001ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x43e0000000000000ul)))), i64vec4(v0), i64vec4(int64_t(0x8000000000000000ul)));
    if (t < k[0]) { Out_int64x4(b5).e[s2] = v63; }
    uvec4 v65 = (uvec4(choose(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v0), ivec4(int(0x80000000u)))) & uvec4(255u));
    if (t < k[0]) { Out_uint8x4(b6).e[s3] = u8vec4(v65); }
}
