#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[1]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    precise vec4 v0 = In_float32x4(b0).e[a0];
    precise vec4 v2 = (v0 * vec4(uintBitsToFloat(0x40200000u)));
    if (t < k[0]) { Out_float32x4(b1).e[s0] = v2; }
}
