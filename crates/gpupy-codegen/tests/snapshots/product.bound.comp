#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[19]; };
layout(binding = 1, std430) readonly buffer Bb0 { float e[]; } b0;
layout(binding = 2, std430) readonly buffer Bb1 { float e[]; } b1;
layout(binding = 3, std430) buffer Bb2 { float e[]; } b2;
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
    int h18 = k[18];
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int tiles = int(gl_WorkGroupID.x);
    int tile = tiles % h4;
    int column = 64 * tile;
    int above = tiles / h4;
    int row = 64 * (above % h3);
    int stack0 = above / h3;
    int i0 = stack0 % h6;
    int x = local % 16;
    int y = local / 16;
    vec4 total0 = vec4(uintBitsToFloat(0x00000000u));
    vec4 total1 = vec4(uintBitsToFloat(0x00000000u));
    vec4 total2 = vec4(uintBitsToFloat(0x00000000u));
    vec4 total3 = vec4(uintBitsToFloat(0x00000000u));
    int terms = h2;
    for (int first = 0; first < terms; first += 256) {
        vec4 sum0 = vec4(uintBitsToFloat(0x00000000u));
        vec4 sum1 = vec4(uintBitsToFloat(0x00000000u));
        vec4 sum2 = vec4(uintBitsToFloat(0x00000000u));
        vec4 sum3 = vec4(uintBitsToFloat(0x00000000u));
        int until = min(terms, first + 256);
        for (int base = first; base < until; base += 16) {
            for (int e = local; e < 1024; e += 256) {
                int r = e / 16;
                int c = e % 16;
                float value = uintBitsToFloat(0x00000000u);
                if (row + r < h0 && base + c < terms) { value = b0.e[(h7 + h10 * i0 + h8 * (row + r) + h9 * (base + c))]; }
                left[c * 16 + r / 4][r % 4] = value;
            }
            for (int e = local; e < 1024; e += 256) {
                int r = e / 64;
                int c = e % 64;
                float value = uintBitsToFloat(0x00000000u);
                if (base + r < terms && column + c < h1) { value = b1.e[(h11 + h14 * i0 + h12 * (base + r) + h13 * (column + c))]; }
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
        total0 = (total0 + sum0);
        total1 = (total1 + sum1);
        total2 = (total2 + sum2);
        total3 = (total3 + sum3);
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 0 < h1) {
        float value = total0.x;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 0))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 0))] = value;
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 1 < h1) {
        float value = total0.y;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 1))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 1))] = value;
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 2 < h1) {
        float value = total0.z;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 2))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 2))] = value;
    }
    if (row + 4 * y + 0 < h0 && column + 4 * x + 3 < h1) {
        float value = total0.w;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 3))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 0) + h17 * (column + 4 * x + 3))] = value;
    }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 0 < h1) {
        float value = total1.x;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 0))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 0))] = value;
    }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 1 < h1) {
        float value = total1.y;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 1))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 1))] = value;
    }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 2 < h1) {
        float value = total1.z;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 2))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 2))] = value;
    }
    if (row + 4 * y + 1 < h0 && column + 4 * x + 3 < h1) {
        float value = total1.w;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 3))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 1) + h17 * (column + 4 * x + 3))] = value;
    }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 0 < h1) {
        float value = total2.x;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 0))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 0))] = value;
    }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 1 < h1) {
        float value = total2.y;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 1))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 1))] = value;
    }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 2 < h1) {
        float value = total2.z;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 2))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 2))] = value;
    }
    if (row + 4 * y + 2 < h0 && column + 4 * x + 3 < h1) {
        float value = total2.w;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 3))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 2) + h17 * (column + 4 * x + 3))] = value;
    }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 0 < h1) {
        float value = total3.x;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 0))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 0))] = value;
    }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 1 < h1) {
        float value = total3.y;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 1))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 1))] = value;
    }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 2 < h1) {
        float value = total3.z;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 2))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 2))] = value;
    }
    if (row + 4 * y + 3 < h0 && column + 4 * x + 3 < h1) {
        float value = total3.w;
        if (h5 != 0) { value = (value + b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 3))]); }
        b2.e[(h15 + h18 * i0 + h16 * (row + 4 * y + 3) + h17 * (column + 4 * x + 3))] = value;
    }
}
