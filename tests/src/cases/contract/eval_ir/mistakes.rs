//! Invalid launches, and their (missing) effects.

use super::super::mistakes::{dead_handles, undisturbed};
use super::super::{Suite, check_ir, doubling, numbers};
use super::GROUP;
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::reporting::outcome::{Outcome, refused, skip};
use gpupy_core::driver::BlockId;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::{DType, ErrorKind};

pub fn run(suite: &mut Suite<'_>) {
    dead_handles(suite, GROUP, "operand:", dead_operand);
    dead_handles(suite, GROUP, "destination:", dead_dest);
    dead_handles(suite, GROUP, "second destination:", dead_second_dest);
    suite.case(GROUP, "a program that does not fit", too_large);
    suite.case(GROUP, "a program that is unsupported", unsupported);
}

/// `block` is used as the operand; the destination is part of a block, which stays as it is.
pub fn dead_operand(device: &mut Device, block: BlockId) -> Outcome {
    let data = numbers(30, 5);
    let dest = device.upload(DType::F32, &data)?;
    let run = doubling(10).target(0, 30, affine(3, &[2]));
    let answer = device.try_eval(&run, &[block], &[dest]);
    refused(answer, ErrorKind::Invalid, "eval_ir")?;
    let now = device.read(dest, DType::F32, 0, 30)?;
    device.driver.block_free(dest);
    same(&now, &data, "the destination")
}

/// `block` is used as the destination.
pub fn dead_dest(device: &mut Device, block: BlockId) -> Outcome {
    let source = device.upload(DType::F32, &numbers(10, 1))?;
    let answer = device.try_eval(&doubling(10), &[source], &[block]);
    device.driver.block_free(source);
    refused(answer, ErrorKind::Invalid, "eval_ir")
}

/// Nothing is written to the first destination, which is part of a block.
fn dead_second_dest(device: &mut Device, block: BlockId) -> Outcome {
    if device.caps.max_dests < 2 {
        return skip("fewer destinations at a time");
    }
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let value = b.load(operand, access);
    b.store(value);
    b.store(value);
    let run = Run::new(b.finish(), &[10])
        .access(contiguous(&[10]))
        .target(0, 30, affine(3, &[2]))
        .target(1, 10, affine(0, &[1]));
    let data = numbers(30, 5);
    let (source, dest) =
        (device.upload(DType::F32, &numbers(10, 1))?, device.upload(DType::F32, &data)?);
    let answer = device.try_eval(&run, &[source], &[dest, block]);
    refused(answer, ErrorKind::Invalid, "eval_ir")?;
    let now = device.read(dest, DType::F32, 0, 30)?;
    device.driver.block_free(source);
    device.driver.block_free(dest);
    same(&now, &data, "the first destination")
}

/// Changes a launch to write into every second element of a block.
fn into_part(run: Run) -> Run {
    let shape = run.out_shape();
    let (points, mut place) = (shape.iter().product::<usize>(), contiguous(&shape));
    place.offset = 1;
    place.strides.iter_mut().for_each(|stride| *stride *= 2);
    (0..run.program.dests.len())
        .fold(run, |run, slot| run.target(slot, 2 * points + 3, place.clone()))
}

fn too_large(device: &mut Device) -> Outcome {
    for operations in [2, 4, 20, 200, 600, 1000, 1400, 1800] {
        let run = random_run(device, 700, operations);
        if !device.check_ir(&run.program)?.fits {
            return undisturbed(device, |device| {
                device.check_or_refused(&into_part(run), &[ErrorKind::Refused])
            });
        }
    }
    skip("no program was too large")
}

fn unsupported(device: &mut Device) -> Outcome {
    let run = check_ir::unsupported(device)?;
    let kinds = [ErrorKind::Unsupported, ErrorKind::Refused];
    undisturbed(device, |device| device.check_or_refused(&into_part(run), &kinds))
}
