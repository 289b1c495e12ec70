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
    precise dvec4 v7 = uint64BitsToDouble(v6);
    precise dvec4 v44 = uint64BitsToDouble(((doubleBitsToUint64(floor(v7)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v7) & u64vec4(0x8000000000000000ul))));
    u64vec4 v45 = doubleBitsToUint64(v44);
    u64vec4 v46 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v45 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v47 = uvec4(v45);
    o0 = v47;
    uvec4 v49 = uvec4(v46);
    o1 = v49;
    precise dvec4 v51 = uint64BitsToDouble(((doubleBitsToUint64(ceil(v7)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v7) & u64vec4(0x8000000000000000ul))));
    u64vec4 v52 = doubleBitsToUint64(v51);
    u64vec4 v53 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v52 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v54 = uvec4(v52);
    o2 = v54;
    uvec4 v56 = uvec4(v53);
    o3 = v56;
    precise dvec4 v58 = uint64BitsToDouble(((doubleBitsToUint64(trunc(v7)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v7) & u64vec4(0x8000000000000000ul))));
    u64vec4 v59 = doubleBitsToUint64(v58);
    u64vec4 v60 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v59 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v61 = uvec4(v59);
    o4 = v61;
    uvec4 v63 = uvec4(v60);
    o5 = v63;
    precise dvec4 v65 = uint64BitsToDouble(((doubleBitsToUint64(roundEven(v7)) & u64vec4(0x7ffffffffffffffful)) | (doubleBitsToUint64(v7) & u64vec4(0x8000000000000000ul))));
    u64vec4 v66 = doubleBitsToUint64(v65);
    u64vec4 v67 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v66 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v68 = uvec4(v66);
    o6 = v68;
    uvec4 v70 = uvec4(v67);
    o7 = v70;
}
