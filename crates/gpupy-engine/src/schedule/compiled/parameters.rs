//! Parameters: which scalar of a flush each parameter of a kernel is, so that a later flush fills in its own.
//!
//! Owns [`FlushScalars`] and [`Root`]. Not here: the places of a kernel's parameters (`program/kernel.rs`).

use super::command::{Number, Param};
use crate::graph::value::{Input, NodeOp, Value, ValueId, ValueKind};
use crate::schedule::lowering::operation_lowering::is_of_chain;
use crate::schedule::program::kernel::{Kernel, ParamPlace};
use crate::schedule::walk::FusionWalk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A scalar that is all of a walk.
#[derive(Clone, Copy)]
pub(super) enum Root {
    /// That of a value in this place.
    Of(Number, u32),
    /// That of values which are the same everywhere.
    Constant,
}

/// The scalar that is all of a walk for a value, where it is known which of the value's that is.
pub(super) fn root(value: &Value, number: Number) -> Option<Root> {
    let ValueKind::Expr { inputs, .. } = &value.0.kind else { return None };
    let scalars = (0..).zip(inputs).filter(|(_, input)| matches!(input, Input::Scalar(_)));
    let scalars: SmallVec<[u32; 2]> = scalars.map(|(place, _)| place).collect();
    let state = value.state();
    let mut operands = state.operands.iter().flatten();
    let is_constant = operands.any(|value| matches!(value.0.kind, ValueKind::Constant(_)));
    match scalars[..] {
        [] => Some(Root::Constant),
        [place] if !is_constant => Some(Root::Of(number, place)),
        _ => None,
    }
}

/// The values of a flush, whose scalars these are.
pub(super) struct FlushScalars<'f> {
    pub numbers: &'f FxHashMap<ValueId, Number>,
    pub values: &'f [Option<Value>],
    /// The scalar that is all of the present walk.
    pub root: Option<Root>,
}

impl FlushScalars<'_> {
    /// The parameters of a walk's kernel, or of one that has its own; nothing where they are none of the structure.
    pub(super) fn params(
        &self,
        walk: Option<&FusionWalk>,
        Kernel { code, params, .. }: &Kernel,
    ) -> Option<SmallVec<[Param; 4]>> {
        let all = code.places.iter().zip(params);
        let all = all.map(|(place, bits)| match *place {
            ParamPlace::Bits(bits) => Some(Param::Bits(bits)),
            place => self.param(walk?, place, *bits),
        });
        let all = all.collect::<Option<SmallVec<_>>>()?;
        (all.len() == params.len()).then_some(all)
    }

    fn param(&self, walk: &FusionWalk, place: ParamPlace, bits: u64) -> Option<Param> {
        let (node, place) = match place {
            ParamPlace::Operand(node, place) => (node, place),
            ParamPlace::Bits(bits) => return Some(Param::Bits(bits)),
            ParamPlace::Root(_) => {
                return match self.root? {
                    Root::Of(number, place) => self.slot((number, place), bits),
                    Root::Constant => Some(Param::Bits(bits)),
                };
            }
        };
        let value = &walk.nodes.get(node as usize)?.value;
        let is_step = is_of_chain(value);
        let of = if is_step { value.order().0 } else { value.id() };
        let number = self.numbers.get(&of).copied()?;
        let is_scalar = |input: &Input| matches!(input, Input::Scalar(_));
        if is_step {
            let owner = self.values.get(number as usize)?.as_ref()?;
            let ValueKind::Expr { op, inputs } = &owner.0.kind else { return None };
            // The structure determines which elements of its operands a join chooses.
            if matches!(op, NodeOp::Join(_)) {
                return (!inputs.iter().any(is_scalar)).then_some(Param::Bits(bits));
            }
            let is_constant = |of: &Value| matches!(of.0.kind, ValueKind::Constant(_));
            let operand = owner.state().operands.get(place as usize).cloned().flatten();
            return match operand.is_some_and(|of| is_constant(&of)) {
                true => Some(Param::Bits(bits)),
                false => self.slot((number, place), bits),
            };
        }
        let ValueKind::Expr { op, inputs } = &value.0.kind else { return None };
        match (op, inputs.get(place as usize)) {
            (NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather, Some(Input::Scalar(_))) => {
                self.slot((number, place), bits)
            }
            // The other scalars of a walk are values which are the same everywhere.
            (NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather, Some(_)) => {
                Some(Param::Bits(bits))
            }
            // Which part of a join is read stands nowhere.
            (NodeOp::Join(_), _) if !inputs.iter().any(is_scalar) => Some(Param::Bits(bits)),
            _ => None,
        }
    }

    /// The scalar that a value reads in this place, if these are its bits.
    fn slot(&self, (number, place): (Number, u32), bits: u64) -> Option<Param> {
        let owner = self.values.get(number as usize)?.as_ref()?;
        let ValueKind::Expr { inputs, .. } = &owner.0.kind else { return None };
        match inputs.get(place as usize)? {
            Input::Scalar(scalar) if scalar.bits == bits => Some(Param::Of(number, place)),
            _ => None,
        }
    }
}
