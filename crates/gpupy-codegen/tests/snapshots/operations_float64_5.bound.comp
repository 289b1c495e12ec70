#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { dvec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { dvec4 e[]; } b1x4;
layout(binding = 4, std430) buffer Bb3x4 { u8vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { u8vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { u8vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { u8vec4 e[]; } b6x4;
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
    bvec4 v43 = notEqual(v0, v1);
    if (t < k[0]) { b3x4.e[s0] = u8vec4(uvec4(v43)); }
    bvec4 v45 = lessThan(v0, v1);
    if (t < k[0]) { b4x4.e[s1] = u8vec4(uvec4(v45)); }
    bvec4 v47 = lessThanEqual(v0, v1);
    if (t < k[0]) { b5x4.e[s2] = u8vec4(uvec4(v47)); }
    bvec4 v49 = greaterThan(v0, v1);
    if (t < k[0]) { b6x4.e[s3] = u8vec4(uvec4(v49)); }
}
