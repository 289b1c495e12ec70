#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int32 { int e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[4]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[3] - 1);
    int i0 = 4 * number;
    ivec4 lane = ivec4(0, 1, 2, 3);
    int a0 = number;
    ivec4 s0 = ((k[0] + k[1] * i0)) + k[2] * lane;
    ivec4 v0 = In_int32x4(b0).e[a0];
    if (t < k[3]) { ivec4 whole0 = v0;
    Out_int32(b1).e[s0.x] = whole0.x;
    Out_int32(b1).e[s0.y] = whole0.y;
    Out_int32(b1).e[s0.z] = whole0.z;
    Out_int32(b1).e[s0.w] = whole0.w; }
}
