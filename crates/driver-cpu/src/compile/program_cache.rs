//! The kernel cache: programs that were evaluated before, specialised for the strides of their rows.
//!
//! Owns [`CachedProgram`] and [`Specialisation`]. A program has a plan from its first evaluation. Machine code
//! is written after it has been evaluated at enough points, for a map or for the part of a program before its
//! reductions.
//!
//! Not here: how a program becomes a plan (`plan_compiler.rs`) or machine code (`gpupy-jit`).

use crate::compile::inputs::ProgramInputs;
use crate::compile::plan_compiler::{self, RowVariant};
use crate::compile::row_plan::{ComputedValue, ReducePlan, RowPlan, RowReduction, Stride};
use crate::compile::short_operation::ShortOperation;
use crate::errors::NAME;
use crate::index_split::affine_facts::AffineNumbers;
use crate::index_split::launch_box::LoweredMap;
use crate::index_split::split_reduction::SplitReduction;
use crate::resources;
use crate::thresholds::T;
use gpupy_core::driver::Evaluated;
use gpupy_core::ir::{self, Fingerprint, Form, Inst, Program, pieces_lowering};
use gpupy_core::{Error, ErrorKind, Op, Result};
use gpupy_jit::Kernel;
use std::sync::Arc;

/// The strides of a few inputs, then destinations, and whether a destination is an operand, packed into one
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrideKey(u64);

impl StrideKey {
    /// Appends a stride. More than 31 strides overflow: the first are lost.
    #[inline]
    pub fn add(&mut self, stride: Stride) {
        self.0 = self.0 << 2 | stride as u64;
    }

    /// Appends whether a destination is an operand.
    #[inline]
    pub fn end(&mut self, in_place: bool) {
        self.0 = self.0 << 1 | u64::from(in_place);
    }
}

/// A program that was evaluated before, with all that was compiled for it.
pub struct CachedProgram {
    pub inputs: ProgramInputs,
    /// What is evaluated in its place, where it has numbers in pieces.
    pub in_pieces: Option<Arc<ProgramInPieces>>,
    prepared: Vec<Specialisation>,
}

/// A program with numbers in pieces.
pub struct ProgramInPieces {
    /// What cuts a launch, of a reduction that of its map, into boxes, if it can be cut, and the map for boxes that are
    /// not cut.
    pub numbers: Option<(AffineNumbers, LoweredMap)>,
    /// The map of a reduction, and the rest of it.
    pub reduction: Option<SplitReduction>,
    /// The program that compares and selects instead, for launches that are not cut.
    pub lowered: Program,
    pub fingerprint: Fingerprint,
}

impl ProgramInPieces {
    fn of(program: &Program) -> Option<Arc<ProgramInPieces>> {
        if !pieces_lowering::is_in(program) {
            return None;
        }
        let reduction = SplitReduction::of(program);
        let map = reduction.as_ref().map_or(program, |reduction| &reduction.map);
        let numbers = AffineNumbers::of(map).map(|numbers| (numbers, LoweredMap::of(map)));
        let lowered = pieces_lowering::lowered(program);
        let fingerprint = lowered.fingerprint();
        Some(Arc::new(ProgramInPieces { numbers, reduction, lowered, fingerprint }))
    }
}

/// A program compiled for one set of strides.
pub struct Specialisation {
    variant: RowVariant,
    /// The key of `variant`.
    ways: StrideKey,
    pub plan: RowPlan,
    /// How the plan runs on short rows, where it is one operation.
    pub short: Option<ShortOperation>,
    /// Machine code: `None` before it was asked for, `Some(None)` where it cannot be written.
    kernel: Option<Option<Kernel>>,
    /// Machine code that adds to the lanes of the reduction tree, for sums along long rows; optional like
    /// `kernel`.
    lanes: Option<Option<Kernel>>,
    /// The points that have been evaluated so far.
    points: usize,
    /// The points among them that did not go through `lanes`.
    alone: usize,
}

impl CachedProgram {
    /// A cache entry for a program of at most `limit` instructions.
    ///
    /// # Errors
    /// - `Refused`: the program has more instructions.
    pub fn of(program: &Program, limit: u32) -> Result<CachedProgram> {
        if !resources::fit(&resources::of_program(program), limit) {
            let error = Error::new(ErrorKind::Refused, NAME);
            return Err(error.says("too many instructions").with("limit", limit));
        }
        let (inputs, in_pieces) = (ProgramInputs::of(program), ProgramInPieces::of(program));
        Ok(CachedProgram { inputs, in_pieces, prepared: Vec::new() })
    }

    /// The specialisation for these strides, of at most 31 inputs and destinations.
    #[inline]
    pub fn find(&self, ways: StrideKey) -> Option<&Specialisation> {
        self.prepared.iter().find(|prepared| prepared.ways == ways)
    }

    /// The specialisation for a launch of `points` points, and what was compiled for it. For a reduction along
    /// rows of several chunks, `beyond` is the number of points outside whole chunks.
    pub fn prepared(
        &mut self,
        program: &Program,
        variant: RowVariant,
        points: usize,
        beyond: Option<usize>,
    ) -> Result<(&Specialisation, Evaluated)> {
        let found = self.prepared.iter().position(|prepared| prepared.variant == variant);
        let at = found.unwrap_or(self.prepared.len());
        if found.is_none() {
            let plan = plan_compiler::plan(program, &self.inputs, &variant)?;
            let mut ways = StrideKey::default();
            variant.inputs.iter().chain(&variant.dests).for_each(|stride| ways.add(*stride));
            ways.end(variant.in_place);
            let (kernel, lanes) = (None, None);
            let short = ShortOperation::of(&plan, self.inputs.all.len());
            self.prepared.push(Specialisation {
                variant,
                ways,
                plan,
                short,
                kernel,
                lanes,
                points: 0,
                alone: 0,
            });
        }
        let prepared = &mut self.prepared[at];
        let points = points.max(T.launch_points);
        prepared.points = prepared.points.saturating_add(points);
        let mut done = Evaluated { compiled: u32::from(found.is_none()), ..Evaluated::default() };
        let reducing = prepared.plan.reducing.as_ref();
        let adds = reducing.is_some_and(|reducing| reducing.all.iter().any(RowReduction::adds));
        let write = |lanes| {
            machine_code(program, &self.inputs, &prepared.variant, reducing.zip(Some(lanes)))
        };
        // Counts machine code that replaces a plan.
        let counts = |code: &Option<Kernel>| u32::from(code.is_some() && found.is_some());
        let beyond = beyond.filter(|_| adds);
        if prepared.points >= T.compiled_points && beyond.is_some() && prepared.lanes.is_none() {
            let lanes = write(true);
            done.specialised += counts(&lanes);
            prepared.lanes = Some(lanes);
        }
        let beyond = beyond.filter(|_| matches!(prepared.lanes, Some(Some(_))));
        prepared.alone = prepared.alone.saturating_add(beyond.unwrap_or(points));
        if prepared.alone >= T.compiled_points && prepared.kernel.is_none() {
            let kernel = write(false);
            done.specialised += counts(&kernel);
            prepared.kernel = Some(kernel);
        }
        Ok((prepared, done))
    }
}

impl Specialisation {
    /// Whether it is final: its machine code is written, or known to be impossible.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.kernel.is_some()
    }

    /// Machine code that adds the operand of a sum to the lanes of the tree.
    pub fn lanes(&self) -> Option<&Kernel> {
        self.lanes.as_ref()?.as_ref()
    }

    /// Machine code for a map, or for the operands of a program's reductions.
    #[inline]
    pub fn kernel(&self) -> Option<&Kernel> {
        self.kernel.as_ref()?.as_ref()
    }
}

/// Machine code for a map, or for the operands of reductions, which it stores or adds to the lanes of sums.
fn machine_code(
    program: &Program,
    inputs: &ProgramInputs,
    variant: &RowVariant,
    reducing: Option<(&ReducePlan, bool)>,
) -> Option<Kernel> {
    let Some((reducing, lanes)) = reducing else {
        return gpupy_jit::compile(program, &variant.for_code(inputs));
    };
    let computed = reducing.computed(lanes);
    let map = map_before(program, reducing, &computed)?;
    let mut steps = variant.for_code(inputs);
    steps.accesses.truncate(inputs.before);
    let step = |value: &ComputedValue| match value.adds {
        true => gpupy_jit::RowStride::Lanes,
        false => gpupy_jit::RowStride::Unit,
    };
    steps.dests = computed.iter().map(step).collect();
    gpupy_jit::compile(&map, &steps)
}

/// The map that computes these operands of a program's reductions; `None` where it would compute nothing.
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
