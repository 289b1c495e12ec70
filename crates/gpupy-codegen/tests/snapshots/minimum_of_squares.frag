#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
layout(location = 0) out ivec4 o0;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    ivec4 v0 = f0;
    precise vec4 v1 = vec4(v0);
    precise vec4 v3 = (v1 - vec4(intBitsToFloat(k[0].y)));
    precise vec4 v4 = (v3 * v3);
    precise vec4 v6 = (v1 - vec4(intBitsToFloat(k[0].z)));
    precise vec4 v7 = (v6 * v6);
    precise vec4 v8 = mix(v7, v4, lessThan(v4, v7));
    ivec4 v9 = choose(both(greaterThan(v8, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v8, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v8), ivec4(int(0x80000000u)));
    o0 = v9;
}
