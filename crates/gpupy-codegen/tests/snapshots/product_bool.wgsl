@group(0) @binding(0) var<uniform> k: array<vec4<i32>, 5>;
var<private> zero: u32;
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> left: array<vec4<u32>, 256>;
var<workgroup> right: array<vec4<u32>, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let h0 = k[0];
    let h1 = k[1];
    let h2 = k[2];
    let h3 = k[3];
    let h4 = k[4];
    let local: i32 = i32(index);
    let t: i32 = 256 * i32(group.x) + local;
    zero = bitcast<u32>(h4.w);
    let tiles: i32 = i32(group.x);
    let tile: i32 = tiles % h1.x;
    let column: i32 = 64 * tile;
    let above: i32 = tiles / h1.x;
    let row: i32 = 64 * (above % h0.w);
    let stack0: i32 = above / h0.w;
    let i0: i32 = stack0 % h1.z;
    let x: i32 = local % 16;
    let y: i32 = local / 16;
    var total0: vec4<u32> = vec4<u32>(0u);
    var total1: vec4<u32> = vec4<u32>(0u);
    var total2: vec4<u32> = vec4<u32>(0u);
    var total3: vec4<u32> = vec4<u32>(0u);
    let terms: i32 = h0.z;
    for (var first: i32 = 0; first < terms; first += 256) {
        var sum0: vec4<u32> = vec4<u32>(0u);
        var sum1: vec4<u32> = vec4<u32>(0u);
        var sum2: vec4<u32> = vec4<u32>(0u);
        var sum3: vec4<u32> = vec4<u32>(0u);
        let until: i32 = min(terms, first + 256);
        for (var base: i32 = first; base < until; base += 16) {
            for (var e: i32 = local; e < 1024; e += 256) {
                let r: i32 = e / 16;
                let c: i32 = e % 16;
                var value: u32 = 0u;
                if (row + r < h0.x && base + c < terms) { value = u32((b0[(h1.w + h2.z * i0 + h2.x * (row + r) + h2.y * (base + c))] != 0u)); }
                left[c * 16 + r / 4][r % 4] = value;
            }
            for (var e: i32 = local; e < 1024; e += 256) {
                let r: i32 = e / 64;
                let c: i32 = e % 64;
                var value: u32 = 0u;
                if (base + r < terms && column + c < h0.y) { value = u32((b1[(h2.w + h3.z * i0 + h3.x * (base + r) + h3.y * (column + c))] != 0u)); }
                right[r * 16 + c / 4][c % 4] = value;
            }
            workgroupBarrier();
            for (var z: i32 = 0; z < 16; z += 1) {
                let a = left[z * 16 + y];
                let b = right[z * 16 + x];
                sum0 = (sum0 | (vec4<u32>(a.x) & b));
                sum1 = (sum1 | (vec4<u32>(a.y) & b));
                sum2 = (sum2 | (vec4<u32>(a.z) & b));
                sum3 = (sum3 | (vec4<u32>(a.w) & b));
            }
            workgroupBarrier();
        }
        total0 = (total0 | sum0);
        total1 = (total1 | sum1);
        total2 = (total2 | sum2);
        total3 = (total3 | sum3);
    }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 0 < h0.y) {
        var value: u32 = total0.x;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 0))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 0))] = u32((value != 0u));
    }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 1 < h0.y) {
        var value: u32 = total0.y;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 1))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 1))] = u32((value != 0u));
    }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 2 < h0.y) {
        var value: u32 = total0.z;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 2))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 2))] = u32((value != 0u));
    }
    if (row + 4 * y + 0 < h0.x && column + 4 * x + 3 < h0.y) {
        var value: u32 = total0.w;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 3))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 0) + h4.y * (column + 4 * x + 3))] = u32((value != 0u));
    }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 0 < h0.y) {
        var value: u32 = total1.x;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 0))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 0))] = u32((value != 0u));
    }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 1 < h0.y) {
        var value: u32 = total1.y;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 1))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 1))] = u32((value != 0u));
    }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 2 < h0.y) {
        var value: u32 = total1.z;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 2))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 2))] = u32((value != 0u));
    }
    if (row + 4 * y + 1 < h0.x && column + 4 * x + 3 < h0.y) {
        var value: u32 = total1.w;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 3))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 1) + h4.y * (column + 4 * x + 3))] = u32((value != 0u));
    }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 0 < h0.y) {
        var value: u32 = total2.x;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 0))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 0))] = u32((value != 0u));
    }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 1 < h0.y) {
        var value: u32 = total2.y;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 1))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 1))] = u32((value != 0u));
    }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 2 < h0.y) {
        var value: u32 = total2.z;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 2))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 2))] = u32((value != 0u));
    }
    if (row + 4 * y + 2 < h0.x && column + 4 * x + 3 < h0.y) {
        var value: u32 = total2.w;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 3))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 2) + h4.y * (column + 4 * x + 3))] = u32((value != 0u));
    }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 0 < h0.y) {
        var value: u32 = total3.x;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 0))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 0))] = u32((value != 0u));
    }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 1 < h0.y) {
        var value: u32 = total3.y;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 1))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 1))] = u32((value != 0u));
    }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 2 < h0.y) {
        var value: u32 = total3.z;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 2))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 2))] = u32((value != 0u));
    }
    if (row + 4 * y + 3 < h0.x && column + 4 * x + 3 < h0.y) {
        var value: u32 = total3.w;
        if (h1.y != 0) { value = (value | u32((b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 3))] != 0u))); }
        b2[(h3.w + h4.z * i0 + h4.x * (row + 4 * y + 3) + h4.y * (column + 4 * x + 3))] = u32((value != 0u));
    }
}
