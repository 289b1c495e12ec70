//! Casts by value and by bits between all dtypes of the suite, and their literals.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, contiguous};
use crate::expect::samples::{DTYPES, Rng, specials};
use crate::reporting::outcome::Outcome;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;

pub const GROUP: &str = "dtypes";

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("literals of {dtype}"), |d| literals(d, dtype));
    }
    for from in DTYPES {
        for to in DTYPES {
            suite.case(GROUP, &format!("{from} to {to}"), |d| convert(d, Op::Cast, from, to));
            let bits = from != DType::Bool && to != DType::Bool;
            if bits && Op::Bitcast.result_dtype(&[from], to).is_some() {
                let name = format!("bits of {from} as {to}");
                suite.case(GROUP, &name, |d| convert(d, Op::Bitcast, from, to));
            }
        }
    }
}

/// Literals are stored as they are, at all points.
fn literals(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    for literal in specials(dtype) {
        let mut b = Builder::new(Form::Map, 1);
        let value = b.constant(literal);
        b.store(value);
        device.check_one(&Run::new(b.finish(), &[37]), 0.0)?;
    }
    Ok(())
}

fn convert(device: &mut Device, op: Op, from: DType, to: DType) -> Outcome {
    device.need_dtype(from)?;
    device.need_dtype(to)?;
    device.need_method(op, if op == Op::Cast { to } else { from })?;
    let mut rng = Rng::new(11);
    let mut column = specials(from);
    column.extend((0..1000).map(|_| rng.scalar(from)));
    let shape = [column.len()];
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let operand = b.operand(from);
    let value = b.load(operand, access);
    let value = b.convert(op, value, to);
    b.store(value);
    let run = Run::new(b.finish(), &shape).operand(column).access(contiguous(&shape));
    device.check_one(&run, 0.0)
}
