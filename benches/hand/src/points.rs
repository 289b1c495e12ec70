//! Programs that go over their operands once, element by element.

use rayon::prelude::*;

use crate::functions::{exp, ln, sin};
use crate::widest::widest;

/// Elements that a thread takes at a time.
const CHUNK: usize = 1 << 16;

/// `2.5 * x + y`
pub fn scaled_sum(x: &[f32], y: &[f32], to: &mut [f32], _n: usize) {
    widest! {
        fn part(x: &[f32], y: &[f32], to: &mut [f32]) {
            for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
                *to = 2.5 * x + y;
            }
        }
    }
    let operands = x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK));
    to.par_chunks_mut(CHUNK).zip(operands).for_each(|(to, (x, y))| part(x, y, to));
}

/// `sin(x) * exp(-x * x)`
pub fn sine_times_exponential(x: &[f32], to: &mut [f32], _n: usize) {
    widest! {
        fn part(x: &[f32], to: &mut [f32]) {
            for (to, &x) in to.iter_mut().zip(x) {
                *to = sin(x) * exp(-x * x);
            }
        }
    }
    to.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(to, x)| part(x, to));
}

/// The sum of `abs(x)`.
pub fn absolute_sum(x: &[f32], to: &mut [f32], _n: usize) {
    /// Sums that are kept side by side: four vectors of 512 bits.
    const LANES: usize = 64;
    widest! {
        fn part(x: &[f32], sum: &mut f32) {
            let mut lanes = [0.0; LANES];
            let rows = x.chunks_exact(LANES);
            let rest: f32 = rows.remainder().iter().map(|x| x.abs()).sum();
            for row in rows {
                for (lane, x) in lanes.iter_mut().zip(row) {
                    *lane += x.abs();
                }
            }
            *sum = lanes.iter().sum::<f32>() + rest;
        }
    }
    let parts = x.par_chunks(CHUNK).map(|x| {
        let mut sum = 0.0;
        part(x, &mut sum);
        sum
    });
    to[0] = parts.sum();
}

/// The prices of call and put options.
pub fn black_scholes(
    price: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
    _n: usize,
) {
    const RATE: f32 = 0.02;
    const VOLATILITY: f32 = 0.3;

    #[inline(always)]
    fn normal_distribution(x: f32) -> f32 {
        let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
        let inner = 1.781_477_9 + k * (-1.821_256 + k * 1.330_274_5);
        let series = k * (0.319_381_54 + k * (-0.356_563_78 + k * inner));
        let tail = 0.398_942_3 * exp(-0.5 * x * x) * series;
        if x > 0.0 { 1.0 - tail } else { tail }
    }
    widest! {
        fn part(given: [&[f32]; 3], call: &mut [f32], put: &mut [f32]) {
            let [price, strike, years] = given;
            let given = price.iter().zip(strike).zip(years);
            for ((call, put), ((&price, &strike), &years)) in call.iter_mut().zip(put).zip(given) {
                let spread = VOLATILITY * years.sqrt();
                let d1 = (ln(price / strike) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / spread;
                let d2 = d1 - spread;
                let owed = strike * exp(-RATE * years);
                let (n1, n2) = (normal_distribution(d1), normal_distribution(d2));
                *call = price * n1 - owed * n2;
                *put = owed * (1.0 - n2) - price * (1.0 - n1);
            }
        }
    }
    let chunk = CHUNK / 16;
    let given = price.par_chunks(chunk).zip(strike.par_chunks(chunk)).zip(years.par_chunks(chunk));
    let made = call.par_chunks_mut(chunk).zip(put.par_chunks_mut(chunk));
    made.zip(given).for_each(|((call, put), ((price, strike), years))| {
        part([price, strike, years], call, put);
    });
}
