#version 400 core
#extension GL_ARB_gpu_shader_int64 : require
uniform ivec4 k[1];
uniform usampler2D t0;
uniform usampler2D t1;
uniform usampler2D t2;
layout(location = 0) out ivec4 o0;
layout(location = 1) out ivec4 o1;
layout(location = 2) out ivec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out uvec4 o5;
layout(location = 6) out uvec4 o6;
layout(location = 7) out uvec4 o7;
layout(location = 8) out uvec4 o8;
layout(location = 9) out uvec4 o9;
i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x - k[0].y;
    uvec4 f0 = texelFetch(t0, pos + ivec2(0, k[0].z), 0);
    uvec4 v0 = f0;
    ivec4 v51 = ((ivec4(v0) << uvec4(24u)) >> uvec4(24u));
    o0 = v51;
    ivec4 v53 = ivec4(v0);
    o1 = v53;
    ivec4 v55 = ivec4(v0);
    o2 = v55;
    i64vec4 v57 = i64vec4(u64vec4(v0));
    u64vec4 v58 = u64vec4(v57);
    u64vec4 v60 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v58 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v61 = uvec4(v58);
    o3 = v61;
    uvec4 v63 = uvec4(v60);
    o4 = v63;
    uvec4 v65 = v0;
    o5 = v65;
    uvec4 v67 = v0;
    o6 = v67;
    uvec4 v69 = v0;
    o7 = v69;
    u64vec4 v71 = u64vec4(v0);
    u64vec4 v72 = v71;
    u64vec4 v73 = choose_long(lessThan(u64vec4(0x20ul), u64vec4(0x40ul)), (v72 >> uvec4(min(u64vec4(0x20ul), u64vec4(0x3ful)))), u64vec4(0x0ul));
    uvec4 v74 = uvec4(v72);
    o8 = v74;
    uvec4 v76 = uvec4(v73);
    o9 = v76;
}
