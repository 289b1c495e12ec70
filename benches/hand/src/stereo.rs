//! How near each pixel is, from two pictures.

use rayon::prelude::*;

use crate::widest::widest;

/// Rows that a thread takes at a time; three above and below are computed with them.
const ROWS: usize = 32;

/// How far the right picture may be shifted, and the reach of a window.
const OFFSETS: usize = 16;
const REACH: usize = 3;

/// The offset of each pixel whose squared differences have the least sum over 7 × 7 pixels.
pub fn stereo(left: &[f32], right: &[f32], nearest: &mut [f32], height: usize, width: usize) {
    widest! {
        fn squares(left: &[f32], right: &[f32], to: &mut [f32]) {
            for ((to, left), right) in to.iter_mut().zip(left).zip(right) {
                *to = (left - right) * (left - right);
            }
        }
    }
    widest! {
        fn keep_least(rows: [&[f32]; 7], offset: f32, wide: &mut [f32], kept: [&mut [f32]; 2]) {
            let [nearest, least] = kept;
            let width = nearest.len();
            let rows = rows.map(|row| &row[..width]);
            let wide = &mut wide[..width + 2 * REACH];
            for (j, sum) in wide[REACH..REACH + width].iter_mut().enumerate() {
                *sum = rows[0][j] + rows[1][j] + rows[2][j] + rows[3][j] + rows[4][j] + rows[5][j] + rows[6][j];
            }
            let (first, last) = (wide[REACH], wide[REACH + width - 1]);
            wide[..REACH].fill(first);
            wide[REACH + width..].fill(last);
            for ((near, nearest), least) in wide.windows(7).zip(nearest).zip(least) {
                let cost = near[0] + near[1] + near[2] + near[3] + near[4] + near[5] + near[6];
                *nearest = if cost < *least { offset } else { *nearest };
                *least = if cost < *least { cost } else { *least };
            }
        }
    }
    nearest.par_chunks_mut(ROWS * width).enumerate().for_each(|(number, nearest)| {
        let first = number * ROWS;
        let count = nearest.len() / width;
        let (from, end) = (first.saturating_sub(REACH), (first + count + REACH).min(height));
        let mut differences = vec![0.0; (end - from) * width];
        let mut least = vec![f32::INFINITY; count * width];
        let mut wide = vec![0.0; width + 2 * REACH];
        // The right picture's rows, with the first pixel repeated before each.
        let mut shifted = vec![0.0; (end - from) * (width + OFFSETS)];
        for (row, to) in
            right[from * width..].chunks_exact(width).zip(shifted.chunks_exact_mut(width + OFFSETS))
        {
            to[..OFFSETS].fill(row[0]);
            to[OFFSETS..].copy_from_slice(row);
        }
        for offset in 0..OFFSETS {
            let rows = left[from * width..end * width].chunks_exact(width);
            let shifted = shifted.chunks_exact(width + OFFSETS);
            for ((left, right), to) in rows.zip(shifted).zip(differences.chunks_exact_mut(width)) {
                squares(left, &right[OFFSETS - offset..][..width], to);
            }
            let kept = nearest.chunks_exact_mut(width).zip(least.chunks_exact_mut(width));
            for (i, (nearest, least)) in (first..).zip(kept) {
                let near = |k: usize| {
                    let row = (i + k).saturating_sub(REACH).min(height - 1);
                    &differences[(row - from) * width..][..width]
                };
                keep_least(
                    [0, 1, 2, 3, 4, 5, 6].map(near),
                    offset as f32,
                    &mut wide,
                    [nearest, least],
                );
            }
        }
    });
}
