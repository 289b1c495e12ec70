#version 450
layout(local_size_x = 256) in;
layout(push_constant, std430) uniform Launch { int k[3]; };
layout(binding = 1, std430) readonly buffer Bb0x4 { vec4 e[]; } b0x4;
layout(binding = 2, std430) buffer Bb1x4 { vec4 e[]; } b1x4;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, k[0] - 1);
    int a0 = number;
    int s0 = number;
    precise vec4 v0 = b0x4.e[a0];
    precise vec4 v2 = (v0 - vec4(intBitsToFloat(k[1])));
    precise vec4 v3 = (v2 * v2);
    precise vec4 v5 = (v0 - vec4(intBitsToFloat(k[2])));
    precise vec4 v6 = (v5 * v5);
    precise vec4 v7 = mix(v6, v3, either(lessThan(v3, v6), isnan(v3)));
    if (t < k[0]) { b1x4.e[s0] = v7; }
}
