//! `get_method` tells how the driver supports an operation.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::samples::DTYPES;
use crate::reporting::outcome::{Outcome, ensure, fail};
use gpupy_core::driver::Method;
use gpupy_core::ir::{Builder, Form, Inst, Program};
use gpupy_core::op::{OPS, Op, OpInfo, Rule};
use gpupy_core::{DType, ErrorKind};

pub const GROUP: &str = "get_method";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "always says the same", methods_stay);
    suite.case(GROUP, "lowered programs", lowered_programs);
    suite.case(GROUP, "agrees with check_ir", agrees_with_check);
    suite.case(GROUP, "claims only dtypes of blocks", only_dtypes_of_blocks);
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

/// The dtype with which `get_method` is called for an instruction.
fn asked(program: &Program, op: Op, inst: &Inst) -> DType {
    match (op, program.uses(inst).next()) {
        (Op::Cast, _) | (_, None) => inst.dtype,
        (_, Some(first)) => program.insts[first as usize].dtype,
    }
}

/// A program with nothing but one operation on parameters, the first of this dtype (of a select,
/// the second); `None` where there is no such operation.
pub fn single_operation(row: &OpInfo, dtype: DType) -> Option<Program> {
    let mut operands = vec![dtype; row.arity as usize];
    if row.rule == Rule::Select {
        operands[0] = DType::Bool;
    }
    row.op.result_dtype(&operands, dtype)?;
    let mut b = Builder::new(Form::Map, 1);
    let values: Vec<_> = operands.iter().map(|dtype| b.param(*dtype)).collect();
    let value = match row.rule {
        Rule::Cast | Rule::Bitcast => b.convert(row.op, values[0], dtype),
        _ => b.op(row.op, &values),
    };
    b.store(value);
    Some(b.finish())
}

fn agrees_with_check(device: &mut Device) -> Outcome {
    for row in OPS.iter().filter(|row| row.rule != Rule::Special) {
        for dtype in DTYPES {
            let Some(program) = single_operation(row, dtype) else { continue };
            if device.need_dtype(dtype).and(device.need_dtype(program.dests[0])).is_err() {
                continue;
            }
            let checked = device.driver.check_ir(&program);
            let about = |said: &str| format!("{} {dtype}: {said}", row.name);
            match (device.driver.get_method(row.op, program.params[0]), checked) {
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

fn only_dtypes_of_blocks(device: &mut Device) -> Outcome {
    for row in OPS.iter().filter(|row| row.rule != Rule::Special) {
        for dtype in DType::ALL {
            let absent = device.driver.get_method(row.op, dtype) == Method::Absent;
            ensure(absent || device.caps.dtypes.contains(&dtype), || {
                format!("{} {dtype} is claimed, but no block has this dtype", row.name)
            })?;
        }
    }
    Ok(())
}
