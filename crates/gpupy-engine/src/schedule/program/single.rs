//! Programs of single operations, made at first need.
//!
//! Not here: how they are told apart (`programs.rs`), programs of pieces (`emit.rs`).

use super::emit::{emit, emit_call};
use super::programs::{Key, Leaf, Ready, Work, unit};
use crate::graph::function::Function;
use crate::graph::lanes::{FEW, Products, folded};
use crate::schedule::device::Device;
use gpupy_core::ir::{Builder, Form};
use gpupy_core::op::Op;
use smallvec::SmallVec;
use std::convert::Infallible;

/// The code of tasks like this, whose program is made at first need; of a call, with the function.
#[inline]
pub(crate) fn prepared(device: &mut Device, key: &Key, called: Option<&Function>) -> u64 {
    let code = key.code();
    if !device.programs.knows(code) {
        learn(device, key, called, code);
    }
    code
}

#[cold]
fn learn(device: &mut Device, key: &Key, called: Option<&Function>, code: u64) {
    let ready = ready(key, called, device);
    device.programs.keep(code, ready);
}

/// The program for tasks like this, if the device can do it in one launch on host memory.
fn ready(key: &Key, called: Option<&Function>, device: &mut Device) -> Option<Ready> {
    if !device.caps.host_memory {
        return None;
    }
    let form = match key.work {
        Work::Reduce(op) => Form::Reduce { op },
        Work::Apply(_) | Work::Call(_) | Work::Index | Work::Few(..) | Work::Products(_) => {
            Form::Map
        }
        Work::Whole(whole) => whole.form(),
    };
    let mut builder = Builder::new(form, key.rank);
    let mut values: SmallVec<[u32; 2 * FEW]> = SmallVec::new();
    let mut units = SmallVec::new();
    for leaf in key.leaves.iter().flatten() {
        match *leaf {
            Leaf::Scalar(dtype) => values.push(builder.param(dtype)),
            Leaf::Memory(dtype, kind) => {
                let operand = builder.operand(dtype);
                let reads = match key.work {
                    Work::Few(_, points) | Work::Products(points) => points,
                    _ => 1,
                };
                for _ in 0..reads {
                    units.push(unit());
                    let access = builder.access(kind);
                    values.push(builder.load(operand, access));
                }
            }
            Leaf::Coordinate(kind) => {
                units.push(unit());
                let access = builder.access(kind);
                values.push(builder.index(access));
            }
        }
    }
    let result = match key.work {
        Work::Apply(op) => emit(device, &mut builder, op, key.dtype, &values),
        Work::Call(_) => *emit_call(device, &mut builder, called?, &values).first()?,
        Work::Index => values[0],
        Work::Products(points) => {
            let Products { multiply, add, wide } = Products::of(key.dtype);
            let mut emit = |op, to, values: &[u32]| emit(device, &mut builder, op, to, values);
            // A cast to the dtype that there is emits nothing.
            let wide_ones: SmallVec<[u32; 2 * FEW]> =
                values.iter().map(|value| emit(Op::Cast, wide, &[*value])).collect();
            let (left, right) = wide_ones.split_at(points.into());
            let pairs = left.iter().zip(right);
            let terms = pairs.map(|(a, b)| emit(multiply, wide, &[*a, *b])).collect();
            let both = |a, b| Ok::<_, Infallible>(emit(add, wide, &[a, b]));
            let sum = folded(terms, both).ok().flatten()?;
            emit(Op::Cast, key.dtype, &[sum])
        }
        Work::Few(op, _) => {
            let emit = |lane, with| {
                Ok::<_, Infallible>(emit(device, &mut builder, op, key.dtype, &[lane, with]))
            };
            folded(values.to_vec(), emit).ok().flatten()?
        }
        Work::Reduce(_) => builder.reduce(values[0]),
        Work::Whole(whole) => builder.whole(whole.op(), &values),
    };
    builder.store(result);
    let program = builder.finish();
    debug_assert!(program.verify().is_ok(), "{program}: {:?}", program.verify().err());
    let check = device.driver.check_ir(&program).ok()?;
    let fingerprint = program.fingerprint();
    let operations = program.operation_count() as u64;
    check.fits.then_some(Ready { program, fingerprint, operations, units })
}
