@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read_write> b0: array<i32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[1].z);
    let number: i32 = min(t, k[1].x - 1);
    let q0: i32 = i32(u32(number) / 320u);
    let rest0: i32 = number - q0 * 320;
    let i0: i32 = q0;
    let q1: i32 = i32(u32(rest0) / 16u);
    let rest1: i32 = rest0 - q1 * 16;
    let i1: i32 = q1;
    let i2: i32 = 4 * rest1;
    let left: i32 = k[1].y - i2;
    let lane: vec4<i32> = min(vec4<i32>(0, 1, 2, 3), vec4<i32>(left));
    let j2: vec4<i32> = i2 + vec4<i32>(0, 1, 2, 3);
    let s0: vec4<i32> = ((k[0].x * i0 + k[0].y * i1 + i2)) + lane;
    let v0: vec4<i32> = vec4<i32>((i0));
    let v1: vec4<i32> = vec4<i32>((k[0].z * i1));
    let v2: vec4<i32> = (v0 + v1);
    let v3: vec4<i32> = (k[0].w * j2);
    let v4: vec4<i32> = (v2 + v3);
    if (t < k[1].x) { let whole0 = v4;
    b0[s0.x] = whole0.x;
    if (left >= 1) { b0[s0.y] = whole0.y; }
    if (left >= 2) { b0[s0.z] = whole0.z; }
    if (left >= 3) { b0[s0.w] = whole0.w; } }
}
