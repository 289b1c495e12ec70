@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<i32>;
@group(0) @binding(2) var<storage, read> b1: array<f32>;
@group(0) @binding(3) var<storage, read_write> b2: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[0].z);
    let number: i32 = min(t, k[0].x - 1);
    let a0: i32 = number;
    let s0: i32 = number;
    let v0: i32 = b0[a0];
    var r2_0: f32 = bitcast<f32>(0x40000000u);
    var r2_1: i32 = v0;
    for (var r2_i: i32 = 0; r2_i < v0; r2_i += 1) {
        let v5: f32 = b1[clamp(r2_1, 0, k[0].y)];
        let v6: f32 = bitcast<f32>((bitcast<u32>((r2_0 + v5)) ^ zero));
        let v8: i32 = (r2_1 + r2_i);
        let n2_0: f32 = v6;
        let n2_1: i32 = v8;
        r2_0 = n2_0;
        r2_1 = n2_1;
    }
    let v13: bool = (r2_1 > 7i);
    var r14_0: f32;
    if (v13) {
        let v15: f32 = bitcast<f32>((bitcast<u32>(sqrt(r2_0)) ^ zero));
        let n14_0: f32 = v15;
        r14_0 = n14_0;
    } else {
        let n14_0: f32 = r2_0;
        r14_0 = n14_0;
    }
    if (t < k[0].x) { b2[s0] = r14_0; }
}
