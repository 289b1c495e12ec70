#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec4 floor_div_int32_four(ivec4 a, ivec4 b) {
    ivec4 v2 = max(a, (-a));
    uvec4 v3 = uvec4(v2);
    ivec4 v4 = max(b, (-b));
    uvec4 v5 = uvec4(v4);
    uvec4 v6 = choose(notEqual(v5, uvec4(0u)), (v3 / max(v5, uvec4(1u))), uvec4(0u));
    uvec4 v7 = (v6 * v5);
    bvec4 v8 = notEqual(v7, v3);
    uvec4 v9 = uvec4(v8);
    uvec4 v10 = (v6 + v9);
    uvec4 v11 = (uvec4(0u) - v10);
    bvec4 v13 = lessThan(a, ivec4(0));
    bvec4 v14 = lessThan(b, ivec4(0));
    bvec4 v15 = notEqual(v13, v14);
    uvec4 v16 = choose(v15, v11, v6);
    bvec4 v18 = equal(b, ivec4(0));
    uvec4 v19 = choose(v18, uvec4(0u), v16);
    ivec4 v20 = ivec4(v19);
    return v20;
}
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
    ivec4 v0 = In_int32x4(b0).e[a0];
    ivec4 v1 = In_int32x4(b1).e[a0];
    ivec4 v3 = (-v0);
    if (t < k[0]) { Out_int32x4(b3).e[s0] = v3; }
    ivec4 v5 = max(v0, (-v0));
    if (t < k[0]) { Out_int32x4(b4).e[s1] = v5; }
    ivec4 v7 = max(min(v0, ivec4(1)), ivec4((-1)));
    if (t < k[0]) { Out_int32x4(b5).e[s2] = v7; }
    ivec4 v9 = (~v0);
    if (t < k[0]) { Out_int32x4(b6).e[s3] = v9; }
    ivec4 v11 = (v0 + v1);
    if (t < k[0]) { Out_int32x4(b7).e[s4] = v11; }
    ivec4 v13 = (v0 - v1);
    if (t < k[0]) { Out_int32x4(b8).e[s5] = v13; }
    ivec4 v15 = (v0 * v1);
    if (t < k[0]) { Out_int32x4(b9).e[s6] = v15; }
    ivec4 v17 = floor_div_int32_four(v0, v1);
    if (t < k[0]) { Out_int32x4(b10).e[s7] = v17; }
}
