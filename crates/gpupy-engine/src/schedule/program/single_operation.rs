//! Programs of single operations, made when they are first needed.
//!
//! Not here: their keys (`eager_programs.rs`), programs of pieces (`emit.rs`).

use super::eager_programs::{EagerProgramKey, LaunchBody, ProgramLeaf, ReadyProgram, walk_of};
use super::emit::{emit, emit_call};
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::tree_lanes::{FEW, Products, folded};
use crate::schedule::engine_device::OpenDevice;
use gpupy_core::ir::{Builder, Form};
use gpupy_core::op::Op;
use smallvec::SmallVec;
use std::convert::Infallible;

/// The code of tasks like this, whose program is made at first need; of a call, with the function.
#[inline]
pub(crate) fn prepared(
    device: &mut OpenDevice,
    key: &EagerProgramKey,
    called: Option<&ScalarFunction>,
) -> u64 {
    let code = key.code();
    if !device.programs.knows(code) {
        learn(device, key, called, code);
    }
    code
}

#[cold]
fn learn(
    device: &mut OpenDevice,
    key: &EagerProgramKey,
    called: Option<&ScalarFunction>,
    code: u64,
) {
    let ready = ready(key, called, device);
    device.programs.keep(code, ready);
}

/// The program for tasks like this, if the device can do it in one launch on host memory.
fn ready(
    key: &EagerProgramKey,
    called: Option<&ScalarFunction>,
    device: &mut OpenDevice,
) -> Option<ReadyProgram> {
    if !device.caps.host_memory {
        return None;
    }
    let form = match key.work {
        LaunchBody::Reduce(op) => Form::Reduce { op },
        LaunchBody::Apply(_)
        | LaunchBody::Call(_)
        | LaunchBody::Index
        | LaunchBody::ReduceFew(..)
        | LaunchBody::Products(_) => Form::Map,
        LaunchBody::Whole(whole) => whole.form(),
    };
    let mut builder = Builder::new(form, key.rank);
    let mut values: SmallVec<[u32; 2 * FEW]> = SmallVec::new();
    let mut units = SmallVec::new();
    for leaf in key.leaves.iter().flatten() {
        match *leaf {
            ProgramLeaf::Scalar(dtype) => values.push(builder.param(dtype)),
            ProgramLeaf::Memory(dtype, kind) => {
                let operand = builder.operand(dtype);
                let reads = match key.work {
                    LaunchBody::ReduceFew(_, points) | LaunchBody::Products(points) => points,
                    _ => 1,
                };
                for _ in 0..reads {
                    units.push(walk_of(kind));
                    let access = builder.access(kind);
                    values.push(builder.load(operand, access));
                }
            }
            ProgramLeaf::Coordinate(kind) => {
                units.push(walk_of(kind));
                let access = builder.access(kind);
                values.push(builder.index(access));
            }
        }
    }
    let result = match key.work {
        LaunchBody::Apply(op) => emit(device, &mut builder, op, key.dtype, &values),
        LaunchBody::Call(_) => *emit_call(device, &mut builder, called?, &values).first()?,
        LaunchBody::Index => values[0],
        LaunchBody::Products(points) => {
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
        LaunchBody::ReduceFew(op, _) => {
            let emit = |lane, with| {
                Ok::<_, Infallible>(emit(device, &mut builder, op, key.dtype, &[lane, with]))
            };
            folded(values.to_vec(), emit).ok().flatten()?
        }
        LaunchBody::Reduce(_) => builder.reduce(values[0]),
        LaunchBody::Whole(whole) => whole.emit(&mut builder, &values, key.dtype),
    };
    builder.store(result);
    let program = builder.finish();
    debug_assert!(program.verify().is_ok(), "{program}: {:?}", program.verify().err());
    let check = device.driver.check_ir(&program).ok()?;
    let fingerprint = program.fingerprint();
    let operations = program.operation_count() as u64;
    check.fits.then_some(ReadyProgram { program, fingerprint, operations, units })
}
