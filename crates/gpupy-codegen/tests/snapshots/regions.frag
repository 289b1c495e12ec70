#version 400 core
uniform ivec4 k[2];
uniform isampler2D t0;
uniform sampler2D t1;
layout(location = 0) out vec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
ivec2 wrap1(int t) { return ivec2(t & k[0].z, t >> k[0].w); }
float flat1(int e) { return lane(texelFetch(t1, wrap1(e >> 2), 0), e & 3); }
vec4 flat1(ivec4 e) { return vec4(flat1(e.x), flat1(e.y), flat1(e.z), flat1(e.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    vec4 q0 = vec4(0);
    for (int c = 0; c < 4; c += 1) {
        int number = 4 * texel + c;
        bool valid = ((number >= 0) && (number < k[0].y));
        if (!valid) continue;
        int v0 = lane(f0, c);
        precise float r2_0 = uintBitsToFloat(0x40000000u);
        int r2_1 = v0;
        for (int r2_i = 0; r2_i < v0; r2_i += 1) {
            precise float v5 = flat1(clamp(r2_1, 0, k[1].x));
            precise float v6 = (r2_0 + v5);
            int v8 = (r2_1 + r2_i);
            precise float n2_0 = v6;
            int n2_1 = v8;
            r2_0 = n2_0;
            r2_1 = n2_1;
        }
        bool v13 = (r2_1 > 7);
        precise float r14_0;
        if (v13) {
            precise float v15 = sqrt(r2_0);
            precise float n14_0 = v15;
            r14_0 = n14_0;
        } else {
            precise float n14_0 = r2_0;
            r14_0 = n14_0;
        }
        if (c == 0) q0.x = r14_0; else if (c == 1) q0.y = r14_0; else if (c == 2) q0.z = r14_0; else q0.w = r14_0;
    }
    o0 = q0;
}
