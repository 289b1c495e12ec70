//! A program chooses a plug-in by its path, and computes on it.

#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};

/// The library that Cargo built beside this test.
fn library() -> String {
    let name = format!("{DLL_PREFIX}gpupy_soft{DLL_SUFFIX}");
    std::env::current_exe().unwrap().with_file_name(name).to_str().unwrap().to_string()
}

fn sum_of_three_squares(context: &Context) -> f32 {
    let values: Vec<u8> = [1f32, 2.0, 3.0].into_iter().flat_map(f32::to_ne_bytes).collect();
    let values = Array::from_bytes(DType::F32, &[3], &values).unwrap();
    let squares = context
        .apply(Op::Mul, &[ArrayOrScalar::Array(&values), ArrayOrScalar::Array(&values)])
        .unwrap();
    let sum = context.reduce(Op::Add, &squares, &[0], false).unwrap();
    context.item(&sum, &[]).unwrap().as_f32()
}

#[test]
fn a_plug_in_is_chosen_by_its_path_and_computes() {
    let linked = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let context = Context::new(linked, Settings::default());
    assert_eq!(sum_of_three_squares(&context), 14.0);
    for name in [&*library(), "soft", &*library(), "auto"] {
        context.use_driver(name).unwrap();
        assert_eq!(sum_of_three_squares(&context), 14.0);
    }
    assert_eq!(context.driver_names().unwrap(), ["soft", &*library()]);
    assert!(context.drivers().unwrap().iter().all(|(_, found)| found.is_ok()));
}

#[test]
fn a_plug_in_alone_is_enough() {
    let settings = Settings { driver: library(), block_bytes: 4, ..Settings::default() };
    let context = Context::new(Registry::new(), settings);
    assert_eq!(sum_of_three_squares(&context), 14.0);
    let (name, found) = context.driver().unwrap();
    assert_eq!((name, found.max_block_len), (&*library(), 256));
    assert!(context.stats().launches > 0);
}
