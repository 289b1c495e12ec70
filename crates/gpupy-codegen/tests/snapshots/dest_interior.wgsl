@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<i32>;
@group(0) @binding(2) var<storage, read_write> b1: array<i32>;
fn quotient(n: i32, d: i32, r: f32) -> i32 { let q = i32(f32(n) * r); let m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[1].w);
    let number: i32 = min(t, k[0].w - 1);
    let q0: i32 = quotient(number, k[1].x, bitcast<f32>(k[1].y));
    let rest0: i32 = number - q0 * k[1].x;
    let i0: i32 = q0;
    let i1: i32 = 4 * rest0;
    let left: i32 = k[1].z - i1;
    let lane: vec4<i32> = min(vec4<i32>(0, 1, 2, 3), vec4<i32>(left));
    let a0: vec4<i32> = ((k[0].x * i0 + i1)) + lane;
    let s0: vec4<i32> = ((k[0].y + k[0].z * i0 + i1)) + lane;
    let v0: vec4<i32> = vec4<i32>(b0[a0.x], b0[a0.y], b0[a0.z], b0[a0.w]);
    if (t < k[0].w) { let whole0 = v0;
    b1[s0.x] = whole0.x;
    if (left >= 1) { b1[s0.y] = whole0.y; }
    if (left >= 2) { b1[s0.z] = whole0.z; }
    if (left >= 3) { b1[s0.w] = whole0.w; } }
}
