#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[2]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1x4 { ivec4 e[]; } b1x4;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[1] - 1);
    int a0 = number;
    int s0 = k[0] + number;
    ivec4 v0 = b0x4.e[a0];
    if (t < k[1]) { b1x4.e[s0] = v0; }
}
