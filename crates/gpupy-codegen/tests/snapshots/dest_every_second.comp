#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int32 { int e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[7]; };
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
    ivec4 v0 = In_int32x4(b0).e[a0];
    ivec4 whole0 = v0;
    Out_int32(b1).e[s0.x] = whole0.x;
    Out_int32(b1).e[s0.y] = whole0.y;
    Out_int32(b1).e[s0.z] = whole0.z;
    Out_int32(b1).e[s0.w] = whole0.w;
}
