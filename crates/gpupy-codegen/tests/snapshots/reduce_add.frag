#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
ivec2 wrap0(int t) { return ivec2(t & k[1].x, t >> k[1].y); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].z + pos.x;
    int rest0 = 4 * texel;
    int restq0 = quotient(rest0, k[0].x, intBitsToFloat(k[0].y));
    int rest1 = rest0 - restq0 * k[0].x;
    int i0 = restq0;
    int run = rest1;
    vec4 q0 = vec4(0);
    for (int c = 0; c < 4; c += 1) {
        int i1 = run + c;
        int base = 256 * i1;
        int count = min(k[1].w - base, 256);
        precise vec4 lanes0 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes2 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes3 = vec4(uintBitsToFloat(0x00000000u));
        for (int part = 0; part < 16; part += 4) {
            precise vec4 lanes = vec4(uintBitsToFloat(0x00000000u));
            for (int n = part; n < count; n += 16) {
                ivec4 at = base + n + ivec4(0, 1, 2, 3);
                precise vec4 v0 = texelFetch(t0, wrap0(((k[0].w * i0 + at.x) >> 2) + 0), 0);
                precise vec4 v1 = (v0 + v0);
                bvec4 exists = lessThan(n + ivec4(0, 1, 2, 3), ivec4(count));
                precise vec4 both_lanes = (lanes + v1);
                if (n == part) lanes = v1; else lanes = mix(lanes, both_lanes, exists);
            }
            if (part == 0) lanes0 = lanes; else if (part == 4) lanes1 = lanes; else if (part == 8) lanes2 = lanes; else lanes3 = lanes;
        }
        precise vec4 fold8 = (lanes0 + lanes2);
        lanes0 = mix(lanes0, fold8, lessThan(ivec4(8, 9, 10, 11), ivec4(count)));
        precise vec4 fold12 = (lanes1 + lanes3);
        lanes1 = mix(lanes1, fold12, lessThan(ivec4(12, 13, 14, 15), ivec4(count)));
        precise vec4 fold4 = (lanes0 + lanes1);
        lanes0 = mix(lanes0, fold4, lessThan(ivec4(4, 5, 6, 7), ivec4(count)));
        precise vec4 fold2 = (lanes0 + lanes0.zwzw);
        lanes0 = mix(lanes0, fold2, lessThan(ivec4(2, 3, 2, 3), ivec4(count)));
        precise vec4 fold1 = (lanes0 + lanes0.yyww);
        lanes0 = mix(lanes0, fold1, lessThan(ivec4(1, 1, 3, 3), ivec4(count)));
        precise float v3 = (lanes0.x + lanes0.x);
        if (c == 0) q0.x = v3; else if (c == 1) q0.y = v3; else if (c == 2) q0.z = v3; else q0.w = v3;
    }
    o0 = q0;
}
