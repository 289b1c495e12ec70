#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[5]; };
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = t;
    int q0 = quotient(number, k[3], intBitsToFloat(k[4]));
    int rest0 = number - q0 * k[3];
    int i0 = q0;
    int i1 = 4 * rest0;
    int a0 = (k[0] + k[1] * i0 + i1) >> 2;
    int s0 = number;
    precise vec4 v0 = In_float32x4(b0).e[a0];
    Out_float32x4(b1).e[s0] = v0;
}
