#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
uniform sampler2D t1;
uniform usampler2D t2;
layout(location = 0) out uvec4 o0;
layout(location = 1) out uvec4 o1;
layout(location = 2) out uvec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out vec4 o4;
layout(location = 5) out vec4 o5;
layout(location = 6) out vec4 o6;
layout(location = 7) out vec4 o7;
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    vec4 f1 = texelFetch(t1, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v1 = f1;
    bvec4 v19 = greaterThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o0 = uvec4(v19);
    bvec4 v21 = equal((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o1 = uvec4(v21);
    bvec4 v23 = lessThan((floatBitsToUint(v0) & uvec4(0x7fffffffu)), uvec4(0x7f800000u));
    o2 = uvec4(v23);
    bvec4 v25 = notEqual((floatBitsToUint(v0) & uvec4(0x80000000u)), uvec4(0u));
    o3 = uvec4(v25);
    precise vec4 v27 = (v0 + v1);
    o4 = v27;
    precise vec4 v29 = (v0 - v1);
    o5 = v29;
    precise vec4 v31 = (v0 * v1);
    o6 = v31;
    precise vec4 v33 = (v0 / v1);
    o7 = v33;
}
