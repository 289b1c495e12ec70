@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<f32>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[1].x);
    let number: i32 = t;
    let i0: i32 = 4 * number;
    let lane: vec4<i32> = vec4<i32>(0, 1, 2, 3);
    let a0: vec4<i32> = ((k[0].x + k[0].y * i0)) + k[0].z * lane;
    let s0: i32 = number;
    let v0: vec4<f32> = vec4<f32>(b0[a0.x], b0[a0.y], b0[a0.z], b0[a0.w]);
    b1[s0] = v0;
}
