#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[1]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { vec4 e[]; } b0x4;
layout(binding = 4, std430) buffer Bb3x4 { vec4 e[]; } b3x4;
layout(binding = 5, std430) buffer Bb4x4 { vec4 e[]; } b4x4;
layout(binding = 6, std430) buffer Bb5x4 { vec4 e[]; } b5x4;
layout(binding = 7, std430) buffer Bb6x4 { vec4 e[]; } b6x4;
layout(binding = 8, std430) buffer Bb7x4 { vec4 e[]; } b7x4;
layout(binding = 9, std430) buffer Bb8x4 { vec4 e[]; } b8x4;
layout(binding = 10, std430) buffer Bb9x4 { vec4 e[]; } b9x4;
layout(binding = 11, std430) buffer Bb10x4 { vec4 e[]; } b10x4;
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
vec4 sign_of_float32_four(vec4 a) {
    uvec4 v1 = floatBitsToUint(a);
    uvec4 v3 = (v1 & uvec4(0x7fffffffu));
    uvec4 v4 = (v1 ^ v3);
    uvec4 v6 = (v4 | uvec4(0x3f800000u));
    bvec4 v8 = equal(v3, uvec4(0u));
    uvec4 v9 = choose(v8, uvec4(0u), v6);
    precise vec4 v10 = uintBitsToFloat(v9);
    bvec4 v12 = greaterThan(v3, uvec4(0x7f800000u));
    precise vec4 v13 = mix(v10, a, v12);
    return v13;
}
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    int s1 = number;
    int s2 = number;
    int s3 = number;
    int s4 = number;
    int s5 = number;
    int s6 = number;
    int s7 = number;
    precise vec4 v0 = b0x4.e[a0];
    precise vec4 v3 = uintBitsToFloat((floatBitsToUint(v0) ^ uvec4(0x80000000u)));
    if (t < k[0]) { b3x4.e[s0] = v3; }
    precise vec4 v5 = uintBitsToFloat((floatBitsToUint(v0) & uvec4(0x7fffffffu)));
    if (t < k[0]) { b4x4.e[s1] = v5; }
    precise vec4 v7 = sign_of_float32_four(v0);
    if (t < k[0]) { b5x4.e[s2] = v7; }
    precise vec4 v9 = sqrt(v0);
    if (t < k[0]) { b6x4.e[s3] = v9; }
    precise vec4 v11 = floor(v0);
    if (t < k[0]) { b7x4.e[s4] = v11; }
    precise vec4 v13 = ceil(v0);
    if (t < k[0]) { b8x4.e[s5] = v13; }
    precise vec4 v15 = trunc(v0);
    if (t < k[0]) { b9x4.e[s6] = v15; }
    precise vec4 v17 = roundEven(v0);
    if (t < k[0]) { b10x4.e[s7] = v17; }
}
