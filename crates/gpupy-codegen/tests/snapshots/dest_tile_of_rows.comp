#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[2]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[1] - 1);
    int a0 = number;
    int s0 = k[0] + number;
    ivec4 v0 = In_int32x4(b0).e[a0];
    if (t < k[1]) { Out_int32x4(b1).e[s0] = v0; }
}
