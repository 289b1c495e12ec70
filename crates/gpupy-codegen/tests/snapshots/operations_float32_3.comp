#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out_boolx4 { u8vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_uint32x4 { uvec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; uvec2 b2; uvec2 b3; uvec2 b4; uvec2 b5; uvec2 b6; uvec2 b7; uvec2 b8; int k[8]; };
int int_of_float(float a) { return a >= -2147483648.0 && a < 2147483648.0 ? int(a) : int(0x80000000u); }
ivec4 int_of_float(vec4 a) { return ivec4(int_of_float(a.x), int_of_float(a.y), int_of_float(a.z), int_of_float(a.w)); }
uint uint_of_float(float a) { uint b = floatBitsToUint(a); int s = int((b >> 23) & 0xffu) - 150; uint m = (b & 0x7fffffu) | 0x800000u; uint u = s >= 0 ? (s < 32 ? m << uint(s) : 0u) : (s > -24 ? m >> uint(-s) : 0u); return (b >> 31) != 0u ? 0u - u : u; }
uvec4 uint_of_float(vec4 a) { return uvec4(uint_of_float(a.x), uint_of_float(a.y), uint_of_float(a.z), uint_of_float(a.w)); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    if (t >= k[7]) { return; }
    int a0 = k[0] + t;
    int s0 = k[1] + t;
    int s1 = k[2] + t;
    int s2 = k[3] + t;
    int s3 = k[4] + t;
    int s4 = k[5] + t;
    int s5 = k[6] + t;
    precise vec4 v0 = In_float32x4(b0).e[a0];
    precise vec4 v1 = In_float32x4(b1).e[a0];
    bvec4 v2 = notEqual(uvec4(In_boolx4(b2).e[a0]), uvec4(0u));
    bvec4 v51 = greaterThanEqual(v0, v1);
    Out_boolx4(b3).e[s0] = u8vec4(uvec4(v51));
    precise vec4 v53 = mix(v1, v0, v2);
    Out_float32x4(b4).e[s1] = v53;
    precise vec4 v55 = v0;
    Out_float32x4(b5).e[s2] = v55;
    ivec4 v57 = int_of_float(v0);
    Out_int32x4(b6).e[s3] = v57;
    uvec4 v59 = uint_of_float(v0);
    Out_uint32x4(b7).e[s4] = v59;
    bvec4 v61 = notEqual((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0u));
    Out_boolx4(b8).e[s5] = u8vec4(uvec4(v61));
}
