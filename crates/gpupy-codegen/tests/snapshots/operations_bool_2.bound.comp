#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { u8vec4 e[]; } b0x4;
layout(binding = 4, std430) buffer Bb3x4 { u8vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { ivec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { uvec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { vec4 e[]; } b6x4;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    int s3 = number;
    bvec4 v0 = notEqual(uvec4(b0x4.e[a0]), uvec4(0u));
    bvec4 v35 = v0;
    if (t < k[0]) { b3x4.e[s0] = u8vec4(uvec4(v35)); }
    ivec4 v37 = ivec4(v0);
    if (t < k[0]) { b4x4.e[s1] = v37; }
    uvec4 v39 = uvec4(v0);
    if (t < k[0]) { b5x4.e[s2] = v39; }
    precise vec4 v41 = vec4(v0);
    if (t < k[0]) { b6x4.e[s3] = v41; }
}
