#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; uvec2 b9; uvec2 b10; int k[1]; };
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
    precise vec4 v0 = In_float32x4(b0).e[a0];
    precise vec4 v3 = uintBitsToFloat((floatBitsToUint(v0) ^ uvec4(0x80000000u)));
    if (t < k[0]) { Out_float32x4(b3).e[s0] = v3; }
    precise vec4 v5 = uintBitsToFloat((floatBitsToUint(v0) & uvec4(0x7fffffffu)));
    if (t < k[0]) { Out_float32x4(b4).e[s1] = v5; }
    precise vec4 v7 = sign_of_float32_four(v0);
    if (t < k[0]) { Out_float32x4(b5).e[s2] = v7; }
    precise vec4 v9 = sqrt(v0);
    if (t < k[0]) { Out_float32x4(b6).e[s3] = v9; }
    precise vec4 v11 = floor(v0);
    if (t < k[0]) { Out_float32x4(b7).e[s4] = v11; }
    precise vec4 v13 = ceil(v0);
    if (t < k[0]) { Out_float32x4(b8).e[s5] = v13; }
    precise vec4 v15 = trunc(v0);
    if (t < k[0]) { Out_float32x4(b9).e[s6] = v15; }
    precise vec4 v17 = roundEven(v0);
    if (t < k[0]) { Out_float32x4(b10).e[s7] = v17; }
}
