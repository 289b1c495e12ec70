#version 400 core
uniform ivec4 k[2];
uniform usampler2D t0;
layout(location = 0) out uvec4 o0;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec2 wrap0(int t) { return ivec2(t & k[1].x, t >> k[1].y); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].z + pos.x;
    int rest0 = 4 * texel;
    int restq0 = quotient(rest0, k[0].x, intBitsToFloat(k[0].y));
    int rest1 = rest0 - restq0 * k[0].x;
    int i0 = restq0;
    int run = rest1;
    uvec4 q0 = uvec4(0);
    for (int c = 0; c < 4; c += 1) {
        int i1 = run + c;
        int base = 256 * i1;
        int count = min(k[1].w - base, 256);
        uvec4 lanes0 = uvec4(0u);
        uvec4 lanes1 = uvec4(0u);
        uvec4 lanes2 = uvec4(0u);
        uvec4 lanes3 = uvec4(0u);
        for (int part = 0; part < 16; part += 4) {
            uvec4 lanes = uvec4(0u);
            for (int n = part; n < count; n += 16) {
                ivec4 at = base + n + ivec4(0, 1, 2, 3);
                bvec4 v0 = notEqual(texelFetch(t0, wrap0(((k[0].w * i0 + at.x) >> 2) + 0), 0), uvec4(0u));
                bvec4 v1 = both(v0, v0);
                bvec4 exists = lessThan(n + ivec4(0, 1, 2, 3), ivec4(count));
                uvec4 both_lanes = (lanes & uvec4(v1));
                if (n == part) lanes = uvec4(v1); else lanes = choose(exists, both_lanes, lanes);
            }
            if (part == 0) lanes0 = lanes; else if (part == 4) lanes1 = lanes; else if (part == 8) lanes2 = lanes; else lanes3 = lanes;
        }
        uvec4 fold8 = (lanes0 & lanes2);
        lanes0 = choose(lessThan(ivec4(8, 9, 10, 11), ivec4(count)), fold8, lanes0);
        uvec4 fold12 = (lanes1 & lanes3);
        lanes1 = choose(lessThan(ivec4(12, 13, 14, 15), ivec4(count)), fold12, lanes1);
        uvec4 fold4 = (lanes0 & lanes1);
        lanes0 = choose(lessThan(ivec4(4, 5, 6, 7), ivec4(count)), fold4, lanes0);
        uvec4 fold2 = (lanes0 & lanes0.zwzw);
        lanes0 = choose(lessThan(ivec4(2, 3, 2, 3), ivec4(count)), fold2, lanes0);
        uvec4 fold1 = (lanes0 & lanes0.yyww);
        lanes0 = choose(lessThan(ivec4(1, 1, 3, 3), ivec4(count)), fold1, lanes0);
        bool v3 = ((lanes0.x != 0u) && (lanes0.x != 0u));
        if (c == 0) q0.x = uint(v3); else if (c == 1) q0.y = uint(v3); else if (c == 2) q0.z = uint(v3); else q0.w = uint(v3);
    }
    o0 = q0;
}
