#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
uniform isampler2D t1;
uniform usampler2D t2;
layout(location = 0) out ivec4 o0;
layout(location = 1) out ivec4 o1;
layout(location = 2) out ivec4 o2;
layout(location = 3) out ivec4 o3;
layout(location = 4) out ivec4 o4;
layout(location = 5) out ivec4 o5;
layout(location = 6) out ivec4 o6;
layout(location = 7) out ivec4 o7;
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
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x - k[0].y;
    ivec4 f0 = texelFetch(t0, pos + ivec2(0, k[0].z), 0);
    ivec4 f1 = texelFetch(t1, pos + ivec2(0, k[0].w), 0);
    ivec4 v0 = f0;
    ivec4 v1 = f1;
    ivec4 v19 = floor_mod(v0, v1);
    o0 = v19;
    ivec4 v21 = min(v0, v1);
    o1 = v21;
    ivec4 v23 = max(v0, v1);
    o2 = v23;
    ivec4 v25 = (v0 & v1);
    o3 = v25;
    ivec4 v27 = (v0 | v1);
    o4 = v27;
    ivec4 v29 = (v0 ^ v1);
    o5 = v29;
    ivec4 v31 = shift_left(v0, v1);
    o6 = v31;
    ivec4 v33 = shift_right(v0, v1);
    o7 = v33;
}
