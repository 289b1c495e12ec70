//! Rewrites seen from outside: the values of what is recorded, whatever the views. Each row of the
//! table is tried in the core itself.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

fn soft() -> Context {
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    Context::new(registry, Settings::default())
}

fn floats(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let bytes: Vec<u8> = (0..n).flat_map(|i| (i as f32 * 1.5 - 3.0).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn apply(context: &Context, op: Op, args: &[&Array]) -> Array {
    let args: Vec<ArrayOrScalar<'_>> =
        args.iter().map(|array| ArrayOrScalar::Array(array)).collect();
    context.apply(op, &args).unwrap()
}

fn with(context: &Context, op: Op, array: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(array), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

#[test]
fn what_changes_nothing_is_no_operation_and_no_alias() {
    let context = soft();
    let a = floats(&[2, 3]);
    let same = with(
        &context,
        Op::Mul,
        &apply(&context, Op::Neg, &[&apply(&context, Op::Neg, &[&a])]),
        1.0,
    );
    context.assign(&same.index_axis(0, 0), ArrayOrScalar::Scalar(Scalar::f32(9.0))).unwrap();
    assert_eq!(read(&context, &a), [-3.0, -1.5, 0.0, 1.5, 3.0, 4.5]);
    assert_eq!(read(&context, &same), [9.0, 9.0, 9.0, 1.5, 3.0, 4.5]);
    assert!(!same.shares_base(&a));
    let kept = with(&context, Op::Div, &a, 1.0);
    context.evaluate(&[&kept]).unwrap();
    assert_eq!(context.stats().instructions, 0);
}

#[test]
fn a_view_that_is_left_over_shows_its_own_elements() {
    let context = soft();
    let a = floats(&[4, 6]);
    let whole = read(&context, &a);
    // The first elements of a longer base, every second one, a broadcast row, a transposed matrix.
    let first = a.reshape(&[24]).unwrap().slice_axis(0, 0, 5, 1);
    assert_eq!(read(&context, &with(&context, Op::Mul, &first, 1.0)), whole[..5]);
    let second = a.reshape(&[24]).unwrap().slice_axis(0, 1, 12, 2);
    let odd: Vec<f32> = whole.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(read(&context, &with(&context, Op::Div, &second, 1.0)), odd);
    let row = a.index_axis(0, 1);
    let chosen = context
        .apply(Op::Lt, &[ArrayOrScalar::Array(&a), ArrayOrScalar::Scalar(Scalar::f32(1.0))])
        .unwrap();
    let rows = apply(&context, Op::Select, &[&chosen, &row, &row]);
    assert_eq!((rows.shape(), read(&context, &rows)), (&[4, 6][..], whole[6..12].repeat(4)));
    let turned = a.transpose(&[1, 0]);
    let same = with(&context, Op::Pow, &turned, 1.0);
    assert_eq!(read(&context, &same), read(&context, &turned));
}

#[test]
fn operands_of_another_shape_are_not_taken_out_of_an_expression() {
    let context = soft();
    let (a, b) = (floats(&[4, 6]), floats(&[4, 6]));
    // Five of six columns: the roots are 20 elements in a row, what they are taken of is not.
    let columns = |array: &Array| array.slice_axis(1, 0, 5, 1);
    let root =
        |array: &Array| apply(&context, Op::Sqrt, &[&columns(array)]).reshape(&[20]).unwrap();
    let least = apply(&context, Op::Min, &[&root(&a), &root(&b)]);
    let roots: Vec<f32> = read(&context, &columns(&a)).iter().map(|x| x.sqrt()).collect();
    let bits = |values: &[f32]| values.iter().map(|x| x.to_string()).collect::<Vec<_>>();
    assert_eq!(bits(&read(&context, &least)), bits(&roots));
    // A part of a longer expression, which begins at its first element.
    let negative = apply(&context, Op::Neg, &[&a.reshape(&[24]).unwrap()]).slice_axis(0, 0, 7, 1);
    let positive = apply(&context, Op::Neg, &[&negative]);
    assert_eq!(read(&context, &positive), read(&context, &a)[..7]);
}

#[test]
fn a_chain_of_minima_of_roots_has_one_root() {
    let context = soft();
    let roots: Vec<Array> = (0..10)
        .map(|i| apply(&context, Op::Sqrt, &[&with(&context, Op::Add, &floats(&[8]), i as f32)]))
        .collect();
    let least = roots
        .iter()
        .skip(1)
        .fold(roots[0].clone(), |least, root| apply(&context, Op::Min, &[&least, root]));
    drop(roots);
    assert!(read(&context, &least)[0].is_nan());
    // Ten sums, nine minima, one root.
    assert_eq!(context.stats().instructions, 20);
}

#[test]
fn powers_of_integers_are_products_that_wrap() {
    let context = soft();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_int()) {
        for bits in [0u64, 1, 3, 250, u64::MAX] {
            let x = Scalar::new(dtype, bits);
            let array = Array::full(&[2], x).unwrap();
            for exponent in [0, 1, 2, 3, 7, 10, 255, u64::MAX] {
                let power = context.integer_power(&array, exponent).unwrap();
                let got = context.read(&power).unwrap().to_vec().unwrap();
                assert_eq!(got, powered(x, exponent).repeat(2), "{bits} of {dtype} to {exponent}");
            }
        }
    }
    let three = Array::from_bytes(DType::I32, &[1], &3i32.to_ne_bytes()).unwrap();
    let power = context.integer_power(&three, 5).unwrap();
    assert_eq!(context.item(&power, &[0]).unwrap(), Scalar::i32(243));
    assert_eq!(context.stats().instructions, 3);
    assert!(context.integer_power(&floats(&[2]), 2).is_err());
}

/// The bytes of a power, from the highest bit of the exponent to the lowest.
fn powered(x: Scalar, exponent: u64) -> Vec<u8> {
    let times = |x, y| op_eval::eval(Op::Mul, DType::Bool, &[x, y]).unwrap();
    let (mut power, mut bit) = (Scalar::new(x.dtype, 1), 1u64 << 63);
    while bit > 0 {
        power = times(power, power);
        if exponent & bit != 0 {
            power = times(power, x);
        }
        bit >>= 1;
    }
    power.bytes()[..x.dtype.size()].to_vec()
}
