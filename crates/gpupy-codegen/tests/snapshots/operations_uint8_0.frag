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
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    uvec4 v0 = f0;
    uvec4 v1 = f1;
    uvec4 v3 = ((uvec4(0u) - v0) & uvec4(255u));
    o0 = v3;
    uvec4 v5 = v0;
    o1 = v5;
    uvec4 v7 = min(v0, uvec4(1u));
    o2 = v7;
    uvec4 v9 = ((~v0) & uvec4(255u));
    o3 = v9;
    uvec4 v11 = ((v0 + v1) & uvec4(255u));
    o4 = v11;
    uvec4 v13 = ((v0 - v1) & uvec4(255u));
    o5 = v13;
    uvec4 v15 = ((v0 * v1) & uvec4(255u));
    o6 = v15;
    uvec4 v17 = choose(notEqual(v1, uvec4(0u)), (v0 / max(v1, uvec4(1u))), uvec4(0u));
    o7 = v17;
}
