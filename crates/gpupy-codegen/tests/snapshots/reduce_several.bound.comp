#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[5]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { vec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1 { float e[]; } b1;
layout(binding = 3, std430) buffer Bb2 { float e[]; } b2;
layout(binding = 4, std430) buffer Bb3 { float e[]; } b3;
layout(binding = 5, std430) buffer Bb4 { uint8_t e[]; } b4;
shared vec4 partial[256];
shared vec4 partial_1[256];
shared vec4 partial_2[256];
shared uvec4 partial_3[256];
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }
void main() {
    int h0 = k[0];
    int h1 = k[1];
    int h2 = k[2];
    int h3 = k[3];
    int h4 = k[4];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int point = t >> 2;
    int q0 = quotient(point, h3, intBitsToFloat(h4));
    int rest0 = point - q0 * h3;
    int i0 = q0;
    int i1 = rest0;
    int base = 256 * i1;
    int count = ((point < h2) ? min(h1 - base, 256) : 0);
    int part = 4 * (t & 3);
    precise vec4 lanes = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes_1 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes_2 = vec4(uintBitsToFloat(0x00000000u));
    uvec4 lanes_3 = uvec4(0u);
    for (int n = part; n < count; n += 16) {
        int at = base + n;
        int left = count - 1 - n;
        ivec4 lane = ivec4(0, 1, 2, 3);
        int a0 = (h0 * i0 + at) >> 2;
        precise vec4 v0 = b0x4.e[a0];
        precise vec4 v1 = (v0 * v0);
        bvec4 v2 = notEqual((floatBitsToUint(v0) & uvec4(0x80000000u)), uvec4(0u));
        precise vec4 combined = (lanes + v0);
        if (n == part) { lanes = v0; } else { lanes = combined; }
        precise vec4 combined_1 = mix(v0, lanes_1, either(greaterThan(lanes_1, v0), isnan(lanes_1)));
        if (n == part) { lanes_1 = v0; } else { lanes_1 = combined_1; }
        precise vec4 combined_2 = (lanes_2 + v1);
        if (n == part) { lanes_2 = v1; } else { lanes_2 = combined_2; }
        uvec4 combined_3 = (lanes_3 | uvec4(v2));
        if (n == part) { lanes_3 = uvec4(v2); } else { lanes_3 = combined_3; }
    }
    partial[local] = lanes;
    partial_1[local] = lanes_1;
    partial_2[local] = lanes_2;
    partial_3[local] = lanes_3;
    memoryBarrierShared(); barrier();
    if (part == 0 && count > 0) {
        precise vec4 lanes0 = lanes;
        precise vec4 lanes1 = partial[local + 1];
        precise vec4 lanes2 = partial[local + 2];
        precise vec4 lanes3 = partial[local + 3];
        precise vec4 lanes0_1 = lanes_1;
        precise vec4 lanes1_1 = partial_1[local + 1];
        precise vec4 lanes2_1 = partial_1[local + 2];
        precise vec4 lanes3_1 = partial_1[local + 3];
        precise vec4 lanes0_2 = lanes_2;
        precise vec4 lanes1_2 = partial_2[local + 1];
        precise vec4 lanes2_2 = partial_2[local + 2];
        precise vec4 lanes3_2 = partial_2[local + 3];
        uvec4 lanes0_3 = lanes_3;
        uvec4 lanes1_3 = partial_3[local + 1];
        uvec4 lanes2_3 = partial_3[local + 2];
        uvec4 lanes3_3 = partial_3[local + 3];
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
        int s0 = point;
        int s1 = point;
        int s2 = point;
        int s3 = point;
        precise float v7 = (lanes0_2.x - lanes0.x);
        b1.e[s0] = v7;
        b2.e[s1] = lanes0_1.x;
        b3.e[s2] = lanes0_2.x;
        b4.e[s3] = uint8_t(uint((lanes0_3.x != 0u)));
    }
}
