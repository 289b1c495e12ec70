#version 400 core
uniform ivec4 k[3];
uniform isampler2D t0;
uniform isampler2D old;
layout(location = 0) out ivec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
ivec2 wrap0(int t) { return ivec2(t & k[2].x, t >> k[2].y); }
int flat0(int e) { return lane(texelFetch(t0, wrap0(e >> 2), 0), e & 3); }
ivec4 flat0(ivec4 e) { return ivec4(flat0(e.x), flat0(e.y), flat0(e.z), flat0(e.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int rowq0 = quotient(row0, k[0].x, intBitsToFloat(k[0].y));
    int row1 = row0 - rowq0 * k[0].x;
    int i0 = rowq0;
    bool row_valid = (((rowq0 >= 0) && (rowq0 < k[0].z)) && (row1 == 0));
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3) - k[0].w;
    ivec4 colq0 = quotient(col0, k[1].x, intBitsToFloat(k[1].y));
    ivec4 col1 = col0 - colq0 * k[1].x;
    ivec4 i1 = colq0;
    bvec4 valid = both(bvec4(row_valid), both(both(greaterThanEqual(colq0, ivec4(0)), lessThan(colq0, ivec4(k[1].z))), equal(col1, ivec4(0))));
    if (!any(valid)) discard;
    ivec4 kept = texelFetch(old, pos, 0);
    ivec4 v0 = flat0((k[1].w * i0 + i1));
    o0 = choose(valid, v0, kept);
}
