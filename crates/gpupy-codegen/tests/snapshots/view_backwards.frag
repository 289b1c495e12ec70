#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
ivec2 wrap0(int t) { return ivec2(t & k[0].w, t >> k[1].x); }
float flat0(int e) { return lane(texelFetch(t0, wrap0(e >> 2), 0), e & 3); }
vec4 flat0(ivec4 e) { return vec4(flat0(e.x), flat0(e.y), flat0(e.z), flat0(e.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 i0 = 4 * texel + ivec4(0, 1, 2, 3);
    precise vec4 v0 = flat0((k[0].y + k[0].z * i0));
    o0 = v0;
}
