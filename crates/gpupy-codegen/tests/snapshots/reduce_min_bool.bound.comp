#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[5]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { u8vec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1 { uint8_t e[]; } b1;
shared uvec4 partial[256];
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
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
    uvec4 lanes = uvec4(0u);
    for (int n = part; n < count; n += 16) {
        int at = base + n;
        int left = count - 1 - n;
        ivec4 lane = ivec4(0, 1, 2, 3);
        int a0 = (h0 * i0 + at) >> 2;
        bvec4 v0 = notEqual(uvec4(b0x4.e[a0]), uvec4(0u));
        bvec4 v1 = both(v0, v0);
        uvec4 combined = (lanes & uvec4(v1));
        if (n == part) { lanes = uvec4(v1); } else { lanes = combined; }
    }
    partial[local] = lanes;
    memoryBarrierShared(); barrier();
    if (part == 0 && count > 0) {
        uvec4 lanes0 = lanes;
        uvec4 lanes1 = partial[local + 1];
        uvec4 lanes2 = partial[local + 2];
        uvec4 lanes3 = partial[local + 3];
        uvec4 fold8 = (lanes0 & lanes2);
        lanes0 = choose(lessThan(ivec4(8, 9, 10, 11), ivec4(count)), fold8, lanes0);
        uvec4 fold12 = (lanes1 & lanes3);
        lanes1 = choose(lessThan(ivec4(12, 13, 14, 15), ivec4(count)), fold12, lanes1);
        uvec4 fold4 = (lanes0 & lanes1);
        lanes0 = choose(lessThan(ivec4(4, 5, 6, 7), ivec4(count)), fold4, lanes0);
        uvec4 fold2 = (lanes0 & lanes0.zwzw);
        lanes0 = choose(lessThan(ivec4(2, 3, 2, 3), ivec4(count)), fold2, lanes0);
        uvec4 fold1 = (lanes0 & lanes0.yyww);
        lanes0 = choose(lessThan(ivec4(1, 1, 3, 3), ivec4(count)), fold1, lanes0);
        int s0 = point;
        bool v3 = ((lanes0.x != 0u) && (lanes0.x != 0u));
        b1.e[s0] = uint8_t(uint(v3));
    }
}
