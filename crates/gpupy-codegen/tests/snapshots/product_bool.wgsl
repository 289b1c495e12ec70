@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 5>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> left: array<vec4<bool>, 256>;
var<workgroup> right: array<vec4<bool>, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let h0 = k[0];
    let h1 = k[1];
    let h2 = k[2];
    let h3 = k[3];
    let h4 = k[4];
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(h4.z);
    let tiles: i32 = i32(group.x);
    let tile: i32 = tiles % h1.x;
    let column: i32 = 64 * tile;
    let above: i32 = tiles / h1.x;
    let row: i32 = 64 * (above % h0.w);
    let stack0: i32 = above / h0.w;
    let i0: i32 = stack0 % h1.y;
    let x: i32 = local % 16;
    let y: i32 = local / 16;
    var sum0: vec4<bool> = vec4<bool>(false);
    var sum1: vec4<bool> = vec4<bool>(false);
    var sum2: vec4<bool> = vec4<bool>(false);
    var sum3: vec4<bool> = vec4<bool>(false);
    for (var base: i32 = 0; base < h0.z; base += 16) {
        for (var e: i32 = local; e < 1024; e += 256) {
            let r: i32 = e / 16;
            let c: i32 = e % 16;
            var value: bool = false;
            if (row + r < h0.x && base + c < h0.z) { value = (b0[(h1.z + h2.y * i0 + h1.w * (row + r) + h2.x * (base + c))] != 0u); }
            left[c * 16 + r / 4][r % 4] = value;
        }
        for (var e: i32 = local; e < 1024; e += 256) {
            let r: i32 = e / 64;
            let c: i32 = e % 64;
            var value: bool = false;
            if (base + r < h0.z && column + c < h0.y) { value = (b1[(h2.z + h3.y * i0 + h2.w * (base + r) + h3.x * (column + c))] != 0u); }
            right[r * 16 + c / 4][c % 4] = value;
        }
        workgroupBarrier();
        for (var z: i32 = 0; z < 16; z += 1) {
            let a = left[z * 16 + y];
            let b = right[z * 16 + x];
            sum0 = (sum0 | (vec4<bool>(a.x) & b));
            sum1 = (sum1 | (vec4<bool>(a.y) & b));
            sum2 = (sum2 | (vec4<bool>(a.z) & b));
            sum3 = (sum3 | (vec4<bool>(a.w) & b));
        }
        workgroupBarrier();
    }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 0 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 0) + h4.x * (column + 4 * x + 0))] = u32(sum0.x); }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 1 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 0) + h4.x * (column + 4 * x + 1))] = u32(sum0.y); }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 2 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 0) + h4.x * (column + 4 * x + 2))] = u32(sum0.z); }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 3 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 0) + h4.x * (column + 4 * x + 3))] = u32(sum0.w); }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 0 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 1) + h4.x * (column + 4 * x + 0))] = u32(sum1.x); }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 1 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 1) + h4.x * (column + 4 * x + 1))] = u32(sum1.y); }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 2 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 1) + h4.x * (column + 4 * x + 2))] = u32(sum1.z); }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 3 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 1) + h4.x * (column + 4 * x + 3))] = u32(sum1.w); }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 0 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 2) + h4.x * (column + 4 * x + 0))] = u32(sum2.x); }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 1 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 2) + h4.x * (column + 4 * x + 1))] = u32(sum2.y); }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 2 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 2) + h4.x * (column + 4 * x + 2))] = u32(sum2.z); }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 3 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 2) + h4.x * (column + 4 * x + 3))] = u32(sum2.w); }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 0 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 3) + h4.x * (column + 4 * x + 0))] = u32(sum3.x); }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 1 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 3) + h4.x * (column + 4 * x + 1))] = u32(sum3.y); }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 2 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 3) + h4.x * (column + 4 * x + 2))] = u32(sum3.z); }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 3 < h0.y) { b2[(h3.z + h4.y * i0 + h3.w * (row + 4 * y + 3) + h4.x * (column + 4 * x + 3))] = u32(sum3.w); }
}
