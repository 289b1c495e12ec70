#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[2]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { vec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1x4 { vec4 e[]; } b1x4;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    precise vec4 v0 = b0x4.e[a0];
    precise vec4 v2 = (v0 * vec4(intBitsToFloat(k[1])));
    if (t < k[0]) { b1x4.e[s0] = v2; }
}
