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
layout(location = 5) out uvec4 o5;
layout(location = 6) out uvec4 o6;
layout(location = 7) out uvec4 o7;
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    uvec4 f2 = texelFetch(t2, pos, 0);
    uvec4 f3 = texelFetch(t3, pos, 0);
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
    precise dvec4 v80 = (v7 + v14);
    u64vec4 v81 = doubleBitsToUint64(v80);
    u64vec4 v82 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v81 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v83 = uvec4(v81);
    o0 = v83;
    uvec4 v85 = uvec4(v82);
    o1 = v85;
    precise dvec4 v87 = (v7 - v14);
    u64vec4 v88 = doubleBitsToUint64(v87);
    u64vec4 v89 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v88 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v90 = uvec4(v88);
    o2 = v90;
    uvec4 v92 = uvec4(v89);
    o3 = v92;
    precise dvec4 v94 = (v7 * v14);
    u64vec4 v95 = doubleBitsToUint64(v94);
    u64vec4 v96 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v95 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v97 = uvec4(v95);
    o4 = v97;
    uvec4 v99 = uvec4(v96);
    o5 = v99;
    precise dvec4 v101 = (v7 / v14);
    u64vec4 v102 = doubleBitsToUint64(v101);
    u64vec4 v103 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v102 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v104 = uvec4(v102);
    o6 = v104;
    uvec4 v106 = uvec4(v103);
    o7 = v106;
}
