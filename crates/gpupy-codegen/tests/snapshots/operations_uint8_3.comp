#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_uint8x4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int8x4 { i8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_int16x4 { i16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_int64x4 { i64vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_uint8x4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_uint16x4 { u16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 32) buffer Out_uint64x4 { u64vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[10]; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= k[9]) { return; }
    int a0 = k[0] + t;
    int s0 = k[1] + t;
    int s1 = k[2] + t;
    int s2 = k[3] + t;
    int s3 = k[4] + t;
    int s4 = k[5] + t;
    int s5 = k[6] + t;
    int s6 = k[7] + t;
    int s7 = k[8] + t;
    uvec4 v0 = uvec4(In_uint8x4(b0).e[a0]);
    ivec4 v51 = ((ivec4(v0) << uvec4(24u)) >> uvec4(24u));
    Out_int8x4(b3).e[s0] = i8vec4(v51);
    ivec4 v53 = ivec4(v0);
    Out_int16x4(b4).e[s1] = i16vec4(v53);
    ivec4 v55 = ivec4(v0);
    Out_int32x4(b5).e[s2] = v55;
    i64vec4 v57 = i64vec4(u64vec4(v0));
    Out_int64x4(b6).e[s3] = v57;
    uvec4 v59 = v0;
    Out_uint8x4(b7).e[s4] = u8vec4(v59);
    uvec4 v61 = v0;
    Out_uint16x4(b8).e[s5] = u16vec4(v61);
    uvec4 v63 = v0;
    Out_uint32x4(b9).e[s6] = v63;
    u64vec4 v65 = u64vec4(v0);
    Out_uint64x4(b10).e[s7] = v65;
}
