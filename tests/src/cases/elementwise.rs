//! Every scalar operation on every dtype, at the numbers where implementations go wrong.
//!
//! Not here: casts and bitcasts (`dtypes.rs`).

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, contiguous};
use crate::expect::samples::{DTYPES, Rng, specials};
use crate::reporting::outcome::{Outcome, fail};
use gpupy_core::driver::Method;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, OpInfo, Rule};
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "elementwise";

pub fn run(suite: &mut Suite<'_>) {
    for row in OPS {
        if matches!(row.rule, Rule::Special | Rule::Cast | Rule::Bitcast) || row.is_of_complex() {
            continue;
        }
        for dtype in DTYPES {
            let operands = operands_of(row, dtype);
            if row.op.result_dtype(&operands, dtype).is_none() {
                continue;
            }
            let name = |how: &str| format!("{} {dtype} {how}", row.name);
            suite.case(GROUP, &name("of arrays"), |device| {
                operation(device, row, &operands, inputs(&operands))
            });
            if row.arity > 1 {
                suite.case(GROUP, &name("of array and scalar"), |device| {
                    scalars(device, row, &operands)
                });
                suite.case(GROUP, &name("of array and literal"), |device| {
                    literals(device, row, &operands)
                });
            }
        }
    }
}

/// The dtypes of the operands, for this dtype of the first (of a select, of the others).
pub fn operands_of(row: &OpInfo, dtype: DType) -> Vec<DType> {
    let mut operands = vec![dtype; row.arity as usize];
    if row.rule == Rule::Select {
        operands[0] = DType::Bool;
    }
    operands
}

/// The operation on values, as the core puts it into a program.
fn apply(device: &Device, b: &mut Builder, row: &OpInfo, values: &[u32]) -> Outcome<u32> {
    match device.need_method(row.op, b.dtype(values[0]))? {
        Method::Lowered(program) => match program.verify() {
            Ok(()) => Ok(b.inline(&program, values)),
            Err(error) => fail(format!("the lowered program: {error}\n{program}")),
        },
        _ => Ok(b.op(row.op, values)),
    }
}

/// All pairs of special numbers, then random ones.
pub fn inputs(operands: &[DType]) -> Vec<Vec<Scalar>> {
    let mut columns = vec![Vec::new(); operands.len()];
    let last = operands[operands.len() - 1];
    for a in specials(operands[0]) {
        for b in specials(last) {
            let row = [a, b, b];
            for (k, column) in columns.iter_mut().enumerate() {
                let special = if operands.len() == 1 { a } else { row[k] };
                // For a select, any other number as the second.
                let other = specials(last)[(column.len() * 7) % specials(last).len()];
                column.push(if operands.len() == 3 && k == 1 { other } else { special });
            }
        }
    }
    let mut rng = Rng::new(7);
    for _ in 0..2001 {
        for (column, dtype) in columns.iter_mut().zip(operands) {
            column.push(rng.scalar(*dtype));
        }
    }
    columns
}

/// The operation on arrays with these elements.
pub fn operation(
    device: &mut Device,
    row: &OpInfo,
    operands: &[DType],
    columns: Vec<Vec<Scalar>>,
) -> Outcome {
    operands.iter().try_for_each(|dtype| device.need_dtype(*dtype))?;
    let run = map(columns, |b, values| apply(device, b, row, values))?;
    device.check_one(&run, row.ulp)
}

/// A map over blocks with these elements.
pub fn map(
    columns: Vec<Vec<Scalar>>,
    value: impl FnOnce(&mut Builder, &[u32]) -> Outcome<u32>,
) -> Outcome<Run> {
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let mut values = Vec::new();
    for column in &columns {
        let operand = b.operand(column[0].dtype);
        values.push(b.load(operand, access));
    }
    let value = value(&mut b, &values)?;
    b.store(value);
    let shape = [columns[0].len()];
    let mut run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    run.operands = columns;
    Ok(run)
}

/// The last operand is a parameter: all its special numbers, one launch each.
fn scalars(device: &mut Device, row: &OpInfo, operands: &[DType]) -> Outcome {
    let (last, before) = operands.split_last().unwrap_or((&DType::Bool, &[]));
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let mut values = Vec::new();
    for dtype in before {
        device.need_dtype(*dtype)?;
        let operand = b.operand(*dtype);
        values.push(b.load(operand, access));
    }
    values.push(b.param(*last));
    let value = apply(device, &mut b, row, &values)?;
    b.store(value);
    let columns: Vec<_> = before.iter().map(|dtype| column(*dtype)).collect();
    let shape = [columns[0].len()];
    let mut run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    run.operands = columns;
    for scalar in specials(*last) {
        run.params = vec![scalar];
        device.check_one(&run, row.ulp)?;
    }
    Ok(())
}

/// The last operand is a literal, where compilers fold; then the first one is.
fn literals(device: &mut Device, row: &OpInfo, operands: &[DType]) -> Outcome {
    for place in [operands.len() - 1, 0] {
        let dtype = operands[place];
        let floats = [0.0, -0.0, 1.0, -1.0, 2.0, 0.1, f32::INFINITY, f32::NAN];
        let literals = match dtype {
            DType::F32 => floats.map(Scalar::f32).to_vec(),
            DType::Bool => specials(dtype),
            _ => [0, 1, -1, 2, 31, 32, i32::MIN].map(|x| Scalar::new(dtype, x as u64)).to_vec(),
        };
        for literal in literals {
            let mut b = Builder::new(Form::Map, 1);
            let access = b.access(AccessKind::Contiguous);
            let mut columns = Vec::new();
            let mut values = Vec::new();
            for (k, dtype) in operands.iter().enumerate() {
                device.need_dtype(*dtype)?;
                if k == place {
                    values.push(b.constant(literal));
                    continue;
                }
                let operand = b.operand(*dtype);
                values.push(b.load(operand, access));
                columns.push(column(*dtype));
            }
            let value = apply(device, &mut b, row, &values)?;
            b.store(value);
            let shape = [columns[0].len()];
            let mut run = Run::new(b.finish(), &shape).access(contiguous(&shape));
            run.operands = columns;
            device.check_one(&run, row.ulp)?;
        }
    }
    Ok(())
}

/// Special and random numbers, 101 of them whatever the dtype.
fn column(dtype: DType) -> Vec<Scalar> {
    let mut rng = Rng::new(3);
    let mut column = specials(dtype);
    column.resize_with(101, || rng.scalar(dtype));
    column
}
