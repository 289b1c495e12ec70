#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0 { int e[]; } b0;
layout(binding = 2, std430) buffer Bb1 { int e[]; } b1;
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int v0 = b0.e[a0];
    int r3_0 = v0;
    int r3_1 = 100;
    for (int r3_i = 0; r3_i < 100; r3_i += 1) {
        bool v6 = (r3_0 > 1);
        if (!(v6)) { break; }
        int v8 = (r3_0 >> min(uint(1), 31u));
        int r7_0 = v8;
        int r7_1 = r3_0;
        int n3_0 = r7_0;
        int n3_1 = r7_1;
        r3_0 = n3_0;
        r3_1 = n3_1;
    }
    if (t < k[0]) { b1.e[s0] = r3_1; }
}
