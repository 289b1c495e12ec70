//! Programs of single operations, made at first need.
//!
//! Not here: how they are told apart (`programs.rs`), programs of pieces (`emit.rs`).

use super::emit::emit;
use super::programs::{Key, Leaf, Ready, Work, unit};
use crate::schedule::device::Device;
use gpupy_core::ir::{Builder, Form};
use smallvec::SmallVec;

/// The code of tasks like this, whose program is made at first need.
#[inline]
pub(crate) fn prepared(device: &mut Device, key: &Key) -> u64 {
    let code = key.code();
    if !device.programs.knows(code) {
        learn(device, key, code);
    }
    code
}

#[cold]
fn learn(device: &mut Device, key: &Key, code: u64) {
    let ready = ready(key, device);
    device.programs.keep(code, ready);
}

/// The program for tasks like this, if the device can do it in one launch on host memory.
fn ready(key: &Key, device: &mut Device) -> Option<Ready> {
    if !device.caps.host_memory {
        return None;
    }
    let form = match key.work {
        Work::Reduce(op) => Form::Reduce { op },
        Work::Apply(_) | Work::Index => Form::Map,
        Work::Whole(whole) => whole.form(),
    };
    let mut builder = Builder::new(form, key.rank);
    let mut values: SmallVec<[u32; 3]> = SmallVec::new();
    let mut units = SmallVec::new();
    for leaf in key.leaves.iter().flatten() {
        values.push(match *leaf {
            Leaf::Scalar(dtype) => builder.param(dtype),
            Leaf::Memory(dtype, kind) => {
                units.push(unit());
                let (operand, access) = (builder.operand(dtype), builder.access(kind));
                builder.load(operand, access)
            }
            Leaf::Coordinate(kind) => {
                units.push(unit());
                let access = builder.access(kind);
                builder.index(access)
            }
        });
    }
    let result = match key.work {
        Work::Apply(op) => emit(device, &mut builder, op, key.dtype, &values),
        Work::Index => values[0],
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
