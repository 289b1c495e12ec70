//! Programs on tables: normalised columns, and a matrix by a vector.

use rayon::prelude::*;

use crate::widest::widest;

/// Rows that a thread takes at a time.
const ROWS: usize = 1024;

/// Each column less its mean, over its deviation.
pub fn column_normalisation(table: &[f32], to: &mut [f32], rows: usize, columns: usize) {
    widest! {
        fn add(table: &[f32], sums: &mut [f32]) {
            for row in table.chunks_exact(sums.len()) {
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            }
        }
    }
    widest! {
        fn add_squares(table: &[f32], means: &[f32], sums: &mut [f32]) {
            for row in table.chunks_exact(sums.len()) {
                for ((sum, x), mean) in sums.iter_mut().zip(row).zip(means) {
                    *sum += (x - mean) * (x - mean);
                }
            }
        }
    }
    widest! {
        fn scale(table: &[f32], means: &[f32], deviations: &[f32], to: &mut [f32]) {
            for (to, row) in to.chunks_exact_mut(means.len()).zip(table.chunks_exact(means.len())) {
                let columns = to.iter_mut().zip(row).zip(means).zip(deviations);
                for (((to, x), mean), deviation) in columns {
                    *to = (x - mean) / deviation;
                }
            }
        }
    }
    let chunk = ROWS * columns;
    let averages = |of: &(dyn Fn(&[f32], &mut [f32]) + Sync)| -> Vec<f32> {
        let parts = table.par_chunks(chunk).map(|part| {
            let mut sums = vec![0.0; columns];
            of(part, &mut sums);
            sums
        });
        let sums = parts.reduce(
            || vec![0.0; columns],
            |mut sums, part| {
                sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
                sums
            },
        );
        sums.into_iter().map(|sum| sum / rows as f32).collect()
    };
    let means = averages(&|part, sums| add(part, sums));
    let variances = averages(&|part, sums| add_squares(part, &means, sums));
    let deviations: Vec<f32> = variances.into_iter().map(f32::sqrt).collect();
    let parts = to.par_chunks_mut(chunk).zip(table.par_chunks(chunk));
    parts.for_each(|(to, part)| scale(part, &means, &deviations, to));
}

/// The product of a matrix and a vector.
pub fn matrix_vector(a: &[f32], x: &[f32], to: &mut [f32], _rows: usize, columns: usize) {
    /// Sums that are kept side by side: four vectors of 512 bits.
    const LANES: usize = 64;
    widest! {
        fn part(a: &[f32], x: &[f32], to: &mut [f32]) {
            for (to, row) in to.iter_mut().zip(a.chunks_exact(x.len())) {
                let mut lanes = [0.0; LANES];
                let (parts, of_x) = (row.chunks_exact(LANES), x.chunks_exact(LANES));
                let rest = parts.remainder().iter().zip(of_x.remainder());
                let rest: f32 = rest.map(|(a, x)| a * x).sum();
                for (a, x) in parts.zip(of_x) {
                    for ((lane, a), x) in lanes.iter_mut().zip(a).zip(x) {
                        *lane += a * x;
                    }
                }
                *to = lanes.iter().sum::<f32>() + rest;
            }
        }
    }
    const SOME: usize = 64;
    to.par_chunks_mut(SOME).zip(a.par_chunks(SOME * columns)).for_each(|(to, a)| part(a, x, to));
}
