//! Reductions over any axes follow the canonical tree, however they are begun, and compute nothing beside it.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

fn context(settings: Settings) -> Context {
    Context::new(Registry::new().register(driver_soft::NAME, driver_soft::new), settings)
}

/// Numbers whose sum depends on the order in which they are added.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + 13) % 1009) as f32 / 97.0 - 5.0).collect()
}

fn floats(shape: &[usize], values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// The canonical tree, word by word as `docs/ir.md` has it.
fn tree(op: fn(f32, f32) -> f32, mut values: Vec<f32>) -> f32 {
    while values.len() > 1 {
        let chunk = |chunk: &[f32]| {
            let mut lanes: Vec<f32> = chunk.iter().take(16).copied().collect();
            for (k, x) in chunk.iter().enumerate().skip(16) {
                lanes[k % 16] = op(lanes[k % 16], *x);
            }
            for half in [8, 4, 2, 1] {
                for l in 0..half {
                    if l + half < lanes.len() {
                        lanes[l] = op(lanes[l], lanes[l + half]);
                    }
                }
            }
            lanes[0]
        };
        values = values.chunks(256).map(chunk).collect();
    }
    values[0]
}

/// The elements along `axes`, in C order, for each point of the other axes.
fn rows(array: &Array, values: &[f32], axes: &[usize]) -> Vec<Vec<f32>> {
    let (shape, strides) = (array.shape(), array.strides());
    let all = |axes: Vec<usize>| {
        axes.into_iter().fold(vec![0], |starts: Vec<isize>, axis| {
            let steps = 0..shape[axis] as isize;
            let next = |start: isize| steps.clone().map(move |i| start + i * strides[axis]);
            starts.into_iter().flat_map(next).collect()
        })
    };
    let is_kept = |axis: &usize| !axes.contains(axis);
    let within = all(axes.to_vec());
    let value = |at: isize| values[(array.offset() + at) as usize];
    let row = |start: isize| within.iter().map(|step| value(start + step)).collect();
    all((0..shape.len()).filter(is_kept).collect()).into_iter().map(row).collect()
}

fn check(array: &Array, values: &[f32], axes: &[usize]) {
    let tiny = Settings { block_bytes: 2000, ..Settings::default() };
    for context in [context(Settings::default()), context(tiny)] {
        for (op, f) in [(Op::Add, (|x, y| x + y) as fn(f32, f32) -> f32), (Op::Max, f32::max)] {
            let want: Vec<u32> =
                rows(array, values, axes).into_iter().map(|row| tree(f, row).to_bits()).collect();
            let halved = context.apply(Op::Mul, &[array.into(), Scalar::f32(0.5).into()]).unwrap();
            for (keepdims, factor) in [(false, 1.0), (true, 0.5)] {
                let from = if keepdims { &halved } else { array };
                let got = context.reduce(op, from, axes, keepdims).unwrap();
                let shape = array.shape().iter().enumerate();
                let shape: Vec<usize> = match keepdims {
                    true => shape.map(|(k, n)| if axes.contains(&k) { 1 } else { *n }).collect(),
                    false => shape.filter(|(k, _)| !axes.contains(k)).map(|(_, n)| *n).collect(),
                };
                assert_eq!(got.shape(), shape);
                // A power of two as a factor changes nothing but the exponents.
                let got: Vec<u32> =
                    read(&context, &got).iter().map(|x| (x / factor).to_bits()).collect();
                assert_eq!(got, want, "{op:?} of {:?} over {axes:?}", array.shape());
            }
        }
    }
}

#[test]
fn axes_that_are_not_neighbours_are_reduced_as_one() {
    let cases: [(&[usize], &[usize]); 14] = [
        // Rows that are lanes: of four, eight and sixteen, fewer rows than lanes, and more.
        (&[3, 8, 5, 8], &[1, 3]),
        (&[3, 3, 5, 8], &[1, 3]),
        (&[2, 4, 3, 4], &[1, 3]),
        (&[2, 11, 3, 4], &[1, 3]),
        (&[2, 5, 3, 16], &[1, 3]),
        (&[2, 3, 2, 2, 2, 8], &[1, 3, 5]),
        // Pieces of wider ones.
        (&[2, 3, 4, 32], &[1, 3]),
        // Chunks of whole rows.
        (&[2, 32, 3, 32], &[1, 3]),
        (&[2, 2, 2, 64, 3, 8], &[1, 3, 5]),
        // Rows of whole chunks.
        (&[2, 3, 2, 512], &[1, 3]),
        (&[2, 2, 2, 256], &[0, 3]),
        // Neither.
        (&[2, 10, 3, 10], &[1, 3]),
        (&[2, 3, 3, 2], &[1, 3]),
        (&[2, 30, 3, 32], &[1, 3]),
    ];
    for (shape, axes) in cases {
        let values = numbers(shape.iter().product());
        check(&floats(shape, &values), &values, axes);
    }
}

#[test]
fn views_are_reduced_as_what_they_show() {
    let values = numbers(2 * 8 * 6 * 9);
    let array = floats(&[2, 8, 6, 9], &values);
    check(&array.slice_axis(3, 8, 8, -1), &values, &[1, 3]);
    check(&array.transpose(&[0, 2, 3, 1]), &values, &[1, 3]);
    check(&array.slice_axis(2, 0, 1, 1), &values, &[1, 2, 3]);
    check(&array.slice_axis(1, 1, 3, 2).slice_axis(3, 1, 4, 1), &values, &[1, 3]);
    let values = numbers(7 * 600);
    let wide = floats(&[7, 600], &values).slice_axis(1, 44, 512, 1);
    check(&wide, &values, &[0, 1]);
    check(&wide.slice_axis(0, 0, 1, 1).broadcast_to(&[5, 512]).unwrap(), &values, &[0, 1]);
}

#[test]
fn of_no_results_nothing_is_combined() {
    let context = context(Settings::default());
    for (shape, axes) in [([0, 0, 4], vec![0]), ([0, 3, 0], vec![0, 1]), ([0, 5, 5], vec![1, 2])] {
        let none = context.reduce(Op::Add, &floats(&shape, &[]), &axes, false).unwrap();
        assert_eq!(read(&context, &none), [0f32; 0]);
    }
}

#[test]
fn a_sum_of_all_that_needs_coordinates_computes_nothing_beside_it() {
    let context = context(Settings::default());
    let (values, row) = (numbers(6 * 512), numbers(512));
    let (table, line) = (floats(&[6, 512], &values), floats(&[512], &row));
    let apart = context
        .apply(Op::Sub, &[ArrayOrScalar::Array(&table), ArrayOrScalar::Array(&line)])
        .unwrap();
    let sum = context.reduce(Op::Add, &apart, &[0, 1], false).unwrap();
    drop(apart);
    let want = values.iter().enumerate().map(|(k, x)| x - row[k % 512]).collect();
    assert_eq!(read(&context, &sum), [tree(|x, y| x + y, want)]);
    // Two steps, of twelve chunks and of one.
    assert_eq!(context.stats().blocks_evaluated, 2);
}

#[test]
fn what_a_reduction_needs_first_does_not_keep_it_from_its_map() {
    let context = context(Settings::default());
    let values = numbers(8 * 256);
    let table = floats(&[8, 256], &values);
    let sums = context.reduce(Op::Add, &table, &[0], false).unwrap();
    let apart = context
        .apply(Op::Sub, &[ArrayOrScalar::Array(&table), ArrayOrScalar::Array(&sums)])
        .unwrap();
    let total = context.reduce(Op::Add, &apart, &[0, 1], false).unwrap();
    drop((apart, sums));
    let column = |k: usize| tree(|x, y| x + y, (0..8).map(|i| values[i * 256 + k]).collect());
    let want = values.iter().enumerate().map(|(k, x)| x - column(k % 256)).collect();
    assert_eq!(read(&context, &total), [tree(|x, y| x + y, want)]);
    // The sums of the columns, and two steps.
    assert_eq!(context.stats().blocks_evaluated, 3);
}

#[test]
fn a_sum_over_rows_of_any_length_adds_in_the_same_order() {
    // Pieces of 4096 elements are stored of the longer ones, where no rows are whole chunks.
    let cut = Settings { block_bytes: 16_384, ..Settings::default() };
    for context in [context(Settings::default()), context(cut)] {
        for width in [1, 2, 3, 100, 255, 256, 257, 384, 511, 512, 513, 5000, 5120] {
            let rows = 40_000 / width + 1;
            let (column, line) = (numbers(rows), numbers(width));
            let apart = context
                .apply(
                    Op::Sub,
                    &[
                        ArrayOrScalar::Array(&floats(&[rows, 1], &column)),
                        ArrayOrScalar::Array(&floats(&[width], &line)),
                    ],
                )
                .unwrap();
            let values: Vec<f32> =
                column.iter().flat_map(|x| line.iter().map(move |y| x - y)).collect();
            let sum = context.reduce(Op::Add, &apart, &[0, 1], false).unwrap();
            let mut of_rows = context.reduce(Op::Add, &apart, &[1], false).unwrap();
            drop(apart);
            assert_eq!(read(&context, &sum), [tree(|x, y| x + y, values.clone())], "{width}");
            let want: Vec<f32> =
                values.chunks(width).map(|row| tree(|x, y| x + y, row.to_vec())).collect();
            assert_eq!(read(&context, &of_rows), want, "rows of {width}");
            of_rows = context.reduce(Op::Add, &of_rows, &[0], false).unwrap();
            assert_eq!(read(&context, &of_rows), [tree(|x, y| x + y, want)]);
        }
    }
}

#[test]
fn planes_of_a_map_that_are_no_whole_chunks_are_summed_each_in_its_order() {
    let cut = Settings { block_bytes: 16_384, ..Settings::default() };
    for context in [context(Settings::default()), context(cut)] {
        for shape in [[3, 90, 101], [7, 33, 64], [400, 5, 7], [1, 300, 77]] {
            let [planes, rows, width] = shape;
            let (column, line) = (numbers(planes * rows), numbers(width));
            let apart = context
                .apply(
                    Op::Sub,
                    &[
                        ArrayOrScalar::Array(&floats(&[planes, rows, 1], &column)),
                        ArrayOrScalar::Array(&floats(&[width], &line)),
                    ],
                )
                .unwrap();
            let values: Vec<f32> =
                column.iter().flat_map(|x| line.iter().map(move |y| x - y)).collect();
            let sums = context.reduce(Op::Add, &apart, &[1, 2], false).unwrap();
            drop(apart);
            let want: Vec<f32> =
                values.chunks(rows * width).map(|row| tree(|x, y| x + y, row.to_vec())).collect();
            assert_eq!(read(&context, &sums), want, "{shape:?}");
        }
    }
}

/// A reduction, its operation, what it is of an element, and how two are combined.
type Reduced = (Array, Op, fn(f32) -> f32, fn(f32, f32) -> f32);

/// Reductions of the same elements: of themselves, of halves, of squares.
fn alike(context: &Context, array: &Array, axes: &[usize]) -> Vec<Reduced> {
    let halved = context.apply(Op::Mul, &[array.into(), Scalar::f32(0.5).into()]).unwrap();
    let square = context.apply(Op::Mul, &[array.into(), array.into()]).unwrap();
    let of = |op, of: &Array| context.reduce(op, of, axes, false).unwrap();
    vec![
        (of(Op::Add, array), Op::Add, |x| x, |x, y| x + y),
        (of(Op::Max, array), Op::Max, |x| x, f32::max),
        (of(Op::Min, array), Op::Min, |x| x, f32::min),
        (of(Op::Mul, array), Op::Mul, |x| x, |x, y| x * y),
        (of(Op::Add, &square), Op::Add, |x| x * x, |x, y| x + y),
        (of(Op::Min, &halved), Op::Min, |x| x * 0.5, f32::min),
        (of(Op::Mul, &halved), Op::Mul, |x| x * 0.5, |x, y| x * y),
        (of(Op::Max, &square), Op::Max, |x| x * x, f32::max),
    ]
}

#[test]
fn reductions_of_the_same_elements_are_one_launch_a_step_with_the_bits_that_each_has_alone() {
    // What is combined, and in how many steps.
    let cases: [(&[usize], &[usize], u64); 6] = [
        (&[200], &[0], 1),
        (&[1000], &[0], 2),
        (&[40, 70], &[1], 1),
        (&[40, 70], &[0], 1),
        (&[40, 700], &[1], 2),
        (&[10, 30, 10], &[0, 1, 2], 2),
    ];
    for (shape, axes, steps) in cases {
        let values = numbers(shape.iter().product());
        let array = floats(shape, &values);
        for block_bytes in [0, 1024, 2000] {
            let context = context(Settings { block_bytes, ..Settings::default() });
            // All are held, and the first is asked for: the others of its launch come with it.
            for (number, (result, op, map, combine)) in
                alike(&context, &array, axes).into_iter().enumerate()
            {
                let mapped: Vec<f32> = values.iter().map(|x| map(*x)).collect();
                let want = rows(&array, &mapped, axes).into_iter().map(|row| tree(combine, row));
                let want: Vec<u32> = want.map(f32::to_bits).collect();
                let got = read(&context, &result).into_iter().map(f32::to_bits);
                assert_eq!(got.collect::<Vec<u32>>(), want, "{op:?} of {shape:?} over {axes:?}");
                // Four of them need no operations, and the driver does as many in a launch.
                if block_bytes == 0 && number < 4 {
                    assert_eq!(context.stats().launches, steps, "{shape:?} over {axes:?}");
                }
            }
        }
    }
}

#[test]
fn a_reduction_that_nobody_holds_is_not_computed_beside_another() {
    let (context, array) = (context(Settings::default()), floats(&[1000], &numbers(1000)));
    let mut all = alike(&context, &array, &[0]);
    all.truncate(1);
    read(&context, &all[0].0);
    assert_eq!(context.stats().launches, 2);
    assert_eq!(context.stats().instructions, 0);
}

#[test]
fn reductions_that_read_more_than_a_block_read_each_piece_once() {
    let values = numbers(40_000);
    let array = floats(&[40_000], &values);
    let launches = |count: usize| {
        let context = context(Settings { block_bytes: 1024, ..Settings::default() });
        let mut all = alike(&context, &array, &[0]);
        all.truncate(count);
        for (result, op, map, combine) in &all {
            let want = tree(*combine, values.iter().map(|x| map(*x)).collect());
            assert_eq!(read(&context, result)[0].to_bits(), want.to_bits(), "{op:?}");
        }
        (context.stats().launches, context.stats().bytes_uploaded)
    };
    assert_eq!(launches(4), launches(1));
}
