#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 4, std430) buffer Bb3x4 { ivec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { uvec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { vec4 e[]; } b5x4;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    ivec4 v0 = b0x4.e[a0];
    ivec4 v51 = v0;
    if (t < k[0]) { b3x4.e[s0] = v51; }
    uvec4 v53 = uvec4(v0);
    if (t < k[0]) { b4x4.e[s1] = v53; }
    precise vec4 v55 = vec4(v0);
    if (t < k[0]) { b5x4.e[s2] = v55; }
}
