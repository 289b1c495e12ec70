#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_uint32x4 { uvec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[10]; };
int floor_div(int a, int b) { uint x = a < 0 ? 0u - uint(a) : uint(a); uint y = b < 0 ? 0u - uint(b) : uint(b); uint d = y == 0u ? 1u : y; uint q = (a < 0) != (b < 0) ? 0u - (x / d + (x % d != 0u ? 1u : 0u)) : x / d; return y == 0u ? 0 : int(q); }
uint floor_div(uint a, uint b) { return b == 0u ? 0u : a / (b == 0u ? 1u : b); }
ivec4 floor_div(ivec4 a, ivec4 b) { return ivec4(floor_div(a.x, b.x), floor_div(a.y, b.y), floor_div(a.z, b.z), floor_div(a.w, b.w)); }
uvec4 floor_div(uvec4 a, uvec4 b) { return uvec4(floor_div(a.x, b.x), floor_div(a.y, b.y), floor_div(a.z, b.z), floor_div(a.w, b.w)); }
int floor_mod(int a, int b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }
uint floor_mod(uint a, uint b) { return b == 0u ? 0u : a % (b == 0u ? 1u : b); }
ivec4 floor_mod(ivec4 a, ivec4 b) { return ivec4(floor_mod(a.x, b.x), floor_mod(a.y, b.y), floor_mod(a.z, b.z), floor_mod(a.w, b.w)); }
uvec4 floor_mod(uvec4 a, uvec4 b) { return uvec4(floor_mod(a.x, b.x), floor_mod(a.y, b.y), floor_mod(a.z, b.z), floor_mod(a.w, b.w)); }
int shift_left(int a, int b) { return uint(b) < 32u ? a << (b & 31) : 0; }
uint shift_left(uint a, uint b) { return b < 32u ? a << (b & 31u) : 0u; }
ivec4 shift_left(ivec4 a, ivec4 b) { return ivec4(shift_left(a.x, b.x), shift_left(a.y, b.y), shift_left(a.z, b.z), shift_left(a.w, b.w)); }
uvec4 shift_left(uvec4 a, uvec4 b) { return uvec4(shift_left(a.x, b.x), shift_left(a.y, b.y), shift_left(a.z, b.z), shift_left(a.w, b.w)); }
int shift_right(int a, int b) { return a >> (uint(b) < 32u ? b & 31 : 31); }
uint shift_right(uint a, uint b) { return b < 32u ? a >> (b & 31u) : 0u; }
ivec4 shift_right(ivec4 a, ivec4 b) { return ivec4(shift_right(a.x, b.x), shift_right(a.y, b.y), shift_right(a.z, b.z), shift_right(a.w, b.w)); }
uvec4 shift_right(uvec4 a, uvec4 b) { return uvec4(shift_right(a.x, b.x), shift_right(a.y, b.y), shift_right(a.z, b.z), shift_right(a.w, b.w)); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= k[9]) { return; }
    int a0 = k[0] + t;
    int s0 = k[1] + t;
    int s1 = k[2] + t;
    int s2 = k[3] + t;
    int s3 = k[4] + t;
    int s4 = k[5] + t;
    int s5 = k[6] + t;
    int s6 = k[7] + t;
    int s7 = k[8] + t;
    uvec4 v0 = In_uint32x4(b0).e[a0];
    uvec4 v1 = In_uint32x4(b1).e[a0];
    uvec4 v19 = floor_mod(v0, v1);
    Out_uint32x4(b3).e[s0] = v19;
    uvec4 v21 = min(v0, v1);
    Out_uint32x4(b4).e[s1] = v21;
    uvec4 v23 = max(v0, v1);
    Out_uint32x4(b5).e[s2] = v23;
    uvec4 v25 = (v0 & v1);
    Out_uint32x4(b6).e[s3] = v25;
    uvec4 v27 = (v0 | v1);
    Out_uint32x4(b7).e[s4] = v27;
    uvec4 v29 = (v0 ^ v1);
    Out_uint32x4(b8).e[s5] = v29;
    uvec4 v31 = shift_left(v0, v1);
    Out_uint32x4(b9).e[s6] = v31;
    uvec4 v33 = shift_right(v0, v1);
    Out_uint32x4(b10).e[s7] = v33;
}
