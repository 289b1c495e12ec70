#version 400 core
uniform ivec4 k[2];
uniform isampler2D t0;
uniform isampler2D old;
layout(location = 0) out ivec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec2 wrap0(int t) { return ivec2(t & k[0].z, t >> k[0].w); }
int flat0(int e) { return lane(texelFetch(t0, wrap0(e >> 2), 0), e & 3); }
ivec4 flat0(ivec4 e) { return ivec4(flat0(e.x), flat0(e.y), flat0(e.z), flat0(e.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].y + pos.x;
    ivec4 rest0 = 4 * texel + ivec4(0, 1, 2, 3);
    ivec4 i0 = k[0].x - 1 - rest0;
    bvec4 valid = both(greaterThanEqual(rest0, ivec4(0)), lessThan(rest0, ivec4(k[0].x)));
    if (!any(valid)) discard;
    ivec4 kept = texelFetch(old, pos, 0);
    ivec4 v0 = flat0((i0));
    o0 = choose(valid, v0, kept);
}
