#version 400 core
uniform ivec4 k[2];
layout(location = 0) out ivec4 o0;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[1].x + pos.x;
    int rest0 = 4 * texel;
    int restq0 = quotient(rest0, k[0].x, intBitsToFloat(k[0].y));
    int rest1 = rest0 - restq0 * k[0].x;
    int i0 = restq0;
    int restq1 = quotient(rest1, k[0].z, intBitsToFloat(k[0].w));
    int rest2 = rest1 - restq1 * k[0].z;
    int i1 = restq1;
    int run = rest2;
    ivec4 i2 = run + ivec4(0, 1, 2, 3);
    ivec4 v0 = ivec4((i0));
    ivec4 v1 = ivec4((k[1].y * i1));
    ivec4 v2 = (v0 + v1);
    ivec4 v3 = (k[1].z * i2);
    ivec4 v4 = (v2 + v3);
    o0 = v4;
}
