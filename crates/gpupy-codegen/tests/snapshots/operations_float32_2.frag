#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
uniform sampler2D t1;
uniform usampler2D t2;
layout(location = 0) out vec4 o0;
layout(location = 1) out vec4 o1;
layout(location = 2) out vec4 o2;
layout(location = 3) out uvec4 o3;
layout(location = 4) out uvec4 o4;
layout(location = 5) out uvec4 o5;
layout(location = 6) out uvec4 o6;
layout(location = 7) out uvec4 o7;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int texel = pos.y * k[0].x + pos.x;
    vec4 f0 = texelFetch(t0, pos, 0);
    vec4 f1 = texelFetch(t1, pos, 0);
    precise vec4 v0 = f0;
    precise vec4 v1 = f1;
    precise vec4 v35 = mix(v1, v0, either(lessThan(v0, v1), isnan(v0)));
    o0 = v35;
    precise vec4 v37 = mix(v1, v0, either(greaterThan(v0, v1), isnan(v0)));
    o1 = v37;
    precise vec4 v39 = uintBitsToFloat(((floatBitsToUint(v0) & uvec4(0x7fffffffu)) | (floatBitsToUint(v1) & uvec4(0x80000000u))));
    o2 = v39;
    bvec4 v41 = equal(v0, v1);
    o3 = uvec4(v41);
    bvec4 v43 = notEqual(v0, v1);
    o4 = uvec4(v43);
    bvec4 v45 = lessThan(v0, v1);
    o5 = uvec4(v45);
    bvec4 v47 = lessThanEqual(v0, v1);
    o6 = uvec4(v47);
    bvec4 v49 = greaterThan(v0, v1);
    o7 = uvec4(v49);
}
