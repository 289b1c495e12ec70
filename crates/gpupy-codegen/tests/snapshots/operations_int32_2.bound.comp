#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { ivec4 e[]; } b1x4;
layout(binding = 3, std430) readonly buffer Bb2x4 { u8vec4 e[]; } b2x4;
layout(binding = 4, std430) buffer Bb3x4 { u8vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { u8vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { u8vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { u8vec4 e[]; } b6x4;
layout(binding = 8, std430) buffer Bb7x4 { u8vec4 e[]; } b7x4;
layout(binding = 9, std430) buffer Bb8x4 { u8vec4 e[]; } b8x4;
layout(binding = 10, std430) buffer Bb9x4 { ivec4 e[]; } b9x4;
layout(binding = 11, std430) buffer Bb10x4 { u8vec4 e[]; } b10x4;
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
    int s4 = number;
    int s5 = number;
    int s6 = number;
    int s7 = number;
    ivec4 v0 = b0x4.e[a0];
    ivec4 v1 = b1x4.e[a0];
    bvec4 v2 = notEqual(uvec4(b2x4.e[a0]), uvec4(0u));
    bvec4 v35 = equal(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = u8vec4(uvec4(v35)); }
    bvec4 v37 = notEqual(v0, v1);
    if (t < k[0]) { b4x4.e[s1] = u8vec4(uvec4(v37)); }
    bvec4 v39 = lessThan(v0, v1);
    if (t < k[0]) { b5x4.e[s2] = u8vec4(uvec4(v39)); }
    bvec4 v41 = lessThanEqual(v0, v1);
    if (t < k[0]) { b6x4.e[s3] = u8vec4(uvec4(v41)); }
    bvec4 v43 = greaterThan(v0, v1);
    if (t < k[0]) { b7x4.e[s4] = u8vec4(uvec4(v43)); }
    bvec4 v45 = greaterThanEqual(v0, v1);
    if (t < k[0]) { b8x4.e[s5] = u8vec4(uvec4(v45)); }
    ivec4 v47 = choose(v2, v0, v1);
    if (t < k[0]) { b9x4.e[s6] = v47; }
    bvec4 v49 = notEqual(v0, ivec4(0));
    if (t < k[0]) { b10x4.e[s7] = u8vec4(uvec4(v49)); }
}
