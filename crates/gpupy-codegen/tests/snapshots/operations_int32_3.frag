#version 400 core
uniform ivec4 k[1];
uniform isampler2D t0;
uniform isampler2D t1;
uniform usampler2D t2;
layout(location = 0) out ivec4 o0;
layout(location = 1) out uvec4 o1;
layout(location = 2) out vec4 o2;
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    ivec4 f0 = texelFetch(t0, pos, 0);
    ivec4 v0 = f0;
    ivec4 v51 = v0;
    o0 = v51;
    uvec4 v53 = uvec4(v0);
    o1 = v53;
    precise vec4 v55 = vec4(v0);
    o2 = v55;
}
