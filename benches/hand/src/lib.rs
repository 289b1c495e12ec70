//! The benchmark's programs written by hand: one loop each where that is possible, on all cores, in the widest
//! vectors of the machine.
//!
//! Owns the functions for C, one for each program, with the arithmetic of
//! `gpupy-py/python/gpupy/_bench/programs.py` and of `examples/accelerator/` in its order: nothing is
//! contracted or reordered that NumPy would round in between, except sums, whose order NumPy leaves open.
//! Exponentials, logarithms and sines are polynomials (`functions.rs`). Threads are rayon's
//! (`RAYON_NUM_THREADS`).
//!
//! Invariants: operands and results are in C order and do not overlap; results are overwritten completely. Not
//! here: the callers, which check and time these functions (`benches/peers/`, `benches/accelerator/`).

// Coefficients stand as they were published.
#![allow(clippy::excessive_precision)]

mod colours;
mod corners;
mod functions;
mod images;
mod motion;
mod pictures;
mod points;
mod stereo;
mod tables;
mod widest;

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Exports the functions to C: slices are passed as a pointer, with their length in an argument.
macro_rules! to_c {
    ($(
        $(#[$doc:meta])*
        fn $name:ident => $to:path { in: [$($given:ident: $given_length:expr),*], out: [$($made:ident: $made_length:expr),*], numbers: [$($number:ident),*] }
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Every pointer leads to as many elements as the numbers say, and results overlap nothing.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($given: *const f32,)* $($made: *mut f32,)* $($number: usize),*) {
            $(
                // SAFETY: the caller guarantees that the pointer leads to this many elements.
                let $given = unsafe { from_raw_parts($given, $given_length) };
            )*
            $(
                // SAFETY: the caller guarantees that the pointer leads to this many elements, which no other
                // pointer reaches.
                let $made = unsafe { from_raw_parts_mut($made, $made_length) };
            )*
            $to($($given,)* $($made,)* $($number),*);
        }
    )*};
}

to_c! {
    /// `2.5 * x + y`
    fn hand_scaled_sum => points::scaled_sum { in: [x: n, y: n], out: [to: n], numbers: [n] }
    /// `sin(x) * exp(-x * x)`
    fn hand_sine_times_exponential => points::sine_times_exponential { in: [x: n], out: [to: n], numbers: [n] }
    /// The sum of `abs(x)`, into one element.
    fn hand_absolute_sum => points::absolute_sum { in: [x: n], out: [to: 1], numbers: [n] }
    /// The prices of call and put options.
    fn hand_black_scholes => points::black_scholes {
        in: [price: n, strike: n, years: n], out: [call: n, put: n], numbers: [n]
    }
    /// The distance of each of `size * size` pixels to the nearest of `count` points.
    fn hand_distance_map => pictures::distance_map { in: [px: count, py: count], out: [to: size * size], numbers: [size, count] }
    /// The three planes of a lit sphere, `size * size` pixels each.
    fn hand_shaded_sphere => pictures::shaded_sphere {
        in: [], out: [red: size * size, green: size * size, blue: size * size], numbers: [size]
    }
    /// One generation of Life on a torus.
    fn hand_life => images::life { in: [cells: height * width], out: [to: height * width], numbers: [height, width] }
    /// Five binomial taps down and across, with the edge repeated outside.
    fn hand_convolution => images::convolution {
        in: [image: height * width], out: [to: height * width], numbers: [height, width]
    }
    /// The image turned by 10 degrees, bilinear.
    fn hand_rotation => images::rotation {
        in: [image: height * width], out: [to: height * width], numbers: [height, width]
    }
    /// The best shift of each block, and its sum of absolute differences.
    fn hand_block_matching => images::block_matching {
        in: [before: height * width, after: height * width],
        out: [least: height / block * (width / block), chosen: height / block * (width / block)],
        numbers: [height, width, reach, block]
    }
    /// Each column less its mean, over its deviation.
    fn hand_column_normalisation => tables::column_normalisation {
        in: [table: rows * columns], out: [to: rows * columns], numbers: [rows, columns]
    }
    /// The product of a matrix and a vector.
    fn hand_matrix_vector => tables::matrix_vector { in: [a: rows * columns, x: columns], out: [to: rows], numbers: [rows, columns] }
    /// The colours of a Bayer mosaic.
    fn hand_demosaic => colours::demosaic {
        in: [raw: height * width], out: [to: height * width * 3], numbers: [height, width]
    }
    /// A picture in colour turned by 10 degrees.
    fn hand_colour_rotation => colours::rotation {
        in: [picture: height * width * 3], out: [to: height * width * 3], numbers: [height, width]
    }
    /// How much of a corner each pixel is.
    fn hand_corners => corners::corners { in: [image: height * width], out: [to: height * width], numbers: [height, width] }
    /// The vectors of the blocks of an image, whose sides are multiples of 16.
    fn hand_motion => motion::motion {
        in: [before: height * width, after: height * width], out: [to: height / 16 * (width / 16) * 2],
        numbers: [height, width]
    }
    /// How far apart the two pictures have each pixel.
    fn hand_stereo => stereo::stereo {
        in: [left: height * width, right: height * width], out: [nearest: height * width], numbers: [height, width]
    }
}
