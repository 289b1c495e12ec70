//! Code generation: from a piece of a walk to its kernel's IR.
//!
//! Owns [`build`] and [`emit`]. Axes that every access walks over alike are merged (axis coalescing).
//!
//! Not here: the order of the nodes (`kernel.rs`).

use super::kernel::{Emitted, Kernel, KernelCode, KernelTarget, ParamPlace, merge_axes};
use super::number_emitter::{EmittedWith, KernelParams, NumberEmitter};
use crate::blocks::cache::{BlockPart, Placed};
use crate::graph::scalar_function::{Called, ScalarFunction};
use crate::graph::value::{Value, ValueId};
use crate::memory::access;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::lowering::operation_lowering::{OperationLowering, method_dtype};
use crate::schedule::walk::{Applied, Child, FusionWalk, Role, WalkNode};
use gpupy_core::DType;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Builder, Fingerprint, Form};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The operands of a kernel, and the slots of their values' parts.
#[derive(Default)]
struct KernelOperands {
    list: Vec<(Value, BlockPart)>,
    slots: FxHashMap<(ValueId, BlockPart), u32>,
}

impl KernelOperands {
    fn slot(&mut self, builder: &mut Builder, value: &Value, part: BlockPart) -> u32 {
        *self.slots.entry((value.id(), part.clone())).or_insert_with(|| {
            self.list.push((value.clone(), part));
            builder.operand(value.dtype())
        })
    }
}

/// The calls in a kernel: a call with several results is computed once.
#[derive(Default)]
struct KernelCalls {
    known: FxHashMap<(Fingerprint, SmallVec<[u32; 3]>), Vec<u32>>,
}

impl KernelCalls {
    fn result(
        &mut self,
        device: &OpenDevice,
        builder: &mut Builder,
        Called { function, result }: &Called,
        values: &[u32],
    ) -> u32 {
        let key = (function.fingerprint(), SmallVec::from_slice(values));
        let results =
            self.known.entry(key).or_insert_with(|| emit_call(device, builder, function, values));
        results[*result as usize]
    }
}

/// Builds the kernel of a piece, whose nodes stand in the order of emission: `roots` are its results, one for each
/// destination.
pub(crate) fn build(
    device: &OpenDevice,
    walk: &FusionWalk,
    roots: &[Child],
    order: &[Emitted],
    target: &KernelTarget<'_>,
) -> Kernel {
    // The accesses before merging: of leaves within their blocks, of index values.
    let nodes = || order.iter().map(|emitted| (emitted, &walk.nodes[emitted.node as usize]));
    // A table has no access: a gather says where it is read.
    let is_read =
        |emitted: &Emitted, role: &Role| emitted.is_loaded && !matches!(role, Role::Table);
    let reads = nodes().filter(|(emitted, node)| is_read(emitted, &node.role));
    let place = |node: &WalkNode| {
        device.place(&node.value, &node.access, &walk.space, || walk.accesses_of(&node.value))
    };
    let mut reads: Vec<(&Value, Placed)> =
        reads.map(|(_, node)| (&node.value, place(node))).collect();
    device.share_views(&mut reads);
    let mut reads = reads.into_iter().map(|(_, placed)| placed);
    let placed: Vec<Option<Placed>> = nodes()
        .map(|(emitted, node)| match &node.role {
            role if is_read(emitted, role) => reads.next(),
            Role::Index(coordinate) => {
                Some(Placed { part: BlockPart::Tile(0), access: coordinate.clone() })
            }
            _ => None,
        })
        .collect();
    let reduce = matches!(target.form, Form::Reduce { .. });
    let mut of_pieces: Vec<Access> = Vec::new();
    for (_, node) in nodes() {
        if let Role::InPieces(own) = &node.role {
            own.number().accesses(&mut |access| of_pieces.push(access.clone()));
        }
    }
    let walks = placed.iter().flatten().map(|p| &p.access).chain(target.dests).chain(&of_pieces);
    let merged = merge_axes(&walk.space, walks, reduce);
    let space: Shape = merged.iter().map(|group| group.1).collect();
    let merge = |access: &Access| Access {
        offset: access.offset,
        strides: merged.iter().map(|group| access.strides[group.0]).collect(),
    };

    let mut builder = Builder::new(target.form, space.len() as u32);
    let (mut params, mut accesses) = (KernelParams::default(), Vec::new());
    let mut numbers = NumberEmitter::default();
    let mut value_of: FxHashMap<u32, u32> = FxHashMap::default();
    let mut access_slots: FxHashMap<Access, u32> = FxHashMap::default();
    let mut operands = KernelOperands::default();
    let mut calls = KernelCalls::default();
    for (Emitted { node: number, is_loaded }, placed) in order.iter().zip(placed) {
        let node = &walk.nodes[*number as usize];
        let mut slot_of = |builder: &mut Builder, access: &Access| {
            let walked = merge(access);
            let kind = access::kind(&walked, &space);
            *access_slots.entry(walked.clone()).or_insert_with(|| {
                accesses.push(walked);
                builder.access(kind)
            })
        };
        let slot = placed.as_ref().map(|placed| slot_of(&mut builder, &placed.access));
        let emitted = match (&node.role, slot, placed) {
            (Role::Index(_), Some(slot), _) if !is_loaded => builder.index(slot),
            (_, Some(slot), Some(placed)) => {
                let operand = operands.slot(&mut builder, &node.value, placed.part);
                builder.load(operand, slot)
            }
            (Role::Table, ..) => operands.slot(&mut builder, &node.value, BlockPart::Tile(0)),
            (Role::InPieces(own), ..) => {
                let (builder, params) = (&mut builder, &mut params);
                numbers.leaf(own, &mut EmittedWith { builder, params, slot: slot_of })
            }
            (Role::Apply(applied, children), _, _) => {
                let mut values: SmallVec<[u32; 3]> = SmallVec::new();
                for (k, child) in (0..).zip(children) {
                    values.push(match child {
                        Child::Node(node) => value_of[node],
                        Child::Scalar(scalar) => {
                            params.add(&mut builder, *scalar, ParamPlace::Operand(*number, k))
                        }
                    });
                }
                match applied {
                    Applied::Op(op) => emit(device, &mut builder, *op, node.value.dtype(), &values),
                    Applied::Call(called) => calls.result(device, &mut builder, called, &values),
                }
            }
            // Leaves and index values have an access.
            (Role::Leaf | Role::Index(_), ..) => continue,
        };
        value_of.insert(*number, emitted);
    }
    let given = (0..).zip(roots).map(|(k, root)| match root {
        Child::Node(node) => value_of[node],
        Child::Scalar(scalar) => params.add(&mut builder, *scalar, ParamPlace::Root(k)),
    });
    let mut results: SmallVec<[u32; 1]> = given.collect();
    if let Form::Reduce { op } = target.form {
        // One behind the other: operations behind them are no part of the map.
        let ops = std::iter::once(op).chain(target.further.iter().copied());
        results.iter_mut().zip(ops).for_each(|(given, op)| *given = builder.reduce_by(op, *given));
    }
    results.into_iter().for_each(|result| builder.store(result));
    let dests = target.dests.iter().map(merge).collect();
    let mut code = KernelCode::new(builder.finish(), space, accesses, dests);
    code.places = params.places;
    Kernel { code: Arc::new(code), operands: operands.list, params: params.bits }
}

/// Emits a function of values, as the device does it; gives its results.
pub(crate) fn emit_call(
    device: &OpenDevice,
    builder: &mut Builder,
    function: &ScalarFunction,
    values: &[u32],
) -> Vec<u32> {
    match device.way_of(function) {
        OperationLowering::Inlined(lowered) | OperationLowering::Expanded(lowered) => {
            builder.inline_all(&lowered.program, values)
        }
        // An operation that the driver lacks stays: `check_ir` refuses it by name.
        OperationLowering::Native | OperationLowering::Absent => {
            builder.inline_all(function.program(), values)
        }
    }
}

/// Emits an operation on values, or its lowering; gives the result.
pub(crate) fn emit(
    device: &OpenDevice,
    builder: &mut Builder,
    op: Op,
    dtype: DType,
    values: &[u32],
) -> u32 {
    match op {
        Op::Gather => return builder.gather(values[1], values[0]),
        Op::Choose => return builder.choose(values[0], &values[1..]),
        _ => {}
    }
    if matches!(op, Op::Cast | Op::Bitcast) {
        if builder.dtype(values[0]) == dtype {
            return values[0];
        }
        return builder.convert(op, values[0], dtype);
    }
    let asked = method_dtype(op, dtype, values.first().map(|v| builder.dtype(*v)));
    match device.way(op, asked) {
        OperationLowering::Inlined(lowered) | OperationLowering::Expanded(lowered) => {
            builder.inline(&lowered.program, values)
        }
        // An absent operation stays: `check_ir` refuses it by name.
        OperationLowering::Native | OperationLowering::Absent => builder.op(op, values),
    }
}
