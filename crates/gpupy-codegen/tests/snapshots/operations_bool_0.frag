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
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    uvec4 f1 = texelFetch(t1, pos, 0);
    bvec4 v0 = notEqual(f0, uvec4(0u));
    bvec4 v1 = notEqual(f1, uvec4(0u));
    bvec4 v3 = v0;
    o0 = uvec4(v3);
    bvec4 v5 = not(v0);
    o1 = uvec4(v5);
    bvec4 v7 = either(v0, v1);
    o2 = uvec4(v7);
    bvec4 v9 = both(v0, v1);
    o3 = uvec4(v9);
    bvec4 v11 = both(v0, v1);
    o4 = uvec4(v11);
    bvec4 v13 = either(v0, v1);
    o5 = uvec4(v13);
    bvec4 v15 = both(v0, v1);
    o6 = uvec4(v15);
    bvec4 v17 = either(v0, v1);
    o7 = uvec4(v17);
}
