#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_float32 { float e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_float32 { float e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; int k[18]; };
shared vec4 left[256];
shared vec4 right[256];
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
    vec4 sum0 = vec4(uintBitsToFloat(0x00000000u));
    vec4 sum1 = vec4(uintBitsToFloat(0x00000000u));
    vec4 sum2 = vec4(uintBitsToFloat(0x00000000u));
    vec4 sum3 = vec4(uintBitsToFloat(0x00000000u));
    for (int base = 0; base < h2; base += 16) {
        for (int e = local; e < 1024; e += 256) {
            int r = e / 16;
            int c = e % 16;
            float value = uintBitsToFloat(0x00000000u);
            if (row + r < h0 && base + c < h2) { value = In_float32(b0).e[(h6 + h9 * i0 + h7 * (row + r) + h8 * (base + c))]; }
            left[c * 16 + r / 4][r % 4] = value;
        }
        for (int e = local; e < 1024; e += 256) {
            int r = e / 64;
            int c = e % 64;
            float value = uintBitsToFloat(0x00000000u);
            if (base + r < h2 && column + c < h1) { value = In_float32(b1).e[(h10 + h13 * i0 + h11 * (base + r) + h12 * (column + c))]; }
            right[r * 16 + c / 4][c % 4] = value;
        }
        memoryBarrierShared(); barrier();
        for (int z = 0; z < 16; z += 1) {
            vec4 a = left[z * 16 + y];
            vec4 b = right[z * 16 + x];
            sum0 = sum0 + vec4(a.x) * b;
            sum1 = sum1 + vec4(a.y) * b;
            sum2 = sum2 + vec4(a.z) * b;
            sum3 = sum3 + vec4(a.w) * b;
        }
        memoryBarrierShared(); barrier();
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 0 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 0))] = sum0.x; }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 1 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 1))] = sum0.y; }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 2 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 2))] = sum0.z; }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 3 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 0) + h16 * (column + 4 * x + 3))] = sum0.w; }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 0 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 0))] = sum1.x; }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 1 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 1))] = sum1.y; }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 2 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 2))] = sum1.z; }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 3 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 1) + h16 * (column + 4 * x + 3))] = sum1.w; }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 0 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 0))] = sum2.x; }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 1 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 1))] = sum2.y; }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 2 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 2))] = sum2.z; }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 3 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 2) + h16 * (column + 4 * x + 3))] = sum2.w; }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 0 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 0))] = sum3.x; }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 1 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 1))] = sum3.y; }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 2 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 2))] = sum3.z; }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 3 < h1) { Out_float32(b2).e[(h14 + h17 * i0 + h15 * (row + 4 * y + 3) + h16 * (column + 4 * x + 3))] = sum3.w; }
}
