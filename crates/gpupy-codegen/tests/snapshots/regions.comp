#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_int32 { int e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_float32 { float e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_float32 { float e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; int k[2]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int v0 = In_int32(b0).e[a0];
    precise float r2_0 = uintBitsToFloat(0x40000000u);
    int r2_1 = v0;
    for (int r2_i = 0; r2_i < v0; r2_i += 1) {
        precise float v5 = In_float32(b1).e[clamp(r2_1, 0, k[1])];
        precise float v6 = (r2_0 + v5);
        int v8 = (r2_1 + r2_i);
        precise float n2_0 = v6;
        int n2_1 = v8;
        r2_0 = n2_0;
        r2_1 = n2_1;
    }
    bool v13 = (r2_1 > 7);
    precise float r14_0;
    if (v13) {
        precise float v15 = sqrt(r2_0);
        precise float n14_0 = v15;
        r14_0 = n14_0;
    } else {
        precise float n14_0 = r2_0;
        r14_0 = n14_0;
    }
    if (t < k[0]) { Out_float32(b2).e[s0] = r14_0; }
}
