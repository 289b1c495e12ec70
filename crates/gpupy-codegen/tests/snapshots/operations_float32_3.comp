#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; int k[1]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 uint_of_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = choose(lessThan(uvec4(23u), uvec4(32u)), (v3 >> min(uvec4(23u), uvec4(31u))), uvec4(0u));
    uvec4 v8 = (v3 & uvec4(0x7fffffu));
    uvec4 v10 = (v8 | uvec4(0x800000u));
    uvec4 v11 = v10;
    ivec4 v12 = ivec4(v6);
    ivec4 v14 = (v12 - ivec4(150));
    ivec4 v15 = (-v14);
    uvec4 v16 = uvec4(v14);
    uvec4 v17 = uvec4(v15);
    uvec4 v18 = choose(lessThan(v16, uvec4(32u)), (v11 << min(v16, uvec4(31u))), uvec4(0u));
    uvec4 v19 = choose(lessThan(v17, uvec4(32u)), (v11 >> min(v17, uvec4(31u))), uvec4(0u));
    uvec4 v20 = (v18 | v19);
    bvec4 v22 = notEqual(v4, uvec4(0u));
    uvec4 v23 = (uvec4(0u) - v20);
    uvec4 v24 = choose(v22, v23, v20);
    return v24;
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
    precise vec4 v0 = In_float32x4(b0).e[a0];
    precise vec4 v1 = In_float32x4(b1).e[a0];
    bvec4 v2 = notEqual(uvec4(In_boolx4(b2).e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v51)); }
    precise vec4 v53 = mix(v1, v0, v2);
    if (t < k[0]) { Out_float32x4(b4).e[s1] = v53; }
    bvec4 v55 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v55)); }
    ivec4 v57 = choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)));
    if (t < k[0]) { Out_int32x4(b6).e[s3] = v57; }
    uvec4 v59 = uint_of_float32_four(v0);
    if (t < k[0]) { Out_uint32x4(b7).e[s4] = v59; }
    precise vec4 v61 = v0;
    if (t < k[0]) { Out_float32x4(b8).e[s5] = v61; }
}
