#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_float32 { float e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_float32 { float e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; int k[6]; };
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int h0 = k[0];
    int h1 = k[1];
    int h2 = k[2];
    int h3 = k[3];
    int h4 = k[4];
    int h5 = k[5];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= h3) { return; }
    int q0 = quotient(t, h4, intBitsToFloat(h5));
    int rest0 = t - q0 * h4;
    int i0 = q0;
    int i1 = rest0;
    int z1 = t;
    precise float running = In_float32(b1).e[z1];
    int base = 256 * i1;
    int count = min(h2 - base, 256);
    for (int n = 0; n < count; n += 1) {
        int at = base + n;
        int a0 = (h0 * i0 + at);
        int s0 = (h1 * i0 + at);
        precise float element = In_float32(b0).e[a0];
        running = (running + element);
        Out_float32(b2).e[s0] = running;
    }
}
