#version 400 core
uniform ivec4 k[2];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
ivec2 wrap0(int t) { return ivec2(t & k[1].x, t >> k[1].y); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int i0 = row0;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i1 = col0;
    precise vec4 v0 = vec4(texelFetch(t0, wrap0(((k[0].z + k[0].w * i0 + i1.x) >> 2) + 0), 0).yzw, texelFetch(t0, wrap0(((k[0].z + k[0].w * i0 + i1.x) >> 2) + 1), 0).x);
    o0 = v0;
}
