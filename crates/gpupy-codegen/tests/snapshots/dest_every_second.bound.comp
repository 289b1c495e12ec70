#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[7]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1 { int e[]; } b1;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = t;
    int q0 = quotient(number, k[5], intBitsToFloat(k[6]));
    int rest0 = number - q0 * k[5];
    int i0 = q0;
    int i1 = 4 * rest0;
    ivec4 lane = ivec4(0, 1, 2, 3);
    int a0 = number;
    ivec4 s0 = ((k[0] + k[1] * i0 + k[2] * i1)) + k[3] * lane;
    ivec4 v0 = b0x4.e[a0];
    ivec4 whole0 = v0;
    b1.e[s0.x] = whole0.x;
    b1.e[s0.y] = whole0.y;
    b1.e[s0.z] = whole0.z;
    b1.e[s0.w] = whole0.w;
}
