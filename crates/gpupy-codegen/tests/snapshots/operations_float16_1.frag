#version 400 core
uniform ivec4 k[1];
uniform usampler2D t0;
uniform usampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out uvec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out uvec4 o5;
layout(location = 6) out uvec4 o6;
layout(location = 7) out uvec4 o7;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
vec4 half_round_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = choose(lessThan(uvec4(13u), uvec4(32u)), (v3 >> min(uvec4(13u), uvec4(31u))), uvec4(0u));
    uvec4 v8 = (v6 & uvec4(1u));
    uvec4 v10 = (v3 + uvec4(0xfffu));
    uvec4 v11 = (v10 + v8);
    uvec4 v13 = (v11 & uvec4(0xffffe000u));
    precise vec4 v14 = uintBitsToFloat(v3);
    precise vec4 v16 = (v14 + vec4(uintBitsToFloat(0x3f000000u)));
    uvec4 v17 = floatBitsToUint(v16);
    uvec4 v19 = (v17 - uvec4(0x3f000000u));
    precise vec4 v20 = vec4(v19);
    precise vec4 v22 = (v20 * vec4(uintBitsToFloat(0x33800000u)));
    uvec4 v23 = floatBitsToUint(v22);
    bvec4 v25 = lessThan(v3, uvec4(0x38800000u));
    uvec4 v26 = choose(v25, v23, v13);
    bvec4 v28 = greaterThanEqual(v26, uvec4(0x47800000u));
    uvec4 v30 = choose(v28, uvec4(0x7f800000u), v26);
    bvec4 v31 = greaterThan(v3, uvec4(0x7f800000u));
    uvec4 v32 = choose(v31, v3, v30);
    uvec4 v33 = (v32 | v4);
    precise vec4 v34 = uintBitsToFloat(v33);
    return v34;
}
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
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    precise vec4 v0 = half_of_bits_float32_four(f0);
    precise vec4 v1 = half_of_bits_float32_four(f1);
    bvec4 v19 = greaterThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o0 = uvec4(v19);
    bvec4 v21 = equal((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o1 = uvec4(v21);
    bvec4 v23 = lessThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o2 = uvec4(v23);
    bvec4 v25 = notEqual((floatBitsToUint(v0) & uvec4(0x80000000u)), uvec4(0u));
    o3 = uvec4(v25);
    precise vec4 v27 = half_round_float32_four((v0 + v1));
    o4 = half_bits_float32_four(v27);
    precise vec4 v29 = half_round_float32_four((v0 - v1));
    o5 = half_bits_float32_four(v29);
    precise vec4 v31 = half_round_float32_four((v0 * v1));
    o6 = half_bits_float32_four(v31);
    precise vec4 v33 = half_round_float32_four((v0 / v1));
    o7 = half_bits_float32_four(v33);
}
