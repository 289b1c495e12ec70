#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
ivec2 wrap0(int t) { int y = quotient(t, k[1].y, intBitsToFloat(k[1].z)); return ivec2(t - y * k[1].y, y); }
float flat0(int e) { return lane(texelFetch(t0, wrap0(e >> 2), 0), e & 3); }
vec4 flat0(ivec4 e) { return vec4(flat0(e.x), flat0(e.y), flat0(e.z), flat0(e.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int i0 = row0;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i1 = col0;
    precise vec4 v0 = flat0((k[0].z + k[0].w * i0 + k[1].x * i1));
    o0 = v0;
}
