#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
uniform isampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out uvec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out uvec4 o5;
layout(location = 6) out ivec4 o6;
layout(location = 7) out uvec4 o7;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    ivec4 f1 = texelFetch(t1, pos, 0);
    uvec4 f2 = texelFetch(t2, pos, 0);
    ivec4 v0 = f0;
    ivec4 v1 = f1;
    bvec4 v2 = notEqual(f2, uvec4(0u));
    bvec4 v35 = equal(v0, v1);
    o0 = uvec4(v35);
    bvec4 v37 = notEqual(v0, v1);
    o1 = uvec4(v37);
    bvec4 v39 = lessThan(v0, v1);
    o2 = uvec4(v39);
    bvec4 v41 = lessThanEqual(v0, v1);
    o3 = uvec4(v41);
    bvec4 v43 = greaterThan(v0, v1);
    o4 = uvec4(v43);
    bvec4 v45 = greaterThanEqual(v0, v1);
    o5 = uvec4(v45);
    ivec4 v47 = choose(v2, v0, v1);
    o6 = v47;
    bvec4 v49 = notEqual(v0, ivec4(0));
    o7 = uvec4(v49);
}
