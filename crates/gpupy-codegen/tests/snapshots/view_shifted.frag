#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int i0 = row0;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i1 = col0;
    ivec2 near0 = ivec2((k[0].w + i1.x) >> 2, (k[0].z + i0));
    precise vec4 v0 = vec4(texelFetch(t0, near0 + ivec2(0, 0), 0).yzw, texelFetch(t0, near0 + ivec2(1, 0), 0).x);
    o0 = v0;
}
