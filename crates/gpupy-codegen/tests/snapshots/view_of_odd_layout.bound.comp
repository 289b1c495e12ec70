#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[7]; };
layout(binding = 1, std430) readonly buffer Bb0 { float e[]; } b0;
layout(binding = 2, std430) buffer Bb1x4 { vec4 e[]; } b1x4;
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
    ivec4 a0 = ((k[0] + k[1] * i0 + k[2] * i1)) + k[3] * lane;
    int s0 = number;
    precise vec4 v0 = vec4(b0.e[a0.x], b0.e[a0.y], b0.e[a0.z], b0.e[a0.w]);
    b1x4.e[s0] = v0;
}
