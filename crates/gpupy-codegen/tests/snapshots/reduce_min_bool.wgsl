@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
fn quotient(n: i32, d: i32, r: f32) -> i32 { let q = i32(f32(n) * r); let m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let h0 = k[0];
    let h1 = k[1];
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(h1.y);
    if (t >= h0.z) { return; }
    let q0: i32 = quotient(t, h0.w, bitcast<f32>(h1.x));
    let rest0: i32 = t - q0 * h0.w;
    let i0: i32 = q0;
    let i1: i32 = rest0;
    let base: i32 = 256 * i1;
    let count: i32 = min(h0.y - base, 256);
    var lanes0: vec4<u32> = vec4<u32>(0u);
    var lanes1: vec4<u32> = vec4<u32>(0u);
    var lanes2: vec4<u32> = vec4<u32>(0u);
    var lanes3: vec4<u32> = vec4<u32>(0u);
    for (var part: i32 = 0; part < 16; part += 4) {
        var lanes: vec4<u32> = vec4<u32>(0u);
        for (var n: i32 = part; n < count; n += 16) {
            let at: i32 = base + n;
            let left: i32 = count - 1 - n;
            let lane: vec4<i32> = vec4<i32>(0, 1, 2, 3);
            let a0: i32 = (h0.x * i0 + at) >> 2;
            let v0: vec4<bool> = (b0[a0] != vec4<u32>(0u));
            let v1: vec4<bool> = (v0 & v0);
            var combined: vec4<u32> = (lanes & vec4<u32>(v1));
            if (n == part) { lanes = vec4<u32>(v1); } else { lanes = combined; }
        }
        if (part == 0) { lanes0 = lanes; }
        if (part == 4) { lanes1 = lanes; }
        if (part == 8) { lanes2 = lanes; }
        if (part == 12) { lanes3 = lanes; }
    }
    var fold8: vec4<u32> = (lanes0 & lanes2);
    lanes0 = select(lanes0, fold8, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12: vec4<u32> = (lanes1 & lanes3);
    lanes1 = select(lanes1, fold12, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4: vec4<u32> = (lanes0 & lanes1);
    lanes0 = select(lanes0, fold4, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2: vec4<u32> = (lanes0 & lanes0.zwzw);
    lanes0 = select(lanes0, fold2, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1: vec4<u32> = (lanes0 & lanes0.yyww);
    lanes0 = select(lanes0, fold1, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    let s0: i32 = t;
    let v3: bool = ((lanes0.x != 0u) & (lanes0.x != 0u));
    b1[s0] = u32(v3);
}
