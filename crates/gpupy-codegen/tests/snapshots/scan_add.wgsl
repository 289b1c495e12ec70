@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 2>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<f32>;
@group(0) @binding(2) var<storage, read> b1: array<f32>;
@group(0) @binding(3) var<storage, read_write> b2: array<f32>;
fn quotient(n: i32, d: i32, r: f32) -> i32 { let q = i32(f32(n) * r); let m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let h0 = k[0];
    let h1 = k[1];
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(h1.z);
    if (t >= h0.w) { return; }
    let q0: i32 = quotient(t, h1.x, bitcast<f32>(h1.y));
    let rest0: i32 = t - q0 * h1.x;
    let i0: i32 = q0;
    let i1: i32 = rest0;
    let z1: i32 = t;
    var running: f32 = b1[z1];
    let base: i32 = 256 * i1;
    let count: i32 = min(h0.z - base, 256);
    for (var n: i32 = 0; n < count; n += 1) {
        let at: i32 = base + n;
        let a0: i32 = (h0.x * i0 + at);
        let s0: i32 = (h0.y * i0 + at);
        let element: f32 = b0[a0];
        running = bitcast<f32>((bitcast<u32>((running + element)) ^ zero));
        b2[s0] = running;
    }
}
