//! Writes by a mask of what was picked by the same mask: computed everywhere, with the bits of a scatter.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside, Settings};

fn contexts() -> [Context; 2] {
    let context = |block_bytes| {
        let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
        Context::new(registry, Settings { block_bytes, ..Settings::default() })
    };
    [context(0), context(64)]
}

fn floats(count: usize, first: f32) -> (Array, Vec<f32>) {
    let values: Vec<f32> = (0..count).map(|k| first + k as f32 / 2.0).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    (Array::from_bytes(DType::F32, &[count / 4, 4], &bytes).unwrap(), values)
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect()
}

fn two(context: &Context, op: Op, a: &Array, b: ArrayOrScalar<'_>) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), b]).unwrap()
}

/// A mask, and the positions where it is true.
fn mask(count: usize, is_true: impl Fn(usize) -> bool) -> (Array, Array) {
    let bytes: Vec<u8> = (0..count).map(|k| u8::from(is_true(k))).collect();
    let mask = Array::from_bytes(DType::Bool, &[count / 4, 4], &bytes).unwrap();
    (mask, Array::where_true(&bytes).unwrap())
}

/// The elements of an array at positions, one after another.
fn picked(context: &Context, array: &Array, positions: &Array) -> Array {
    let line = array.reshape(&[array.size()]).unwrap();
    context.fancy_index(&line, &[Some(positions)], 0, Outside::Refuse).unwrap()
}

/// `x[m] * x[m] + y[m]`, and 1 less.
fn computed(context: &Context, x: &Array, y: &Array, positions: &Array) -> Array {
    let at = picked(context, x, positions);
    let square = two(context, Op::Mul, &at, ArrayOrScalar::Array(&at));
    let sum = two(context, Op::Add, &square, ArrayOrScalar::Array(&picked(context, y, positions)));
    two(context, Op::Sub, &sum, ArrayOrScalar::Scalar(Scalar::f32(1.0)))
}

#[test]
fn what_a_mask_picks_and_puts_back_is_computed_everywhere_and_chosen() {
    for context in contexts() {
        let ((x, mut wanted), (y, plus)) = (floats(80, -3.0), floats(80, 5.0));
        let before = two(&context, Op::Mul, &x, ArrayOrScalar::Scalar(Scalar::f32(1.0)));
        let old = wanted.clone();
        let is_true = |k: usize| k % 5 != 3;
        let (mask, positions) = mask(80, is_true);
        for _ in 0..3 {
            let source = computed(&context, &x, &y, &positions);
            assert!(context.put_where(&x, &mask, &positions, &source).unwrap());
            for k in (0..80).filter(|k| is_true(*k)) {
                wanted[k] = wanted[k] * wanted[k] + plus[k] - 1.0;
            }
            assert_eq!(read(&context, &x), wanted);
        }
        assert_eq!(read(&context, &before), old);
        assert_eq!(read(&context, &y), plus);
    }
}

#[test]
fn what_is_only_moved_is_chosen_too() {
    for context in contexts() {
        let ((x, mut wanted), (y, plus)) = (floats(40, 0.0), floats(40, 50.0));
        let (mask, positions) = mask(40, |k| k % 2 == 0);
        let source = picked(&context, &y, &positions);
        assert!(context.put_where(&x, &mask, &positions, &source).unwrap());
        (0..40).step_by(2).for_each(|k| wanted[k] = plus[k]);
        assert_eq!(read(&context, &x), wanted);
    }
}

#[test]
fn all_else_is_left_to_a_scatter_and_changes_nothing() {
    for context in contexts() {
        let ((x, wanted), (y, _)) = (floats(80, -3.0), floats(80, 5.0));
        let (mask_of_few, few) = mask(80, |k| k == 7);
        let (many, positions) = mask(80, |k| k != 7);
        let (_, others) = mask(80, |k| k != 9);
        let refused = |array: &Array, mask: &Array, positions: &Array, source: &Array| {
            assert!(!context.put_where(array, mask, positions, source).unwrap());
            assert_eq!(read(&context, &x), wanted);
        };
        // Few elements.
        refused(&x, &mask_of_few, &few, &computed(&context, &x, &y, &few));
        // Elements that another mask picked.
        refused(&x, &many, &positions, &computed(&context, &x, &y, &others));
        // Elements that are there already.
        let source = computed(&context, &x, &y, &positions);
        context.evaluate(&[&source]).unwrap();
        refused(&x, &many, &positions, &source);
        // Elements in another order.
        let source = computed(&context, &x, &y, &positions);
        refused(&x, &many, &positions, &source.slice_axis(0, 78, 79, -1));
        let turned = two(
            &context,
            Op::Add,
            &source,
            ArrayOrScalar::Array(&source.slice_axis(0, 78, 79, -1)),
        );
        refused(&x, &many, &positions, &turned);
        // Elements of an array with other extents.
        let (long, _) = floats(96, 0.0);
        refused(&x, &many, &positions, &picked(&context, &long, &positions));
        // Part of a base.
        let rows = x.slice_axis(0, 0, 19, 1);
        refused(&rows, &many, &positions, &computed(&context, &x, &y, &positions));
    }
}

#[test]
fn a_large_masks_positions_are_counted_at_once_and_found_when_they_are_needed() {
    for context in contexts() {
        let is_true = |k: usize| k % 7 == 2 || k > 5000;
        let (mask, known) = mask(6000, is_true);
        let positions = context.where_true(&mask).unwrap();
        assert_eq!(positions.shape(), known.shape());
        assert!(positions.in_memory().is_none(), "nobody asked for them");
        // A mask that is written later has other positions.
        let bytes = |array: &Array| context.read(array).unwrap().to_vec().unwrap();
        context.assign(&mask, ArrayOrScalar::Scalar(Scalar::bool(false))).unwrap();
        assert_eq!(bytes(&positions), bytes(&known));
        let none = context.where_true(&mask).unwrap();
        assert_eq!(none.shape(), [0]);
        assert_eq!(bytes(&none), [0u8; 0]);
        // Of a part of a mask.
        let (mask, _) = self::mask(6000, is_true);
        let rows = mask.slice_axis(0, 1, 750, 2);
        let wanted: Vec<u8> = (0..6000)
            .filter(|k| k / 4 % 2 == 1)
            .enumerate()
            .filter(|(_, k)| is_true(*k))
            .flat_map(|(position, _)| (position as i32).to_ne_bytes())
            .collect();
        assert_eq!(bytes(&context.where_true(&rows).unwrap()), wanted);
        assert!(context.where_true(&floats(8, 0.0).0).is_err(), "floats are no mask");
    }
}

#[test]
fn what_was_written_by_a_mask_keeps_its_elements_and_not_the_old_ones() {
    for context in contexts() {
        let ((x, start), (y, plus)) = (floats(80, -3.0), floats(80, 5.0));
        let is_true = |k: usize| k % 5 != 3;
        let (mask, positions) = mask(80, is_true);
        let source = computed(&context, &x, &y, &positions);
        assert!(context.put_where(&x, &mask, &positions, &source).unwrap());
        context.assign(&x, ArrayOrScalar::Scalar(Scalar::f32(0.0))).unwrap();
        let wanted: Vec<f32> =
            (0..80).filter(|k| is_true(*k)).map(|k| start[k] * start[k] + plus[k] - 1.0).collect();
        assert_eq!(read(&context, &source), wanted);
    }
}
