//! Operations that a driver lacks: their programs stand in kernels, or are cut where a kernel takes
//! less, and give the same bits either way.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar, functions, op_eval};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

fn context(limit: u32) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(limit, usize::MAX, seen.clone())));
    (Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() }), log)
}

fn soft(settings: Settings) -> Context {
    Context::new(Registry::new().register(driver_soft::NAME, driver_soft::new), settings)
}

/// One operation a kernel, one of a few at a time, and everything at once; small blocks too.
fn contexts() -> Vec<Context> {
    let tiny = Settings { block_bytes: 64, device_bytes: 4000, ..Settings::default() };
    vec![soft(Settings::default()), soft(tiny), context(24).0, context(100_000).0]
}

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|k| (k as f32 - 20.0) * 0.37).collect()
}

fn floats(shape: &[usize], values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<u32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| u32::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// What the core's program gives.
fn wanted(op: Op, args: &[f32]) -> u32 {
    let program = functions::program(op, DType::F32).unwrap();
    let mut known: Vec<Scalar> = Vec::new();
    for inst in &program.insts {
        let [a, b, _] = inst.args;
        known.push(match inst.op {
            Op::Param => Scalar::f32(args[a as usize]),
            Op::Const => Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
            Op::Store => return known[b as usize].as_u32(),
            op => {
                let args: Vec<Scalar> = program.uses(inst).map(|v| known[v as usize]).collect();
                op_eval::eval(op, inst.dtype, &args).unwrap()
            }
        });
    }
    unreachable!("a program stores its result")
}

#[test]
fn functions_give_the_same_bits_whatever_a_kernel_takes() {
    let data = values(77);
    for op in [Op::Exp, Op::Sin, Op::Log, Op::Tanh] {
        let wanted: Vec<u32> = data.iter().map(|x| wanted(op, &[*x])).collect();
        for context in contexts() {
            assert!(context.supports(op, DType::F32));
            let x = floats(&[7, 11], &data);
            let result = context.apply(op, &[ArrayOrScalar::Array(&x)]).unwrap();
            assert_eq!(read(&context, &result), wanted, "{op:?}");
        }
    }
}

#[test]
fn a_function_of_a_scalar_operand_is_the_function_of_that_number() {
    let data = values(50);
    let wanted: Vec<u32> = data.iter().map(|x| wanted(Op::Pow, &[*x, 3.0])).collect();
    for context in contexts() {
        let x = floats(&[50], &data);
        let args = [ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(Scalar::f32(3.0))];
        assert_eq!(read(&context, &context.apply(Op::Pow, &args).unwrap()), wanted);
    }
}

#[test]
fn a_function_of_joined_arrays_takes_all_parts() {
    let data = values(60);
    let wanted: Vec<u32> = data.iter().map(|x| wanted(Op::Exp, &[*x])).collect();
    for context in contexts() {
        let parts =
            [floats(&[20], &data[..20]), floats(&[35], &data[20..55]), floats(&[5], &data[55..])];
        let joined = context.join(0, &parts).unwrap();
        let exp = context.apply(Op::Exp, &[ArrayOrScalar::Array(&joined)]).unwrap();
        assert_eq!(read(&context, &exp), wanted);
        // The function among operations that are read at other places.
        let turned = exp.slice_axis(0, 59, 60, -1);
        let both = context.join(0, &[exp, turned]).unwrap();
        let negated = context.apply(Op::Neg, &[ArrayOrScalar::Array(&both)]).unwrap();
        let sign = 1 << 31;
        let there_and_back = wanted.iter().chain(wanted.iter().rev());
        assert_eq!(read(&context, &negated), there_and_back.map(|b| b ^ sign).collect::<Vec<_>>());
    }
}

#[test]
fn functions_compose_with_views_reductions_and_writes() {
    let data = values(77);
    let sines: Vec<f32> = data.iter().map(|x| f32::from_bits(wanted(Op::Sin, &[*x]))).collect();
    for context in contexts() {
        let x = floats(&[7, 11], &data);
        let sine = context.apply(Op::Sin, &[ArrayOrScalar::Array(&x)]).unwrap();
        // A view that is no tile of the function's own.
        let turned = sine.transpose(&[1, 0]);
        let exp = context.apply(Op::Exp, &[ArrayOrScalar::Array(&turned)]).unwrap();
        let found = read(&context, &exp);
        for (k, got) in found.iter().enumerate() {
            assert_eq!(*got, wanted(Op::Exp, &[sines[k % 7 * 11 + k / 7]]));
        }
        // Two accesses to one function.
        let (left, right) = (sine.slice_axis(1, 0, 10, 1), sine.slice_axis(1, 1, 10, 1));
        let sum = context
            .apply(Op::Add, &[ArrayOrScalar::Array(&left), ArrayOrScalar::Array(&right)])
            .unwrap();
        assert_eq!(read(&context, &sum)[0], (sines[0] + sines[1]).to_bits());
        // Into a part of another array.
        let target = floats(&[9, 11], &[0.0; 99]);
        context.assign(&target.slice_axis(0, 1, 7, 1), ArrayOrScalar::Array(&sine)).unwrap();
        assert_eq!(read(&context, &target)[11..88], read(&context, &sine)[..]);
    }
    for context in
        [soft(Settings::default()), soft(Settings { block_bytes: 64, ..Default::default() })]
    {
        let x = floats(&[77], &data);
        let sine = context.apply(Op::Sin, &[ArrayOrScalar::Array(&x)]).unwrap();
        let least = context.reduce(Op::Min, &sine, &[0], false).unwrap();
        let wanted = sines.iter().copied().fold(f32::INFINITY, f32::min);
        assert_eq!(read(&context, &least), [wanted.to_bits()]);
    }
}

#[test]
fn a_function_among_other_operations_is_one_launch_where_it_fits() {
    let (context, log) = context(100_000);
    let x = floats(&[1000], &values(1000));
    let sine = context.apply(Op::Sin, &[ArrayOrScalar::Array(&x)]).unwrap();
    let exp = context.apply(Op::Exp, &[ArrayOrScalar::Array(&x)]).unwrap();
    let product =
        context.apply(Op::Mul, &[ArrayOrScalar::Array(&sine), ArrayOrScalar::Array(&exp)]).unwrap();
    read(&context, &product);
    assert_eq!(log.lock().unwrap().launches.len(), 1);
}

#[test]
fn a_function_longer_than_a_kernel_is_cut_between_its_instructions() {
    let (context, log) = context(24);
    let x = floats(&[1000], &values(1000));
    let sine = context.apply(Op::Sin, &[ArrayOrScalar::Array(&x)]).unwrap();
    read(&context, &sine);
    let log = log.lock().unwrap();
    let operations = functions::program(Op::Sin, DType::F32).unwrap().operation_count();
    assert!(log.launches.len() > 1 && log.launches.iter().all(|count| *count <= 24));
    // What pieces compute twice is not much.
    assert!(log.launches.iter().sum::<usize>() < 2 * operations, "{:?}", log.launches);
}
