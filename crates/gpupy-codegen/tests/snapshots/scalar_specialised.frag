#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v2 = (v0 * vec4(uintBitsToFloat(0x40200000u)));
    o0 = v2;
}
