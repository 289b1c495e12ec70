@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> b6: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> b7: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read_write> b8: array<vec4<u32>>;
@group(0) @binding(10) var<storage, read_write> b9: array<vec4<u32>>;
@group(0) @binding(11) var<storage, read_write> b10: array<vec4<u32>>;
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
    let v0: vec4<u32> = b0[a0];
    let v1: vec4<u32> = b1[a0];
    let v2: vec4<bool> = (b2[a0] != vec4<u32>(0u));
    let v35: vec4<bool> = (v0 == v1);
    if (t < k[0].x) { b3[s0] = vec4<u32>(v35); }
    let v37: vec4<bool> = (v0 != v1);
    if (t < k[0].x) { b4[s1] = vec4<u32>(v37); }
    let v39: vec4<bool> = (v0 < v1);
    if (t < k[0].x) { b5[s2] = vec4<u32>(v39); }
    let v41: vec4<bool> = (v0 <= v1);
    if (t < k[0].x) { b6[s3] = vec4<u32>(v41); }
    let v43: vec4<bool> = (v0 > v1);
    if (t < k[0].x) { b7[s4] = vec4<u32>(v43); }
    let v45: vec4<bool> = (v0 >= v1);
    if (t < k[0].x) { b8[s5] = vec4<u32>(v45); }
    let v47: vec4<u32> = select(v1, v0, v2);
    if (t < k[0].x) { b9[s6] = v47; }
    let v49: vec4<bool> = (v0 != vec4<u32>(0u));
    if (t < k[0].x) { b10[s7] = vec4<u32>(v49); }
}
