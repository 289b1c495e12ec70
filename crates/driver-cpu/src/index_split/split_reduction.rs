//! A reduction in two programs: its map, which stores what is reduced, and the reduction of what was stored.
//!
//! Owns [`SplitReduction`]. A reduction cannot be cut along the axis that it combines; its map can. Invariant: both
//! after one another store what the program stores.
//!
//! Not here: over which points they are evaluated (`eval/in_pieces.rs`).

use gpupy_core::ir::{AccessKind, Fingerprint, Form, Inst, Program};
use gpupy_core::{DType, Op};

/// The two programs of a reduction.
pub struct SplitReduction {
    /// The map, with the operands, parameters and accesses of the reduction.
    pub map: Program,
    /// The dtypes of what it stores.
    pub stored: Vec<DType>,
    /// The reduction: what was stored are further operands, all read by one further access.
    pub rest: Program,
    pub fingerprint: Fingerprint,
}

impl SplitReduction {
    /// The programs of a reduction; `None` for another program.
    pub fn of(program: &Program) -> Option<SplitReduction> {
        let reduces = program.reduce_range()?;
        let mut values: Vec<u32> = Vec::new();
        for reduction in program.reductions() {
            if !values.contains(&reduction.value) {
                values.push(reduction.value);
            }
        }
        let stored: Vec<DType> =
            values.iter().map(|value| program.insts[*value as usize].dtype).collect();
        let mut map = Program { form: Form::Map, dests: stored.clone(), ..program.clone() };
        map.insts.truncate(reduces.start);
        for (dest, (value, dtype)) in (0..).zip(values.iter().zip(&stored)) {
            map.insts.push(Inst { op: Op::Store, dtype: *dtype, args: [dest, *value, 0] });
        }
        let (first, access) = (program.operands.len() as u32, program.accesses.len() as u32);
        let mut rest = Program { insts: Vec::new(), extra: Vec::new(), ..program.clone() };
        rest.operands.extend(&stored);
        rest.accesses.push(AccessKind::Affine);
        for (k, dtype) in (0..).zip(&stored) {
            rest.insts.push(Inst { op: Op::Load, dtype: *dtype, args: [first + k, access, 0] });
        }
        let name = |value: u32| value - reduces.start as u32 + stored.len() as u32;
        for (at, inst) in program.insts.iter().enumerate().skip(reduces.start) {
            let mut own = *inst;
            if reduces.contains(&at) {
                let of = values.iter().position(|value| *value == inst.args[0])?;
                own.args[0] = of as u32;
            } else {
                own.op.value_arguments().for_each(|arg| own.args[arg] = name(own.args[arg]));
                if own.op.has_list() {
                    own.args[1] = rest.extra.len() as u32;
                    rest.extra.extend(program.listed(inst).iter().map(|value| name(*value)));
                }
            }
            rest.insts.push(own);
        }
        Some(SplitReduction { fingerprint: rest.fingerprint(), map, stored, rest })
    }
}
