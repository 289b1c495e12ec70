#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out vec4 o2;
layout(location = 3) out uvec4 o3;
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
ivec4 quotient(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
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
    vec4 q0 = vec4(0);
    vec4 q1 = vec4(0);
    vec4 q2 = vec4(0);
    uvec4 q3 = uvec4(0);
    for (int c = 0; c < 4; c += 1) {
        int i1 = run + c;
        int base = 256 * i1;
        int count = min(k[1].w - base, 256);
        precise vec4 lanes0 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes2 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes3 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes0_1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes1_1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes2_1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes3_1 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes0_2 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes1_2 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes2_2 = vec4(uintBitsToFloat(0x00000000u));
        precise vec4 lanes3_2 = vec4(uintBitsToFloat(0x00000000u));
        uvec4 lanes0_3 = uvec4(0u);
        uvec4 lanes1_3 = uvec4(0u);
        uvec4 lanes2_3 = uvec4(0u);
        uvec4 lanes3_3 = uvec4(0u);
        for (int part = 0; part < 16; part += 4) {
            precise vec4 lanes = vec4(uintBitsToFloat(0x00000000u));
            precise vec4 lanes_1 = vec4(uintBitsToFloat(0x00000000u));
            precise vec4 lanes_2 = vec4(uintBitsToFloat(0x00000000u));
            uvec4 lanes_3 = uvec4(0u);
            for (int n = part; n < count; n += 16) {
                ivec4 at = base + n + ivec4(0, 1, 2, 3);
                precise vec4 v0 = texelFetch(t0, wrap0(((k[0].w * i0 + at.x) >> 2) + 0), 0);
                precise vec4 v1 = (v0 * v0);
                bvec4 v2 = notEqual((floatBitsToUint(v0) & uvec4(0x80000000u)), uvec4(0u));
                bvec4 exists = lessThan(n + ivec4(0, 1, 2, 3), ivec4(count));
                precise vec4 both_lanes = (lanes + v0);
                if (n == part) lanes = v0; else lanes = mix(lanes, both_lanes, exists);
                precise vec4 both_lanes_1 = mix(v0, lanes_1, either(greaterThan(lanes_1, v0), isnan(lanes_1)));
                if (n == part) lanes_1 = v0; else lanes_1 = mix(lanes_1, both_lanes_1, exists);
                precise vec4 both_lanes_2 = (lanes_2 + v1);
                if (n == part) lanes_2 = v1; else lanes_2 = mix(lanes_2, both_lanes_2, exists);
                uvec4 both_lanes_3 = (lanes_3 | uvec4(v2));
                if (n == part) lanes_3 = uvec4(v2); else lanes_3 = choose(exists, both_lanes_3, lanes_3);
            }
            if (part == 0) lanes0 = lanes; else if (part == 4) lanes1 = lanes; else if (part == 8) lanes2 = lanes; else lanes3 = lanes;
            if (part == 0) lanes0_1 = lanes_1; else if (part == 4) lanes1_1 = lanes_1; else if (part == 8) lanes2_1 = lanes_1; else lanes3_1 = lanes_1;
            if (part == 0) lanes0_2 = lanes_2; else if (part == 4) lanes1_2 = lanes_2; else if (part == 8) lanes2_2 = lanes_2; else lanes3_2 = lanes_2;
            if (part == 0) lanes0_3 = lanes_3; else if (part == 4) lanes1_3 = lanes_3; else if (part == 8) lanes2_3 = lanes_3; else lanes3_3 = lanes_3;
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
        precise vec4 fold8_1 = mix(lanes2_1, lanes0_1, either(greaterThan(lanes0_1, lanes2_1), isnan(lanes0_1)));
        lanes0_1 = mix(lanes0_1, fold8_1, lessThan(ivec4(8, 9, 10, 11), ivec4(count)));
        precise vec4 fold12_1 = mix(lanes3_1, lanes1_1, either(greaterThan(lanes1_1, lanes3_1), isnan(lanes1_1)));
        lanes1_1 = mix(lanes1_1, fold12_1, lessThan(ivec4(12, 13, 14, 15), ivec4(count)));
        precise vec4 fold4_1 = mix(lanes1_1, lanes0_1, either(greaterThan(lanes0_1, lanes1_1), isnan(lanes0_1)));
        lanes0_1 = mix(lanes0_1, fold4_1, lessThan(ivec4(4, 5, 6, 7), ivec4(count)));
        precise vec4 fold2_1 = mix(lanes0_1.zwzw, lanes0_1, either(greaterThan(lanes0_1, lanes0_1.zwzw), isnan(lanes0_1)));
        lanes0_1 = mix(lanes0_1, fold2_1, lessThan(ivec4(2, 3, 2, 3), ivec4(count)));
        precise vec4 fold1_1 = mix(lanes0_1.yyww, lanes0_1, either(greaterThan(lanes0_1, lanes0_1.yyww), isnan(lanes0_1)));
        lanes0_1 = mix(lanes0_1, fold1_1, lessThan(ivec4(1, 1, 3, 3), ivec4(count)));
        precise vec4 fold8_2 = (lanes0_2 + lanes2_2);
        lanes0_2 = mix(lanes0_2, fold8_2, lessThan(ivec4(8, 9, 10, 11), ivec4(count)));
        precise vec4 fold12_2 = (lanes1_2 + lanes3_2);
        lanes1_2 = mix(lanes1_2, fold12_2, lessThan(ivec4(12, 13, 14, 15), ivec4(count)));
        precise vec4 fold4_2 = (lanes0_2 + lanes1_2);
        lanes0_2 = mix(lanes0_2, fold4_2, lessThan(ivec4(4, 5, 6, 7), ivec4(count)));
        precise vec4 fold2_2 = (lanes0_2 + lanes0_2.zwzw);
        lanes0_2 = mix(lanes0_2, fold2_2, lessThan(ivec4(2, 3, 2, 3), ivec4(count)));
        precise vec4 fold1_2 = (lanes0_2 + lanes0_2.yyww);
        lanes0_2 = mix(lanes0_2, fold1_2, lessThan(ivec4(1, 1, 3, 3), ivec4(count)));
        uvec4 fold8_3 = (lanes0_3 | lanes2_3);
        lanes0_3 = choose(lessThan(ivec4(8, 9, 10, 11), ivec4(count)), fold8_3, lanes0_3);
        uvec4 fold12_3 = (lanes1_3 | lanes3_3);
        lanes1_3 = choose(lessThan(ivec4(12, 13, 14, 15), ivec4(count)), fold12_3, lanes1_3);
        uvec4 fold4_3 = (lanes0_3 | lanes1_3);
        lanes0_3 = choose(lessThan(ivec4(4, 5, 6, 7), ivec4(count)), fold4_3, lanes0_3);
        uvec4 fold2_3 = (lanes0_3 | lanes0_3.zwzw);
        lanes0_3 = choose(lessThan(ivec4(2, 3, 2, 3), ivec4(count)), fold2_3, lanes0_3);
        uvec4 fold1_3 = (lanes0_3 | lanes0_3.yyww);
        lanes0_3 = choose(lessThan(ivec4(1, 1, 3, 3), ivec4(count)), fold1_3, lanes0_3);
        precise float v7 = (lanes0_2.x - lanes0.x);
        if (c == 0) q0.x = v7; else if (c == 1) q0.y = v7; else if (c == 2) q0.z = v7; else q0.w = v7;
        if (c == 0) q1.x = lanes0_1.x; else if (c == 1) q1.y = lanes0_1.x; else if (c == 2) q1.z = lanes0_1.x; else q1.w = lanes0_1.x;
        if (c == 0) q2.x = lanes0_2.x; else if (c == 1) q2.y = lanes0_2.x; else if (c == 2) q2.z = lanes0_2.x; else q2.w = lanes0_2.x;
        if (c == 0) q3.x = uint((lanes0_3.x != 0u)); else if (c == 1) q3.y = uint((lanes0_3.x != 0u)); else if (c == 2) q3.z = uint((lanes0_3.x != 0u)); else q3.w = uint((lanes0_3.x != 0u));
    }
    o0 = q0;
    o1 = q1;
    o2 = q2;
    o3 = q3;
}
