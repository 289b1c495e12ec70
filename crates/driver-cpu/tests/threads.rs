//! The number of threads changes no bits.

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::{ArrayOrScalar, Context, Registry, Settings};

/// Bits of some arrays that are large enough to be shared between threads.
fn results(threads: u32) -> Vec<u8> {
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, Settings { threads, ..Settings::default() });
    let shape = [1003, 997];
    let coordinate = |axis| context.index(&shape, axis).expect("coordinates");
    let (x, y) = (coordinate(0), coordinate(1));
    let x = context.cast(&x, DType::F32).expect("a cast");
    let y = context.cast(&y, DType::F32).expect("a cast");
    let third = ArrayOrScalar::Scalar(Scalar::f32(0.333));
    let apply = |op, args: &[ArrayOrScalar<'_>]| context.apply(op, args).expect("an operation");
    let scaled = apply(Op::Mul, &[ArrayOrScalar::Array(&x), third]);
    let sum = apply(Op::Add, &[ArrayOrScalar::Array(&scaled), ArrayOrScalar::Array(&y)]);
    let root = apply(Op::Sqrt, &[ArrayOrScalar::Array(&sum)]);
    let reduce = |axes: &[usize]| context.reduce(Op::Add, &root, axes, false).expect("a sum");
    let mut bits = Vec::new();
    for array in [&root, &reduce(&[0]), &reduce(&[1]), &reduce(&[0, 1])] {
        let host = context.read(array).expect("elements");
        bits.extend(host.to_vec().expect("there is memory"));
    }
    bits
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let all = [1, 2, 5].map(results);
    assert!(all.windows(2).all(|two| two[0] == two[1]));
    assert!(all[0].len() > 4 * 1003 * 997);
}
