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
    uvec4 v0 = f0;
    u64vec4 v1 = u64vec4(v0);
    uvec4 v2 = f1;
    u64vec4 v3 = u64vec4(v2);
    u64vec4 v5 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v3 << uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    u64vec4 v6 = (v1 | v5);
    i64vec4 v7 = i64vec4(v6);
    i64vec4 v16 = (-v7);
    u64vec4 v17 = u64vec4(v16);
    u64vec4 v18 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v17 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v19 = uvec4(v17);
    o0 = v19;
    uvec4 v21 = uvec4(v18);
    o1 = v21;
    i64vec4 v23 = choose_long(greaterThan(v7, (-v7)), v7, (-v7));
    u64vec4 v24 = u64vec4(v23);
    u64vec4 v25 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v24 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v26 = uvec4(v24);
    o2 = v26;
    uvec4 v28 = uvec4(v25);
    o3 = v28;
    i64vec4 v30 = choose_long(greaterThan(choose_long(lessThan(v7, i64vec4(int64_t(0x1ul))), v7, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful))), choose_long(lessThan(v7, i64vec4(int64_t(0x1ul))), v7, i64vec4(int64_t(0x1ul))), i64vec4(int64_t(0xfffffffffffffffful)));
    u64vec4 v31 = u64vec4(v30);
    u64vec4 v32 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v31 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v33 = uvec4(v31);
    o4 = v33;
    uvec4 v35 = uvec4(v32);
    o5 = v35;
    i64vec4 v37 = (~v7);
    u64vec4 v38 = u64vec4(v37);
    u64vec4 v39 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v38 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v40 = uvec4(v38);
    o6 = v40;
    uvec4 v42 = uvec4(v39);
    o7 = v42;
}
