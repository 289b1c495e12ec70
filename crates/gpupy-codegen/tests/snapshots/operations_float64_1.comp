#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_float64x4 { dvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; int k[1]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    int s3 = number;
    precise dvec4 v0 = In_float64x4(b0).e[a0];
    precise dvec4 v11 = uint64BitsToDouble(((doubleBitsToUint64(floor(v0)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v0) & u64vec4(0x8000000000000000ul))));
    if (t < k[0]) { Out_float64x4(b3).e[s0] = v11; }
    precise dvec4 v13 = uint64BitsToDouble(((doubleBitsToUint64(ceil(v0)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v0) & u64vec4(0x8000000000000000ul))));
    if (t < k[0]) { Out_float64x4(b4).e[s1] = v13; }
    precise dvec4 v15 = uint64BitsToDouble(((doubleBitsToUint64(trunc(v0)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v0) & u64vec4(0x8000000000000000ul))));
    if (t < k[0]) { Out_float64x4(b5).e[s2] = v15; }
    precise dvec4 v17 = uint64BitsToDouble(((doubleBitsToUint64(roundEven(v0)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v0) & u64vec4(0x8000000000000000ul))));
    if (t < k[0]) { Out_float64x4(b6).e[s3] = v17; }
}
