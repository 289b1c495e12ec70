#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
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
    precise vec4 v35 = mix(v1, v0, either(lessThan(v0, v1), isnan(v0)));
    if (t < k[0]) { Out_float32x4(b3).e[s0] = v35; }
    precise vec4 v37 = mix(v1, v0, either(greaterThan(v0, v1), isnan(v0)));
    if (t < k[0]) { Out_float32x4(b4).e[s1] = v37; }
    precise vec4 v39 = uintBitsToFloat(((floatBitsToUint(v0) & uvec4(0x7fffffffu)) | (floatBitsToUint(v1) & uvec4(0x80000000u))));
    if (t < k[0]) { Out_float32x4(b5).e[s2] = v39; }
    bvec4 v41 = equal(v0, v1);
    if (t < k[0]) { Out_boolx4(b6).e[s3] = u8vec4(uvec4(v41)); }
    bvec4 v43 = notEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b7).e[s4] = u8vec4(uvec4(v43)); }
    bvec4 v45 = lessThan(v0, v1);
    if (t < k[0]) { Out_boolx4(b8).e[s5] = u8vec4(uvec4(v45)); }
    bvec4 v47 = lessThanEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b9).e[s6] = u8vec4(uvec4(v47)); }
    bvec4 v49 = greaterThan(v0, v1);
    if (t < k[0]) { Out_boolx4(b10).e[s7] = u8vec4(uvec4(v49)); }
}
