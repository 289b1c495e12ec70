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
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    uvec4 f2 = texelFetch(t2, pos, 0);
    bvec4 v0 = notEqual(f0, uvec4(0u));
    bvec4 v1 = notEqual(f1, uvec4(0u));
    bvec4 v2 = notEqual(f2, uvec4(0u));
    bvec4 v19 = notEqual(v0, v1);
    o0 = uvec4(v19);
    bvec4 v21 = not(notEqual(v0, v1));
    o1 = uvec4(v21);
    bvec4 v23 = notEqual(v0, v1);
    o2 = uvec4(v23);
    bvec4 v25 = both(not(v0), v1);
    o3 = uvec4(v25);
    bvec4 v27 = either(not(v0), v1);
    o4 = uvec4(v27);
    bvec4 v29 = both(v0, not(v1));
    o5 = uvec4(v29);
    bvec4 v31 = either(v0, not(v1));
    o6 = uvec4(v31);
    bvec4 v33 = choose(v2, v0, v1);
    o7 = uvec4(v33);
}
