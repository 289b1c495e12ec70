#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer In_float16x4 { u16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_float16x4 { u16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_int8x4 { i8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_int16x4 { i16vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_uint8x4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out_uint16x4 { u16vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 half_bits_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = (v3 - uvec4(0x38000000u));
    uvec4 v8 = choose(lessThan(uvec4(13u), uvec4(32u)), (v6 >> min(uvec4(13u), uvec4(31u))), uvec4(0u));
    precise vec4 v9 = uintBitsToFloat(v3);
    precise vec4 v11 = (v9 + vec4(uintBitsToFloat(0x3f000000u)));
    uvec4 v12 = floatBitsToUint(v11);
    uvec4 v14 = (v12 - uvec4(0x3f000000u));
    bvec4 v16 = lessThan(v3, uvec4(0x38800000u));
    uvec4 v17 = choose(v16, v14, v8);
    uvec4 v18 = choose(lessThan(uvec4(13u), uvec4(32u)), (v3 >> min(uvec4(13u), uvec4(31u))), uvec4(0u));
    uvec4 v20 = (v18 & uvec4(0x3ffu));
    uvec4 v22 = max(v20, uvec4(1u));
    uvec4 v24 = (v22 | uvec4(0x7c00u));
    bvec4 v26 = equal(v3, uvec4(0x7f800000u));
    uvec4 v27 = choose(v26, uvec4(0x7c00u), v24);
    bvec4 v28 = lessThan(v3, uvec4(0x7f800000u));
    uvec4 v29 = choose(v28, v17, v27);
    uvec4 v31 = choose(lessThan(uvec4(16u), uvec4(32u)), (v4 >> min(uvec4(16u), uvec4(31u))), uvec4(0u));
    uvec4 v32 = (v29 | v31);
    return v32;
}
vec4 half_of_bits_float32_four(uvec4 a) {
    uvec4 v2 = (a & uvec4(0x7fffu));
    uvec4 v3 = (a ^ v2);
    uvec4 v5 = choose(lessThan(uvec4(13u), uvec4(32u)), (v2 << min(uvec4(13u), uvec4(31u))), uvec4(0u));
    uvec4 v7 = (v5 + uvec4(0x38000000u));
    uvec4 v9 = (v5 | uvec4(0x7f800000u));
    precise vec4 v10 = vec4(v2);
    precise vec4 v12 = (v10 * vec4(uintBitsToFloat(0x33800000u)));
    uvec4 v13 = floatBitsToUint(v12);
    bvec4 v15 = lessThan(v2, uvec4(0x400u));
    uvec4 v16 = choose(v15, v13, v7);
    bvec4 v18 = lessThan(v2, uvec4(0x7c00u));
    uvec4 v19 = choose(v18, v16, v9);
    uvec4 v21 = choose(lessThan(uvec4(16u), uvec4(32u)), (v3 << min(uvec4(16u), uvec4(31u))), uvec4(0u));
    uvec4 v22 = (v19 | v21);
    precise vec4 v23 = uintBitsToFloat(v22);
    return v23;
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
    precise vec4 v0 = half_of_bits_float32_four(uvec4(In_float16x4(b0).e[a0]));
    precise vec4 v1 = half_of_bits_float32_four(uvec4(In_float16x4(b1).e[a0]));
    bvec4 v2 = notEqual(uvec4(In_boolx4(b2).e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    if (t < k[0]) { Out_boolx4(b3).e[s0] = u8vec4(uvec4(v51)); }
    precise vec4 v53 = mix(v1, v0, v2);
    if (t < k[0]) { Out_float16x4(b4).e[s1] = u16vec4(half_bits_float32_four(v53)); }
    bvec4 v55 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    if (t < k[0]) { Out_boolx4(b5).e[s2] = u8vec4(uvec4(v55)); }
    ivec4 v57 = ((choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u))) << uvec4(24u)) >> uvec4(24u));
    if (t < k[0]) { Out_int8x4(b6).e[s3] = i8vec4(v57); }
    ivec4 v59 = ((choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u))) << uvec4(16u)) >> uvec4(16u));
    if (t < k[0]) { Out_int16x4(b7).e[s4] = i16vec4(v59); }
    ivec4 v61 = choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)));
    if (t < k[0]) { Out_int32x4(b8).e[s5] = v61; }
    uvec4 v63 = (uvec4(choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)))) & uvec4(255u));
    if (t < k[0]) { Out_uint8x4(b9).e[s6] = u8vec4(v63); }
    uvec4 v65 = (uvec4(choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)))) & uvec4(0xffffu));
    if (t < k[0]) { Out_uint16x4(b10).e[s7] = u16vec4(v65); }
}
