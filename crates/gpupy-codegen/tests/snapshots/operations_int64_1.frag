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
i64vec4 floor_div_int64_four(i64vec4 a, i64vec4 b) {
    i64vec4 v2 = choose_long(greaterThan(a, (-a)), a, (-a));
    u64vec4 v3 = u64vec4(v2);
    i64vec4 v4 = choose_long(greaterThan(b, (-b)), b, (-b));
    u64vec4 v5 = u64vec4(v4);
    u64vec4 v6 = choose_long(notEqual(v5, u64vec4(0x0ul)), (v3 / choose_long(greaterThan(v5, u64vec4(0x1ul)), v5, u64vec4(0x1ul))), u64vec4(0x0ul));
    u64vec4 v7 = (v6 * v5);
    bvec4 v8 = notEqual(v7, v3);
    u64vec4 v9 = choose_long(v8, u64vec4(0x1ul), u64vec4(0x0ul));
    u64vec4 v10 = (v6 + v9);
    u64vec4 v11 = (u64vec4(0x0ul) - v10);
    bvec4 v13 = lessThan(a, i64vec4(int64_t(0x0ul)));
    bvec4 v14 = lessThan(b, i64vec4(int64_t(0x0ul)));
    bvec4 v15 = notEqual(v13, v14);
    u64vec4 v16 = choose_long(v15, v11, v6);
    bvec4 v18 = equal(b, i64vec4(int64_t(0x0ul)));
    u64vec4 v19 = choose_long(v18, u64vec4(0x0ul), v16);
    i64vec4 v20 = i64vec4(v19);
    return v20;
}
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
    i64vec4 v7 = i64vec4(v6);
    uvec4 v8 = f2;
    u64vec4 v9 = u64vec4(v8);
    uvec4 v10 = f3;
    u64vec4 v11 = u64vec4(v10);
    u64vec4 v12 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v11 << uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v13 = (v9 | v12);
    i64vec4 v14 = i64vec4(v13);
    i64vec4 v44 = (v7 + v14);
    u64vec4 v45 = u64vec4(v44);
    u64vec4 v46 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v45 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v47 = uvec4(v45);
    o0 = v47;
    uvec4 v49 = uvec4(v46);
    o1 = v49;
    i64vec4 v51 = (v7 - v14);
    u64vec4 v52 = u64vec4(v51);
    u64vec4 v53 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v52 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v54 = uvec4(v52);
    o2 = v54;
    uvec4 v56 = uvec4(v53);
    o3 = v56;
    i64vec4 v58 = (v7 * v14);
    u64vec4 v59 = u64vec4(v58);
    u64vec4 v60 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v59 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v61 = uvec4(v59);
    o4 = v61;
    uvec4 v63 = uvec4(v60);
    o5 = v63;
    i64vec4 v65 = floor_div_int64_four(v7, v14);
    u64vec4 v66 = u64vec4(v65);
    u64vec4 v67 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v66 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v68 = uvec4(v66);
    o6 = v68;
    uvec4 v70 = uvec4(v67);
    o7 = v70;
}
