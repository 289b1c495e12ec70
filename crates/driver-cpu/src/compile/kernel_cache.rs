//! Programs that were evaluated before, made ready for how their rows go.
//!
//! Owns [`CachedProgram`] and [`Specialisation`]. A program has a plan from the first; machine code is written once
//! it has been evaluated at enough points, where it is a map, or what a reduction combines is one.
//!
//! Not here: how a program becomes a plan (`plan_compiler.rs`) or machine code (`gpupy-jit`).

use crate::compile::inputs::ProgramInputs;
use crate::compile::plan_compiler::{self, StrideVariant};
use crate::compile::row_plan::{ComputedValue, ReducePlan, RowPlan, RowReduction, Stride};
use crate::errors::NAME;
use crate::index_split::affine_facts::AffineIndices;
use crate::resources;
use gpupy_core::driver::Evaluated;
use gpupy_core::ir::{self, Form, Inst, Program};
use gpupy_core::{Error, ErrorKind, Op, Result};
use gpupy_jit::Kernel;

/// Points that a program is evaluated at before machine code is written for it: that takes about as
/// long.
const ENOUGH: usize = 2000;

/// How few leaves and then destinations go along a row, and at last whether a destination is an operand, in
/// one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrideKey(u64);

impl StrideKey {
    /// One more. Beyond 31, the first are forgotten.
    #[inline]
    pub fn add(&mut self, stride: Stride) {
        self.0 = self.0 << 2 | stride as u64;
    }

    /// Whether a destination is an operand.
    #[inline]
    pub fn end(&mut self, in_place: bool) {
        self.0 = self.0 << 1 | u64::from(in_place);
    }
}

/// A program that was evaluated before.
pub struct CachedProgram {
    pub leaves: ProgramInputs,
    /// The numbers at which elements are read, where some may be affine.
    pub numbers: Option<AffineIndices>,
    prepared: Vec<Specialisation>,
}

/// A program for one way of its leaves and destinations.
pub struct Specialisation {
    variant: StrideVariant,
    /// The variant's.
    ways: StrideKey,
    pub plan: RowPlan,
    /// Machine code, if it can be had, once it has been asked for.
    kernel: Option<Option<Kernel>>,
    /// Of sums along long rows: machine code that adds to the tree's lanes, likewise.
    lanes: Option<Option<Kernel>>,
    /// The points that have been evaluated.
    points: usize,
    /// Those that were not added to lanes.
    alone: usize,
}

impl CachedProgram {
    /// A program of at most `limit` instructions.
    ///
    /// # Errors
    /// - `Refused`: it has more.
    pub fn of(program: &Program, limit: u32) -> Result<CachedProgram> {
        if !resources::fit(&resources::of_program(program), limit) {
            let error = Error::new(ErrorKind::Refused, NAME);
            return Err(error.says("too many instructions").with("limit", limit));
        }
        let (leaves, numbers) = (ProgramInputs::of(program), AffineIndices::of(program));
        Ok(CachedProgram { leaves, numbers, prepared: Vec::new() })
    }

    /// What was prepared for all leaves and then destinations, no more than 31, going so along their rows.
    #[inline]
    pub fn find(&self, ways: StrideKey) -> Option<&Specialisation> {
        self.prepared.iter().find(|prepared| prepared.ways == ways)
    }

    /// The program, prepared for a launch of so many points, and what was compiled for that. Of a reduction
    /// along rows of several chunks, `beyond` says how many of its points are in no whole chunk.
    pub fn prepared(
        &mut self,
        program: &Program,
        variant: StrideVariant,
        points: usize,
        beyond: Option<usize>,
    ) -> Result<(&Specialisation, Evaluated)> {
        let found = self.prepared.iter().position(|prepared| prepared.variant == variant);
        let at = found.unwrap_or(self.prepared.len());
        if found.is_none() {
            let plan = plan_compiler::plan(program, &self.leaves, &variant)?;
            let mut ways = StrideKey::default();
            variant.leaves.iter().chain(&variant.dests).for_each(|stride| ways.add(*stride));
            ways.end(variant.in_place);
            let (kernel, lanes) = (None, None);
            self.prepared.push(Specialisation {
                variant,
                ways,
                plan,
                kernel,
                lanes,
                points: 0,
                alone: 0,
            });
        }
        let prepared = &mut self.prepared[at];
        prepared.points = prepared.points.saturating_add(points);
        let mut done = Evaluated { compiled: u32::from(found.is_none()), ..Evaluated::default() };
        let reducing = prepared.plan.reducing.as_ref();
        let adds = reducing.is_some_and(|reducing| reducing.all.iter().any(RowReduction::adds));
        let write = |lanes| {
            machine_code(program, &self.leaves, &prepared.variant, reducing.zip(Some(lanes)))
        };
        // In place of a plan that would have done.
        let counts = |code: &Option<Kernel>| u32::from(code.is_some() && found.is_some());
        let beyond = beyond.filter(|_| adds);
        if prepared.points >= ENOUGH && beyond.is_some() && prepared.lanes.is_none() {
            let lanes = write(true);
            done.specialised += counts(&lanes);
            prepared.lanes = Some(lanes);
        }
        let beyond = beyond.filter(|_| matches!(prepared.lanes, Some(Some(_))));
        prepared.alone = prepared.alone.saturating_add(beyond.unwrap_or(points));
        if prepared.alone >= ENOUGH && prepared.kernel.is_none() {
            let kernel = write(false);
            done.specialised += counts(&kernel);
            prepared.kernel = Some(kernel);
        }
        Ok((prepared, done))
    }
}

impl Specialisation {
    /// Whether it stays as it is: machine code is there, or there will be none.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.kernel.is_some()
    }

    /// Machine code that adds what a sum reduces to the lanes of the tree.
    pub fn lanes(&self) -> Option<&Kernel> {
        self.lanes.as_ref()?.as_ref()
    }

    /// Machine code for the program, or for what it reduces.
    #[inline]
    pub fn kernel(&self) -> Option<&Kernel> {
        self.kernel.as_ref()?.as_ref()
    }
}

/// Machine code for a program, or for what it reduces; of this it may add to the lanes of sums.
fn machine_code(
    program: &Program,
    leaves: &ProgramInputs,
    variant: &StrideVariant,
    reducing: Option<(&ReducePlan, bool)>,
) -> Option<Kernel> {
    let Some((reducing, lanes)) = reducing else {
        return gpupy_jit::compile(program, &variant.for_code(leaves));
    };
    let computed = reducing.computed(lanes);
    let map = map_before(program, reducing, &computed)?;
    let mut steps = variant.for_code(leaves);
    steps.accesses.truncate(leaves.before);
    let step = |value: &ComputedValue| match value.adds {
        true => gpupy_jit::Step::Lanes,
        false => gpupy_jit::Step::Unit,
    };
    steps.dests = computed.iter().map(step).collect();
    gpupy_jit::compile(&map, &steps)
}

/// The map of these values of a program's reductions, where it computes anything.
fn map_before(
    program: &Program,
    reducing: &ReducePlan,
    values: &[ComputedValue],
) -> Option<Program> {
    let mut insts = program.insts[..program.reduce_range()?.start].to_vec();
    let is_computed = |op: Op| op.is_scalar_op() || op == Op::Result;
    let (mut dests, mut computes) = (Vec::with_capacity(values.len()), false);
    for (dest, wanted) in (0..).zip(values) {
        let mut all = program.reductions().zip(&reducing.all);
        let (ir::Reduction { value, dtype, .. }, _) =
            all.find(|(_, reduction)| reduction.value == wanted.value)?;
        computes |= is_computed(insts[value as usize].op);
        dests.push(dtype);
        insts.push(Inst { op: Op::Store, dtype, args: [dest, value, 0] });
    }
    computes.then(|| Program {
        form: Form::Map,
        rank: program.rank,
        operands: program.operands.clone(),
        params: program.params.clone(),
        accesses: program.accesses.clone(),
        dests,
        insts,
        extra: program.extra.clone(),
    })
}
