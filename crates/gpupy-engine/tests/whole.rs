//! Scans, sorts and matrix products of arrays on the reference driver, also where tiles cut their
//! rows and operands are larger than blocks.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, Context, Settings};

/// A context with room for everything, and one whose tiles cut rows and whose blocks do not hold
/// whole operands.
fn contexts() -> [Context; 2] {
    let tiny = Settings { block_bytes: 28, device_bytes: 40_000, ..Settings::default() };
    [Settings::default(), tiny].map(|settings| {
        Context::new(Registry::new().register(driver_soft::NAME, driver_soft::new), settings)
    })
}

/// Small whole numbers in no order.
fn numbers(shape: &[usize]) -> (Vec<i32>, Array) {
    let len = shape.iter().product::<usize>() as i32;
    let data: Vec<i32> = (0..len).map(|i| (i * 7919 + 13) % 101 - 50).collect();
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    (data, Array::from_bytes(DType::I32, shape, &bytes).unwrap())
}

fn read(context: &Context, array: &Array) -> Vec<i32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| i32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn running(data: &[i32], combine: impl Fn(i32, i32) -> i32) -> Vec<i32> {
    let mut so_far = None;
    let next = |x: &i32| *so_far.insert(so_far.map_or(*x, |so_far| combine(so_far, *x)));
    data.iter().map(next).collect()
}

#[test]
fn running_sums_go_on_from_chunk_to_chunk() {
    for context in contexts() {
        for n in [1, 5, 256, 257, 1000] {
            let (data, array) = numbers(&[n]);
            let sums = context.scan(Op::Add, &array, 0).unwrap();
            let want: Vec<i32> = running(&data, |sum, x| sum + x);
            assert_eq!(read(&context, &sums), want, "{n}");
        }
    }
}

#[test]
fn more_than_a_chunk_of_chunks_is_scanned_in_steps() {
    let context = &contexts()[0];
    let (data, array) = numbers(&[70_000]);
    let most = context.scan(Op::Max, &array, 0).unwrap();
    let want = running(&data, i32::max);
    assert_eq!(read(context, &most), want);
    let ones = Array::full(&[70_000], Scalar::i32(1)).unwrap();
    let counted = context.scan(Op::Add, &ones, 0).unwrap();
    assert_eq!(read(context, &counted), (1..=70_000).collect::<Vec<_>>());
}

#[test]
fn scans_and_sorts_go_along_any_axis_of_any_view() {
    for context in contexts() {
        let (data, array) = numbers(&[30, 4]);
        // Flipped, so that rows are walked over from their end.
        let view = array.slice_axis(0, 29, 30, -1);
        let column = |j: usize| (0..30).rev().map(|i| data[i * 4 + j]).collect::<Vec<_>>();
        let sums = read(&context, &context.scan(Op::Add, &view, 0).unwrap());
        let sorted = read(&context, &context.sort(&view, 0).unwrap());
        let places = read(&context, &context.argsort(&view, 0).unwrap());
        for j in 0..4 {
            let of = |all: &[i32]| (0..30).map(|i| all[i * 4 + j]).collect::<Vec<_>>();
            let mut want = column(j);
            assert_eq!(of(&sums).last(), Some(&want.iter().sum()));
            let mut order: Vec<i32> = (0..30).collect();
            order.sort_by_key(|i| want[*i as usize]);
            assert_eq!(of(&places), order);
            want.sort();
            assert_eq!(of(&sorted), want);
        }
    }
}

#[test]
fn the_first_of_equal_extremes_is_placed_in_short_and_long_rows() {
    for context in contexts() {
        for n in [1, 7, 256, 700, 1100] {
            let (data, array) = numbers(&[3, n, 2]);
            let view = array.slice_axis(1, n - 1, n, -1);
            let places = read(&context, &context.place(Op::Max, &view, 1).unwrap());
            let want: Vec<i32> = (0..6)
                .map(|row| {
                    let of = |k: usize| data[row / 2 * n * 2 + (n - 1 - k) * 2 + row % 2];
                    let most = (0..n).map(of).max();
                    (0..n).position(|k| Some(of(k)) == most).unwrap() as i32
                })
                .collect();
            assert_eq!(places, want, "{n}");
        }
    }
}

#[test]
fn products_take_transposed_repeated_and_pending_operands() {
    for context in contexts() {
        let ((a, left), (b, right)) = (numbers(&[3, 5, 40]), numbers(&[7, 40]));
        let columns = right.transpose(&[1, 0]);
        let negative =
            context.apply(Op::Neg, &[gpupy_engine::ArrayOrScalar::Array(&left)]).unwrap();
        let product = context.matmul(&negative, &columns).unwrap();
        assert_eq!(product.shape(), [3, 5, 7]);
        let dot = |row: usize, column: usize| {
            -(0..40).map(|k| a[row * 40 + k] * b[column * 40 + k]).sum::<i32>()
        };
        let want: Vec<i32> =
            (0..15).flat_map(|row| (0..7).map(move |column| dot(row, column))).collect();
        assert_eq!(read(&context, &product), want);
        let ones = Array::full(&[40, 2], Scalar::i32(1)).unwrap();
        let sums = context.matmul(&right, &ones).unwrap();
        let want: Vec<i32> = b.chunks(40).flat_map(|row| [row.iter().sum(); 2]).collect();
        assert_eq!(read(&context, &sums), want);
    }
}

#[test]
fn of_pending_elements_those_are_computed_that_are_shown() {
    let context = &contexts()[0];
    let (data, array) = numbers(&[300, 40]);
    let second = |row: usize| data[row * 40..][..40].iter().map(|x| -x).collect::<Vec<i32>>();
    let mut sorted = second(7);
    sorted.sort_unstable();
    let product: Vec<i32> = [7, 8].map(|row| second(row).iter().sum()).to_vec();
    let ones = Array::full(&[40, 1], Scalar::i32(1)).unwrap();
    type Made<'m> = &'m dyn Fn(&Array) -> gpupy_core::Result<Array>;
    let row = |all: &Array| all.index_axis(0, 7);
    let made: [(Made<'_>, Vec<i32>); 3] = [
        (&|all| context.scan(Op::Add, &row(all), 0), running(&second(7), |sum, x| sum + x)),
        (&|all| context.sort(&row(all), 0), sorted),
        (&|all| context.matmul(&all.slice_axis(0, 7, 2, 1), &ones), product),
    ];
    for (make, want) in made {
        // A value that lives on, as a program's variable does.
        let all = context.apply(Op::Neg, &[gpupy_engine::ArrayOrScalar::Array(&array)]).unwrap();
        let few = make(&all).unwrap();
        let schedule = context.explain(&few).unwrap().text();
        assert!(!schedule.contains("over (12000,)"), "{schedule}");
        assert_eq!(read(context, &few), want);
        let most = context.sort(&all.slice_axis(0, 1, 299, 1), 1).unwrap();
        let schedule = context.explain(&most).unwrap().text();
        assert!(schedule.contains("over (12000,)"), "{schedule}");
    }
}

#[test]
fn rows_longer_than_any_block_are_done_in_host_memory() {
    let context = &contexts()[1];
    let (data, array) = numbers(&[700]);
    let mut want = data.clone();
    want.sort();
    assert_eq!(read(context, &context.sort(&array, 0).unwrap()), want);
    let row = array.insert_axis(0);
    let square = context.matmul(&row, &array.insert_axis(1)).unwrap();
    assert_eq!(read(context, &square), [data.iter().map(|x| x * x).sum::<i32>()]);
}

#[test]
fn nothing_gives_nothing_and_what_does_not_fit_is_an_error() {
    let context = &contexts()[0];
    let empty = Array::full(&[3, 0], Scalar::i32(0)).unwrap();
    assert_eq!(context.sort(&empty, 1).unwrap().shape(), [3, 0]);
    assert_eq!(context.scan(Op::Add, &empty, 0).unwrap().shape(), [3, 0]);
    let zeros = context.matmul(&empty, &empty.transpose(&[1, 0])).unwrap();
    assert_eq!(read(context, &zeros), [0; 9]);
    let (_, matrix) = numbers(&[2, 3]);
    let kind = |result: gpupy_core::Result<Array>| result.map(drop).unwrap_err().kind();
    assert_eq!(kind(context.matmul(&matrix, &matrix)), ErrorKind::Shape);
    assert_eq!(kind(context.sort(&matrix, 2)), ErrorKind::Index);
    let bools = context.cast(&matrix, DType::Bool).unwrap();
    assert_eq!(kind(context.scan(Op::Add, &bools, 0)), ErrorKind::DType);
    assert_eq!(kind(context.matmul(&matrix, &bools.transpose(&[1, 0]))), ErrorKind::DType);
}
