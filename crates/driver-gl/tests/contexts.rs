//! Contexts come and go, in many threads at once.
#![allow(clippy::unwrap_used)]

use gpupy_core::{Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};

/// Opens a device, computes with it and closes it; `None` where there is no OpenGL.
fn one(seed: f32) -> Option<f32> {
    let registry = Registry::new().register(driver_gl::NAME, driver_gl::new);
    let context = Context::new(registry, Settings::default());
    context.use_driver(driver_gl::NAME).ok()?;
    let x = Array::full(&[1], Scalar::f32(seed)).unwrap();
    let rows = context.index(&[1000], 0).unwrap();
    let rows = context.cast(&rows, x.dtype()).unwrap();
    let sum =
        context.apply(Op::Add, &[ArrayOrScalar::Array(&rows), ArrayOrScalar::Array(&x)]).unwrap();
    Some(context.item(&sum, &[999]).unwrap().as_f32())
}

#[test]
fn contexts_open_and_close_in_many_threads() {
    if one(0.0).is_none() {
        return gpupy_conformance::skipped("no OpenGL");
    }
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..6 {
                    let seed = (thread * 100 + round) as f32;
                    assert_eq!(one(seed), Some(seed + 999.0));
                }
            });
        }
    });
}
