#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    int s3 = number;
    int s4 = number;
    int s5 = number;
    int s6 = number;
    int s7 = number;
    precise vec4 v0 = In_float32x4(b0).e[a0];
    precise vec4 v1 = In_float32x4(b1).e[a0];
    bvec4 v19 = greaterThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v19)); }
    bvec4 v21 = equal((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    if (t < k[0]) { Out_boolx4(b4).e[s1] = u8vec4(uvec4(v21)); }
    bvec4 v23 = lessThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v23)); }
    bvec4 v25 = notEqual((floatBitsToUint(v0) & uvec4(0x80000000u)), uvec4(0u));
    if (t < k[0]) { Out_boolx4(b6).e[s3] = u8vec4(uvec4(v25)); }
    precise vec4 v27 = (v0 + v1);
    if (t < k[0]) { Out_float32x4(b7).e[s4] = v27; }
    precise vec4 v29 = (v0 - v1);
    if (t < k[0]) { Out_float32x4(b8).e[s5] = v29; }
    precise vec4 v31 = (v0 * v1);
    if (t < k[0]) { Out_float32x4(b9).e[s6] = v31; }
    precise vec4 v33 = (v0 / v1);
    if (t < k[0]) { Out_float32x4(b10).e[s7] = v33; }
}
