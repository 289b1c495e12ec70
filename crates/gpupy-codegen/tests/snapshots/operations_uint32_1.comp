#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_uint32x4 { uvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
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
    uvec4 v0 = In_uint32x4(b0).e[a0];
    uvec4 v1 = In_uint32x4(b1).e[a0];
    uvec4 v19 = choose(notEqual(v1, uvec4(0u)), (v0 % max(v1, uvec4(1u))), uvec4(0u));
    if (t < k[0]) { Out_uint32x4(b3).e[s0] = v19; }
    uvec4 v21 = min(v0, v1);
    if (t < k[0]) { Out_uint32x4(b4).e[s1] = v21; }
    uvec4 v23 = max(v0, v1);
    if (t < k[0]) { Out_uint32x4(b5).e[s2] = v23; }
    uvec4 v25 = (v0 & v1);
    if (t < k[0]) { Out_uint32x4(b6).e[s3] = v25; }
    uvec4 v27 = (v0 | v1);
    if (t < k[0]) { Out_uint32x4(b7).e[s4] = v27; }
    uvec4 v29 = (v0 ^ v1);
    if (t < k[0]) { Out_uint32x4(b8).e[s5] = v29; }
    uvec4 v31 = choose(lessThan(v1, uvec4(32u)), (v0 << min(v1, uvec4(31u))), uvec4(0u));
    if (t < k[0]) { Out_uint32x4(b9).e[s6] = v31; }
    uvec4 v33 = choose(lessThan(v1, uvec4(32u)), (v0 >> min(v1, uvec4(31u))), uvec4(0u));
    if (t < k[0]) { Out_uint32x4(b10).e[s7] = v33; }
}
