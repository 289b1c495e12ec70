#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int8x4 { i8vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; int k[1]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
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
    precise dvec4 v1 = In_float64x4(b1).e[a0];
    bvec4 v2 = notEqual(uvec4(In_boolx4(b2).e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v51)); }
    precise dvec4 v53 = mix(v1, v0, v2);
    if (t < k[0]) { Out_float64x4(b4).e[s1] = v53; }
    bvec4 v55 = notEqual((doubleBitsToUint64(v0) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x0ul));
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v55)); }
    ivec4 v57 = ((choose(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v0), ivec4(int(0x80000000u))) << uvec4(24u)) >> uvec4(24u));
    if (t < k[0]) { Out_int8x4(b6).e[s3] = i8vec4(v57); }
}
