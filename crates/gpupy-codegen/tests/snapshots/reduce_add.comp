#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_float32 { float e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[5]; };
shared vec4 partial[256];
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
    for (int n = part; n < count; n += 16) {
        int at = base + n;
        int left = count - 1 - n;
        ivec4 lane = ivec4(0, 1, 2, 3);
        int a0 = (h0 * i0 + at) >> 2;
        precise vec4 v0 = In_float32x4(b0).e[a0];
        precise vec4 v1 = (v0 + v0);
        precise vec4 combined = (lanes + v1);
        if (n == part) { lanes = v1; } else { lanes = combined; }
    }
    partial[local] = lanes;
    memoryBarrierShared(); barrier();
    if (part == 0 && count > 0) {
        precise vec4 lanes0 = lanes;
        precise vec4 lanes1 = partial[local + 1];
        precise vec4 lanes2 = partial[local + 2];
        precise vec4 lanes3 = partial[local + 3];
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
        int s0 = point;
        precise float v3 = (lanes0.x + lanes0.x);
        Out_float32(b1).e[s0] = v3;
    }
}
