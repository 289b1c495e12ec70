#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 1) readonly buffer In_bool { uint8_t e[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Out_bool { uint8_t e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; int k[18]; };
shared bvec4 left[256];
shared bvec4 right[256];
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
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
    int h10 = k[10];
    int h11 = k[11];
    int h12 = k[12];
    int h13 = k[13];
    int h14 = k[14];
    int h15 = k[15];
    int h16 = k[16];
    int h17 = k[17];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int tiles = int(gl_WorkGroupID.x);
    int tile = tiles % h4;
    int column = 64 * tile;
    int above = tiles / h4;
    int row = 64 * (above % h3);
    int stack0 = above / h3;
    int i0 = stack0 % h5;
    int x = local % 16;
    int y = local / 16;
    bvec4 sum0 = bvec4(false);
    bvec4 sum1 = bvec4(false);
    bvec4 sum2 = bvec4(false);
    bvec4 sum3 = bvec4(false);
    for (int base = 0; base < h2; base += 16) {
        for (int e = local; e < 1024; e += 256) {
            int r = e / 16;
            int c = e % 16;
            bool value = false;
            if (row + r < h0 && base + c < h2) { value = (uint(In_bool(b0).e[(h6 + h9 * i0 + h7 * (row + r) + h8 * (base + c))]) != 0u); }
            left[c * 16 + r / 4][r % 4] = value;
        }
        for (int e = local; e < 1024; e += 256) {
            int r = e / 64;
            int c = e % 64;
            bool value = false;
            if (base + r < h2 && column + c < h1) { value = (uint(In_bool(b1).e[(h10 + h13 * i0 + h11 * (base + r) + h12 * (column + c))]) != 0u); }
            right[r * 16 + c / 4][c % 4] = value;
        }
        memoryBarrierShared(); barrier();
        for (int z = 0; z < 16; z += 1) {
            bvec4 a = left[z * 16 + y];
            bvec4 b = right[z * 16 + x];
            sum0 = either(sum0, both(bvec4(a.x), b));
            sum1 = either(sum1, both(bvec4(a.y), b));
            sum2 = either(sum2, both(bvec4(a.z), b));
            sum3 = either(sum3, both(bvec4(a.w), b));
        }
        memoryBarrierShared(); barrier();
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 0 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 0))] = uint8_t(uint(sum0.x)); }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 1 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 1))] = uint8_t(uint(sum0.y)); }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 2 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 2))] = uint8_t(uint(sum0.z)); }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 3 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 3))] = uint8_t(uint(sum0.w)); }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 0 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 0))] = uint8_t(uint(sum1.x)); }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 1 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 1))] = uint8_t(uint(sum1.y)); }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 2 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 2))] = uint8_t(uint(sum1.z)); }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 3 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 3))] = uint8_t(uint(sum1.w)); }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 0 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 0))] = uint8_t(uint(sum2.x)); }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 1 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 1))] = uint8_t(uint(sum2.y)); }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 2 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 2))] = uint8_t(uint(sum2.z)); }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 3 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 3))] = uint8_t(uint(sum2.w)); }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 0 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 0))] = uint8_t(uint(sum3.x)); }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 1 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 1))] = uint8_t(uint(sum3.y)); }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 2 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 2))] = uint8_t(uint(sum3.z)); }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 3 < h1) { Out_bool(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 3))] = uint8_t(uint(sum3.w)); }
}
