//! Programs of single operations, made at first need.
//!
//! Not here: how they are told apart (`programs.rs`), programs of pieces (`emit.rs`).

use super::emit::emit;
use super::programs::{Key, Leaf, Programs, Ready, Work, unit};
use crate::schedule::device::Device;
use gpupy_core::ir::{Builder, Form};
use smallvec::SmallVec;

/// The place of the program for tasks like this, which is made at first need.
#[inline]
pub(crate) fn place(device: &mut Device, key: &Key) -> usize {
    let code = key.code();
    match device.programs.known.get(&code) {
        Some(place) => *place,
        None => learn(device, key, code),
    }
}

#[cold]
fn learn(device: &mut Device, key: &Key, code: u64) -> usize {
    let ready = ready(key, device);
    let Programs { known, all } = &mut device.programs;
    known.insert(code, all.len());
    all.push(ready);
    all.len() - 1
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
