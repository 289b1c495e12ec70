#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[3]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1 { int e[]; } b1;
layout(binding = 2, std430) buffer Bb1x4 { ivec4 e[]; } b1x4;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[1] - 1);
    int left = k[2] - 4 * number;
    int a0 = number;
    int s0 = k[0] + number;
    ivec4 v0 = b0x4.e[a0];
    if (t < k[1]) { ivec4 whole0 = v0;
    if (left >= 3) { b1x4.e[s0] = v0; } else {
    b1.e[4 * s0 + 0] = whole0.x;
    if (left >= 1) { b1.e[4 * s0 + 1] = whole0.y; }
    if (left >= 2) { b1.e[4 * s0 + 2] = whole0.z; }
    if (left >= 3) { b1.e[4 * s0 + 3] = whole0.w; }
    } }
}
