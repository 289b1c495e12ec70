#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[4]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1 { int e[]; } b1;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = t;
    int i0 = 4 * number;
    ivec4 lane = ivec4(0, 1, 2, 3);
    int a0 = number;
    ivec4 s0 = ((k[0] + k[1] * i0)) + k[2] * lane;
    ivec4 v0 = b0x4.e[a0];
    ivec4 whole0 = v0;
    b1.e[s0.x] = whole0.x;
    b1.e[s0.y] = whole0.y;
    b1.e[s0.z] = whole0.z;
    b1.e[s0.w] = whole0.w;
}
