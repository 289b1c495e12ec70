#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
float lane(vec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
int lane(ivec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
uint lane(uvec4 v, int c) { return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }
float at0(int x, int y) { return lane(texelFetch(t0, ivec2(x >> 2, y), 0), x & 3); }
vec4 at0(ivec4 x, ivec4 y) { return vec4(at0(x.x, y.x), at0(x.y, y.y), at0(x.z, y.z), at0(x.w, y.w)); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int i0 = row0;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i1 = col0;
    precise vec4 v0 = at0(ivec4((i0)), (i1));
    o0 = v0;
}
