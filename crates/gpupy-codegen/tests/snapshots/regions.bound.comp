#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[2]; };
layout(binding = 1, std430) readonly buffer Bb0 { int e[]; } b0;
layout(binding = 2, std430) readonly buffer Bb1 { float e[]; } b1;
layout(binding = 3, std430) buffer Bb2 { float e[]; } b2;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int v0 = b0.e[a0];
    precise float r2_0 = uintBitsToFloat(0x40000000u);
    int r2_1 = v0;
    for (int r2_i = 0; r2_i < v0; r2_i += 1) {
        precise float v5 = b1.e[clamp(r2_1, 0, k[1])];
        precise float v6 = (r2_0 + v5);
        int v8 = (r2_1 + r2_i);
        precise float n2_0 = v6;
        int n2_1 = v8;
        r2_0 = n2_0;
        r2_1 = n2_1;
    }
    bool v13 = (r2_1 > 7);
    precise float r14_0;
    if (v13) {
        precise float v15 = sqrt(r2_0);
        precise float n14_0 = v15;
        r14_0 = n14_0;
    } else {
        precise float n14_0 = r2_0;
        r14_0 = n14_0;
    }
    if (t < k[0]) { b2.e[s0] = r14_0; }
}
