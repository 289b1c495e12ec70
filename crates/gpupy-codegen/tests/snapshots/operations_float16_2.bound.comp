#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { u16vec4 e[]; } b0x4;
layout(binding = 2, std430) readonly buffer Bb1x4 { u16vec4 e[]; } b1x4;
layout(binding = 4, std430) buffer Bb3x4 { u16vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { u16vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { u16vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { u8vec4 e[]; } b6x4;
layout(binding = 8, std430) buffer Bb7x4 { u8vec4 e[]; } b7x4;
layout(binding = 9, std430) buffer Bb8x4 { u8vec4 e[]; } b8x4;
layout(binding = 10, std430) buffer Bb9x4 { u8vec4 e[]; } b9x4;
layout(binding = 11, std430) buffer Bb10x4 { u8vec4 e[]; } b10x4;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
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
    precise vec4 v0 = half_of_bits_float32_four(uvec4(b0x4.e[a0]));
    precise vec4 v1 = half_of_bits_float32_four(uvec4(b1x4.e[a0]));
    precise vec4 v35 = mix(v1, v0, either(lessThan(v0, v1), isnan(v0)));
    if (t < k[0]) { b3x4.e[s0] = u16vec4(half_bits_float32_four(v35)); }
    precise vec4 v37 = mix(v1, v0, either(greaterThan(v0, v1), isnan(v0)));
    if (t < k[0]) { b4x4.e[s1] = u16vec4(half_bits_float32_four(v37)); }
    precise vec4 v39 = uintBitsToFloat(((floatBitsToUint(v0) & uvec4(0x7fffffffu)) | (floatBitsToUint(v1) & uvec4(0x80000000u))));
    if (t < k[0]) { b5x4.e[s2] = u16vec4(half_bits_float32_four(v39)); }
    bvec4 v41 = equal(v0, v1);
    if (t < k[0]) { b6x4.e[s3] = u8vec4(uvec4(v41)); }
    bvec4 v43 = notEqual(v0, v1);
    if (t < k[0]) { b7x4.e[s4] = u8vec4(uvec4(v43)); }
    bvec4 v45 = lessThan(v0, v1);
    if (t < k[0]) { b8x4.e[s5] = u8vec4(uvec4(v45)); }
    bvec4 v47 = lessThanEqual(v0, v1);
    if (t < k[0]) { b9x4.e[s6] = u8vec4(uvec4(v47)); }
    bvec4 v49 = greaterThan(v0, v1);
    if (t < k[0]) { b10x4.e[s7] = u8vec4(uvec4(v49)); }
}
