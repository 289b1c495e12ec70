//! Times compiled programs beside equivalent hand-written loops, and compilation itself.
//!
//! The hand-written loops are for AVX2, so the ratio compares them with AVX2 code.
//! `cargo run --release -p gpupy-jit --example timing`. The variants run alternately, and the best time of each counts,
//! so that a busy machine disturbs all alike.

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("there is code for x86-64 only");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    timing::run();
}

#[cfg(target_arch = "x86_64")]
mod timing {
    use gpupy_core::ir::{AccessKind, Builder, Form, Program};
    use gpupy_core::{DType, Op, Scalar};
    use gpupy_jit::{
        Isa, Kernel, KernelStrides, RowArguments, RowStride, StridedPointer, compile_for,
    };
    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::time::Instant;

    const ROUNDS: usize = 15;
    const NEAR: usize = 4096;
    const FAR: usize = 16 << 20;
    const POINTS: usize = 50;

    pub fn run() {
        let Some(best) = Isa::detect() else {
            return println!("this machine has neither AVX2 nor AVX-512");
        };
        println!(
            "{:<28} {:>9} {:>9} {:>9} {:>7}",
            "ns an element", "by hand", "AVX2", "best", "ratio"
        );
        for (name, program, hand) in works() {
            for n in [NEAR, FAR] {
                work(best, name, &program, hand, n);
            }
        }
        println!("\n{:<28} {:>9} {:>9}", "compiling, us", "first", "again");
        for operations in [1, 30, 100, 500, 2000] {
            compiling(best, operations);
        }
    }

    type Hand = unsafe fn(&[f32], &[f32], &mut [f32]);

    fn works() -> Vec<(&'static str, Program, Hand)> {
        vec![
            ("2.5*x+y", scaled(), scaled_by_hand),
            ("chain of 16", chain(), chain_by_hand),
            ("distance map, 50 points", distance_map(), distance_map_by_hand),
            ("price, 60 operations", price(), price_by_hand),
        ]
    }

    fn work(best: Isa, name: &str, program: &Program, hand: Hand, n: usize) {
        let x: Vec<f32> = (0..n).map(|k| 0.5 + (k % 1000) as f32 / 1000.0).collect();
        let y: Vec<f32> = (0..n).map(|k| 0.25 + (k % 777) as f32 / 777.0).collect();
        let (mut out, mut by_hand) = (vec![1f32; n], vec![1f32; n]);
        let variant =
            KernelStrides { accesses: vec![RowStride::Unit; 2], dests: vec![RowStride::Unit] };
        let narrow = compile_for(program, &variant, Isa::Avx2).expect("there is code");
        let wide = compile_for(program, &variant, best).expect("there is code");
        let mut times = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            let repeats = (1 << 16) / n + 1;
            let hand = || {
                // SAFETY: `main` has returned on machines without AVX2.
                unsafe { hand(&x, &y, &mut by_hand) }
            };
            fastest(&mut times[0], repeats * n, repeats, hand);
            fastest(&mut times[1], repeats * n, repeats, || evaluate(&narrow, &x, &y, &mut out));
            fastest(&mut times[2], repeats * n, repeats, || evaluate(&wide, &x, &y, &mut out));
        }
        let same = out.iter().zip(&by_hand).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{name}: other bits than by hand");
        let size = if n == NEAR { "4 K" } else { "16 M" };
        let [by_hand, narrow, wide] = times;
        println!(
            "{:<28} {by_hand:>9.3} {narrow:>9.3} {wide:>9.3} {:>7.2}",
            format!("{name}, {size}"),
            by_hand / narrow
        );
    }

    fn fastest(best: &mut f64, elements: usize, repeats: usize, mut work: impl FnMut()) {
        let start = Instant::now();
        for _ in 0..repeats {
            work();
        }
        *best = best.min(start.elapsed().as_secs_f64() * 1e9 / elements as f64);
    }

    fn evaluate(kernel: &Kernel, x: &[f32], y: &[f32], out: &mut [f32]) {
        let walk = |of: *const f32| StridedPointer { ptr: of.cast_mut().cast(), step: 4 };
        let accesses = [walk(x.as_ptr()), walk(y.as_ptr())];
        let dests = [walk(out.as_mut_ptr())];
        let row = RowArguments {
            n: out.len(),
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params: std::ptr::null(),
            tables: std::ptr::null(),
        };
        // SAFETY: the slices have one element for each point of the row.
        unsafe { kernel.run(&row) };
    }

    /// A program of `x` and `y`.
    fn program(make: impl FnOnce(&mut Terms) -> u32) -> Program {
        let mut builder = Builder::new(Form::Map, 1);
        let [x, y] = [0, 1].map(|_| {
            let operand = builder.operand(DType::F32);
            let access = builder.access(AccessKind::Contiguous);
            builder.load(operand, access)
        });
        let mut terms = Terms { builder, x, y };
        let value = make(&mut terms);
        terms.builder.store(value);
        terms.builder.finish()
    }

    struct Terms {
        builder: Builder,
        x: u32,
        y: u32,
    }

    impl Terms {
        fn is(&mut self, value: f32) -> u32 {
            self.builder.constant(Scalar::f32(value))
        }

        fn op(&mut self, op: Op, args: &[u32]) -> u32 {
            self.builder.op(op, args)
        }

        /// A polynomial, by Horner's rule.
        fn polynomial(&mut self, x: u32, coefficients: &[f32]) -> u32 {
            let mut sum = self.is(coefficients[0]);
            for coefficient in &coefficients[1..] {
                let (product, next) = (self.op(Op::Mul, &[sum, x]), self.is(*coefficient));
                sum = self.op(Op::Add, &[product, next]);
            }
            sum
        }
    }

    fn scaled() -> Program {
        program(|t| {
            let factor = t.is(2.5);
            let product = t.op(Op::Mul, &[factor, t.x]);
            t.op(Op::Add, &[product, t.y])
        })
    }

    #[target_feature(enable = "avx2")]
    fn scaled_by_hand(x: &[f32], y: &[f32], out: &mut [f32]) {
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            *out = 2.5 * x + y;
        }
    }

    fn chain() -> Program {
        program(|t| {
            let mut sum = t.y;
            for k in 0..8 {
                let product = t.op(Op::Mul, &[sum, t.x]);
                let next = t.is(k as f32 * 0.125);
                sum = t.op(Op::Add, &[product, next]);
            }
            sum
        })
    }

    #[target_feature(enable = "avx2")]
    fn chain_by_hand(x: &[f32], y: &[f32], out: &mut [f32]) {
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            let mut sum = *y;
            for k in 0..8 {
                sum = sum * x + k as f32 * 0.125;
            }
            *out = sum;
        }
    }

    fn point(k: usize) -> (f32, f32) {
        ((k * 37 % 101) as f32 / 101.0, (k * 53 % 97) as f32 / 97.0)
    }

    fn distance_map() -> Program {
        program(|t| {
            let mut nearest = t.is(f32::INFINITY);
            for (a, b) in (0..POINTS).map(point) {
                let (a, b) = (t.is(a), t.is(b));
                let (dx, dy) = (t.op(Op::Sub, &[t.x, a]), t.op(Op::Sub, &[t.y, b]));
                let (xx, yy) = (t.op(Op::Mul, &[dx, dx]), t.op(Op::Mul, &[dy, dy]));
                let distance = t.op(Op::Add, &[xx, yy]);
                nearest = t.op(Op::Min, &[nearest, distance]);
            }
            t.op(Op::Sqrt, &[nearest])
        })
    }

    #[target_feature(enable = "avx2")]
    fn distance_map_by_hand(x: &[f32], y: &[f32], out: &mut [f32]) {
        let points: [(f32, f32); POINTS] = std::array::from_fn(point);
        // The compiler's own vectorisation, all points at once, is many times slower.
        for at in (0..out.len() / 8 * 8).step_by(8) {
            // SAFETY: there are 8 elements from here on.
            let (x, y) = unsafe { (_mm256_loadu_ps(&x[at]), _mm256_loadu_ps(&y[at])) };
            let mut nearest = _mm256_set1_ps(f32::INFINITY);
            for (a, b) in points {
                let dx = _mm256_sub_ps(x, _mm256_set1_ps(a));
                let dy = _mm256_sub_ps(y, _mm256_set1_ps(b));
                let distance = _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy));
                let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(nearest, nearest);
                let least = _mm256_min_ps(nearest, distance);
                nearest = _mm256_blendv_ps(least, nearest, is_nan);
            }
            // SAFETY: there are 8 elements from here on.
            unsafe { _mm256_storeu_ps(&mut out[at], _mm256_sqrt_ps(nearest)) };
        }
    }

    const RISE: [f32; 8] = [0.0002, 0.0014, 0.0083, 0.0417, 0.1667, 0.5, 1.0, 1.0];
    const TAIL: [f32; 6] = [1.3302744, -1.8212559, 1.7814779, -0.3565638, 0.3193815, 0.0];

    /// A program like the price of an option: two normal distributions and a discount.
    fn price() -> Program {
        program(|t| {
            let (half, one) = (t.is(0.5), t.is(1.0));
            let root = t.op(Op::Sqrt, &[t.y]);
            let ratio = t.op(Op::Div, &[t.x, root]);
            let further = t.op(Op::Sub, &[ratio, root]);
            let normal = |t: &mut Terms, d: u32| {
                let slope = t.is(0.2316419);
                let size = t.op(Op::Abs, &[d]);
                let scaled = t.op(Op::Mul, &[slope, size]);
                let below = t.op(Op::Add, &[one, scaled]);
                let k = t.op(Op::Div, &[one, below]);
                let tail = t.polynomial(k, &TAIL);
                let rise = t.polynomial(size, &RISE);
                let part = t.op(Op::Div, &[tail, rise]);
                let rest = t.op(Op::Sub, &[one, part]);
                let above = t.op(Op::Gt, &[d, half]);
                t.op(Op::Select, &[above, rest, part])
            };
            let (first, second) = (normal(t, ratio), normal(t, further));
            let (a, b) = (t.op(Op::Mul, &[t.x, first]), t.op(Op::Mul, &[t.y, second]));
            t.op(Op::Sub, &[a, b])
        })
    }

    #[inline(always)]
    fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
        let mut sum = coefficients[0];
        for coefficient in &coefficients[1..] {
            sum = sum * x + coefficient;
        }
        sum
    }

    #[inline(always)]
    fn normal(d: f32) -> f32 {
        let size = d.abs();
        let k = 1.0 / (1.0 + 0.2316419 * size);
        let part = polynomial(k, TAIL) / polynomial(size, RISE);
        let rest = 1.0 - part;
        if d > 0.5 { rest } else { part }
    }

    #[target_feature(enable = "avx2")]
    fn price_by_hand(x: &[f32], y: &[f32], out: &mut [f32]) {
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            let root = y.sqrt();
            let ratio = x / root;
            *out = x * normal(ratio) - y * normal(ratio - root);
        }
    }

    fn compiling(isa: Isa, operations: usize) {
        let program = program(|t| {
            let mut values = vec![t.x, t.y];
            let ops = [Op::Add, Op::Mul, Op::Sub, Op::Min, Op::Sqrt, Op::Max];
            for k in 0..operations {
                let op = ops[k % ops.len()];
                let constant = t.is(k as f32);
                let second = if k % 3 == 0 { constant } else { values[k * 7 / 9] };
                let args = [values[values.len() - 1], second];
                let value = t.op(op, &args[..op.info().arity as usize]);
                values.push(value);
            }
            values[values.len() - 1]
        });
        let variant =
            KernelStrides { accesses: vec![RowStride::Unit; 2], dests: vec![RowStride::Unit] };
        let mut times = Vec::new();
        for _ in 0..20 {
            let start = Instant::now();
            let kernel = black_box(compile_for(&program, &variant, isa));
            times.push(start.elapsed().as_secs_f64() * 1e6);
            drop(kernel);
        }
        let again = times.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{:<28} {:>9.1} {again:>9.1}", format!("{operations} operations"), times[0]);
    }
}
