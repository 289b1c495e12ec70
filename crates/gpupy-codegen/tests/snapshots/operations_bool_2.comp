#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
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
    bvec4 v0 = notEqual(uvec4(In_boolx4(b0).e[a0]), uvec4(0u));
    bvec4 v35 = v0;
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v35)); }
    ivec4 v37 = ivec4(v0);
    if (t < k[0]) { Out_int32x4(b4).e[s1] = v37; }
    uvec4 v39 = uvec4(v0);
    if (t < k[0]) { Out_uint32x4(b5).e[s2] = v39; }
    precise vec4 v41 = vec4(v0);
    if (t < k[0]) { Out_float32x4(b6).e[s3] = v41; }
}
