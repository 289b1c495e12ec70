#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
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
    bvec4 v0 = notEqual(uvec4(In_boolx4(b0).e[a0]), uvec4(0u));
    bvec4 v1 = notEqual(uvec4(In_boolx4(b1).e[a0]), uvec4(0u));
    bvec4 v3 = v0;
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v3)); }
    bvec4 v5 = not(v0);
    if (t < k[0]) { Out_boolx4(b4).e[s1] = u8vec4(uvec4(v5)); }
    bvec4 v7 = either(v0, v1);
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v7)); }
    bvec4 v9 = both(v0, v1);
    if (t < k[0]) { Out_boolx4(b6).e[s3] = u8vec4(uvec4(v9)); }
    bvec4 v11 = both(v0, v1);
    if (t < k[0]) { Out_boolx4(b7).e[s4] = u8vec4(uvec4(v11)); }
    bvec4 v13 = either(v0, v1);
    if (t < k[0]) { Out_boolx4(b8).e[s5] = u8vec4(uvec4(v13)); }
    bvec4 v15 = both(v0, v1);
    if (t < k[0]) { Out_boolx4(b9).e[s6] = u8vec4(uvec4(v15)); }
    bvec4 v17 = either(v0, v1);
    if (t < k[0]) { Out_boolx4(b10).e[s7] = u8vec4(uvec4(v17)); }
}
