//! The loads, indices, gathers and constants of a program's live instructions.
//!
//! Owns [`live_for`], `Uses` and [`is_hazard`]. Invariant: each list is in program order and without duplicates.
//!
//! Not here: liveness itself (`gpupy_core::ir`).

use crate::analysis::float_classes::is_finite;
use crate::analysis::kernel_arguments::is_hazardous;
use gpupy_core::Scalar;
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};

/// For each instruction, whether the stores to these destinations need it. The only reduction of a program is always
/// live: the text of a reduction is written around it.
pub fn live_for(program: &Program, dests: &[u32]) -> Vec<bool> {
    let is_alone = program.reduce_range().is_some_and(|range| range.len() == 1);
    program.live(|_, inst| match inst.op {
        Op::Store => dests.contains(&inst.args[0]),
        Op::Reduce => is_alone,
        _ => false,
    })
}

/// The accesses, gathered operands and constants of live instructions. `late` ones come after a `reduce`.
#[derive(Default)]
pub(crate) struct Uses {
    pub loads: Vec<(u32, u32)>,
    pub indices: Vec<u32>,
    pub late_loads: Vec<(u32, u32)>,
    pub late_indices: Vec<u32>,
    pub gathered: Vec<u32>,
    /// The number of gathers.
    pub gathers: usize,
    /// Constants that must not be literals, because compilers would fold them.
    pub hazards: Vec<Scalar>,
    pub loops: bool,
}

impl Uses {
    pub fn of(program: &Program, live: &[bool]) -> Uses {
        let mut uses = Uses::default();
        let mut late = false;
        for (at, (inst, live)) in program.insts.iter().zip(live).enumerate() {
            let [a, b, _] = inst.args;
            late |= inst.op == Op::Reduce;
            match inst.op {
                _ if !live => {}
                Op::Load => {
                    let list = if late { &mut uses.late_loads } else { &mut uses.loads };
                    add(list, (a, b));
                }
                Op::Index => {
                    add(if late { &mut uses.late_indices } else { &mut uses.indices }, a);
                }
                Op::Gather => {
                    add(&mut uses.gathered, a);
                    uses.gathers += 1;
                }
                Op::Const => {
                    let constant = Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32);
                    if is_hazardous(constant) && is_reckoned_with(program, at, constant) {
                        add(&mut uses.hazards, constant);
                    }
                }
                Op::Loop => uses.loops = true,
                _ => {}
            }
        }
        uses
    }
}

/// Whether parameter `slot` must not become a literal of this value.
pub(crate) fn is_hazard(program: &Program, slot: usize, value: Scalar) -> bool {
    let is_it = |at: &usize| {
        let inst = &program.insts[*at];
        inst.op == Op::Param && inst.args[0] as usize == slot
    };
    is_hazardous(value)
        && (0..program.insts.len()).filter(is_it).any(|at| is_reckoned_with(program, at, value))
}

/// Whether an instruction that uses the value could be folded by a compiler. Comparisons and selections of a
/// finite value cannot.
fn is_reckoned_with(program: &Program, at: usize, value: Scalar) -> bool {
    let harmless = |op: Op| op == Op::Select || op.info().rule == Rule::Compare;
    let mut users =
        program.insts.iter().filter(|inst| program.uses(inst).any(|v| v as usize == at));
    !is_finite(value) || users.any(|inst| !harmless(inst.op))
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
