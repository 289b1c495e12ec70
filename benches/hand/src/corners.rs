//! How much of a corner each pixel is.

use rayon::prelude::*;

use crate::widest::widest;

/// Rows that a thread takes at a time; results beyond them are thrown away.
const ROWS: usize = 64;

const FIVE: [f32; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];
const NINE: [f32; 9] = [
    1.0 / 256.0,
    8.0 / 256.0,
    28.0 / 256.0,
    56.0 / 256.0,
    70.0 / 256.0,
    56.0 / 256.0,
    28.0 / 256.0,
    8.0 / 256.0,
    1.0 / 256.0,
];

/// The eigenvalues of the smoothed products of derivatives: the lesser one, and half of the greater.
pub fn corners(image: &[f32], to: &mut [f32], height: usize, width: usize) {
    to.par_chunks_mut(ROWS * width).enumerate().for_each(|(number, to)| {
        let first = number * ROWS;
        let count = to.len() / width;
        // Rows of products that this part needs, and of the smooth image, whose neighbours they are.
        let (from, end) = (first.saturating_sub(4), (first + count + 4).min(height));
        let (smooth_from, smooth_end) = (from.saturating_sub(1), (end + 1).min(height));
        let mut wide = vec![0.0; width + 8];
        let mut smooth = vec![0.0; (smooth_end - smooth_from) * width];
        for (i, row) in (smooth_from..smooth_end).zip(smooth.chunks_exact_mut(width)) {
            let near =
                |k: usize| &image[(i + k).saturating_sub(2).min(height - 1) * width..][..width];
            five([0, 1, 2, 3, 4].map(near), &mut wide, row);
        }
        let smooth = |i: usize| &smooth[(i - smooth_from) * width..][..width];
        let size = (end - from) * width;
        let (mut xx, mut yy, mut xy) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
        let rows = xx
            .chunks_exact_mut(width)
            .zip(yy.chunks_exact_mut(width))
            .zip(xy.chunks_exact_mut(width));
        for (i, ((xx, yy), xy)) in (from..end).zip(rows) {
            let (up, down) = (i.max(1) - 1, (i + 1).min(height - 1));
            let apart = if down - up == 2 { 0.5 } else { 1.0 };
            products([smooth(up), smooth(i), smooth(down)], apart, [xx, yy, xy]);
        }
        let mut blurred = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
        for (i, to) in (first..).zip(to.chunks_exact_mut(width)) {
            for (products, blurred) in [&xx, &yy, &xy].into_iter().zip(&mut blurred) {
                let near = |k: usize| {
                    let row = (i + k).saturating_sub(4).min(height - 1);
                    &products[(row - from) * width..][..width]
                };
                nine([0, 1, 2, 3, 4, 5, 6, 7, 8].map(near), &mut wide, blurred);
            }
            let [xx, yy, xy] = &blurred;
            cornerness([xx, yy, xy], to);
        }
    });
}

widest! {
    fn five(rows: [&[f32]; 5], wide: &mut [f32], to: &mut [f32]) {
        convolve(rows, &FIVE, wide, to);
    }
}

widest! {
    fn nine(rows: [&[f32]; 9], wide: &mut [f32], to: &mut [f32]) {
        convolve(rows, &NINE, wide, to);
    }
}

/// A row convolved down and across; outside it is as its last pixels.
#[inline(always)]
fn convolve<const N: usize>(rows: [&[f32]; N], taps: &[f32; N], wide: &mut [f32], to: &mut [f32]) {
    let (width, reach) = (to.len(), N / 2);
    let rows = rows.map(|row| &row[..width]);
    let wide = &mut wide[..width + N - 1];
    for (j, sum) in wide[reach..reach + width].iter_mut().enumerate() {
        *sum = taps[0] * rows[0][j];
        for k in 1..N {
            *sum += taps[k] * rows[k][j];
        }
    }
    let (first, last) = (wide[reach], wide[reach + width - 1]);
    wide[..reach].fill(first);
    wide[reach + width..].fill(last);
    for (to, near) in to.iter_mut().zip(wide.windows(N)) {
        let mut sum = taps[0] * near[0];
        for k in 1..N {
            sum += taps[k] * near[k];
        }
        *to = sum;
    }
}

widest! {
    fn products(near: [&[f32]; 3], apart: f32, to: [&mut [f32]; 3]) {
        let [up, here, down] = near;
        let [xx, yy, xy] = to;
        let width = here.len();
        let (up, down) = (&up[..width], &down[..width]);
        let (xx, yy, xy) = (&mut xx[..width], &mut yy[..width], &mut xy[..width]);
        let mut put = |j: usize, x: f32| {
            let y = (down[j] - up[j]) * apart;
            (xx[j], yy[j], xy[j]) = (x * x, y * y, y * x);
        };
        put(0, here[1] - here[0]);
        put(width - 1, here[width - 1] - here[width - 2]);
        for j in 1..width - 1 {
            put(j, (here[j + 1] - here[j - 1]) * 0.5);
        }
    }
}

widest! {
    fn cornerness(products: [&[f32]; 3], to: &mut [f32]) {
        let [xx, yy, xy] = products.map(|row| &row[..to.len()]);
        for (j, to) in to.iter_mut().enumerate() {
            let mean = (yy[j] + xx[j]) * 0.5;
            let half = (yy[j] - xx[j]) * 0.5;
            let apart = (half * half + xy[j] * xy[j]).sqrt();
            *to = 0.5 * (mean + apart) + (mean - apart);
        }
    }
}
