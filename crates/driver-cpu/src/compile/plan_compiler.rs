//! Compiles a program to a plan of row operations.
//!
//! Owns [`plan`] and [`PlanCompiler`]. Each value gets a slot. An input with unit stride stays where it lies, a
//! value that is stored with unit stride is computed in place there, and all others share rows of scratch
//! memory by liveness. A row is never an operation's result and operand at once, because that would keep
//! compilers from writing vector code. A value that is uniform along a row is a scalar, computed once.
//!
//! Not here: loops and branches (`regions.rs`), the allocation of scratch rows (`scratch_layout.rs`), loops
//! over rows (`rows`).

use crate::compile::inputs::{ProgramInputs, RowInput};
use crate::compile::row_plan::{
    ReducePlan, RowPlan, RowReduction, RowStep, SlotIndex, SlotPlace, Stride,
};
use crate::compile::scratch_layout::SlotAllocator;
use crate::rows;
use gpupy_core::ir::{self, Inst, Program};
use gpupy_core::op::Rule;
use gpupy_core::{DType, Error, ErrorKind, Op, Result};
use rustc_hash::FxHashMap;

/// The strides of inputs and destinations along the rows of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowVariant {
    /// One for each input.
    pub inputs: Vec<Stride>,
    /// One for each destination.
    pub dests: Vec<Stride>,
    /// The destination is an operand too: results are computed elsewhere and copied to it last.
    pub in_place: bool,
}

impl RowVariant {
    /// The variant for machine code, where an index value with any step counts as `Unit`.
    pub fn for_code(&self, inputs: &ProgramInputs) -> gpupy_jit::KernelStrides {
        let step = |stride: &Stride| match stride {
            Stride::Unit => gpupy_jit::RowStride::Unit,
            Stride::Zero => gpupy_jit::RowStride::Zero,
            Stride::Any => gpupy_jit::RowStride::Any,
            Stride::Listed => gpupy_jit::RowStride::Listed,
        };
        let input = |(input, stride): (&RowInput, &Stride)| match (input.operand, step(stride)) {
            (None, gpupy_jit::RowStride::Any) => gpupy_jit::RowStride::Unit,
            (_, step) => step,
        };
        gpupy_jit::KernelStrides {
            accesses: inputs.all.iter().zip(&self.inputs).map(input).collect(),
            dests: self.dests.iter().map(step).collect(),
        }
    }
}

/// A value, as steps of the plan refer to it.
#[derive(Clone, Copy)]
pub struct RowValue {
    pub slot: SlotIndex,
    /// One element for the whole row.
    pub scalar: bool,
}

/// Compiles a program to a plan.
///
/// # Errors
/// - `Refused`: regions nest too deeply.
/// - `Unsupported`: an operation without a row function.
pub fn plan(program: &Program, inputs: &ProgramInputs, variant: &RowVariant) -> Result<RowPlan> {
    let ends = program.region_ends();
    let mut compiler = PlanCompiler {
        program,
        variant,
        last: program.last_uses(&ends),
        ends,
        values: vec![RowValue { slot: 0, scalar: true }; program.insts.len()],
        results: FxHashMap::default(),
        input_of: inputs.all.iter().enumerate().map(|(number, input)| (input.at, number)).collect(),
        direct: direct(program, inputs, variant),
        slots: SlotAllocator::default(),
        steps: Vec::new(),
        depth: 0,
        cost: 0,
    };
    let mut at = 0;
    let mut reducing = None;
    if let Some(range) = inputs.reduce.clone() {
        compiler.block(&mut at, range.start, None)?;
        let all = program.reductions().map(|reduction| compiler.reduction(&reduction));
        let all = all.collect::<Result<_>>()?;
        let search = inputs.search(|input| variant.inputs[input]).cloned();
        reducing = Some(ReducePlan { steps: std::mem::take(&mut compiler.steps), all, search });
        compiler.slots.free(range.end - 1);
        for (which, at) in range.clone().enumerate() {
            let slot = compiler.slots.at(SlotPlace::Reduced(which));
            compiler.values[at] = RowValue { slot, scalar: false };
        }
        at = range.end;
    }
    compiler.block(&mut at, program.insts.len(), None)?;
    let near: usize = inputs.all.iter().map(|input| input.size).chain(inputs.dests.clone()).sum();
    let PlanCompiler { slots, steps, cost, .. } = compiler;
    let layout = slots.layout(near);
    let moves = |place: &SlotPlace| {
        matches!(place, SlotPlace::Input(_) | SlotPlace::Dest(_) | SlotPlace::Reduced(_))
    };
    let all = (0..).zip(&layout.places);
    Ok(RowPlan {
        reducing,
        steps,
        moving: all.filter(|(_, place)| moves(place)).map(|(slot, _)| slot).collect(),
        slots: layout.places,
        literals: layout.literals,
        tile: layout.tile,
        scratch: layout.scratch,
        cost,
        bytes: near as u64,
    })
}

/// Values that are computed directly in a destination, with the number of that destination.
fn direct(
    program: &Program,
    inputs: &ProgramInputs,
    variant: &RowVariant,
) -> FxHashMap<usize, usize> {
    let mut direct = FxHashMap::default();
    if variant.in_place {
        return direct;
    }
    let mut depth = 0;
    let mut computed = vec![false; program.insts.len()];
    let epilogue = inputs.reduce.as_ref().map_or(0, |range| range.end);
    for (at, inst) in program.insts.iter().enumerate().skip(epilogue) {
        match inst.op {
            Op::Loop | Op::If => depth += 1,
            Op::End => depth -= 1,
            Op::Store => {
                let [dest, value, _] = inst.args.map(|arg| arg as usize);
                if computed[value] && variant.dests[dest] == Stride::Unit {
                    direct.entry(value).or_insert(dest);
                }
            }
            op => computed[at] = depth == 0 && op.is_scalar_op(),
        }
    }
    direct
}

/// The state of a compilation.
pub struct PlanCompiler<'a> {
    pub program: &'a Program,
    variant: &'a RowVariant,
    pub ends: Vec<usize>,
    pub last: Vec<usize>,
    /// The values of the instructions that are compiled already.
    pub values: Vec<RowValue>,
    /// The results of regions and the carried values of loops, by the instruction that opens the region.
    pub results: FxHashMap<usize, Vec<RowValue>>,
    input_of: FxHashMap<usize, usize>,
    direct: FxHashMap<usize, usize>,
    pub slots: SlotAllocator,
    /// The steps of the innermost open region.
    pub steps: Vec<RowStep>,
    /// How many regions are open.
    pub depth: usize,
    cost: u64,
}

impl PlanCompiler<'_> {
    /// Compiles the instructions from `at` up to `end`. Inside a branch, they count only for the elements of
    /// `mask`.
    pub fn block(&mut self, at: &mut usize, end: usize, mask: Option<RowValue>) -> Result<()> {
        while *at < end {
            let here = *at;
            let inst = self.program.insts[here];
            match inst.op {
                Op::Loop => self.compile_loop(at, mask)?,
                Op::If => self.compile_choice(at, mask)?,
                _ => self.inst(here, &inst)?,
            }
            self.slots.free(*at);
            *at += 1;
        }
        Ok(())
    }

    fn inst(&mut self, at: usize, inst: &Inst) -> Result<()> {
        let [a, b, _] = inst.args.map(|arg| arg as usize);
        let (size, until) = (inst.dtype.size(), self.last[at]);
        self.values[at] = match inst.op {
            Op::Const => {
                let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
                RowValue { slot: self.slots.literal(bits), scalar: true }
            }
            Op::Param => RowValue { slot: self.slots.at(SlotPlace::Param(a)), scalar: true },
            Op::Iter | Op::Carry | Op::Result => {
                let list = self.results.get(&a).map_or(&[][..], |list| list);
                // A loop's number of the iteration stands behind its carried values.
                let which = if inst.op == Op::Iter { list.len() - 1 } else { b };
                list[which]
            }
            Op::Index if self.variant.inputs[self.input_of[&at]] == Stride::Listed => {
                let slot = self.slots.at(SlotPlace::Input(self.input_of[&at]));
                RowValue { slot, scalar: false }
            }
            Op::Index => {
                let input = self.input_of[&at];
                let scalar = self.variant.inputs[input] == Stride::Zero;
                let dst = self.slots.value(size, scalar, until);
                self.spend(!scalar, 60);
                self.steps.push(RowStep::Index { dst, input, wide: !scalar });
                RowValue { slot: dst, scalar }
            }
            Op::Load => {
                let input = self.input_of[&at];
                match self.variant.inputs[input] {
                    Stride::Any => {
                        let dst = self.slots.value(size, false, until);
                        self.spend(true, 800);
                        self.steps.push(RowStep::Load { dst, input, size });
                        RowValue { slot: dst, scalar: false }
                    }
                    stride => RowValue {
                        slot: self.slots.at(SlotPlace::Input(input)),
                        scalar: stride == Stride::Zero,
                    },
                }
            }
            Op::Gather => {
                let numbers = self.values[b];
                let (operand, wide) = (a, !numbers.scalar);
                let dst = self.slots.value(size, numbers.scalar, until);
                self.spend(wide, 1000);
                let numbers = numbers.slot;
                self.steps.push(RowStep::Gather { dst, operand, numbers, size, wide });
                RowValue { slot: dst, scalar: !wide }
            }
            Op::Store => {
                let RowValue { slot, scalar } = self.values[b];
                if !matches!(self.slots.place(slot), SlotPlace::Dest(dest) if dest == a) {
                    self.steps.push(RowStep::Store { dest: a, src: slot, scalar, size });
                }
                return Ok(());
            }
            op => {
                let args = &inst.args[..op.info().arity as usize];
                let values: Vec<RowValue> =
                    args.iter().map(|arg| self.values[*arg as usize]).collect();
                // A select is named by the dtype of its second operand.
                let first = if op == Op::Select { b } else { a };
                let from = self.program.insts[first].dtype;
                let wide = values.iter().any(|value| !value.scalar);
                let slot = match self.direct.get(&at) {
                    Some(dest) if wide => self.slots.at(SlotPlace::Dest(*dest)),
                    _ => self.slots.value(size, !wide, until),
                };
                self.operation(op, from, inst.dtype, &values, slot)?;
                RowValue { slot, scalar: !wide }
            }
        };
        Ok(())
    }

    /// The step of an operation into a slot.
    pub fn operation(
        &mut self,
        op: Op,
        from: DType,
        to: DType,
        values: &[RowValue],
        dst: SlotIndex,
    ) -> Result<()> {
        let wide = values.iter().any(|value| !value.scalar);
        let (mut args, mut scalars) = ([0; 3], [false; 3]);
        for (k, value) in values.iter().enumerate() {
            args[k] = value.slot;
            scalars[k] = wide && value.scalar;
        }
        let f = rows::operation(op, from, to, scalars).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "eval_ir")
                .with("operation", op.info().name)
                .with("dtype", from)
        })?;
        self.spend(wide, picoseconds(op, from));
        self.steps.push(RowStep::Row { f, dst, args, wide });
        Ok(())
    }

    /// The step that copies a value to a row.
    pub fn copy(&mut self, value: RowValue, dst: SlotIndex, size: usize) {
        self.spend(true, 60);
        self.steps.push(RowStep::Copy { dst, src: value.slot, scalar: value.scalar, size });
    }

    fn reduction(&mut self, reduction: &ir::Reduction) -> Result<RowReduction> {
        let ir::Reduction { op, dtype, .. } = *reduction;
        let (mut value, size) = (self.values[reduction.value as usize], dtype.size());
        if value.scalar {
            let row = self.slots.value(size, false, self.last[reduction.value as usize]);
            self.copy(value, row, size);
            value = RowValue { slot: row, scalar: false };
        }
        let missing = || {
            Error::new(ErrorKind::Unsupported, "eval_ir")
                .with("reduction", op.info().name)
                .with("dtype", dtype)
        };
        self.spend(true, 60);
        let input = match self.slots.place(value.slot) {
            SlotPlace::Input(input) => Some(input),
            _ => None,
        };
        Ok(RowReduction {
            value: value.slot,
            input,
            op,
            dtype,
            size,
            lanes: rows::reduce_chunks(op, dtype).ok_or_else(missing)?,
            accumulate: rows::accumulate(op, dtype).ok_or_else(missing)?,
            columns: rows::columns(op, dtype).ok_or_else(missing)?,
            short_rows: rows::ShortRowReducer::of(op, dtype).ok_or_else(missing)?,
            vector_rows: rows::reduce_rows(op, dtype),
        })
    }

    /// Counts the cost of the operations of a loop.
    pub fn spend_on(&mut self, region: usize, end: usize) {
        self.depth += 1;
        for inst in self.program.insts[region..end].iter().filter(|inst| inst.op.is_scalar_op()) {
            self.spend(true, picoseconds(inst.op, inst.dtype));
        }
        self.depth -= 1;
    }

    /// Adds the cost of a step for one element, as if every loop ran a few times.
    fn spend(&mut self, wide: bool, picoseconds: u64) {
        if wide {
            self.cost += picoseconds << (3 * self.depth.min(4));
        }
    }
}

/// The estimated cost of an operation for one element.
fn picoseconds(op: Op, dtype: DType) -> u64 {
    let size = dtype.size() as u64;
    match op {
        Op::FloorDiv | Op::Mod => 1500,
        Op::Div | Op::Sqrt => 60 * size,
        Op::Cast => 25 * size,
        _ if op.info().rule == Rule::Float && op.info().ulp > 0.0 || op == Op::Fmod => 10_000,
        _ => 12 * size,
    }
}
