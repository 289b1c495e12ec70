#version 400 core
uniform ivec4 k[2];
uniform isampler2D t0;
layout(location = 0) out ivec4 o0;
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec2 wrap0(int t) { return ivec2(t & k[1].x, t >> k[1].y); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x - k[0].y;
    ivec4 number = 4 * texel + ivec4(0, 1, 2, 3);
    bvec4 valid = both(greaterThanEqual(number, ivec4(0)), lessThan(number, ivec4(k[0].z)));
    if (!valid.x) discard;
    ivec4 f0 = texelFetch(t0, wrap0(texel + k[0].w), 0);
    ivec4 v0 = f0;
    o0 = v0;
}
