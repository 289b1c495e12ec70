@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<i32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[0].w);
    let number: i32 = min(t, k[0].y - 1);
    let left: i32 = k[0].z - 4 * number;
    let a0: i32 = number;
    let s0: i32 = k[0].x + number;
    let v0: vec4<i32> = b0[a0];
    if (t < k[0].y) { let whole0 = v0;
    if (left >= 3) { b1[s0] = v0; } else {
    b1[s0].x = whole0.x;
    if (left >= 1) { b1[s0].y = whole0.y; }
    if (left >= 2) { b1[s0].z = whole0.z; }
    if (left >= 3) { b1[s0].w = whole0.w; }
    } }
}
