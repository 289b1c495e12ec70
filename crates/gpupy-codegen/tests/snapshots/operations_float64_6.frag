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
layout(location = 4) out ivec4 o4;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    uvec4 f2 = texelFetch(t2, pos, 0);
    uvec4 f3 = texelFetch(t3, pos, 0);
    uvec4 f4 = texelFetch(t4, pos, 0);
    uvec4 v0 = f0;
    u64vec4 v1 = u64vec4(v0);
    uvec4 v2 = f1;
    u64vec4 v3 = u64vec4(v2);
    u64vec4 v5 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v3 << uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v6 = (v1 | v5);
    precise dvec4 v7 = uint64BitsToDouble(v6);
    uvec4 v8 = f2;
    u64vec4 v9 = u64vec4(v8);
    uvec4 v10 = f3;
    u64vec4 v11 = u64vec4(v10);
    u64vec4 v12 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v11 << uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v13 = (v9 | v12);
    precise dvec4 v14 = uint64BitsToDouble(v13);
    bvec4 v15 = notEqual(f4, uvec4(0u));
    bvec4 v139 = greaterThanEqual(v7, v14);
    o0 = uvec4(v139);
    precise dvec4 v141 = mix(v14, v7, v15);
    u64vec4 v142 = doubleBitsToUint64(v141);
    u64vec4 v143 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v142 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v144 = uvec4(v142);
    o1 = v144;
    uvec4 v146 = uvec4(v143);
    o2 = v146;
    bvec4 v148 = notEqual((doubleBitsToUint64(v7) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x0ul));
    o3 = uvec4(v148);
    ivec4 v150 = ((choose(both(greaterThan(v7, dvec4(uint64BitsToDouble(0xc1e0000000200000ul))), lessThan(v7, dvec4(uint64BitsToDouble(0x41e0000000000000ul)))), ivec4(v7), ivec4(int(0x80000000u))) << uvec4(24u)) >> uvec4(24u));
    o4 = v150;
}
