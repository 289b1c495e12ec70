#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[7]; };
layout(binding = 1, std430) readonly buffer Bb0 { float e[]; } b0;
layout(binding = 2, std430) buffer Bb1 { float e[]; } b1;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int h0 = k[0];
    int h1 = k[1];
    int h2 = k[2];
    int h3 = k[3];
    int h4 = k[4];
    int h5 = k[5];
    int h6 = k[6];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= h4) { return; }
    int q0 = quotient(t, h5, intBitsToFloat(h6));
    int rest0 = t - q0 * h5;
    int i1 = q0;
    int i0 = rest0;
    int base = 256 * i1;
    int count = min(h3 - base, 256);
    precise vec4 lanes0 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes1 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes2 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes3 = vec4(uintBitsToFloat(0x00000000u));
    for (int part = 0; part < 16; part += 4) {
        precise vec4 lanes = vec4(uintBitsToFloat(0x00000000u));
        for (int n = part; n < count; n += 16) {
            int at = base + n;
            int left = count - 1 - n;
            ivec4 lane = ivec4(0, 1, 2, 3);
            ivec4 a0 = ((i0 + h0 * at)) + h1 * lane;
            precise vec4 v0 = vec4(b0.e[a0.x], b0.e[a0.y], b0.e[a0.z], b0.e[a0.w]);
            precise vec4 combined = mix(v0, lanes, either(greaterThan(lanes, v0), isnan(lanes)));
            if (n == part) { lanes = v0; } else { lanes = combined; }
        }
        if (part == 0) { lanes0 = lanes; }
        if (part == 4) { lanes1 = lanes; }
        if (part == 8) { lanes2 = lanes; }
        if (part == 12) { lanes3 = lanes; }
    }
    precise vec4 fold8 = mix(lanes2, lanes0, either(greaterThan(lanes0, lanes2), isnan(lanes0)));
    lanes0 = mix(lanes0, fold8, lessThan(ivec4(8, 9, 10, 11), ivec4(count)));
    precise vec4 fold12 = mix(lanes3, lanes1, either(greaterThan(lanes1, lanes3), isnan(lanes1)));
    lanes1 = mix(lanes1, fold12, lessThan(ivec4(12, 13, 14, 15), ivec4(count)));
    precise vec4 fold4 = mix(lanes1, lanes0, either(greaterThan(lanes0, lanes1), isnan(lanes0)));
    lanes0 = mix(lanes0, fold4, lessThan(ivec4(4, 5, 6, 7), ivec4(count)));
    precise vec4 fold2 = mix(lanes0.zwzw, lanes0, either(greaterThan(lanes0, lanes0.zwzw), isnan(lanes0)));
    lanes0 = mix(lanes0, fold2, lessThan(ivec4(2, 3, 2, 3), ivec4(count)));
    precise vec4 fold1 = mix(lanes0.yyww, lanes0, either(greaterThan(lanes0, lanes0.yyww), isnan(lanes0)));
    lanes0 = mix(lanes0, fold1, lessThan(ivec4(1, 1, 3, 3), ivec4(count)));
    int s0 = (i0 + h2 * i1);
    b1.e[s0] = lanes0.x;
}
