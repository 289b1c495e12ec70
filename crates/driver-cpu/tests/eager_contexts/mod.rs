//! Contexts with the CPU driver, and small arrays for eager evaluation.
//!
//! Owns the common part of the tests of small work. Not here: the tests (`eager.rs`, `eager_bits.rs`).
#![allow(dead_code)] // each test takes a part

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, Registry, Settings};

/// A context with the CPU driver as host driver, open.
pub fn context(driver: &str, placement: Placement) -> Context {
    let registry = Registry::new()
        .register_host(driver_cpu::NAME, driver_cpu::new)
        .register(driver_soft::NAME, driver_soft::new);
    opened(registry, driver, placement)
}

pub fn opened(registry: Registry, driver: &str, placement: Placement) -> Context {
    let settings = Settings { driver: driver.into(), placement, ..Settings::default() };
    let context = Context::new(registry, settings);
    context.driver().unwrap();
    context
}

pub fn auto() -> Context {
    context(driver_cpu::NAME, Placement::Auto)
}

pub fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

pub fn ramp(len: usize) -> Array {
    floats(&(0..len).map(|k| k as f32).collect::<Vec<_>>())
}

pub fn bytes(context: &Context, array: &Array) -> Vec<u8> {
    context.read(array).unwrap().to_vec().unwrap()
}

pub fn add(context: &Context, a: &Array, b: &Array) -> Array {
    context.apply(Op::Add, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

pub fn scaled(context: &Context, a: &Array, by: f32) -> Array {
    context
        .apply(Op::Mul, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(by))])
        .unwrap()
}
