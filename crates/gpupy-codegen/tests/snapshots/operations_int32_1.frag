#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
uniform isampler2D t1;
uniform usampler2D t2;
layout(location = 0) out ivec4 o0;
layout(location = 1) out ivec4 o1;
layout(location = 2) out ivec4 o2;
layout(location = 3) out ivec4 o3;
layout(location = 4) out ivec4 o4;
layout(location = 5) out ivec4 o5;
layout(location = 6) out ivec4 o6;
layout(location = 7) out ivec4 o7;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec4 floor_div_int32_four(ivec4 a, ivec4 b) {
    ivec4 v2 = max(a, (-a));
    uvec4 v3 = uvec4(v2);
    ivec4 v4 = max(b, (-b));
    uvec4 v5 = uvec4(v4);
    uvec4 v6 = choose(notEqual(v5, uvec4(0u)), (v3 / max(v5, uvec4(1u))), uvec4(0u));
    uvec4 v7 = (v6 * v5);
    bvec4 v8 = notEqual(v7, v3);
    uvec4 v9 = uvec4(v8);
    uvec4 v10 = (v6 + v9);
    uvec4 v11 = (uvec4(0u) - v10);
    bvec4 v13 = lessThan(a, ivec4(0));
    bvec4 v14 = lessThan(b, ivec4(0));
    bvec4 v15 = notEqual(v13, v14);
    uvec4 v16 = choose(v15, v11, v6);
    bvec4 v18 = equal(b, ivec4(0));
    uvec4 v19 = choose(v18, uvec4(0u), v16);
    ivec4 v20 = ivec4(v19);
    return v20;
}
ivec4 floor_mod_int32_four(ivec4 a, ivec4 b) {
    ivec4 v2 = floor_div_int32_four(a, b);
    ivec4 v3 = (v2 * b);
    ivec4 v4 = (a - v3);
    bvec4 v6 = equal(b, ivec4(0));
    ivec4 v7 = choose(v6, ivec4(0), v4);
    return v7;
}
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    ivec4 f1 = texelFetch(t1, pos, 0);
    ivec4 v0 = f0;
    ivec4 v1 = f1;
    ivec4 v19 = floor_mod_int32_four(v0, v1);
    o0 = v19;
    ivec4 v21 = min(v0, v1);
    o1 = v21;
    ivec4 v23 = max(v0, v1);
    o2 = v23;
    ivec4 v25 = (v0 & v1);
    o3 = v25;
    ivec4 v27 = (v0 | v1);
    o4 = v27;
    ivec4 v29 = (v0 ^ v1);
    o5 = v29;
    ivec4 v31 = choose(lessThan(uvec4(v1), uvec4(32u)), (v0 << min(uvec4(v1), uvec4(31u))), ivec4(0));
    o6 = v31;
    ivec4 v33 = (v0 >> min(uvec4(v1), uvec4(31u)));
    o7 = v33;
}
