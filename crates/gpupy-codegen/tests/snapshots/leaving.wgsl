@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 1>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<i32>;
@group(0) @binding(2) var<storage, read_write> b1: array<i32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(k[0].y);
    let number: i32 = min(t, k[0].x - 1);
    let a0: i32 = number;
    let s0: i32 = number;
    let v0: i32 = b0[a0];
    var r3_0: i32 = v0;
    var r3_1: i32 = 100i;
    for (var r3_i: i32 = 0; r3_i < 100i; r3_i += 1) {
        let v6: bool = (r3_0 > 1i);
        if (!(v6)) { break; }
        let v8: i32 = (r3_0 >> min(bitcast<u32>(1i), 31u));
        let r7_0: i32 = v8;
        let r7_1: i32 = r3_0;
        let n3_0: i32 = r7_0;
        let n3_1: i32 = r7_1;
        r3_0 = n3_0;
        r3_1 = n3_1;
    }
    if (t < k[0].x) { b1[s0] = r3_1; }
}
