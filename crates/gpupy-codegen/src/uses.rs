//! What the live instructions of a program ask for.
//!
//! Owns `Uses`. Invariant: each list names a thing once, in the order of the instructions.
//!
//! Not here: which instructions live (`liveness.rs`).

use crate::numbers::is_hazardous;
use gpupy_core::Scalar;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// What the live instructions of a program ask for.
#[derive(Default)]
pub(crate) struct Uses {
    pub loads: Vec<(u32, u32)>,
    pub indices: Vec<u32>,
    pub late_loads: Vec<(u32, u32)>,
    pub late_indices: Vec<u32>,
    pub gathered: Vec<u32>,
    /// Constants that may not be literals.
    pub hazards: Vec<Scalar>,
    pub loops: bool,
}

impl Uses {
    pub fn of(program: &Program, live: &[bool]) -> Uses {
        let mut uses = Uses::default();
        let mut late = false;
        for (inst, live) in program.insts.iter().zip(live) {
            let [a, b, _] = inst.args;
            match inst.op {
                _ if !live => {}
                Op::Load => {
                    let list = if late { &mut uses.late_loads } else { &mut uses.loads };
                    add(list, (a, b));
                }
                Op::Index => {
                    add(if late { &mut uses.late_indices } else { &mut uses.indices }, a);
                }
                Op::Gather => add(&mut uses.gathered, a),
                Op::Const => {
                    let constant = Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32);
                    if is_hazardous(constant) {
                        add(&mut uses.hazards, constant);
                    }
                }
                Op::Loop => uses.loops = true,
                Op::Reduce => late = true,
                _ => {}
            }
        }
        uses
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
