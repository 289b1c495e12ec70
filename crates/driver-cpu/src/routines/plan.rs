//! Plans of Fourier transforms of one number of points.
//!
//! Owns [`FourierPlan`]. A plan is passes by the prime factors of the number, or, where a factor is large, Bluestein's
//! convolution by a transform of more points. Which of them is taken is NumPy's rule, so that errors are alike.
//!
//! Not here: the passes (`radix_passes.rs`), rows and real transforms (`fourier_rows.rs`), long rows (`long_row.rs`).

use super::radix_passes::{ComplexLanes, Pass, Planes};
use gpupy_core::routines::root_of_unity;
use gpupy_core::{Result, memory};

/// A plan: forward, of complex numbers.
pub enum FourierPlan {
    Passes(Vec<Pass>),
    Chirp(Box<Chirp>),
}

/// Bluestein's convolution.
pub struct Chirp {
    n: usize,
    longer: FourierPlan,
    points: usize,
    /// `exp(−πi·k² / n)`.
    chirp: Vec<ComplexLanes>,
    /// The transform of its conjugate, divided by the points.
    factors: Vec<ComplexLanes>,
}

impl FourierPlan {
    /// The plan for `n` points, of rows of real numbers or of complex ones.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for its numbers.
    pub fn new(n: usize, is_real: bool) -> Result<FourierPlan> {
        // Roots for each factor, and what else a chirp has.
        drop(memory::with_room::<ComplexLanes>(n.saturating_mul(8))?);
        let factors = factors(n);
        let longest = factors.iter().copied().max().unwrap_or(1);
        if longest > 7 && longest.saturating_mul(longest) > n {
            let points = smooth(2 * n - 1);
            let direct = cost(n) * if is_real { 0.5 } else { 1.0 };
            // A convolution is two transforms, and errs twice as much.
            if direct > 3.5 * cost(points) {
                return Chirp::new(n, points).map(|chirp| FourierPlan::Chirp(Box::new(chirp)));
            }
        }
        Ok(FourierPlan::by_factors(n, &factors))
    }

    /// The plan of a part of a long row, whose points have small factors.
    pub fn short(n: usize) -> FourierPlan {
        FourierPlan::by_factors(n, &factors(n))
    }

    fn by_factors(n: usize, factors: &[usize]) -> FourierPlan {
        let mut rest = n;
        let pass = |radix: &usize| {
            rest /= radix;
            Pass::new(*radix, rest)
        };
        FourierPlan::Passes(factors.iter().map(pass).collect())
    }

    /// The numbers that [`FourierPlan::run`] needs room for in each plane, for every row.
    pub fn room(&self, n: usize) -> usize {
        match self {
            FourierPlan::Passes(_) => n,
            FourierPlan::Chirp(chirp) => chirp.points,
        }
    }

    /// Transforms `batch` rows, whose numbers at a point lie beside each other, from `data` into it; `room` is of the
    /// same length.
    pub fn run<'a>(&self, data: &mut Planes<'a>, room: &mut Planes<'a>, batch: usize) {
        match self {
            FourierPlan::Chirp(chirp) => chirp.run(data, room, batch),
            FourierPlan::Passes(passes) => {
                let mut s = batch;
                for pass in passes {
                    pass.run(data, room, s);
                    std::mem::swap(data, room);
                    s *= pass.radix();
                }
            }
        }
    }
}

impl Chirp {
    fn new(n: usize, points: usize) -> Result<Chirp> {
        let turns = 2 * n as u128;
        let chirp: Vec<ComplexLanes> = (0..n as u128)
            .map(|k| {
                let [c, s] = root_of_unity((k * k % turns) as u64, 2 * n as u64);
                ComplexLanes { re: c, im: -s }
            })
            .collect();
        let longer = FourierPlan::short(points);
        let mut planes: [Vec<f64>; 4] = Default::default();
        for plane in &mut planes {
            *plane = memory::with_room(points)?;
            plane.resize(points, 0.0);
        }
        let [re, im, other_re, other_im] = &mut planes;
        for (k, number) in chirp.iter().enumerate() {
            let by = 1.0 / points as f64;
            for at in [k, (points - k) % points] {
                (re[at], im[at]) = (number.re * by, -number.im * by);
            }
        }
        let mut data = Planes { re, im };
        longer.run(&mut data, &mut Planes { re: other_re, im: other_im }, 1);
        let factors =
            data.re.iter().zip(&*data.im).map(|(re, im)| ComplexLanes { re: *re, im: *im });
        let factors = factors.collect();
        Ok(Chirp { n, longer, points, chirp, factors })
    }

    fn run<'a>(&self, data: &mut Planes<'a>, room: &mut Planes<'a>, batch: usize) {
        multiplied(data, &self.chirp, batch, 1.0);
        data.re[self.n * batch..self.points * batch].fill(0.0);
        data.im[self.n * batch..self.points * batch].fill(0.0);
        self.longer.run(data, room, batch);
        multiplied(data, &self.factors, batch, -1.0);
        // The inverse transform is the conjugate's of the conjugate.
        self.longer.run(data, room, batch);
        let im = &mut data.im[..self.n * batch];
        im.iter_mut().for_each(|im| *im = -*im);
        multiplied(data, &self.chirp, batch, 1.0);
    }
}

/// Multiplies the numbers at each point by one; imaginary parts of the products get a sign.
fn multiplied(data: &mut Planes<'_>, by: &[ComplexLanes], batch: usize, sign: f64) {
    let rows = data.re.chunks_exact_mut(batch).zip(data.im.chunks_exact_mut(batch));
    for ((re, im), by) in rows.zip(by) {
        for (re, im) in re.iter_mut().zip(im) {
            let product = ComplexLanes { re: *re, im: *im } * *by;
            (*re, *im) = (product.re, sign * product.im);
        }
    }
}

/// The factors of the passes: fours, then primes from the least on.
pub fn factors(mut n: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let mut factor = 4;
    while n > 1 {
        if n.is_multiple_of(factor) {
            all.push(factor);
            n /= factor;
        } else {
            factor = match factor {
                4 => 2,
                2 => 3,
                _ if factor * factor > n => n,
                _ => factor + 2,
            };
        }
    }
    all
}

/// What a transform costs, roughly: as in NumPy.
fn cost(n: usize) -> f64 {
    let of = |factor: usize| match factor {
        4 => 4.0,
        0..=5 => factor as f64,
        _ => 1.1 * factor as f64,
    };
    factors(n).into_iter().map(of).sum::<f64>() * n as f64
}

/// The least number of points from one on whose prime factors are at most 5.
fn smooth(n: usize) -> usize {
    let mut least = n.next_power_of_two();
    let mut fives = 1;
    while fives < least {
        let mut threes = fives;
        while threes < least {
            let twos = threes * n.div_ceil(threes).next_power_of_two();
            least = least.min(twos);
            threes *= 3;
        }
        fives *= 5;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_factors_and_smooth_numbers_above() {
        for n in 1..2000 {
            assert_eq!(factors(n).iter().product::<usize>(), n);
            let above = smooth(n);
            assert!(above >= n && factors(above).iter().all(|factor| *factor <= 5));
        }
        assert_eq!(smooth(241), 243);
    }
}
