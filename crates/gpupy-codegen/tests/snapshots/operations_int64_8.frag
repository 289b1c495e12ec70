#version 400 core
#extension GL_ARB_gpu_shader_int64 : require
uniform ivec4 k[1];
uniform usampler2D t0;
uniform usampler2D t1;
uniform usampler2D t2;
uniform usampler2D t3;
uniform usampler2D t4;
layout(location = 0) out uvec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out uvec4 o3;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
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
vec4 float_of_int64_four(i64vec4 a) {
    i64vec4 v1 = choose_long(greaterThan(a, (-a)), a, (-a));
    u64vec4 v2 = u64vec4(v1);
    u64vec4 v4 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v2 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v5 = uvec4(v4);
    precise vec4 v6 = vec4(v5);
    uvec4 v7 = floatBitsToUint(v6);
    uvec4 v9 = choose(lessThan(uvec4(23u), uvec4(32u)), (v7 >> min(uvec4(23u), uvec4(31u))), uvec4(0u));
    uvec4 v11 = max(v9, uvec4(126u));
    uvec4 v12 = (v11 - uvec4(126u));
    u64vec4 v13 = u64vec4(v12);
    u64vec4 v14 = choose_long(lessThan(v13, u64vec4(0x40ul)), (v2 >> uvec4(min(v13, u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v15 = choose_long(lessThan(v13, u64vec4(0x40ul)), (v14 << uvec4(min(v13, u64vec4(0x3ful)))), u64vec4(0x0ul));
    bvec4 v16 = notEqual(v15, v2);
    uvec4 v17 = uvec4(v16);
    uvec4 v18 = uvec4(v14);
    uvec4 v19 = (v18 | v17);
    precise vec4 v20 = vec4(v19);
    uvec4 v22 = (v12 + uvec4(127u));
    uvec4 v23 = choose(lessThan(uvec4(23u), uvec4(32u)), (v22 << min(uvec4(23u), uvec4(31u))), uvec4(0u));
    precise vec4 v24 = uintBitsToFloat(v23);
    precise vec4 v25 = (v20 * v24);
    precise vec4 v26 = uintBitsToFloat((floatBitsToUint(v25) ^ uvec4(0x80000000u)));
    bvec4 v28 = lessThan(a, i64vec4(int64_t(0x0ul)));
    precise vec4 v29 = mix(v25, v26, v28);
    return v29;
}
vec4 half_of_int64_four(i64vec4 a) {
    i64vec4 v2 = choose_long(lessThan(a, i64vec4(int64_t(0x100000ul))), a, i64vec4(int64_t(0x100000ul)));
    i64vec4 v4 = choose_long(greaterThan(v2, i64vec4(int64_t(0xfffffffffff00000ul))), v2, i64vec4(int64_t(0xfffffffffff00000ul)));
    ivec4 v5 = ivec4(v4);
    precise vec4 v6 = half_round_float32_four(vec4(v5));
    precise vec4 v7 = v6;
    return v7;
}
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    uvec4 v0 = f0;
    u64vec4 v1 = u64vec4(v0);
    uvec4 v2 = f1;
    u64vec4 v3 = u64vec4(v2);
    u64vec4 v5 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v3 << uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v6 = (v1 | v5);
    i64vec4 v7 = i64vec4(v6);
    precise vec4 v175 = half_of_int64_four(v7);
    o0 = half_bits_float32_four(v175);
    precise vec4 v177 = float_of_int64_four(v7);
    o1 = v177;
    precise dvec4 v179 = dvec4(v7);
    u64vec4 v180 = doubleBitsToUint64(v179);
    u64vec4 v181 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v180 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v182 = uvec4(v180);
    o2 = v182;
    uvec4 v184 = uvec4(v181);
    o3 = v184;
}
