//! Picks: index arrays on the reference driver, beside a plain model of NumPy's rule.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Error, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside, Settings};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn soft(settings: Settings) -> Context {
    Context::new(Registry::new().register(driver_soft::NAME, driver_soft::new), settings)
}

fn contexts() -> [Context; 3] {
    let tiny = |bytes| Settings { block_bytes: bytes, device_bytes: 4000, ..Settings::default() };
    [soft(Settings::default()), soft(tiny(16)), soft(tiny(64))]
}

fn floats(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>();
    let bytes: Vec<u8> = (0..count).flat_map(|k| (k as f32 + 0.5).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn ints(shape: &[usize], values: &[i32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::I32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn two(context: &Context, op: Op, a: &Array, b: i32) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::i32(b))]).unwrap()
}

/// All points of a shape.
fn points(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |points, extent| {
        let longer = |point: &Vec<usize>| {
            let point = point.clone();
            (0..*extent).map(move |i| [&point[..], &[i]].concat()).collect::<Vec<_>>()
        };
        points.iter().flat_map(longer).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn picked_elements_are_those_that_the_indices_name(
        base in prop::collection::vec(1usize..5, 1..4),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
        flip in any::<bool>(),
        masks in prop::collection::vec(any::<bool>(), 3),
        picked in prop::collection::vec(1usize..4, 0..3),
        spread in prop::collection::vec(any::<bool>(), 3),
        at in 0usize..4,
        numbers in prop::collection::vec(any::<i32>(), 64),
        recorded in any::<bool>(),
        outside in prop::sample::select(&[Outside::Refuse, Outside::Wrap, Outside::Clip][..]),
    ) {
        let order: Vec<usize> = order.into_iter().filter(|a| *a < base.len()).collect();
        let array = floats(&base).transpose(&order);
        let array = if flip { array.slice_axis(0, array.shape()[0] - 1, array.shape()[0], -1) }
            else { array };
        let mut chosen: Vec<bool> = masks[..base.len()].to_vec();
        chosen[0] |= !chosen.contains(&true);
        // An index array lacks some of the axes that the broadcast shape has.
        let mut next = numbers.into_iter().cycle();
        let mut indices: Vec<Option<(Vec<usize>, Vec<i32>)>> = Vec::new();
        for (axis, is_chosen) in chosen.iter().enumerate() {
            indices.push(is_chosen.then(|| {
                let shape: Vec<usize> = picked.iter().map(|n| if spread[axis] { 1 } else { *n }).collect();
                let n = array.shape()[axis] as i32;
                let values = (0..shape.iter().product::<usize>()).map(|_| {
                    let x = next.next().unwrap();
                    if outside == Outside::Refuse { x.rem_euclid(2 * n) - n } else { x % (3 * n) }
                });
                let values = values.collect();
                (shape, values)
            }));
        }
        let kept: Vec<usize> = (0..base.len()).filter(|axis| !chosen[*axis]).collect();
        let at = at.min(kept.len());
        let together: Vec<usize> = (0..picked.len())
            .map(|k| indices.iter().flatten().map(|(shape, _)| shape[k]).max().unwrap_or(1))
            .collect();
        let mut shape: Vec<usize> = kept.iter().map(|axis| array.shape()[*axis]).collect();
        shape.splice(at..at, together.iter().copied());

        let values = read(&soft(Settings::default()), &array);
        let wanted: Vec<f32> = points(&shape).into_iter().map(|point| {
            let (front, rest) = point.split_at(at);
            let (middle, behind) = rest.split_at(together.len());
            let mut whole = front.iter().chain(behind);
            let position = (0..base.len()).fold(0, |position, axis| {
                let n = array.shape()[axis];
                let i = match &indices[axis] {
                    None => *whole.next().unwrap(),
                    Some((shape, values)) => {
                        let at = middle.iter().zip(shape).fold(0, |at, (i, n)| at * n + i.min(&(n - 1)));
                        let i = i64::from(values[at]);
                        match outside {
                            Outside::Clip => i.clamp(0, n as i64 - 1) as usize,
                            _ => i.rem_euclid(n as i64) as usize,
                        }
                    }
                };
                position * n + i
            });
            values[position]
        }).collect();

        for context in contexts() {
            let given: Vec<Option<Array>> = indices.iter().map(|index| {
                let (shape, values) = index.as_ref()?;
                let given = ints(shape, values);
                // What is pending has bounds of its own, or none.
                Some(if recorded { two(&context, Op::Sub, &two(&context, Op::Add, &given, 7), 7) }
                    else { given })
            }).collect();
            let given: Vec<Option<&Array>> = given.iter().map(Option::as_ref).collect();
            let found = context.fancy_index(&array, &given, at, outside).unwrap();
            prop_assert_eq!(found.shape(), &shape[..]);
            // In the middle of an expression, and through a view of it.
            let twice = context.apply(Op::Add, &[ArrayOrScalar::Array(&found), ArrayOrScalar::Array(&found)]).unwrap();
            let axes: Vec<usize> = (0..shape.len()).rev().collect();
            let turned = read(&context, &twice.transpose(&axes).transpose(&axes));
            let doubled: Vec<f32> = wanted.iter().map(|x| 2.0 * x).collect();
            prop_assert_eq!(&turned, &doubled);
            prop_assert_eq!(&read(&context, &found), &wanted);
        }
    }
}

fn refused(result: Result<Array, Error>) -> String {
    let error = result.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Index);
    error.to_string()
}

#[test]
fn an_index_outside_is_an_error_of_the_call_that_picks() {
    for context in contexts() {
        let array = floats(&[3, 5]);
        let host = ints(&[4], &[0, -5, 4, 2]);
        let pending = two(&context, Op::Add, &host, 0);
        for index in [&host, &pending] {
            assert!(context.fancy_index(&array, &[None, Some(index)], 1, Outside::Refuse).is_ok());
            let said =
                refused(context.fancy_index(&array, &[Some(index), None], 0, Outside::Refuse));
            assert!(said.contains("index -5 is out of bounds for axis 0 with size 3"), "{said}");
        }
    }
}

#[test]
fn what_bounds_prove_is_not_computed() {
    let context = soft(Settings::default());
    let array = floats(&[3, 5]);
    let number = context.index(&[100], 0).unwrap();
    let row = two(&context, Op::Mod, &two(&context, Op::Mul, &number, 7), 3);
    let clipped = two(&context, Op::Max, &two(&context, Op::Min, &number, 4), 0);
    context.fancy_index(&array, &[Some(&row), Some(&clipped)], 0, Outside::Refuse).unwrap();
    // Of what a kernel has to compute before one knows, only the index is computed.
    assert_eq!(context.stats().blocks_evaluated, 0);
    let host = ints(&[100], &[2; 100]);
    context.fancy_index(&array, &[Some(&host), None], 0, Outside::Refuse).unwrap();
    assert_eq!(context.stats().blocks_evaluated, 0);
    refused(context.fancy_index(&array, &[None, Some(&number)], 0, Outside::Refuse));
    assert!(context.stats().blocks_evaluated > 0);
}

#[test]
fn a_gather_is_one_kernel_with_its_positions_and_its_uses() {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, seen.clone())));
    let context =
        Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() });
    let table = floats(&[10]);
    let scaled = context
        .apply(Op::Add, &[ArrayOrScalar::Array(&table), ArrayOrScalar::Array(&table)])
        .unwrap();
    let number = context.index(&[20], 0).unwrap();
    let index = two(&context, Op::Mod, &number, 10);
    let picked = context.fancy_index(&scaled, &[Some(&index)], 0, Outside::Refuse).unwrap();
    let sum = context
        .apply(Op::Mul, &[ArrayOrScalar::Array(&picked), ArrayOrScalar::Array(&picked)])
        .unwrap();
    let wanted: Vec<f32> = (0..20).map(|k| 4.0 * ((k % 10) as f32 + 0.5).powi(2)).collect();
    assert_eq!(read(&context, &sum), wanted);
    // The table first, as it is read anywhere; then everything else at once.
    assert_eq!(log.lock().unwrap().launches, [1, 2]);
}

#[test]
fn writes_by_index_replace_what_the_indices_name_and_nothing_recorded_before() {
    for context in contexts() {
        let array = floats(&[3, 5]);
        let before = context
            .apply(Op::Add, &[ArrayOrScalar::Array(&array), ArrayOrScalar::Array(&array)])
            .unwrap();
        let turned = array.transpose(&[1, 0]);
        let index = ints(&[2], &[-1, 1]);
        let row = floats(&[3]);
        context
            .put(&turned, &[Some(&index), None], 0, Outside::Refuse, ArrayOrScalar::Array(&row))
            .unwrap();
        let mut wanted: Vec<f32> = (0..15).map(|k| k as f32 + 0.5).collect();
        let doubled: Vec<f32> = wanted.iter().map(|x| 2.0 * x).collect();
        for (column, k) in [4, 1].into_iter().flat_map(|c| (0..3).map(move |k| (c, k))) {
            wanted[k * 5 + column] = k as f32 + 0.5;
        }
        assert_eq!(read(&context, &array), wanted);
        assert_eq!(read(&context, &before), doubled);
        // Of what is pending, too.
        let sum = context
            .apply(Op::Add, &[ArrayOrScalar::Array(&array), ArrayOrScalar::Array(&array)])
            .unwrap();
        let scalar = ArrayOrScalar::Scalar(Scalar::f32(9.0));
        context.put(&sum, &[Some(&index), None], 0, Outside::Refuse, scalar).unwrap();
        let mut wanted: Vec<f32> = wanted.iter().map(|x| 2.0 * x).collect();
        wanted[5..].fill(9.0);
        assert_eq!(read(&context, &sum), wanted);
        let late = context.put(
            &sum,
            &[Some(&index), None],
            0,
            Outside::Refuse,
            ArrayOrScalar::Array(&index),
        );
        assert_eq!(late.err().unwrap().kind(), ErrorKind::DType);
    }
}

#[test]
fn of_several_points_that_name_one_element_the_last_counts() {
    for context in contexts() {
        let array = floats(&[4]);
        let index = ints(&[2, 3], &[0, 3, 0, 3, -4, 1]);
        let given = floats(&[2, 3]);
        context
            .put(&array, &[Some(&index)], 0, Outside::Refuse, ArrayOrScalar::Array(&given))
            .unwrap();
        assert_eq!(read(&context, &array), [4.5, 5.5, 2.5, 3.5]);
    }
}

#[test]
fn a_write_by_index_that_is_refused_changes_nothing() {
    for context in contexts() {
        let array = floats(&[4]);
        let scalar = ArrayOrScalar::Scalar(Scalar::f32(1.0));
        let outside = ints(&[2], &[0, 4]);
        let refused = context.put(&array, &[Some(&outside)], 0, Outside::Refuse, scalar);
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::Index);
        let (index, given) = (ints(&[2], &[0, 1]), floats(&[3]));
        let refused =
            context.put(&array, &[Some(&index)], 0, Outside::Refuse, ArrayOrScalar::Array(&given));
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::Shape);
        assert_eq!(read(&context, &array), [0.5, 1.5, 2.5, 3.5]);
    }
}

#[test]
fn an_update_by_index_in_a_loop_copies_nothing() {
    let context = soft(Settings::default());
    let (seen, lines) = std::sync::mpsc::channel();
    context.set_trace(Some(Box::new(move |text| drop(seen.send(text.to_owned())))));
    let array = floats(&[1000]);
    let index = ints(&[3], &[1, 5, 7]);
    for k in 0..20 {
        let scalar = ArrayOrScalar::Scalar(Scalar::f32(k as f32));
        context.put(&array, &[Some(&index)], 0, Outside::Refuse, scalar).unwrap();
        context.evaluate(&[&array]).unwrap();
    }
    assert_eq!(read(&context, &array)[5], 19.0);
    let text: String = lines.try_iter().collect();
    assert_eq!(text.matches("in place").count(), 20, "{text}");
}

#[test]
fn few_rows_of_a_large_view_are_not_picked_from_a_copy_of_all() {
    let host = || Box::new(Fused::new(1000, usize::MAX, Arc::default()).host()) as _;
    let context = Context::new(Registry::new().register_host("host", host), Settings::default());
    let (small, large, index) = (floats(&[30, 20]), floats(&[300, 200]), ints(&[3], &[5, -1, 0]));
    for there in [&small, &small.transpose(&[1, 0]), &large] {
        assert!(context.take_rows_eagerly(there, &index).is_some());
    }
    assert!(context.take_rows_eagerly(&large.transpose(&[1, 0]), &index).is_none());
}
