#version 400 core
uniform ivec4 k[1];
uniform sampler2D t0;
layout(location = 0) out vec4 o0;
bvec4 either(bvec4 a, bvec4 b) { return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }
void main() {
    ivec2 pos = ivec2(gl_FragCoord.xy);
    int row0 = pos.y;
    int i1 = row0;
    ivec4 col0 = 4 * pos.x + ivec4(0, 1, 2, 3);
    ivec4 i0 = col0;
    int base = 256 * i1;
    int count = min(k[0].z - base, 256);
    precise vec4 lanes0 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes1 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes2 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes3 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes4 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes5 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes6 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes7 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes8 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes9 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes10 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes11 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes12 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes13 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes14 = vec4(uintBitsToFloat(0x00000000u));
    precise vec4 lanes15 = vec4(uintBitsToFloat(0x00000000u));
    for (int part = 0; part < 16; part += 1) {
        precise vec4 lanes = vec4(uintBitsToFloat(0x00000000u));
        for (int n = part; n < count; n += 16) {
            int at = base + n;
            ivec2 near0 = ivec2((i0.x) >> 2, (at));
            precise vec4 v0 = texelFetch(t0, near0 + ivec2(0, 0), 0);
            precise vec4 combined = mix(v0, lanes, either(greaterThan(lanes, v0), isnan(lanes)));
            if (n == part) lanes = v0; else lanes = combined;
        }
        if (part == 0) lanes0 = lanes;
        if (part == 1) lanes1 = lanes;
        if (part == 2) lanes2 = lanes;
        if (part == 3) lanes3 = lanes;
        if (part == 4) lanes4 = lanes;
        if (part == 5) lanes5 = lanes;
        if (part == 6) lanes6 = lanes;
        if (part == 7) lanes7 = lanes;
        if (part == 8) lanes8 = lanes;
        if (part == 9) lanes9 = lanes;
        if (part == 10) lanes10 = lanes;
        if (part == 11) lanes11 = lanes;
        if (part == 12) lanes12 = lanes;
        if (part == 13) lanes13 = lanes;
        if (part == 14) lanes14 = lanes;
        if (part == 15) lanes15 = lanes;
    }
    if (count > 8) lanes0 = mix(lanes8, lanes0, either(greaterThan(lanes0, lanes8), isnan(lanes0)));
    if (count > 9) lanes1 = mix(lanes9, lanes1, either(greaterThan(lanes1, lanes9), isnan(lanes1)));
    if (count > 10) lanes2 = mix(lanes10, lanes2, either(greaterThan(lanes2, lanes10), isnan(lanes2)));
    if (count > 11) lanes3 = mix(lanes11, lanes3, either(greaterThan(lanes3, lanes11), isnan(lanes3)));
    if (count > 12) lanes4 = mix(lanes12, lanes4, either(greaterThan(lanes4, lanes12), isnan(lanes4)));
    if (count > 13) lanes5 = mix(lanes13, lanes5, either(greaterThan(lanes5, lanes13), isnan(lanes5)));
    if (count > 14) lanes6 = mix(lanes14, lanes6, either(greaterThan(lanes6, lanes14), isnan(lanes6)));
    if (count > 15) lanes7 = mix(lanes15, lanes7, either(greaterThan(lanes7, lanes15), isnan(lanes7)));
    if (count > 4) lanes0 = mix(lanes4, lanes0, either(greaterThan(lanes0, lanes4), isnan(lanes0)));
    if (count > 5) lanes1 = mix(lanes5, lanes1, either(greaterThan(lanes1, lanes5), isnan(lanes1)));
    if (count > 6) lanes2 = mix(lanes6, lanes2, either(greaterThan(lanes2, lanes6), isnan(lanes2)));
    if (count > 7) lanes3 = mix(lanes7, lanes3, either(greaterThan(lanes3, lanes7), isnan(lanes3)));
    if (count > 2) lanes0 = mix(lanes2, lanes0, either(greaterThan(lanes0, lanes2), isnan(lanes0)));
    if (count > 3) lanes1 = mix(lanes3, lanes1, either(greaterThan(lanes1, lanes3), isnan(lanes1)));
    if (count > 1) lanes0 = mix(lanes1, lanes0, either(greaterThan(lanes0, lanes1), isnan(lanes0)));
    o0 = lanes0;
}
