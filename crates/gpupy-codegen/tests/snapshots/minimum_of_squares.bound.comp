#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[3]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { ivec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1x4 { ivec4 e[]; } b1x4;
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
    ivec4 v0 = b0x4.e[a0];
    precise vec4 v1 = vec4(v0);
    precise vec4 v3 = (v1 - vec4(intBitsToFloat(k[1])));
    precise vec4 v4 = (v3 * v3);
    precise vec4 v6 = (v1 - vec4(intBitsToFloat(k[2])));
    precise vec4 v7 = (v6 * v6);
    precise vec4 v8 = mix(v7, v4, lessThan(v4, v7));
    ivec4 v9 = choose(both(greaterThan(v8, vec4(uintBitsToFloat(0xcf000001u))), lessThan(v8, vec4(uintBitsToFloat(0x4f000000u)))), ivec4(v8), ivec4(int(0x80000000u)));
    if (t < k[0]) { b1x4.e[s0] = v9; }
}
