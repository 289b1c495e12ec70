//! Launches in place: the conditions under which an operand's block is written.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A driver in host memory that writes in place, beside the reference driver.
fn context(refuse: usize) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, refuse, seen.clone()).host()))
        .register(driver_soft::NAME, driver_soft::new);
    let settings =
        Settings { driver: "fused".into(), driver_fallback: false, ..Settings::default() };
    (Context::new(registry, settings), log)
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn op(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// An evaluated array that nothing but its handle holds: `[1, 2, 3, 4]` times `factor`.
fn computed(context: &Context, factor: f32) -> Array {
    let x = with(context, Op::Mul, &floats(&[1.0, 2.0, 3.0, 4.0]), factor);
    context.evaluate(&[&x]).unwrap();
    x
}

#[test]
fn an_update_loop_allocates_nothing_after_its_second_step() {
    let (context, log) = context(usize::MAX);
    let y = floats(&[0.5, -1.0]);
    let mut x = floats(&[10.0, -4.0]);
    let mut wanted = [10.0f32, -4.0];
    let mut allocated = 0;
    for step in 0..1000 {
        x = op(&context, Op::Add, &with(&context, Op::Mul, &x, 0.75), &y);
        context.evaluate(&[&x]).unwrap();
        wanted = [wanted[0] * 0.75 + 0.5, wanted[1] * 0.75 - 1.0];
        if step == 1 {
            allocated = log.lock().unwrap().allocated;
        }
    }
    assert_eq!(read(&context, &x), wanted);
    assert_eq!(log.lock().unwrap().allocated, allocated);
    assert_eq!(log.lock().unwrap().most_blocks, 3);
    assert_eq!(context.stats().in_place, 999);
    assert_eq!((context.stats().blocks, context.stats().values), (2, 1));
}

#[test]
fn what_somebody_holds_is_not_written() {
    let (context, _) = context(usize::MAX);
    // The operand itself.
    let x = computed(&context, 2.0);
    let next = with(&context, Op::Add, &x, 1.0);
    assert_eq!(read(&context, &next), [3.0, 5.0, 7.0, 9.0]);
    assert_eq!(read(&context, &x), [2.0, 4.0, 6.0, 8.0]);
    // An operation on the way.
    let x = computed(&context, 3.0);
    let half = with(&context, Op::Mul, &x, 0.5);
    drop(x);
    let next = with(&context, Op::Add, &half, 1.0);
    assert_eq!(read(&context, &next), [2.5, 4.0, 5.5, 7.0]);
    assert_eq!(read(&context, &half), [1.5, 3.0, 4.5, 6.0]);
    // Another expression.
    let x = computed(&context, 5.0);
    let (more, less) = (with(&context, Op::Add, &x, 1.0), with(&context, Op::Sub, &x, 1.0));
    drop(x);
    assert_eq!(read(&context, &more), [6.0, 11.0, 16.0, 21.0]);
    assert_eq!(read(&context, &less), [4.0, 9.0, 14.0, 19.0]);
    // Its elements in host memory.
    let x = computed(&context, 7.0);
    let elements = context.read(&x).unwrap();
    let next = with(&context, Op::Add, &x, 1.0);
    drop(x);
    assert_eq!(read(&context, &next), [8.0, 15.0, 22.0, 29.0]);
    assert_eq!(elements.to_vec().unwrap()[..4], 7.0f32.to_ne_bytes());
    // A point reads what another writes.
    let x = computed(&context, 9.0);
    let sum = op(&context, Op::Add, &x, &x.slice_axis(0, 3, 4, -1));
    drop(x);
    assert_eq!(read(&context, &sum), [45.0; 4]);
    // What was given.
    let next = with(&context, Op::Add, &floats(&[1.0]), 1.0);
    assert_eq!(read(&context, &next), [2.0]);
    // `half` and `less` were the last to want theirs.
    assert_eq!(context.stats().in_place, 2);
}

#[test]
fn what_was_overwritten_is_computed_again_when_it_is_recorded_again() {
    let (context, _) = context(usize::MAX);
    let given = floats(&[1.0, 2.0]);
    let x = with(&context, Op::Mul, &given, 2.0);
    context.evaluate(&[&x]).unwrap();
    let next = with(&context, Op::Add, &x, 1.0);
    drop(x);
    context.evaluate(&[&next]).unwrap();
    assert_eq!(context.stats().in_place, 1);
    let again = with(&context, Op::Mul, &given, 2.0);
    assert_eq!(read(&context, &again), [2.0, 4.0]);
    assert_eq!(read(&context, &next), [3.0, 5.0]);
}

#[test]
fn an_operand_survives_what_failed_in_its_place() {
    let (context, _) = context(1);
    let x = computed(&context, 2.0);
    let y = floats(&[1.0, 1.0, 2.0, 2.0]);
    // Two operations are refused, and so is cut: the first one finds `x`, the second its result.
    let next = op(&context, Op::Add, &with(&context, Op::Mul, &x, 0.5), &y);
    drop(x);
    assert_eq!(read(&context, &next), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(context.stats().in_place, 2);
    let (context, _) = self::context(0);
    let x = op(&context, Op::Add, &floats(&[1.0]), &floats(&[2.0]));
    let error = context.read(&x).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused);
    context.use_driver(driver_soft::NAME).unwrap();
    assert_eq!(read(&context, &x), [3.0]);
}

/// The numbers 1 to 4, computed anew.
fn ones_to_four(context: &Context) -> Array {
    let x = with(context, Op::Mul, &floats(&[0.5, 1.0, 1.5, 2.0]), 2.0);
    context.evaluate(&[&x]).unwrap();
    x
}

/// Adds a number to a slice of an array of one axis, as `a[from:to] += scalar` does.
fn add_to_slice(context: &Context, a: &Array, from: usize, len: usize, scalar: f32) {
    let slice = a.slice_axis(0, from, len, 1);
    let sum = with(context, Op::Add, &slice, scalar);
    context.assign(&slice, ArrayOrScalar::Array(&sum)).unwrap();
    drop(sum);
    // The statement ends with writing the slice to itself.
    context.assign(&a.slice_axis(0, from, len, 1), ArrayOrScalar::Array(&slice)).unwrap();
}

#[test]
fn a_loop_that_updates_part_of_an_array_copies_nothing() {
    let (context, log) = context(usize::MAX);
    let a = ones_to_four(&context);
    let allocated = log.lock().unwrap().allocated;
    let before = log.lock().unwrap().launches.len();
    for _ in 0..1000 {
        add_to_slice(&context, &a, 1, 2, 0.5);
        context.evaluate(&[&a]).unwrap();
    }
    assert_eq!(read(&context, &a), [1.0, 502.0, 503.0, 4.0]);
    let log = log.lock().unwrap();
    assert_eq!((log.allocated - allocated, log.copied), (0, 0));
    assert_eq!(log.launches[before..], [1; 1000]);
}

#[test]
fn updates_of_part_of_an_array_that_are_evaluated_together_copy_nothing() {
    let (context, log) = context(usize::MAX);
    let a = ones_to_four(&context);
    for turn in 0..20 {
        add_to_slice(&context, &a, turn % 2, 3, 1.0);
    }
    assert_eq!(read(&context, &a), [11.0, 22.0, 23.0, 14.0]);
    assert_eq!(log.lock().unwrap().copied, 0);
}

#[test]
fn an_update_of_part_of_an_array_leaves_what_others_hold() {
    let (context, _) = context(usize::MAX);
    // An expression of the old elements.
    let a = ones_to_four(&context);
    let twice = with(&context, Op::Mul, &a, 2.0);
    add_to_slice(&context, &a, 1, 2, 0.5);
    assert_eq!(read(&context, &a), [1.0, 2.5, 3.5, 4.0]);
    assert_eq!(read(&context, &twice), [2.0, 4.0, 6.0, 8.0]);
    // A snapshot, and elements that were given out.
    let a = ones_to_four(&context);
    let (kept, given) = (context.copy(&a).unwrap(), context.read(&a).unwrap());
    add_to_slice(&context, &a, 0, 2, 1.0);
    assert_eq!(read(&context, &a), [2.0, 3.0, 3.0, 4.0]);
    assert_eq!(read(&context, &kept), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(given.to_vec().unwrap()[..4], 1.0f32.to_ne_bytes());
    // The written value, which is wanted by itself.
    let a = ones_to_four(&context);
    let slice = a.slice_axis(0, 1, 3, 1);
    let sum = with(&context, Op::Add, &slice, 1.0);
    context.assign(&slice, ArrayOrScalar::Array(&sum)).unwrap();
    assert_eq!(read(&context, &a), [1.0, 3.0, 4.0, 5.0]);
    assert_eq!(read(&context, &sum), [3.0, 4.0, 5.0]);
}

#[test]
fn points_that_read_what_others_write_see_the_old_elements() {
    let (context, _) = context(usize::MAX);
    let shifted = |from: usize, to: usize, step: isize| {
        let a = ones_to_four(&context);
        let (source, dest) = (a.slice_axis(0, from, 3, step), a.slice_axis(0, to, 3, 1));
        let sum = with(&context, Op::Add, &source, 10.0);
        context.assign(&dest, ArrayOrScalar::Array(&sum)).unwrap();
        drop(sum);
        let by_expression = read(&context, &a);
        let b = ones_to_four(&context);
        let (source, dest) = (b.slice_axis(0, from, 3, step), b.slice_axis(0, to, 3, 1));
        context.assign(&dest, ArrayOrScalar::Array(&source)).unwrap();
        (by_expression, read(&context, &b))
    };
    assert_eq!(shifted(0, 1, 1), (vec![1.0, 11.0, 12.0, 13.0], vec![1.0, 1.0, 2.0, 3.0]));
    assert_eq!(shifted(1, 0, 1), (vec![12.0, 13.0, 14.0, 4.0], vec![2.0, 3.0, 4.0, 4.0]));
    assert_eq!(shifted(3, 1, -1), (vec![1.0, 14.0, 13.0, 12.0], vec![1.0, 4.0, 3.0, 2.0]));
}

#[test]
fn points_that_read_beside_what_is_written_are_written_in_place() {
    let (context, log) = context(usize::MAX);
    // Every second element of those beside it, the first half of the other: a sweep over columns, and over rows.
    let writes: [[(usize, usize, isize); 2]; 4] = [
        [(0, 2, 2), (1, 2, 2)],
        [(1, 2, 2), (0, 2, 2)],
        [(0, 2, 1), (3, 2, -1)],
        [(2, 1, 1), (0, 1, 1)],
    ];
    for [to, from] in writes {
        let a = ones_to_four(&context);
        let (allocated, in_place) = (log.lock().unwrap().allocated, context.stats().in_place);
        let view = |(start, len, step)| a.slice_axis(0, start, len, step);
        let sum = op(&context, Op::Add, &view(from), &view(to));
        context.assign(&view(to), ArrayOrScalar::Array(&sum)).unwrap();
        drop(sum);
        context.evaluate(&[&a]).unwrap();
        let log = log.lock().unwrap();
        assert_eq!((log.allocated - allocated, log.copied), (0, 0), "{to:?} {from:?}");
        drop(log);
        assert_eq!(context.stats().in_place - in_place, 1);
        let place = |(start, _, step): (usize, usize, isize), k: usize| {
            (start as isize + step * k as isize) as usize
        };
        let mut wanted = [1.0, 2.0, 3.0, 4.0];
        (0..to.1).for_each(|k| wanted[place(to, k)] += wanted[place(from, k)]);
        assert_eq!(read(&context, &a), wanted);
    }
}

#[test]
fn an_update_of_part_of_an_array_that_is_refused_is_done_in_pieces() {
    let (context, _) = context(1);
    let a = ones_to_four(&context);
    let slice = a.slice_axis(0, 1, 2, 1);
    // Two operations are refused as one, and done as two.
    let sum = with(&context, Op::Add, &with(&context, Op::Mul, &slice, 2.0), 1.0);
    context.assign(&slice, ArrayOrScalar::Array(&sum)).unwrap();
    drop(sum);
    assert_eq!(read(&context, &a), [1.0, 5.0, 7.0, 4.0]);
}

/// Writes, in a square, the sums of four elements as far away as the edges are wide into all but these; gives how many
/// elements launches copied that computed nothing, and how many launches there were.
fn written_inside(n: usize, edge: usize) -> (usize, usize) {
    let (context, log) = context(usize::MAX);
    let numbers: Vec<f32> = (0..n * n).map(|k| (k * 7 % 31) as f32).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|v| (v - 1.0).to_ne_bytes()).collect();
    let given = Array::from_bytes(DType::F32, &[n, n], &bytes).unwrap();
    let a = with(&context, Op::Add, &given, 1.0);
    context.evaluate(&[&a]).unwrap();
    let before = log.lock().unwrap().launches.len();
    let inner = |rows: usize, columns: usize| {
        let size = n - 2 * edge;
        a.slice_axis(0, rows * edge, size, 1).slice_axis(1, columns * edge, size, 1)
    };
    let sum = op(&context, Op::Add, &inner(0, 1), &inner(2, 1));
    let sum = op(&context, Op::Add, &sum, &op(&context, Op::Add, &inner(1, 0), &inner(1, 2)));
    context.assign(&inner(1, 1), ArrayOrScalar::Array(&sum)).unwrap();
    drop(sum);
    let got = read(&context, &a);
    for (k, got) in got.iter().enumerate() {
        let (row, column) = (k / n, k % n);
        let is_inside = |at: &usize| (edge..n - edge).contains(at);
        let wanted = match [row, column].iter().all(is_inside) {
            true => {
                let (above, below) = (numbers[k - n * edge], numbers[k + n * edge]);
                above + below + (numbers[k - edge] + numbers[k + edge])
            }
            false => numbers[k],
        };
        assert_eq!(*got, wanted, "{row}, {column}");
    }
    let log = log.lock().unwrap();
    (log.copied, log.launches.len() - before)
}

#[test]
fn what_is_written_around_is_all_that_is_copied() {
    assert_eq!(written_inside(200, 10).0, 200 * 200 - 180 * 180);
}

#[test]
fn little_that_is_written_around_is_copied_by_what_writes() {
    assert_eq!(written_inside(200, 1), (0, 1));
}

/// Elements of another owner, which notes when they are released.
struct Owner {
    elements: Vec<f32>,
    gone: Arc<AtomicBool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

#[test]
fn memory_of_another_owner_is_only_read_and_kept_as_long_as_it_is() {
    type Write = fn(&Context, &mut Array);
    fn fill(context: &Context, x: &mut Array) {
        context
            .assign(&x.slice_axis(0, 1, 2, 1), ArrayOrScalar::Scalar(Scalar::f32(-1.0)))
            .unwrap();
    }
    let copy_in: Write = |context, x| {
        let source = floats(&[-1.0, -1.0]);
        context.assign(&x.slice_axis(0, 1, 2, 1), ArrayOrScalar::Array(&source)).unwrap();
    };
    let element: Write = |context, x| {
        for position in 1..3 {
            if !context.write_element(x, position, &Scalar::f32(-1.0).bytes()[..4]) {
                let view = x.slice_axis(0, position as usize, 1, 1);
                context.assign(&view, ArrayOrScalar::Scalar(Scalar::f32(-1.0))).unwrap();
            }
        }
    };
    let export: Write = |context, x| {
        let pin = context.pin(x, false).unwrap();
        // SAFETY: an export may be written to, and there are four elements.
        unsafe { std::slice::from_raw_parts_mut(pin.as_ptr().cast::<f32>(), 4)[1..3].fill(-1.0) };
    };
    let compute: Write = |context, x| {
        *x = with(context, Op::Mul, x, 1.0);
        context.evaluate(&[x]).unwrap();
        fill(context, x);
    };
    for write in [fill as Write, copy_in, element, export, compute] {
        let (context, _) = context(usize::MAX);
        let gone = Arc::new(AtomicBool::new(false));
        let owner = Box::new(Owner { elements: vec![1.0, 2.0, 3.0, 4.0], gone: gone.clone() });
        let first = owner.elements.as_ptr();
        let place = NonNull::new(first.cast_mut().cast()).unwrap();
        // SAFETY: the vector has four floats, which stay as they are while there is the owner.
        let mut x = unsafe { Array::of_constant(DType::F32, &[4], place, owner) };
        let before = with(&context, Op::Add, &x, 1.0);
        let same = x.slice_axis(0, 0, 4, 1);
        write(&context, &mut x);
        assert_eq!(read(&context, &x), [1.0, -1.0, -1.0, 4.0]);
        assert_eq!(read(&context, &before), [2.0, 3.0, 4.0, 5.0]);
        if !gone.load(Ordering::Relaxed) {
            // SAFETY: the owner has not gone.
            let elements = unsafe { std::slice::from_raw_parts(first, 4) };
            assert_eq!(elements, [1.0, 2.0, 3.0, 4.0]);
        }
        drop((x, before, same));
        context.evaluate(&[&floats(&[1.0])]).unwrap();
        assert!(gone.load(Ordering::Relaxed), "the memory's owner is kept for nothing");
    }
}

#[test]
fn memory_that_was_given_up_is_written_where_it_lies_once_no_expression_reads_it() {
    for is_read in [false, true] {
        let (context, _) = context(usize::MAX);
        let gone = Arc::new(AtomicBool::new(false));
        let owner = Box::new(Owner { elements: vec![1.0, 2.0, 3.0, 4.0], gone: gone.clone() });
        let first = owner.elements.as_ptr();
        let place = NonNull::new(first.cast_mut().cast()).unwrap();
        // SAFETY: the vector has four floats, to which nothing leads but its owner.
        let x = unsafe { Array::of_sole(DType::F32, &[4], place, owner) };
        let before = is_read.then(|| with(&context, Op::Add, &x, 1.0));
        let pin = context.pin(&x, false).unwrap();
        assert_eq!(pin.as_ptr() == first.cast_mut().cast(), !is_read);
        // SAFETY: an export may be written to, and there are four elements.
        unsafe { std::slice::from_raw_parts_mut(pin.as_ptr().cast::<f32>(), 4)[1] = -1.0 };
        assert_eq!(read(&context, &x), [1.0, -1.0, 3.0, 4.0]);
        if let Some(before) = &before {
            assert_eq!(read(&context, before), [2.0, 3.0, 4.0, 5.0]);
        }
        drop((x, before));
        assert_eq!(read(&context, &floats(&[1.0])), [1.0]);
        // The export keeps the memory that it shows.
        assert_eq!(gone.load(Ordering::Relaxed), is_read);
        drop(pin);
        assert!(gone.load(Ordering::Relaxed), "the memory's owner is kept for nothing");
    }
}
