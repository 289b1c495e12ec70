//! Slabs: a launch cut along an axis into launches of the same program.
//!
//! Owns [`Cut`] and [`Slab`]. A launch is cut along the first axis of its output space that has more than one point, so
//! that a slab of a contiguous result is contiguous. A reduction along its only axis is cut between chunks of the
//! canonical tree. Invariants: each point is in one slab; the program is the launch's own, so bits are the same; slabs
//! of a launch that may be cut write to places that do not overlap.
//!
//! Not here: how large slabs are (`pace.rs`), what evaluates them (`shared_launch.rs`).

use crate::memory::access::reach;
use gpupy_core::driver::{Access, BlockId, Launch};
use gpupy_core::ir::{AccessKind, Form, Program, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::routines::RoutineCall;
use gpupy_core::shape::{Shape, size_of};
use std::ops::Range;

/// The space whose points an access counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountedSpace {
    /// The launch's own.
    Input,
    /// That of the destinations.
    Output,
    /// No instruction uses it.
    Nothing,
}

/// Some of the points of a launch.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    pub shape: Shape,
    pub params: Vec<u64>,
    pub accesses: Vec<Access>,
    /// The access of each destination.
    pub dests: Vec<Access>,
}

/// How a launch may be cut.
pub(super) struct Cut<'l> {
    launch: &'l Launch<'l>,
    counts: Vec<CountedSpace>,
    axis: usize,
    /// Points of the axis: of the output space.
    pub units: usize,
    /// Whether a unit is a chunk of the input space.
    chunks: bool,
}

impl Slab {
    /// All of a launch.
    pub fn whole(launch: &Launch<'_>) -> Slab {
        Slab {
            shape: launch.shape.into(),
            params: launch.params.to_vec(),
            accesses: launch.accesses.to_vec(),
            dests: launch.dests.iter().map(|dest| dest.access.clone()).collect(),
        }
    }

    /// The positions of an operand block of so many elements that the slab reads: some range that has all of them; none
    /// where it reads nothing.
    pub fn reads(&self, program: &Program, operand: usize, len: usize) -> Range<usize> {
        let after = program.insts.iter().position(|inst| inst.op == Op::Reduce);
        let mut all: Option<Range<usize>> = None;
        for (number, inst) in program.insts.iter().enumerate() {
            let range = match inst.op {
                Op::Load if inst.args[0] as usize == operand => {
                    let space = self.space(program, number, after);
                    reach(&self.accesses[inst.args[1] as usize], &space)
                }
                Op::Gather if inst.args[0] as usize == operand => 0..len,
                _ => continue,
            };
            all = Some(match all {
                Some(known) => known.start.min(range.start)..known.end.max(range.end),
                None => range,
            });
        }
        all.unwrap_or(0..0)
    }

    /// The positions that a destination's elements lie between.
    pub fn writes(&self, program: &Program, dest: usize) -> Range<usize> {
        reach(&self.dests[dest], &program.form.out_shape(&self.shape))
    }

    /// Whether a destination's elements are all of those that they lie between.
    pub fn fills(&self, program: &Program, dest: usize) -> bool {
        let points = size_of(&program.form.out_shape(&self.shape));
        self.writes(program, dest).len() == points
    }

    /// The points over which a load counts.
    fn space(&self, program: &Program, number: usize, after: Option<usize>) -> Shape {
        match program.form {
            Form::Reduce { .. } if after.is_some_and(|after| number > after) => {
                program.form.out_shape(&self.shape)
            }
            form if form.is_library_op() => {
                let whole = program.insts.iter().find(|inst| inst.op.form().is_some());
                let which = whole.and_then(|whole| {
                    program.uses(whole).position(|value| value as usize == number)
                });
                form.operand_shape(which.unwrap_or(0), &self.shape, &self.params)
            }
            _ => self.shape.clone(),
        }
    }
}

impl<'l> Cut<'l> {
    /// How a launch may be cut into at least two slabs, if it may.
    pub fn of(launch: &'l Launch<'l>) -> Option<Cut<'l>> {
        let program = launch.program;
        let out = program.form.out_shape(launch.shape);
        let axis = out.iter().position(|extent| *extent > 1)?;
        let is_last = axis + 1 == out.len();
        let chunks = matches!(program.form, Form::Reduce { .. }) && is_last;
        // A last axis of these is one chain, or is sorted as a whole.
        if is_last && matches!(program.form, Form::Scan { .. } | Form::Sort) {
            return None;
        }
        if let Form::Routine { routine } = program.form
            && RoutineCall::new(routine, launch.params, out.len()).ok()?.axis() == axis
        {
            return None;
        }
        let counts = counts(program)?;
        let cut = Cut { launch, counts, axis, units: out[axis], chunks };
        cut.is_apart().then_some(cut)
    }

    /// The slab of these units.
    pub fn slab(&self, units: Range<usize>) -> Slab {
        let (launch, axis) = (self.launch, self.axis);
        let program = launch.program;
        let first = units.start as i64;
        let (from, extent) = match self.chunks {
            true => {
                let end = (units.end * REDUCE_CHUNK).min(launch.shape[axis]);
                (first * REDUCE_CHUNK as i64, end - units.start * REDUCE_CHUNK)
            }
            false => (first, units.len()),
        };
        let mut shape = Shape::from(launch.shape);
        shape[axis] = extent;
        let moved = |access: &Access, by: i64| {
            let mut access = access.clone();
            access.offset += access.strides[axis] * by;
            access
        };
        let accesses = launch.accesses.iter().zip(&self.counts).zip(&program.accesses);
        let accesses = accesses.map(|((access, counts), kind)| {
            let (by, points) = match counts {
                CountedSpace::Output => (first, units.len()),
                CountedSpace::Input | CountedSpace::Nothing => (from, extent),
            };
            let mut access = moved(access, by);
            // Axes of one point before the cut one have the strides of fewer points now.
            if *kind == AccessKind::Contiguous {
                let outer = access.strides[axis] * points as i64;
                access.strides[..axis].fill(outer);
            }
            access
        });
        let accesses = accesses.collect();
        let dests = launch.dests.iter().map(|dest| moved(&dest.access, first)).collect();
        Slab { shape, params: launch.params.to_vec(), accesses, dests }
    }

    /// Whether what any two slabs write does not overlap, nor lie between each other's elements.
    fn is_apart(&self) -> bool {
        let unit = self.slab(0..1);
        let program = self.launch.program;
        let written: Vec<(BlockId, i64, usize)> = (0..self.launch.dests.len())
            .map(|dest| {
                let place = &self.launch.dests[dest];
                let step = place.access.strides[self.axis];
                (place.block, step, unit.writes(program, dest).len())
            })
            .collect();
        let blocks = |at: usize| written[..at].iter().any(|(block, ..)| *block == written[at].0);
        (0..written.len()).all(|at| !blocks(at))
            && written.iter().all(|(_, step, len)| step.unsigned_abs() as usize >= *len)
    }
}

/// The space of each access of a program; nothing where one counts both spaces of a reduction.
fn counts(program: &Program) -> Option<Vec<CountedSpace>> {
    let mut counts = vec![CountedSpace::Nothing; program.accesses.len()];
    let mut here = CountedSpace::Input;
    for inst in &program.insts {
        let slot = match inst.op {
            Op::Load => inst.args[1],
            Op::Index => inst.args[0],
            Op::Reduce => {
                here = CountedSpace::Output;
                continue;
            }
            _ => continue,
        };
        let slot = counts.get_mut(slot as usize)?;
        if *slot != CountedSpace::Nothing && *slot != here {
            return None;
        }
        *slot = here;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::memory::access::{access, kind};
    use gpupy_core::DType;
    use gpupy_core::driver::Dest;
    use gpupy_core::ir::Builder;
    use gpupy_core::shape::contiguous_strides;

    /// A program that loads by this access and stores, or reduces before that.
    fn program(form: Form, space: &[usize], read: &Access) -> Program {
        let mut builder = Builder::new(form, space.len() as u32);
        let operand = builder.operand(DType::F32);
        let slot = builder.access(kind(read, space));
        let mut value = builder.load(operand, slot);
        if matches!(form, Form::Reduce { .. }) {
            value = builder.reduce(value);
        }
        builder.store(value);
        builder.finish()
    }

    /// What is found of a launch that reads by an access and writes by another.
    fn check<T>(
        form: Form,
        space: &[usize],
        (read, write): (Access, Access),
        look: impl Fn(Option<Cut<'_>>, &Program) -> T,
    ) -> T {
        let program = program(form, space, &read);
        let dests = [Dest { block: BlockId(2), access: write, whole: false }];
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: space,
            operands: &[BlockId(1)],
            params: &[],
            accesses: &[read],
            dests: &dests,
            memory: &[],
            lend: None,
            rest: None,
        };
        look(Cut::of(&launch), &program)
    }

    fn contiguous(space: &[usize]) -> Access {
        access(0, &contiguous_strides(space))
    }

    const SUM: Form = Form::Reduce { op: Op::Add };

    #[test]
    fn a_map_is_cut_along_its_first_axis() {
        let space = [10, 7];
        check(Form::Map, &space, (contiguous(&space), contiguous(&space)), |cut, program| {
            let cut = cut.unwrap();
            assert_eq!(cut.units, 10);
            let slab = cut.slab(3..8);
            assert_eq!((&slab.shape[..], slab.reads(program, 0, 70)), (&[5, 7][..], 21..56));
            assert_eq!((slab.writes(program, 0), slab.fills(program, 0)), (21..56, true));
        });
    }

    #[test]
    fn a_reduction_of_all_is_cut_between_chunks() {
        let space = [1, 1000];
        check(SUM, &space, (contiguous(&space), contiguous(&[1, 4])), |cut, program| {
            let cut = cut.unwrap();
            assert_eq!(cut.units, 4);
            let slabs = [cut.slab(0..1), cut.slab(1..4)];
            let reads = slabs.each_ref().map(|slab| slab.reads(program, 0, 1000));
            let writes = slabs.each_ref().map(|slab| slab.writes(program, 0));
            assert_eq!((reads, writes), ([0..256, 256..1000], [0..1, 1..4]));
            // The axis before has the strides of fewer points, as the kind of the access says.
            assert_eq!(slabs[1].accesses[0].strides[..], [744, 1]);
        });
    }

    #[test]
    fn rows_that_are_combined_stay_whole_and_their_operand_may_walk_anyhow() {
        let space = [6, 300];
        let backwards = access(6 * 300 - 1, &[-300, -1]);
        check(SUM, &space, (backwards, contiguous(&[6, 2])), |cut, program| {
            let slab = cut.unwrap().slab(4..6);
            assert_eq!((slab.reads(program, 0, 1800), slab.writes(program, 0)), (0..600, 8..12));
        });
    }

    #[test]
    fn what_would_be_written_into_each_other_is_not_cut() {
        let space = [10, 7];
        let columns = access(0, &[1, 10]);
        let cut = |write: Access| {
            check(Form::Map, &space, (contiguous(&space), write), |cut, _| cut.is_some())
        };
        assert!(!cut(columns) && cut(access(3, &[20, 2])) && cut(access(200, &[-20, 1])));
        // One point, and one chain.
        let one = (contiguous(&[1]), contiguous(&[1]));
        assert!(check(Form::Map, &[1], one.clone(), |cut, _| cut.is_none()));
        assert!(check(SUM, &[200], one, |cut, _| cut.is_none()));
    }
}
