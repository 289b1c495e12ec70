#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
layout(location = 0) out ivec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    ivec4 q0 = ivec4(0);
    for (int c = 0; c < 4; c += 1) {
        int number = 4 * texel + c;
        bool valid = ((number >= 0) && (number < k[0].y));
        if (!valid) continue;
        int v0 = lane(f0, c);
        int r3_0 = v0;
        int r3_1 = 100;
        for (int r3_i = 0; r3_i < 100; r3_i += 1) {
            bool v6 = (r3_0 > 1);
            if (!(v6)) { break; }
            int v8 = (r3_0 >> min(uint(1), 31u));
            int r7_0 = v8;
            int r7_1 = r3_0;
            int n3_0 = r7_0;
            int n3_1 = r7_1;
            r3_0 = n3_0;
            r3_1 = n3_1;
        }
        if (c == 0) q0.x = r3_1; else if (c == 1) q0.y = r3_1; else if (c == 2) q0.z = r3_1; else q0.w = r3_1;
    }
    o0 = q0;
}
