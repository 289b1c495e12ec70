#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int32 { int e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[3]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[1] - 1);
    int left = k[2] - 4 * number;
    int a0 = number;
    int s0 = k[0] + number;
    ivec4 v0 = In_int32x4(b0).e[a0];
    if (t < k[1]) { ivec4 whole0 = v0;
    if (left >= 3) { Out_int32x4(b1).e[s0] = v0; } else {
    Out_int32(b1).e[4 * s0 + 0] = whole0.x;
    if (left >= 1) { Out_int32(b1).e[4 * s0 + 1] = whole0.y; }
    if (left >= 2) { Out_int32(b1).e[4 * s0 + 2] = whole0.z; }
    if (left >= 3) { Out_int32(b1).e[4 * s0 + 3] = whole0.w; }
    } }
}
