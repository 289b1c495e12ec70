@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[0].w);
    let number: i32 = min(t, k[0].x - 1);
    let a0: i32 = number;
    let s0: i32 = number;
    let v0: vec4<f32> = b0[a0];
    let v4: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v0 * vec4<f32>(bitcast<f32>(k[0].y)))) ^ vec4<u32>(zero)));
    let v5: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v4 + vec4<f32>(bitcast<f32>(k[0].z)))) ^ vec4<u32>(zero)));
    let v6: vec4<f32> = bitcast<vec4<f32>>((bitcast<vec4<u32>>((v5 * vec4<f32>(bitcast<f32>(0x40200000u)))) ^ vec4<u32>(zero)));
    if (t < k[0].x) { b1[s0] = v6; }
}
