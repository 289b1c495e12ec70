#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_float32 { float e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_float32 { float e[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Out_bool { uint8_t e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; int k[10]; };
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
    int h5 = k[5];
    int h6 = k[6];
    int h7 = k[7];
    int h8 = k[8];
    int h9 = k[9];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= h7) { return; }
    int q0 = quotient(t, h8, intBitsToFloat(h9));
    int rest0 = t - q0 * h8;
    int i1 = q0;
    int i0 = rest0;
    int base = 256 * i1;
    int count = min(h6 - base, 256);
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
            int at = base + n;
            int left = count - 1 - n;
            ivec4 lane = ivec4(0, 1, 2, 3);
            ivec4 a0 = ((i0 + h0 * at)) + h1 * lane;
            precise vec4 v0 = vec4(In_float32(b0).e[a0.x], In_float32(b0).e[a0.y], In_float32(b0).e[a0.z], In_float32(b0).e[a0.w]);
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
        if (part == 0) { lanes0 = lanes; }
        if (part == 4) { lanes1 = lanes; }
        if (part == 8) { lanes2 = lanes; }
        if (part == 12) { lanes3 = lanes; }
        if (part == 0) { lanes0_1 = lanes_1; }
        if (part == 4) { lanes1_1 = lanes_1; }
        if (part == 8) { lanes2_1 = lanes_1; }
        if (part == 12) { lanes3_1 = lanes_1; }
        if (part == 0) { lanes0_2 = lanes_2; }
        if (part == 4) { lanes1_2 = lanes_2; }
        if (part == 8) { lanes2_2 = lanes_2; }
        if (part == 12) { lanes3_2 = lanes_2; }
        if (part == 0) { lanes0_3 = lanes_3; }
        if (part == 4) { lanes1_3 = lanes_3; }
        if (part == 8) { lanes2_3 = lanes_3; }
        if (part == 12) { lanes3_3 = lanes_3; }
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
    int s0 = (i0 + h2 * i1);
    int s1 = (i0 + h3 * i1);
    int s2 = (i0 + h4 * i1);
    int s3 = (i0 + h5 * i1);
    precise float v7 = (lanes0_2.x - lanes0.x);
    Out_float32(b1).e[s0] = v7;
    Out_float32(b2).e[s1] = lanes0_1.x;
    Out_float32(b3).e[s2] = lanes0_2.x;
    Out_bool(b4).e[s3] = uint8_t(uint((lanes0_3.x != 0u)));
}
