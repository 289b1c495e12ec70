//! The 14 functions, one by one: what each promises apart from what programs compute.

use super::Suite;
use super::random::random_run;
use crate::device::Device;
use crate::oracle::{Run, contiguous};
use crate::report::{Outcome, ensure, fail};
use crate::samples::{DTYPES, Rng};
use gpupy_core::driver::{Config, Method, Part, Resources};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "functions";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "init reports what it found", init_reports);
    suite.case_with(GROUP, "init after cleanup", &Config::default(), init_after_cleanup);
    suite.case_with(GROUP, "cleanup twice", &Config::default(), |device| {
        device.alloc(DType::F32, 10)?;
        device.driver.cleanup();
        device.driver.cleanup();
        Ok(())
    });
    suite.case_with(GROUP, "limits above the device's own", &limits_above(), |device| {
        device.upload(DType::F32, &[Scalar::f32(1.0)]).map(|_| ())
    });
    suite.case(GROUP, "get_method always says the same", methods_stay);
    suite.case(GROUP, "get_method's lowered programs", lowered_programs);
    suite.case(GROUP, "get_method and check_ir agree", methods_and_check_agree);
    suite.case(GROUP, "block_alloc gives blocks apart", blocks_apart);
    suite.case(GROUP, "block_free while work is queued", free_while_queued);
    for dtype in DTYPES {
        suite.case(GROUP, &format!("block_write and block_read, {dtype}"), |device| {
            write_and_read(device, dtype)
        });
        suite.case(GROUP, &format!("parts of a block, {dtype}"), |device| parts(device, dtype));
    }
    suite.case(GROUP, "nothing read and nothing written", nothing);
    suite.case(GROUP, "check_ir always says the same", checks_stay);
    suite.case(GROUP, "eval_ir keeps the order of calls", order_of_calls);
    suite.case(GROUP, "eval_ir again and again", again_and_again);
    suite.case(GROUP, "resource_zero, _add and _sub", resource_laws);
    suite.case(GROUP, "resource_get is an upper bound", parts_bound_the_whole);
    suite.case(GROUP, "resource_check and check_ir agree", checks_agree);
}

fn limits_above() -> Config {
    Config { block_bytes: u64::MAX, device_bytes: u64::MAX, resources: Resources([u32::MAX; 8]) }
}

fn init_reports(device: &mut Device) -> Outcome {
    let caps = &device.caps;
    ensure(!caps.device.is_empty(), || "the device has no name".into())?;
    ensure(caps.dtypes.contains(&DType::F32), || "there is no float32".into())?;
    ensure(caps.max_block_len >= 256, || "fewer than 256 elements fit in a block".into())?;
    ensure(caps.max_dests >= 1, || "there are no destinations".into())?;
    ensure(caps.resources.len() <= 8, || "there are more than 8 resources".into())?;
    let mut dtypes = caps.dtypes.clone();
    dtypes.sort();
    dtypes.dedup();
    ensure(dtypes.len() == caps.dtypes.len(), || format!("{:?} has one twice", caps.dtypes))
}

fn init_after_cleanup(device: &mut Device) -> Outcome {
    let before = device.caps.clone();
    device.driver.cleanup();
    match device.driver.init(&Config::default()) {
        Ok(after) => {
            ensure(before == after, || format!("{before:?} and then {after:?}"))?;
            device.upload(DType::F32, &[Scalar::f32(1.0)]).map(|_| ())
        }
        Err(error) => fail(format!("{error}")),
    }
}

fn methods_stay(device: &mut Device) -> Outcome {
    for row in OPS {
        for dtype in DType::ALL {
            let (a, b) =
                (device.driver.get_method(row.op, dtype), device.driver.get_method(row.op, dtype));
            ensure(a == b, || format!("{} {dtype}: {a:?} and then {b:?}", row.name))?;
        }
    }
    Ok(())
}

fn lowered_programs(device: &mut Device) -> Outcome {
    for row in OPS {
        for dtype in DType::ALL {
            let Method::Lowered(program) = device.driver.get_method(row.op, dtype) else {
                continue;
            };
            let about = |said: &str| format!("{} {dtype}: {said}\n{program}", row.name);
            program.verify().or_else(|error| fail(about(&error.to_string())))?;
            let plain = program.form == Form::Map
                && program.rank == 1
                && program.operands.is_empty()
                && program.accesses.is_empty()
                && program.dests.len() == 1;
            ensure(plain, || about("it is more than a function of its parameters"))?;
            ensure(program.params.len() == row.arity as usize, || about("other parameters"))?;
            for inst in program.insts.iter().filter(|inst| inst.op.is_scalar_op()) {
                let dtype = asked(&program, inst.op, inst);
                let method = device.driver.get_method(inst.op, dtype);
                ensure(method == Method::Native, || about(inst.op.info().name))?;
            }
        }
    }
    Ok(())
}

/// The dtype that `get_method` is asked for an instruction.
fn asked(program: &Program, op: Op, inst: &gpupy_core::ir::Inst) -> DType {
    match (op, program.uses(inst).next()) {
        (Op::Cast, _) | (_, None) => inst.dtype,
        (_, Some(first)) => program.insts[first as usize].dtype,
    }
}

/// A program with nothing but one operation on parameters.
fn lone(op: Op, operands: &[DType], to: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let values: Vec<_> = operands.iter().map(|dtype| b.param(*dtype)).collect();
    let value = match op.info().rule {
        Rule::Cast | Rule::Bitcast => b.convert(op, values[0], to),
        _ => b.op(op, &values),
    };
    b.store(value);
    b.finish()
}

fn methods_and_check_agree(device: &mut Device) -> Outcome {
    for row in OPS.iter().filter(|row| row.rule != Rule::Special) {
        for dtype in DTYPES {
            let mut operands = vec![dtype; row.arity as usize];
            if row.rule == Rule::Select {
                operands[0] = DType::Bool;
            }
            let Some(result) = row.op.result_dtype(&operands, dtype) else { continue };
            if device.need_dtype(dtype).and(device.need_dtype(result)).is_err() {
                continue;
            }
            let program = lone(row.op, &operands, dtype);
            let checked = device.driver.check_ir(&program);
            let about = |said: &str| format!("{} {dtype}: {said}", row.name);
            match (device.driver.get_method(row.op, operands[0]), checked) {
                (Method::Native, Ok(check)) => {
                    ensure(check.fits, || about("native, but does not fit alone"))?;
                }
                (Method::Native, Err(error)) => {
                    return fail(about(&format!("native, but {error}")));
                }
                (_, Err(error)) if error.kind() == ErrorKind::Unsupported => {}
                (_, Err(error)) => return fail(about(&format!("not native, and {error}"))),
                (method, Ok(_)) => {
                    return fail(about(&format!("{method:?}, but check_ir takes it")));
                }
            }
        }
    }
    Ok(())
}

fn blocks_apart(device: &mut Device) -> Outcome {
    let mut blocks = Vec::new();
    for k in 0..50 {
        let data = vec![Scalar::f32(k as f32); 10 + k];
        blocks.push((device.upload(DType::F32, &data)?, data));
    }
    for (k, (block, _)) in blocks.iter().enumerate().filter(|(k, _)| k % 3 == 0) {
        device.write(*block, 2, &[Scalar::f32(-1.0 - k as f32)])?;
    }
    for (k, (block, mut data)) in blocks.into_iter().enumerate() {
        if k % 3 == 0 {
            data[2] = Scalar::f32(-1.0 - k as f32);
        }
        let got = device.read(block, DType::F32, 0, data.len())?;
        device.driver.block_free(block);
        super::same(&got, &data, "one of many blocks")?;
    }
    Ok(())
}

/// `x + x` over `n` elements of float32.
fn doubling(n: usize) -> Run {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, access);
    let twice = b.op(Op::Add, &[x, x]);
    b.store(twice);
    Run::new(b.finish(), &[n]).access(contiguous(&[n]))
}

fn free_while_queued(device: &mut Device) -> Outcome {
    let n = 10_001.min(device.caps.max_block_len);
    let data: Vec<_> = (0..n).map(|k| Scalar::f32(k as f32)).collect();
    let twice: Vec<_> = (0..n).map(|k| Scalar::f32(2.0 * k as f32)).collect();
    let (source, dest) = (device.upload(DType::F32, &data)?, device.alloc(DType::F32, n)?);
    device.eval(&doubling(n), &[source], &[dest])?;
    device.driver.block_free(source);
    let other = device.upload(DType::F32, &vec![Scalar::f32(-1.0); n])?;
    let got = device.read(dest, DType::F32, 0, n)?;
    device.driver.block_free(other);
    device.driver.block_free(dest);
    super::same(&got, &twice, "the doubled block")
}

const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 7, 16, 63, 257, 1000, 4099, 20_000];

fn write_and_read(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(51);
    let most = device.caps.max_block_len;
    for n in SIZES.into_iter().filter(|n| *n <= most) {
        let data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        let block = device.upload(dtype, &data)?;
        let got = device.read(block, dtype, 0, n)?;
        device.driver.block_free(block);
        super::same(&got, &data, &format!("a block of {n}"))?;
    }
    Ok(())
}

fn parts(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(52);
    for n in [1, 6, 100, 4099] {
        let n = n.min(device.caps.max_block_len);
        let mut data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        let block = device.upload(dtype, &data)?;
        for _ in 0..20 {
            let from = rng.below(n);
            let most = 1 + rng.below(200);
            let len = 1 + rng.below((n - from).min(most));
            let new: Vec<_> = (0..len).map(|_| rng.scalar(dtype)).collect();
            device.write(block, from, &new)?;
            data[from..from + len].copy_from_slice(&new);
            let from = rng.below(n);
            let len = 1 + rng.below(n - from);
            let got = device.read(block, dtype, from, len)?;
            super::same(&got, &data[from..from + len], &format!("elements from {from} of {n}"))?;
        }
        device.driver.block_free(block);
    }
    Ok(())
}

fn nothing(device: &mut Device) -> Outcome {
    let data = [Scalar::f32(1.0), Scalar::f32(2.0)];
    let block = device.upload(DType::F32, &data)?;
    for offset in 0..=2 {
        device.write(block, offset, &[])?;
        let got = device.read(block, DType::F32, offset, 0)?;
        ensure(got.is_empty(), || "something was read".into())?;
    }
    let got = device.read(block, DType::F32, 0, 2)?;
    device.driver.block_free(block);
    super::same(&got, &data, "the block")
}

fn checks_stay(device: &mut Device) -> Outcome {
    for seed in 200..220 {
        let run = random_run(device, seed, 12);
        let (a, b) = (device.check_ir(&run.program)?, device.check_ir(&run.program)?);
        ensure(a == b, || format!("{a:?} and then {b:?}\n{}", run.program))?;
    }
    Ok(())
}

/// A write after an evaluation must not reach it, nor an evaluation miss the write before it.
fn order_of_calls(device: &mut Device) -> Outcome {
    let n = 5000.min(device.caps.max_block_len);
    let run = doubling(n);
    let source = device.alloc(DType::F32, n)?;
    let mut dests = Vec::new();
    for k in 0..8 {
        device.write(source, 0, &vec![Scalar::f32(k as f32); n])?;
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&run, &[source], &[dest])?;
        dests.push(dest);
    }
    for (k, dest) in dests.into_iter().enumerate() {
        let got = device.read(dest, DType::F32, 0, n)?;
        device.driver.block_free(dest);
        super::same(&got, &vec![Scalar::f32(2.0 * k as f32); n], &format!("evaluation {k}"))?;
    }
    device.driver.block_free(source);
    Ok(())
}

/// One kernel with other parameters each time: kept kernels must not keep old numbers.
fn again_and_again(device: &mut Device) -> Outcome {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let x = b.load(operand, access);
    let scale = b.param(DType::F32);
    let scaled = b.op(Op::Mul, &[x, scale]);
    b.store(scaled);
    let program = b.finish();
    let mut rng = Rng::new(53);
    for k in 0..24usize {
        // Runs of equal parameters, then others; shapes and strides change as well.
        let n = [40, 41, 64][k % 3];
        let param = [0.0, -0.0, 1.0, 2.5, 2.5, 2.5, 2.5, 7.0][k / 3];
        let run = Run::new(program.clone(), &[n])
            .operand((0..200).map(|_| rng.ordinary(DType::F32)).collect())
            .param(Scalar::f32(param))
            .access(crate::oracle::affine((k % 5) as i64, &[1 + (k % 2) as i64]));
        device.check_one(&run, 0.0)?;
    }
    Ok(())
}

fn resource_laws(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    let zero = driver.resource_zero();
    ensure(driver.resource_check(&zero), || "nothing does not fit".into())?;
    let parts = [
        Part::Op(Op::Add, DType::F32),
        Part::Op(Op::Sin, DType::F32),
        Part::Operand(DType::F32),
        Part::Operand(DType::Bool),
        Part::Param(DType::I32),
        Part::Index,
        Part::Dest(DType::F32),
    ];
    let mut total = zero;
    for part in parts {
        let need = driver.resource_get(part);
        let before = total;
        driver.resource_add(&mut total, &need);
        let mut back = total;
        driver.resource_sub(&mut back, &need);
        ensure(back == before, || {
            format!("{part:?}: {before:?} plus and minus {need:?}: {back:?}")
        })?;
        ensure(need == driver.resource_get(part), || format!("{part:?} needs other amounts"))?;
    }
    let mut most = Resources([u32::MAX; 8]);
    driver.resource_add(&mut most, &total);
    ensure(!driver.resource_check(&most), || "everything fits".into())?;
    let mut none = zero;
    driver.resource_sub(&mut none, &most);
    ensure(driver.resource_check(&none), || "less than nothing does not fit".into())
}

/// The sum over a program's parts.
fn bound(device: &Device, program: &Program) -> Resources {
    let driver = &device.driver;
    let mut total = driver.resource_zero();
    for inst in &program.insts {
        let part = match inst.op {
            Op::Const => continue,
            Op::Param => Part::Param(inst.dtype),
            Op::Index => Part::Index,
            Op::Load => Part::Operand(inst.dtype),
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        driver.resource_add(&mut total, &driver.resource_get(part));
    }
    total
}

fn parts_bound_the_whole(device: &mut Device) -> Outcome {
    for seed in 300..340 {
        let run = random_run(device, seed, 1 + seed as usize % 40);
        let (bound, check) = (bound(device, &run.program), device.check_ir(&run.program)?);
        let holds = bound.0.iter().zip(check.resources.0).all(|(bound, need)| *bound >= need);
        ensure(holds, || {
            format!("{bound:?} is no bound of {:?}\n{}", check.resources, run.program)
        })?;
        ensure(check.fits || !device.driver.resource_check(&bound), || {
            format!("the bound {bound:?} fits, but not the program\n{}", run.program)
        })?;
    }
    Ok(())
}

fn checks_agree(device: &mut Device) -> Outcome {
    for seed in 400..440 {
        let run = random_run(device, seed, 1 + seed as usize % 60);
        let check = device.check_ir(&run.program)?;
        ensure(check.fits == device.driver.resource_check(&check.resources), || {
            format!("{check:?}, but resource_check says otherwise\n{}", run.program)
        })?;
    }
    Ok(())
}
