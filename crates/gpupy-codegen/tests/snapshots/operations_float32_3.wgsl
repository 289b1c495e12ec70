@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> b6: array<vec4<i32>>;
@group(0) @binding(8) var<storage, read_write> b7: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read_write> b8: array<vec4<f32>>;
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
    let s3: i32 = number;
    let s4: i32 = number;
    let s5: i32 = number;
    let v0: vec4<f32> = b0[a0];
    let v1: vec4<f32> = b1[a0];
    let v2: vec4<bool> = (b2[a0] != vec4<u32>(0u));
    let v51: vec4<bool> = (v0 >= v1);
    if (t < k[0].x) { b3[s0] = vec4<u32>(v51); }
    let v53: vec4<f32> = select(bitcast<vec4<f32>>((bitcast<vec4<u32>>(v1) ^ vec4<u32>(zero))), v0, v2);
    if (t < k[0].x) { b4[s1] = v53; }
    let v55: vec4<bool> = ((bitcast<vec4<u32>>(v0) & vec4<u32>(0x7fffffffu)) != vec4<u32>(0u));
    if (t < k[0].x) { b5[s2] = vec4<u32>(v55); }
    let v57: vec4<i32> = select(vec4<i32>(bitcast<i32>(0x80000000u)), vec4<i32>(v0), ((v0 > vec4<f32>(bitcast<f32>(0xcf000001u))) & (v0 < vec4<f32>(bitcast<f32>(0x4f000000u)))));
    if (t < k[0].x) { b6[s3] = v57; }
    let v59: vec4<u32> = uint_of_float32_four(v0);
    if (t < k[0].x) { b7[s4] = v59; }
    let v61: vec4<f32> = v0;
    if (t < k[0].x) { b8[s5] = v61; }
}
