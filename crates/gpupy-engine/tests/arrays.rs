//! Arrays on the reference driver: promises about values, views, writes, and counts.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::Resources;
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

fn context(settings: Settings) -> Context {
    Context::new(Registry::new().register(driver_soft::NAME, driver_soft::new), settings)
}

fn soft() -> Context {
    context(Settings::default())
}

fn tiny() -> Context {
    context(Settings { block_bytes: 16, device_bytes: 200, ..Settings::default() })
}

fn floats(shape: &[usize], values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn add(context: &Context, a: &Array, b: &Array) -> Array {
    context.apply(Op::Add, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

fn scaled(context: &Context, a: &Array, factor: f32) -> Array {
    context
        .apply(Op::Mul, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(factor))])
        .unwrap()
}

#[test]
fn operations_broadcast_and_compose() {
    for context in [soft(), tiny()] {
        let a = floats(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let row = floats(&[3], &[10.0, 20.0, 30.0]);
        let sum = add(&context, &a, &row);
        assert_eq!(read(&context, &sum), [10.0, 21.0, 32.0, 13.0, 24.0, 35.0]);
        let flipped = sum.slice_axis(1, 2, 3, -1).transpose(&[1, 0]);
        let twice = add(&context, &flipped, &flipped);
        assert_eq!(read(&context, &twice), [64.0, 70.0, 42.0, 48.0, 20.0, 26.0]);
    }
}

#[test]
fn a_view_of_an_unevaluated_expression_is_a_view_of_its_operands() {
    let context = soft();
    let a = floats(&[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let b = scaled(&context, &a, 2.0).slice_axis(0, 1, 3, 2);
    let c = scaled(&context, &b, 10.0);
    assert_eq!(read(&context, &c), [20.0, 60.0, 100.0]);
}

#[test]
fn equal_expressions_are_evaluated_once_and_writing_one_leaves_the_other() {
    let context = soft();
    let (a, b) = (floats(&[2], &[1.0, 2.0]), floats(&[2], &[10.0, 20.0]));
    let (c, d) = (add(&context, &a, &b), add(&context, &b, &a));
    context.assign(&c.index_axis(0, 0), ArrayOrScalar::Scalar(Scalar::f32(1.0))).unwrap();
    assert_eq!(read(&context, &d), [11.0, 22.0]);
    assert_eq!(read(&context, &c), [1.0, 22.0]);
    assert_eq!(context.stats().instructions, 1);
}

#[test]
fn pending_expressions_keep_the_old_values() {
    for context in [soft(), tiny()] {
        let a = floats(&[8], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let before = scaled(&context, &a, 10.0);
        let middle = a.slice_axis(0, 1, 6, 1);
        context.assign(&middle, ArrayOrScalar::Array(&a.slice_axis(0, 0, 6, 1))).unwrap();
        assert_eq!(read(&context, &before), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]);
        assert_eq!(read(&context, &a), [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0]);
        let even = a.slice_axis(0, 0, 4, 2);
        context.assign(&even, ArrayOrScalar::Scalar(Scalar::f32(-1.0))).unwrap();
        assert_eq!(read(&context, &a), [-1.0, 0.0, -1.0, 2.0, -1.0, 4.0, -1.0, 7.0]);
    }
}

#[test]
fn reductions_follow_the_canonical_tree_whatever_the_blocks() {
    let values: Vec<f32> = (0..1000).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let a = floats(&[1000], &values);
    let results: Vec<f32> = [soft(), context(Settings { block_bytes: 400, ..Settings::default() })]
        .iter()
        .map(|context| {
            let sum = context.reduce(Op::Add, &scaled(context, &a, 3.0), &[0], false).unwrap();
            assert_eq!(sum.shape(), &[] as &[usize]);
            read(context, &sum)[0]
        })
        .collect();
    let exact: f64 = values.iter().map(|v| f64::from(*v * 3.0)).sum();
    assert_eq!(results[0].to_bits(), results[1].to_bits());
    assert!((f64::from(results[0]) - exact).abs() < 1e-5);
}

#[test]
fn the_greatest_of_equal_elements_takes_no_evaluation() {
    let context = soft();
    let huge = Array::full(&[200_000, 200_000], Scalar::f32(-0.0)).unwrap();
    let high = context.reduce(Op::Max, &huge, &[0, 1], true).unwrap();
    assert_eq!(
        (high.shape(), context.item(&high, &[0, 0]).unwrap()),
        (&[1usize, 1][..], Scalar::f32(-0.0))
    );
    assert_eq!(context.stats().launches, 0);
}

#[test]
fn reductions_along_axes() {
    for context in [soft(), tiny()] {
        let a = floats(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let sum =
            |axes: &[usize]| read(&context, &context.reduce(Op::Add, &a, axes, false).unwrap());
        assert_eq!(sum(&[0]), [3.0, 5.0, 7.0]);
        assert_eq!(sum(&[1]), [3.0, 12.0]);
        assert_eq!(sum(&[0, 1]), [15.0]);
        let high = context.reduce(Op::Max, &a.transpose(&[1, 0]), &[0, 1], true).unwrap();
        assert_eq!((high.shape(), read(&context, &high)), (&[1usize, 1][..], vec![5.0]));
    }
}

#[test]
fn what_a_reduction_shares_with_others_is_computed_once() {
    let context = soft();
    let index = context.index(&[20, 30], 0).unwrap();
    let x = context.cast(&index, DType::F32).unwrap();
    let pixels = (0..10).fold(x, |x, i| scaled(&context, &x, 1.5 + i as f32 / 8.0));
    let high = context.reduce(Op::Max, &pixels, &[0, 1], false).unwrap();
    let shades = context
        .apply(Op::Div, &[ArrayOrScalar::Array(&pixels), ArrayOrScalar::Array(&high)])
        .unwrap();
    assert_eq!(read(&context, &shades)[599], 1.0);
    // A cast, ten products, a quotient; a reduction is a form, not an operation.
    assert_eq!(context.stats().instructions, 12);
}

#[test]
fn sixty_doublings_are_sixty_operations() {
    let context = soft();
    let mut x = floats(&[2], &[1.0, 3.0]);
    for _ in 0..60 {
        x = add(&context, &x, &x);
    }
    assert_eq!(read(&context, &x), [2f32.powi(60), 3.0 * 2f32.powi(60)]);
    assert_eq!(context.stats().instructions, 60);
}

#[test]
fn a_hundred_thousand_chained_nodes_build_evaluate_and_drop() {
    let context = soft();
    let one = floats(&[1], &[1.0]);
    let mut x = floats(&[1], &[0.0]);
    for _ in 0..100_000 {
        x = add(&context, &x, &one);
    }
    assert_eq!(read(&context, &x), [100_000.0]);
    let mut y = floats(&[1], &[0.0]);
    for _ in 0..60_000 {
        y = add(&context, &y, &one);
    }
    drop(y);
}

#[test]
fn one_element_evaluates_one_block() {
    let context = context(Settings { block_bytes: 400, ..Settings::default() });
    let a = context.index(&[1000], 0).unwrap();
    let a = context.cast(&a, DType::F32).unwrap();
    let b = scaled(&context, &a, 2.0);
    assert_eq!(context.item(&b, &[250]).unwrap(), Scalar::f32(500.0));
    assert_eq!(context.stats().blocks_evaluated, 1);
    assert_eq!(context.item(&b, &[251]).unwrap(), Scalar::f32(502.0));
    assert_eq!(context.stats().blocks_evaluated, 1);
    let c = scaled(&context, &a, 3.0);
    context.reset_stats().unwrap();
    assert_eq!(read(&context, &c.slice_axis(0, 195, 10, 1))[0], 585.0);
    assert_eq!(context.stats().blocks_evaluated, 2);
}

#[test]
fn tight_resources_only_change_the_number_of_launches() {
    let mut last = None;
    for limit in [0, 1] {
        let settings = Settings { resources: Resources([limit; 8]), ..Settings::default() };
        let context = context(settings);
        let a = floats(&[3], &[1.0, 2.0, 3.0]);
        let b = add(&context, &scaled(&context, &a, 2.0), &scaled(&context, &a, 0.5));
        let got = read(&context, &b);
        assert_eq!(*last.get_or_insert(got.clone()), got);
    }
}

#[test]
fn dropped_arrays_leave_no_blocks() {
    let context = soft();
    for _ in 0..10 {
        let a = floats(&[3], &[1.0, 2.0, 3.0]);
        read(&context, &scaled(&context, &a, 2.0));
    }
    assert_eq!(context.stats().blocks, 0);
}

#[test]
fn an_update_in_place_copies_nothing() {
    let context = soft();
    let a = scaled(&context, &floats(&[100], &[1.0; 100]), 2.0);
    context.evaluate(&[&a]).unwrap();
    context.reset_stats().unwrap();
    for i in 0..50 {
        context.assign(&a.index_axis(0, i), ArrayOrScalar::Scalar(Scalar::f32(0.0))).unwrap();
    }
    context.evaluate(&[&a]).unwrap();
    let stats = context.stats();
    assert_eq!((stats.launches, stats.bytes_downloaded), (50, 0));
    assert_eq!(read(&context, &a)[48..52], [0.0, 0.0, 2.0, 2.0]);
}

#[test]
fn shapes_that_do_not_broadcast_are_refused_in_numpys_words() {
    let context = soft();
    let (a, b) = (floats(&[3], &[0.0; 3]), floats(&[4], &[0.0; 4]));
    let error = context
        .apply(Op::Add, &[ArrayOrScalar::Array(&a), ArrayOrScalar::Array(&b)])
        .err()
        .unwrap();
    assert_eq!(error.message(), "operands could not be broadcast together with shapes (3,) (4,) ");
}

#[test]
fn what_does_not_fit_is_not_assigned_even_when_it_is_a_constant() {
    let context = soft();
    let a = floats(&[3], &[1.0, 2.0, 3.0]);
    let zeros = Array::full(&[4], Scalar::f32(0.0)).unwrap();
    let error = context.assign(&a, ArrayOrScalar::Array(&zeros)).err().unwrap();
    assert_eq!(error.message(), "could not broadcast input array from shape (4,) into shape (3,)");
    assert_eq!(read(&context, &a), [1.0, 2.0, 3.0]);
}

#[test]
fn nothing_is_less_than_itself_and_adding_that_changes_negative_zero() {
    let context = soft();
    let x = floats(&[2], &[-0.0, f32::NAN]);
    let less =
        context.apply(Op::Lt, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
    let sum = add(&context, &x, &context.cast(&less, DType::F32).unwrap());
    let got = read(&context, &sum);
    assert_eq!((got[0].to_bits(), got[1].is_nan()), (0, true));
}
