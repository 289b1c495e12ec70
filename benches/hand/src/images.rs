//! Programs that read a pixel's neighbours.

use rayon::prelude::*;

use crate::functions::whole;
use crate::widest::widest;

/// Rows that a thread takes at a time.
const ROWS: usize = 16;

/// One generation of Life on a torus.
pub fn life(cells: &[f32], to: &mut [f32], height: usize, width: usize) {
    widest! {
        fn part(rows: [&[f32]; 3], columns: &mut [f32], to: &mut [f32]) {
            let [above, row, below] = rows;
            let width = row.len();
            // The sums of three cells down, with one column more on either side.
            for (k, sum) in columns[1..=width].iter_mut().enumerate() {
                *sum = above[k] + row[k] + below[k];
            }
            columns[0] = columns[width];
            columns[width + 1] = columns[1];
            let sums = columns[..width].iter().zip(&columns[1..=width]).zip(&columns[2..]);
            for ((to, cell), ((left, middle), right)) in to.iter_mut().zip(row).zip(sums) {
                let around = left + middle + right - cell;
                *to = if (around == 3.0) | ((around == 2.0) & (*cell == 1.0)) { 1.0 } else { 0.0 };
            }
        }
    }
    let row = |i: usize| &cells[i % height * width..][..width];
    to.par_chunks_mut(ROWS * width).enumerate().for_each(|(number, some)| {
        let mut columns = vec![0.0; width + 2];
        for (i, to) in (number * ROWS..).zip(some.chunks_mut(width)) {
            part([row(i + height - 1), row(i), row(i + 1)], &mut columns, to);
        }
    });
}

/// Five binomial taps down and across, with the edge repeated outside.
pub fn convolution(image: &[f32], to: &mut [f32], height: usize, width: usize) {
    const TAPS: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];
    widest! {
        fn part(rows: [&[f32]; 5], smooth: &mut [f32], to: &mut [f32]) {
            let width = to.len();
            let [a, b, c, d, e] = rows;
            for (k, sum) in smooth[2..width + 2].iter_mut().enumerate() {
                *sum = TAPS[0] * a[k] + TAPS[1] * b[k] + TAPS[2] * c[k] + TAPS[3] * d[k] + TAPS[4] * e[k];
            }
            let (first, last) = (smooth[2], smooth[width + 1]);
            smooth[..2].fill(first);
            smooth[width + 2..].fill(last);
            for (to, near) in to.iter_mut().zip(smooth.windows(5)) {
                *to = TAPS[0] * near[0] + TAPS[1] * near[1] + TAPS[2] * near[2] + TAPS[3] * near[3] + TAPS[4] * near[4];
            }
        }
    }
    let row = |i: usize| &image[(i.max(2) - 2).min(height - 1) * width..][..width];
    to.par_chunks_mut(ROWS * width).enumerate().for_each(|(number, some)| {
        let mut smooth = vec![0.0; width + 4];
        for (i, to) in (number * ROWS..).zip(some.chunks_mut(width)) {
            part([row(i), row(i + 1), row(i + 2), row(i + 3), row(i + 4)], &mut smooth, to);
        }
    });
}

/// The image turned by 10 degrees about its centre, bilinear, black outside.
pub fn rotation(image: &[f32], to: &mut [f32], height: usize, width: usize) {
    const COSINE: f32 = 0.984_807_75;
    const SINE: f32 = 0.173_648_18;
    widest! {
        fn part(image: &[f32], i: usize, height: usize, to: &mut [f32]) {
            let width = to.len();
            assert!(height >= 2 && width >= 2 && image.len() == height * width);
            let (middle, centre) = (0.5 * (height - 1) as f32, 0.5 * (width - 1) as f32);
            let y = i as f32 - middle;
            for (j, to) in to.iter_mut().enumerate() {
                let x = j as f32 - centre;
                let row = COSINE * y - SINE * x + middle;
                let column = SINE * y + COSINE * x + centre;
                let (top, left) = (row.floor(), column.floor());
                let (down, right) = (row - top, column - left);
                let i = whole(top.clamp(0.0, (height - 2) as f32)) as usize;
                let j = whole(left.clamp(0.0, (width - 2) as f32)) as usize;
                let place = i * width + j;
                // SAFETY: `i` and `j` are less than the last row and column, so all four pixels are in the image.
                let near = unsafe {
                    [0, 1, width, width + 1].map(|step| *image.get_unchecked(place + step))
                };
                let above = (1.0 - right) * near[0] + right * near[1];
                let below = (1.0 - right) * near[2] + right * near[3];
                let inside = (row >= 0.0)
                    & (row <= (height - 1) as f32)
                    & (column >= 0.0)
                    & (column <= (width - 1) as f32);
                *to = if inside { (1.0 - down) * above + down * below } else { 0.0 };
            }
        }
    }
    to.par_chunks_mut(width).enumerate().for_each(|(i, to)| part(image, i, height, to));
}

/// The best shift of each block, and its sum of absolute differences.
#[expect(clippy::too_many_arguments, reason = "they are those of the function that C calls")]
pub fn block_matching(
    before: &[f32],
    after: &[f32],
    least: &mut [f32],
    chosen: &mut [f32],
    height: usize,
    width: usize,
    reach: usize,
    block: usize,
) {
    widest! {
        fn add_differences(a: &[f32], b: &[f32], sums: &mut [f32]) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += (a - b).abs();
            }
        }
    }
    let side = 2 * reach + 1;
    let across = width / block;
    let results = least.par_chunks_mut(across).zip(chosen.par_chunks_mut(across));
    results.enumerate().for_each(|(number, (least, chosen))| {
        least.fill(f32::INFINITY);
        let mut sums = vec![0.0; width];
        for shift in 0..side * side {
            // Rolled by `down` and `right`, element (i, j) is the one at (i - down, j - right).
            let up = (height + reach - shift / side) % height;
            let left = (width + reach - shift % side) % width;
            sums.fill(0.0);
            for i in number * block..(number + 1) * block {
                let row = &before[i * width..][..width];
                let other = &after[(i + up) % height * width..][..width];
                let (first, rest) = sums.split_at_mut(width - left);
                add_differences(&row[..width - left], &other[left..], first);
                add_differences(&row[width - left..], &other[..left], rest);
            }
            for ((least, chosen), sums) in
                least.iter_mut().zip(chosen.iter_mut()).zip(sums.chunks_exact(block))
            {
                let total: f32 = sums.iter().sum();
                if total < *least {
                    (*least, *chosen) = (total, shift as f32);
                }
            }
        }
    });
}
