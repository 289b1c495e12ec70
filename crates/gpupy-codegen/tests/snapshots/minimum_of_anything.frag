#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v2 = (v0 - vec4(intBitsToFloat(k[0].y)));
    precise vec4 v3 = (v2 * v2);
    precise vec4 v5 = (v0 - vec4(intBitsToFloat(k[0].z)));
    precise vec4 v6 = (v5 * v5);
    precise vec4 v7 = mix(v6, v3, either(lessThan(v3, v6), isnan(v3)));
    o0 = v7;
}
