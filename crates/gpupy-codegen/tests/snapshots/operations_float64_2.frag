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
    bvec4 v72 = greaterThan((doubleBitsToUint64(v7) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x7ff0000000000000ul));
    o0 = uvec4(v72);
    bvec4 v74 = equal((doubleBitsToUint64(v7) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x7ff0000000000000ul));
    o1 = uvec4(v74);
    bvec4 v76 = lessThan((doubleBitsToUint64(v7) & u64vec4(0x7ffffffffffffffful)), u64vec4(0x7ff0000000000000ul));
    o2 = uvec4(v76);
    bvec4 v78 = notEqual((doubleBitsToUint64(v7) & u64vec4(0x8000000000000000ul)), u64vec4(0x0ul));
    o3 = uvec4(v78);
}
