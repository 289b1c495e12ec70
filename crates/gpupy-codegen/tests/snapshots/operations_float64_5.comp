#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 32) readonly buffer In_float64x4 { dvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
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
    precise dvec4 v1 = In_float64x4(b1).e[a0];
    bvec4 v43 = notEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v43)); }
    bvec4 v45 = lessThan(v0, v1);
    if (t < k[0]) { Out_boolx4(b4).e[s1] = u8vec4(uvec4(v45)); }
    bvec4 v47 = lessThanEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v47)); }
    bvec4 v49 = greaterThan(v0, v1);
    if (t < k[0]) { Out_boolx4(b6).e[s3] = u8vec4(uvec4(v49)); }
}
