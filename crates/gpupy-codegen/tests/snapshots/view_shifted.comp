#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_float32 { float e[]; };
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
    ivec4 lane = ivec4(0, 1, 2, 3);
    ivec4 a0 = ((k[0] + k[1] * i0 + i1)) + lane;
    int s0 = number;
    precise vec4 v0 = vec4(In_float32(b0).e[a0.x], In_float32(b0).e[a0.y], In_float32(b0).e[a0.z], In_float32(b0).e[a0.w]);
    Out_float32x4(b1).e[s0] = v0;
}
