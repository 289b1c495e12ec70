#version 400 core
uniform ivec4 k[1];
uniform usampler2D t0;
uniform usampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out ivec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out vec4 o3;
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    uvec4 f0 = texelFetch(t0, pos, 0);
    bvec4 v0 = notEqual(f0, uvec4(0u));
    bvec4 v35 = v0;
    o0 = uvec4(v35);
    ivec4 v37 = ivec4(v0);
    o1 = v37;
    uvec4 v39 = uvec4(v0);
    o2 = v39;
    precise vec4 v41 = vec4(v0);
    o3 = v41;
}
