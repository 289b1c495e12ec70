//! Where the blocks of an image have moved: a search in images of a quarter of the size, refined step by step.

use rayon::prelude::*;

use crate::widest::widest;

/// Pixels of a block, each way.
const BLOCK: usize = 16;

/// A grey image of its own.
struct Image {
    pixels: Vec<f32>,
    height: usize,
    width: usize,
}

impl Image {
    fn row(&self, i: usize) -> &[f32] {
        &self.pixels[i * self.width..][..self.width]
    }

    /// Each pixel is the mean of four.
    fn halved(&self) -> Image {
        widest! {
            fn means(above: &[f32], below: &[f32], to: &mut [f32]) {
                for ((to, above), below) in to.iter_mut().zip(above.chunks_exact(2)).zip(below.chunks_exact(2)) {
                    *to = (above[0] + above[1] + below[0] + below[1]) * 0.25;
                }
            }
        }
        let (height, width) = (self.height / 2, self.width / 2);
        let mut pixels = vec![0.0; height * width];
        pixels.par_chunks_mut(width).enumerate().for_each(|(i, to)| {
            means(self.row(2 * i), self.row(2 * i + 1), to);
        });
        Image { pixels, height, width }
    }

    /// New pixels lie half-way between old ones; the last row and column come twice.
    fn doubled(&self) -> Image {
        widest! {
            fn between(near: [&[f32]; 2], mean: &mut [f32], to: &mut [f32]) {
                for ((mean, above), below) in mean.iter_mut().zip(near[0]).zip(near[1]) {
                    *mean = (above + below) * 0.5;
                }
                let last = mean[mean.len() - 1];
                for (to, pair) in to.chunks_exact_mut(2).zip(mean.windows(2)) {
                    to[0] = pair[0];
                    to[1] = (pair[0] + pair[1]) * 0.5;
                }
                let end = to.len() - 2;
                to[end..].fill(last);
            }
        }
        let (height, width) = (2 * self.height, 2 * self.width);
        let mut pixels = vec![0.0; height * width];
        pixels.par_chunks_mut(width).enumerate().for_each_init(
            || vec![0.0; self.width],
            |mean, (i, to)| {
                let near = [i / 2, i.div_ceil(2).min(self.height - 1)];
                between(near.map(|i| self.row(i)), mean, to);
            },
        );
        Image { pixels, height, width }
    }
}

/// Adds the differences to every n-th pixel of the other image.
#[inline(always)]
fn add<const N: usize>(before: &[f32], after: &[f32], sums: &mut [f32; BLOCK]) {
    match (<&[f32; BLOCK]>::try_from(before), after.len() > (BLOCK - 1) * N) {
        // A whole block's row, whose loop becomes one vector.
        (Ok(before), true) => {
            for j in 0..BLOCK {
                sums[j] += (before[j] - after[j * N]).abs();
            }
        }
        _ => {
            for (j, (sum, before)) in sums.iter_mut().zip(before).enumerate() {
                *sum += (before - after[j * N]).abs();
            }
        }
    }
}

/// One step of the search: `after` is `scale` times as large as `before`.
struct Level<'i> {
    before: &'i Image,
    after: &'i Image,
    block: usize,
    reach: i32,
    scale: usize,
}

impl Level<'_> {
    /// The best vector of a block among those around another one, the first of equals.
    fn best(&self, down: usize, across: usize, vector: [i32; 2]) -> [i32; 2] {
        widest! {
            fn search(level: &Level<'_>, top: usize, left: usize, vector: &mut [i32; 2]) {
                let (mut least, around) = (f32::INFINITY, *vector);
                for step_down in -level.reach..=level.reach {
                    for step_right in -level.reach..=level.reach {
                        let tried = [around[0] + step_down, around[1] + step_right];
                        let cost = match level.scale {
                            1 => level.cost::<1>(top, left, tried),
                            2 => level.cost::<2>(top, left, tried),
                            _ => level.cost::<4>(top, left, tried),
                        };
                        if cost < least {
                            (least, *vector) = (cost, tried);
                        }
                    }
                }
            }
        }
        let mut best = vector;
        search(self, down * self.block, across * self.block, &mut best);
        best
    }

    /// The sum of absolute differences of a block; outside the image is as its edge.
    #[inline(always)]
    fn cost<const SCALE: usize>(&self, top: usize, left: usize, vector: [i32; 2]) -> f32 {
        let place = |at: usize, by: i32, end: usize| {
            ((at * SCALE) as i32 + by).clamp(0, end as i32 - 1) as usize
        };
        let first = (left * SCALE) as i32 + vector[1];
        let last = first + ((self.block - 1) * SCALE) as i32;
        let inside = first >= 0 && last < self.after.width as i32;
        let mut sums = [0.0; BLOCK];
        for i in top..top + self.block {
            let before = &self.before.row(i)[left..left + self.block];
            let after = self.after.row(place(i, vector[0], self.after.height));
            if inside {
                add::<SCALE>(before, &after[first as usize..=last as usize], &mut sums);
            } else {
                let mut edge = [0.0; BLOCK];
                for (j, edge) in edge[..self.block].iter_mut().enumerate() {
                    *edge = after[place(left + j, vector[1], self.after.width)];
                }
                add::<1>(before, &edge, &mut sums);
            }
        }
        sums.iter().sum()
    }
}

/// The vectors of blocks of 16 × 16 pixels, down and right, in pixels.
pub fn motion(before: &[f32], after: &[f32], to: &mut [f32], height: usize, width: usize) {
    let [before, after] =
        [before, after].map(|pixels| Image { pixels: pixels.to_vec(), height, width });
    let [half_before, half_after] = [&before, &after].map(Image::halved);
    let [quarter_before, quarter_after] = [&half_before, &half_after].map(Image::halved);
    let double = after.doubled();
    let quadruple = double.doubled();
    let levels = [
        Level { before: &quarter_before, after: &quarter_after, block: 4, reach: 3, scale: 1 },
        Level { before: &half_before, after: &half_after, block: 8, reach: 1, scale: 1 },
        Level { before: &before, after: &after, block: 16, reach: 1, scale: 1 },
        Level { before: &before, after: &double, block: 16, reach: 1, scale: 2 },
        Level { before: &before, after: &quadruple, block: 16, reach: 1, scale: 4 },
    ];
    let across = width / BLOCK;
    to.par_chunks_mut(2).enumerate().for_each(|(number, to)| {
        let mut vector = [0, 0];
        for level in &levels {
            vector = level.best(number / across, number % across, vector.map(|part| 2 * part));
        }
        (to[0], to[1]) = (vector[0] as f32 / 4.0, vector[1] as f32 / 4.0);
    });
}
