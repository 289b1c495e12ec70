#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_int32 { int e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int32 { int e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[7]; };
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[3] - 1);
    int q0 = quotient(number, k[4], intBitsToFloat(k[5]));
    int rest0 = number - q0 * k[4];
    int i0 = q0;
    int i1 = 4 * rest0;
    int left = k[6] - i1;
    ivec4 lane = min(ivec4(0, 1, 2, 3), ivec4(left));
    ivec4 a0 = ((k[0] * i0 + i1)) + lane;
    ivec4 s0 = ((k[1] + k[2] * i0 + i1)) + lane;
    ivec4 v0 = ivec4(In_int32(b0).e[a0.x], In_int32(b0).e[a0.y], In_int32(b0).e[a0.z], In_int32(b0).e[a0.w]);
    if (t < k[3]) { ivec4 whole0 = v0;
    Out_int32(b1).e[s0.x] = whole0.x;
    if (left >= 1) { Out_int32(b1).e[s0.y] = whole0.y; }
    if (left >= 2) { Out_int32(b1).e[s0.z] = whole0.z; }
    if (left >= 3) { Out_int32(b1).e[s0.w] = whole0.w; } }
}
