@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<vec4<f32>>;
fn half_bits_float32_four(a: vec4<f32>) -> vec4<u32> {
    let v1: vec4<u32> = bitcast<vec4<u32>>(a);
    let v3: vec4<u32> = (v1 & vec4<u32>(0x7fffffffu));
    let v4: vec4<u32> = (v1 ^ v3);
    let v6: vec4<u32> = (v3 - vec4<u32>(0x38000000u));
    let v8: vec4<u32> = select(vec4<u32>(0u), (v6 >> min(vec4<u32>(13u), vec4<u32>(31u))), (vec4<u32>(13u) < vec4<u32>(32u)));
    let v9: vec4<f32> = bitcast<vec4<f32>>(v3);
    let v11: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v9 + vec4<f32>(bitcast<f32>(0x3f000000u)))) ^ vec4<u32>(zero)));
    let v12: vec4<u32> = bitcast<vec4<u32>>(v11);
    let v14: vec4<u32> = (v12 - vec4<u32>(0x3f000000u));
    let v16: vec4<bool> = (v3 < vec4<u32>(0x38800000u));
    let v17: vec4<u32> = select(v8, v14, v16);
    let v18: vec4<u32> = select(vec4<u32>(0u), (v3 >> min(vec4<u32>(13u), vec4<u32>(31u))), (vec4<u32>(13u) < vec4<u32>(32u)));
    let v20: vec4<u32> = (v18 & vec4<u32>(0x3ffu));
    let v22: vec4<u32> = max(v20, vec4<u32>(1u));
    let v24: vec4<u32> = (v22 | vec4<u32>(0x7c00u));
    let v26: vec4<bool> = (v3 == vec4<u32>(0x7f800000u));
    let v27: vec4<u32> = select(v24, vec4<u32>(0x7c00u), v26);
    let v28: vec4<bool> = (v3 < vec4<u32>(0x7f800000u));
    let v29: vec4<u32> = select(v27, v17, v28);
    let v31: vec4<u32> = select(vec4<u32>(0u), (v4 >> min(vec4<u32>(16u), vec4<u32>(31u))), (vec4<u32>(16u) < vec4<u32>(32u)));
    let v32: vec4<u32> = (v29 | v31);
    return v32;
}
fn half_of_bits_float32_four(a: vec4<u32>) -> vec4<f32> {
    let v2: vec4<u32> = (a & vec4<u32>(0x7fffu));
    let v3: vec4<u32> = (a ^ v2);
    let v5: vec4<u32> = select(vec4<u32>(0u), (v2 << min(vec4<u32>(13u), vec4<u32>(31u))), (vec4<u32>(13u) < vec4<u32>(32u)));
    let v7: vec4<u32> = (v5 + vec4<u32>(0x38000000u));
    let v9: vec4<u32> = (v5 | vec4<u32>(0x7f800000u));
    let v10: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(vec4<f32>(v2)) ^ vec4<u32>(zero)));
    let v12: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v10 * vec4<f32>(bitcast<f32>(0x33800000u)))) ^ vec4<u32>(zero)));
    let v13: vec4<u32> = bitcast<vec4<u32>>(v12);
    let v15: vec4<bool> = (v2 < vec4<u32>(0x400u));
    let v16: vec4<u32> = select(v7, v13, v15);
    let v18: vec4<bool> = (v2 < vec4<u32>(0x7c00u));
    let v19: vec4<u32> = select(v9, v16, v18);
    let v21: vec4<u32> = select(vec4<u32>(0u), (v3 << min(vec4<u32>(16u), vec4<u32>(31u))), (vec4<u32>(16u) < vec4<u32>(32u)));
    let v22: vec4<u32> = (v19 | v21);
    let v23: vec4<f32> = bitcast<vec4<f32>>(v22);
    return v23;
}
fn uint_of_float32_four(a: vec4<f32>) -> vec4<u32> {
    let v1: vec4<u32> = bitcast<vec4<u32>>(a);
    let v3: vec4<u32> = (v1 & vec4<u32>(0x7fffffffu));
    let v4: vec4<u32> = (v1 ^ v3);
    let v6: vec4<u32> = select(vec4<u32>(0u), (v3 >> min(vec4<u32>(23u), vec4<u32>(31u))), (vec4<u32>(23u) < vec4<u32>(32u)));
    let v8: vec4<u32> = (v3 & vec4<u32>(0x7fffffu));
    let v10: vec4<u32> = (v8 | vec4<u32>(0x800000u));
    let v11: vec4<u32> = v10;
    let v12: vec4<i32> = bitcast<vec4<i32>>(v6);
    let v14: vec4<i32> = (v12 - vec4<i32>(150i));
    let v15: vec4<i32> = (-v14);
    let v16: vec4<u32> = bitcast<vec4<u32>>(v14);
    let v17: vec4<u32> = bitcast<vec4<u32>>(v15);
    let v18: vec4<u32> = select(vec4<u32>(0u), (v11 << min(v16, vec4<u32>(31u))), (v16 < vec4<u32>(32u)));
    let v19: vec4<u32> = select(vec4<u32>(0u), (v11 >> min(v17, vec4<u32>(31u))), (v17 < vec4<u32>(32u)));
    let v20: vec4<u32> = (v18 | v19);
    let v22: vec4<bool> = (v4 != vec4<u32>(0u));
    let v23: vec4<u32> = (vec4<u32>(0u) - v20);
    let v24: vec4<u32> = select(v20, v23, v22);
    return v24;
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[0].y);
    let number: i32 = min(t, k[0].x - 1);
    let a0: i32 = number;
    let s0: i32 = number;
    let s1: i32 = number;
    let s2: i32 = number;
    let v0: vec4<f32> = half_of_bits_float32_four(b0[a0]);
    let v67: vec4<u32> = uint_of_float32_four(v0);
    if (t < k[0].x) { b3[s0] = v67; }
    let v69: vec4<f32> = v0;
    if (t < k[0].x) { b4[s1] = half_bits_float32_four(v69); }
    let v71: vec4<f32> = v0;
    if (t < k[0].x) { b5[s2] = v71; }
}
