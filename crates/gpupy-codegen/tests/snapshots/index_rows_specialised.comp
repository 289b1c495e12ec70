#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; int k[3]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[2] - 1);
    int q0 = int(uint(number) / 320u);
    int rest0 = number - q0 * 320;
    int i0 = q0;
    int q1 = int(uint(rest0) / 16u);
    int rest1 = rest0 - q1 * 16;
    int i1 = q1;
    int i2 = 4 * rest1;
    ivec4 j2 = i2 + ivec4(0, 1, 2, 3);
    int s0 = number;
    ivec4 v0 = ivec4((i0));
    ivec4 v1 = ivec4((k[0] * i1));
    ivec4 v2 = (v0 + v1);
    ivec4 v3 = (k[1] * j2);
    ivec4 v4 = (v2 + v3);
    if (t < k[2]) { Out_int32x4(b0).e[s0] = v4; }
}
