@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<f32>;
@group(0) @binding(3) var<storage, read_write> b2: array<f32>;
@group(0) @binding(4) var<storage, read_write> b3: array<f32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
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
    var lanes0: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes3: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes0_1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes1_1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes2_1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes3_1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes0_2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes1_2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes2_2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes3_2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
    var lanes0_3: vec4<u32> = vec4<u32>(0u);
    var lanes1_3: vec4<u32> = vec4<u32>(0u);
    var lanes2_3: vec4<u32> = vec4<u32>(0u);
    var lanes3_3: vec4<u32> = vec4<u32>(0u);
    for (var part: i32 = 0; part < 16; part += 4) {
        var lanes: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
        var lanes_1: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
        var lanes_2: vec4<f32> = vec4<f32>(bitcast<f32>(0x00000000u));
        var lanes_3: vec4<u32> = vec4<u32>(0u);
        for (var n: i32 = part; n < count; n += 16) {
            let at: i32 = base + n;
            let left: i32 = count - 1 - n;
            let lane: vec4<i32> = vec4<i32>(0, 1, 2, 3);
            let a0: i32 = (h0.x * i0 + at) >> 2;
            let v0: vec4<f32> = b0[a0];
            let v1: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v0 * bitcast<vec4<f32>>((bitcast<vec4<u32>>(v0) ^ vec4<u32>(zero))))) ^ vec4<u32>(zero)));
            let v2: vec4<bool> = ((bitcast<vec4<u32>>(v0) & vec4<u32>(0x80000000u)) != vec4<u32>(0u));
            var combined: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes + v0)) ^ vec4<u32>(zero)));
            if (n == part) { lanes = v0; } else { lanes = combined; }
            var combined_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(v0) ^ vec4<u32>(zero))), lanes_1, ((lanes_1 > v0) | ((bitcast<vec4<u32>>(lanes_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
            if (n == part) { lanes_1 = v0; } else { lanes_1 = combined_1; }
            var combined_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes_2 + v1)) ^ vec4<u32>(zero)));
            if (n == part) { lanes_2 = v1; } else { lanes_2 = combined_2; }
            var combined_3: vec4<u32> = (lanes_3 | vec4<u32>(v2));
            if (n == part) { lanes_3 = vec4<u32>(v2); } else { lanes_3 = combined_3; }
        }
        if (part == 0) { lanes0 = lanes; }
        if (part == 4) { lanes1 = lanes; }
        if (part == 8) { lanes2 = lanes; }
        if (part == 12) { lanes3 = lanes; }
        if (part == 0) { lanes0_1 = lanes_1; }
        if (part == 4) { lanes1_1 = lanes_1; }
        if (part == 8) { lanes2_1 = lanes_1; }
        if (part == 12) { lanes3_1 = lanes_1; }
        if (part == 0) { lanes0_2 = lanes_2; }
        if (part == 4) { lanes1_2 = lanes_2; }
        if (part == 8) { lanes2_2 = lanes_2; }
        if (part == 12) { lanes3_2 = lanes_2; }
        if (part == 0) { lanes0_3 = lanes_3; }
        if (part == 4) { lanes1_3 = lanes_3; }
        if (part == 8) { lanes2_3 = lanes_3; }
        if (part == 12) { lanes3_3 = lanes_3; }
    }
    var fold8: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0 + lanes2)) ^ vec4<u32>(zero)));
    lanes0 = select(lanes0, fold8, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes1 + lanes3)) ^ vec4<u32>(zero)));
    lanes1 = select(lanes1, fold12, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0 + lanes1)) ^ vec4<u32>(zero)));
    lanes0 = select(lanes0, fold4, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0 + lanes0.zwzw)) ^ vec4<u32>(zero)));
    lanes0 = select(lanes0, fold2, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0 + lanes0.yyww)) ^ vec4<u32>(zero)));
    lanes0 = select(lanes0, fold1, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    var fold8_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes2_1) ^ vec4<u32>(zero))), lanes0_1, ((lanes0_1 > lanes2_1) | ((bitcast<vec4<u32>>(lanes0_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0_1 = select(lanes0_1, fold8_1, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes3_1) ^ vec4<u32>(zero))), lanes1_1, ((lanes1_1 > lanes3_1) | ((bitcast<vec4<u32>>(lanes1_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes1_1 = select(lanes1_1, fold12_1, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes1_1) ^ vec4<u32>(zero))), lanes0_1, ((lanes0_1 > lanes1_1) | ((bitcast<vec4<u32>>(lanes0_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0_1 = select(lanes0_1, fold4_1, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes0_1.zwzw) ^ vec4<u32>(zero))), lanes0_1, ((lanes0_1 > lanes0_1.zwzw) | ((bitcast<vec4<u32>>(lanes0_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0_1 = select(lanes0_1, fold2_1, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1_1: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(lanes0_1.yyww) ^ vec4<u32>(zero))), lanes0_1, ((lanes0_1 > lanes0_1.yyww) | ((bitcast<vec4<u32>>(lanes0_1) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u))));
    lanes0_1 = select(lanes0_1, fold1_1, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    var fold8_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0_2 + lanes2_2)) ^ vec4<u32>(zero)));
    lanes0_2 = select(lanes0_2, fold8_2, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes1_2 + lanes3_2)) ^ vec4<u32>(zero)));
    lanes1_2 = select(lanes1_2, fold12_2, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0_2 + lanes1_2)) ^ vec4<u32>(zero)));
    lanes0_2 = select(lanes0_2, fold4_2, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0_2 + lanes0_2.zwzw)) ^ vec4<u32>(zero)));
    lanes0_2 = select(lanes0_2, fold2_2, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1_2: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((lanes0_2 + lanes0_2.yyww)) ^ vec4<u32>(zero)));
    lanes0_2 = select(lanes0_2, fold1_2, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    var fold8_3: vec4<u32> = (lanes0_3 | lanes2_3);
    lanes0_3 = select(lanes0_3, fold8_3, (vec4<i32>(8, 9, 10, 11) < vec4<i32>(count)));
    var fold12_3: vec4<u32> = (lanes1_3 | lanes3_3);
    lanes1_3 = select(lanes1_3, fold12_3, (vec4<i32>(12, 13, 14, 15) < vec4<i32>(count)));
    var fold4_3: vec4<u32> = (lanes0_3 | lanes1_3);
    lanes0_3 = select(lanes0_3, fold4_3, (vec4<i32>(4, 5, 6, 7) < vec4<i32>(count)));
    var fold2_3: vec4<u32> = (lanes0_3 | lanes0_3.zwzw);
    lanes0_3 = select(lanes0_3, fold2_3, (vec4<i32>(2, 3, 2, 3) < vec4<i32>(count)));
    var fold1_3: vec4<u32> = (lanes0_3 | lanes0_3.yyww);
    lanes0_3 = select(lanes0_3, fold1_3, (vec4<i32>(1, 1, 3, 3) < vec4<i32>(count)));
    let s0: i32 = t;
    let s1: i32 = t;
    let s2: i32 = t;
    let s3: i32 = t;
    let v7: f32 = bitcast<f32>((bitcast<u32>((lanes0_2.x - lanes0.x)) ^ zero));
    b1[s0] = v7;
    b2[s1] = lanes0_1.x;
    b3[s2] = lanes0_2.x;
    b4[s3] = u32((lanes0_3.x != 0u));
}
