#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_int32x4 { ivec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_int32x4 { ivec4 e[]; };
layout(push_constant, std430) uniform Launch { uvec2 b0; uvec2 b1; int k[3]; };
bvec4 both(bvec4 a, bvec4 b) { return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }
ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    ivec4 v0 = In_int32x4(b0).e[a0];
    precise vec4 v1 = vec4(v0);
    precise vec4 v3 = (v1 - vec4(intBitsToFloat(k[1])));
    precise vec4 v4 = (v3 * v3);
    precise vec4 v6 = (v1 - vec4(intBitsToFloat(k[2])));
    precise vec4 v7 = (v6 * v6);
    precise vec4 v8 = mix(v7, v4, lessThan(v4, v7));
    ivec4 v9 = choose(both(greaterThan(v8, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v8, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v8), ivec4(int(0x80000000u)));
    if (t < k[0]) { Out_int32x4(b1).e[s0] = v9; }
}
