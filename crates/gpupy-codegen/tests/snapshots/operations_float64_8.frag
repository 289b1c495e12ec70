#version 400 core
#extension GL_ARB_gpu_shader_int64 : require
uniform ivec4 k[1];
uniform usampler2D t0;
uniform usampler2D t1;
uniform usampler2D t2;
uniform usampler2D t3;
uniform usampler2D t4;
layout(location = 0) out uvec4 o0;
layout(location = 1) out uvec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out uvec4 o4;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
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
u64vec4 ulong_of_float64_four(dvec4 a) {
    precise dvec4 v2 = (a - dvec4(uint64BitsToDouble(0x43e0000000000000ul)));
    i64vec4 v3 = choose_long(both(greaterThan(a, dvec4(uint64BitsToDouble(0xc3e0000000000001ul))), lessThan(a, dvec4(uint64BitsToDouble(0x43e0000000000000ul)))), i64vec4(a), i64vec4(int64_t(0x8000000000000000ul)));
    u64vec4 v4 = u64vec4(v3);
    i64vec4 v5 = choose_long(both(greaterThan(v2, dvec4(uint64BitsToDouble(0xc3e0000000000001ul))), lessThan(v2, dvec4(uint64BitsToDouble(0x43e0000000000000ul)))), i64vec4(v2), i64vec4(int64_t(0x8000000000000000ul)));
    u64vec4 v6 = u64vec4(v5);
    u64vec4 v8 = (v6 ^ u64vec4(0x8000000000000000ul));
    bvec4 v9 = greaterThanEqual(a, dvec4(uint64BitsToDouble(0x43e0000000000000ul)));
    u64vec4 v10 = choose_long(v9, v8, v4);
    return v10;
}
vec4 half_of_double_float64_four(dvec4 a) {
    precise vec4 v1 = vec4(a);
    precise dvec4 v2 = dvec4(v1);
    uvec4 v3 = floatBitsToUint(v1);
    uvec4 v5 = (v3 & uvec4(0x7fffffffu));
    uvec4 v6 = (v3 ^ v5);
    u64vec4 v7 = doubleBitsToUint64(a);
    u64vec4 v9 = (v7 & u64vec4(0x7ffffffffffffffful));
    u64vec4 v11 = doubleBitsToUint64(v2);
    u64vec4 v12 = (v11 & u64vec4(0x7ffffffffffffffful));
    bvec4 v14 = greaterThan(v12, v9);
    uvec4 v16 = (v5 - uvec4(1u));
    uvec4 v17 = choose(v14, v16, v5);
    uvec4 v18 = (v17 | uvec4(1u));
    bvec4 v19 = notEqual(v12, v9);
    bvec4 v21 = greaterThan(v9, u64vec4(0x7ff0000000000000ul));
    bvec4 v22 = not(v19);
    bvec4 v23 = either(v22, v21);
    uvec4 v24 = choose(v23, v5, v18);
    uvec4 v25 = (v24 | v6);
    precise vec4 v26 = uintBitsToFloat(v25);
    precise vec4 v27 = half_round_float32_four(v26);
    precise vec4 v28 = v27;
    return v28;
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
    precise dvec4 v7 = uint64BitsToDouble(v6);
    uvec4 v165 = (uvec4(choose(both(greaterThan(v7, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v7, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v7), ivec4(int(0x80000000u)))) & uvec4(0xffffu));
    o0 = v165;
    uvec4 v167 = uvec4(ivec4(choose_long(both(greaterThan(v7, dvec4(uint64BitsToDouble(0xc3e0000000000001ul))), lessThan(v7, dvec4(uint64BitsToDouble(0x43e0000000000000ul)))), i64vec4(v7), i64vec4(int64_t(0x8000000000000000ul)))));
    o1 = v167;
    u64vec4 v169 = ulong_of_float64_four(v7);
    u64vec4 v170 = v169;
    u64vec4 v171 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v170 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v172 = uvec4(v170);
    o2 = v172;
    uvec4 v174 = uvec4(v171);
    o3 = v174;
    precise vec4 v176 = half_of_double_float64_four(v7);
    o4 = half_bits_float32_four(v176);
}
