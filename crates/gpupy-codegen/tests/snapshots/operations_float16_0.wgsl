@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> b6: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> b7: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read_write> b8: array<vec4<u32>>;
@group(0) @binding(10) var<storage, read_write> b9: array<vec4<u32>>;
@group(0) @binding(11) var<storage, read_write> b10: array<vec4<u32>>;
fn half_round_float32_four(a: vec4<f32>) -> vec4<f32> {
    let v1: vec4<u32> = bitcast<vec4<u32>>(a);
    let v3: vec4<u32> = (v1 & vec4<u32>(0x7fffffffu));
    let v4: vec4<u32> = (v1 ^ v3);
    let v6: vec4<u32> = select(vec4<u32>(0u), (v3 >> min(vec4<u32>(13u), vec4<u32>(31u))), (vec4<u32>(13u) < vec4<u32>(32u)));
    let v8: vec4<u32> = (v6 & vec4<u32>(1u));
    let v10: vec4<u32> = (v3 + vec4<u32>(0xfffu));
    let v11: vec4<u32> = (v10 + v8);
    let v13: vec4<u32> = (v11 & vec4<u32>(0xffffe000u));
    let v14: vec4<f32> = bitcast<vec4<f32>>(v3);
    let v16: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v14 + vec4<f32>(bitcast<f32>(0x3f000000u)))) ^ vec4<u32>(zero)));
    let v17: vec4<u32> = bitcast<vec4<u32>>(v16);
    let v19: vec4<u32> = (v17 - vec4<u32>(0x3f000000u));
    let v20: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(vec4<f32>(v19)) ^ vec4<u32>(zero)));
    let v22: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v20 * vec4<f32>(bitcast<f32>(0x33800000u)))) ^ vec4<u32>(zero)));
    let v23: vec4<u32> = bitcast<vec4<u32>>(v22);
    let v25: vec4<bool> = (v3 < vec4<u32>(0x38800000u));
    let v26: vec4<u32> = select(v13, v23, v25);
    let v28: vec4<bool> = (v26 >= vec4<u32>(0x47800000u));
    let v30: vec4<u32> = select(v26, vec4<u32>(0x7f800000u), v28);
    let v31: vec4<bool> = (v3 > vec4<u32>(0x7f800000u));
    let v32: vec4<u32> = select(v30, v3, v31);
    let v33: vec4<u32> = (v32 | v4);
    let v34: vec4<f32> = bitcast<vec4<f32>>(v33);
    return v34;
}
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
fn sign_of_float32_four(a: vec4<f32>) -> vec4<f32> {
    let v1: vec4<u32> = bitcast<vec4<u32>>(a);
    let v3: vec4<u32> = (v1 & vec4<u32>(0x7fffffffu));
    let v4: vec4<u32> = (v1 ^ v3);
    let v6: vec4<u32> = (v4 | vec4<u32>(0x3f800000u));
    let v8: vec4<bool> = (v3 == vec4<u32>(0u));
    let v9: vec4<u32> = select(v6, vec4<u32>(0u), v8);
    let v10: vec4<f32> = bitcast<vec4<f32>>(v9);
    let v12: vec4<bool> = (v3 > vec4<u32>(0x7f800000u));
    let v13: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(v10) ^ vec4<u32>(zero))), a, v12);
    return v13;
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
    let s3: i32 = number;
    let s4: i32 = number;
    let s5: i32 = number;
    let s6: i32 = number;
    let s7: i32 = number;
    let v0: vec4<f32> = half_of_bits_float32_four(b0[a0]);
    let v3: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(v0) ^ vec4<u32>(0x80000000u)));
    if (t < k[0].x) { b3[s0] = half_bits_float32_four(v3); }
    let v5: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(v0) & vec4<u32>(0x7fffffffu)));
    if (t < k[0].x) { b4[s1] = half_bits_float32_four(v5); }
    let v7: vec4<f32> = sign_of_float32_four(v0);
    if (t < k[0].x) { b5[s2] = half_bits_float32_four(v7); }
    let v9: vec4<f32> = half_round_float32_four(bitcast<vec4<f32>>((bitcast<vec4<u32>>(sqrt(v0)) ^ vec4<u32>(zero))));
    if (t < k[0].x) { b6[s3] = half_bits_float32_four(v9); }
    let v11: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(floor(v0)) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b7[s4] = half_bits_float32_four(v11); }
    let v13: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(ceil(v0)) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b8[s5] = half_bits_float32_four(v13); }
    let v15: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(trunc(v0)) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b9[s6] = half_bits_float32_four(v15); }
    let v17: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(round(v0)) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b10[s7] = half_bits_float32_four(v17); }
}
