#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
uniform sampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out ivec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out vec4 o5;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 uint_of_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = choose(lessThan(uvec4(23u), uvec4(32u)), (v3 >> min(uvec4(23u), uvec4(31u))), uvec4(0u));
    uvec4 v8 = (v3 & uvec4(0x7fffffu));
    uvec4 v10 = (v8 | uvec4(0x800000u));
    uvec4 v11 = v10;
    ivec4 v12 = ivec4(v6);
    ivec4 v14 = (v12 - ivec4(150));
    ivec4 v15 = (-v14);
    uvec4 v16 = uvec4(v14);
    uvec4 v17 = uvec4(v15);
    uvec4 v18 = choose(lessThan(v16, uvec4(32u)), (v11 << min(v16, uvec4(31u))), uvec4(0u));
    uvec4 v19 = choose(lessThan(v17, uvec4(32u)), (v11 >> min(v17, uvec4(31u))), uvec4(0u));
    uvec4 v20 = (v18 | v19);
    bvec4 v22 = notEqual(v4, uvec4(0u));
    uvec4 v23 = (uvec4(0u) - v20);
    uvec4 v24 = choose(v22, v23, v20);
    return v24;
}
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    vec4 f1 = texelFetch(t1, pos, 0);
    uvec4 f2 = texelFetch(t2, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v1 = f1;
    bvec4 v2 = notEqual(f2, uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    o0 = uvec4(v51);
    precise vec4 v53 = mix(v1, v0, v2);
    o1 = v53;
    bvec4 v55 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    o2 = uvec4(v55);
    ivec4 v57 = choose(both(greaterThan(v0, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v0, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v0), ivec4(int(0x80000000u)));
    o3 = v57;
    uvec4 v59 = uint_of_float32_four(v0);
    o4 = v59;
    precise vec4 v61 = v0;
    o5 = v61;
}
