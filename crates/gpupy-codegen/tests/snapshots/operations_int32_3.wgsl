@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> b1: array<i32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<i32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<vec4<f32>>;
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
    let v0: vec4<i32> = b0[a0];
    let v51: vec4<i32> = v0;
    if (t < k[0].x) { b3[s0] = v51; }
    let v53: vec4<u32> = bitcast<vec4<u32>>(v0);
    if (t < k[0].x) { b4[s1] = v53; }
    let v55: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>(vec4<f32>(v0)) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b5[s2] = v55; }
}
