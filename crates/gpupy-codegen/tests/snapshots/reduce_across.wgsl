@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<f32>;
@group(0) @binding(2) var<storage, read_write> b1: array<f32>;
fn quotient(n: i32, d: i32, r: f32) -> i32 { let q = i32(f32(n) * r); let m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let h0 = k[0];
    let h1 = k[1];
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(h1.w);
    if (t >= h1.x) { return; }
    let q0: i32 = quotient(t, h1.y, bitcast<f32>(h1.z));
    let rest0: i32 = t - q0 * h1.y;
    let i1: i32 = q0;
    let i0: i32 = rest0;
    let base: i32 = 256 * i1;
    let count: i32 = min(h0.w - base, 256);
    var lanes0: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes3: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    for (var part: i32 = 0; part < 16; part += 4) {
        var lanes: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
        for (var n: i32 = part; n < count; n += 16) {
            let at: i32 = base + n;
            let left: i32 = count - 1 - n;
            let lane: vec4<i32> = vec4<i32>(0, 1, 2, 3);
            let a0: vec4<i32> = ((i0 + h0.x * at)) + h0.y * lane;
            let v0: vec4<f32> = vec4<f32>(b0[a0.x], b0[a0.y], b0[a0.z], b0[a0.w]);
            var combined: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(v0) ^ vec4<u32>(zero))), lanes, ((lanes > v0) | ((bitcast<vec4<u32>>(lanes) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
            if (n == part) { lanes = v0; } else { lanes = combined; }
        }
        if (part == 0) { lanes0 = lanes; }
        if (part == 4) { lanes1 = lanes; }
        if (part == 8) { lanes2 = lanes; }
        if (part == 12) { lanes3 = lanes; }
    }
    var fold8: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes2) ^ vec4<u32>(zero))), lanes0, ((lanes0 > lanes2) | ((bitcast<vec4<u32>>(lanes0) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0 = select(lanes0, fold8, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes3) ^ vec4<u32>(zero))), lanes1, ((lanes1 > lanes3) | ((bitcast<vec4<u32>>(lanes1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes1 = select(lanes1, fold12, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes1) ^ vec4<u32>(zero))), lanes0, ((lanes0 > lanes1) | ((bitcast<vec4<u32>>(lanes0) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0 = select(lanes0, fold4, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes0.zwzw) ^ vec4<u32>(zero))), lanes0, ((lanes0 > lanes0.zwzw) | ((bitcast<vec4<u32>>(lanes0) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0 = select(lanes0, fold2, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes0.yyww) ^ vec4<u32>(zero))), lanes0, ((lanes0 > lanes0.yyww) | ((bitcast<vec4<u32>>(lanes0) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0 = select(lanes0, fold1, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    let s0: i32 = (i0 + h0.z * i1);
    b1[s0] = lanes0.x;
}
