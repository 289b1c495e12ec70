#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { dvec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { dvec4 e[]; } b1x4;
layout(binding = 3, std430) readonly buffer Bb2x4 { u8vec4 e[]; } b2x4;
layout(binding = 4, std430) buffer Bb3x4 { u8vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { dvec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { u8vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { i8vec4 e[]; } b6x4;
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
    precise dvec4 v0 = b0x4.e[a0];
    precise dvec4 v1 = b1x4.e[a0];
    bvec4 v2 = notEqual(uvec4(b2x4.e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = u8vec4(uvec4(v51)); }
    precise dvec4 v53 = mix(v1, v0, v2);
    if (t < k[0]) { b4x4.e[s1] = v53; }
    bvec4 v55 = notEqual((doubleBitsToUint64(v0) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x0ul));
    if (t < k[0]) { b5x4.e[s2] = u8vec4(uvec4(v55)); }
    ivec4 v57 = ((choose(both(greaterThan(v0, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v0, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v0), ivec4(int(0x80000000u))) << uvec4(24u)) >> uvec4(24u));
    if (t < k[0]) { b6x4.e[s3] = i8vec4(v57); }
}
