#version 400 core
uniform ivec4 k[2];
layout(location = 0) out ivec4 o0;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int rowq0 = quotient(row0, k[0].x, intBitsToFloat(k[0].y));
    int row1 = row0 - rowq0 * k[0].x;
    int i0 = rowq0;
    int i1 = row1;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i2 = col0;
    ivec4 v0 = ivec4((i0));
    ivec4 v1 = ivec4((k[1].y * i1));
    ivec4 v2 = (v0 + v1);
    ivec4 v3 = (k[1].z * i2);
    ivec4 v4 = (v2 + v3);
    o0 = v4;
}
