//! Kernels: the program of a piece of a walk, and the numbers of its launch.
//!
//! Owns [`Kernel`]. Nodes are emitted depth first, larger sub-trees first, so that values are used
//! soon after they are computed (article, section 4.8); the order depends on structure alone, so
//! that equal pieces are equal programs. Axes that every access walks over alike are merged.
//!
//! Not here: which nodes form a piece (`partition.rs`), where blocks come from (`cache/`).

use crate::access;
use crate::cache::{Device, Part, Placed};
use crate::lowering::{Way, method_dtype};
use crate::value::{Value, ValueId};
use crate::walk::{Child, Role, Walk};
use gpupy_core::DType;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Builder, Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The slots of operands; of a table's node, `value_of` tells the slot.
#[derive(Default)]
struct Operands {
    slots: FxHashMap<(ValueId, Part), u32>,
}

impl Operands {
    fn slot(
        &mut self,
        builder: &mut Builder,
        kernel: &mut Kernel,
        value: &Value,
        part: Part,
    ) -> u32 {
        *self.slots.entry((value.id(), part.clone())).or_insert_with(|| {
            kernel.operands.push((value.clone(), part));
            builder.operand(value.dtype())
        })
    }
}

/// A program and what its launch needs besides blocks.
pub(crate) struct Kernel {
    pub program: Arc<Program>,
    /// The program's, where it was asked for before.
    pub known: Option<Fingerprint>,
    /// The iteration space after merging axes.
    pub space: Shape,
    /// The operands' values and parts.
    pub operands: Vec<(Value, Part)>,
    pub params: Vec<u64>,
    pub accesses: Vec<Access>,
    /// The destinations' accesses over the merged (output) space.
    pub dests: Vec<Access>,
}

impl Kernel {
    /// The program's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.known.unwrap_or_else(|| self.program.fingerprint())
    }
}

/// What a kernel is for: the form, and where it writes.
pub(crate) struct Target<'a> {
    pub form: Form,
    /// One for each root, over the space (of a reduce form: the output space).
    pub dests: &'a [Access],
}

/// The nodes of the piece below `roots`, in the order of emission: children before parents, the
/// larger sub-tree first. `collapsed` nodes count as leaves.
pub(crate) fn emission_order(
    walk: &Walk,
    roots: &[Child],
    collapsed: &[bool],
    size: &[u32],
    seen: &mut Marks,
) -> Vec<u32> {
    enum Step {
        Enter(u32),
        Leave(u32),
    }
    let mut order = Vec::new();
    seen.clear(walk.nodes.len());
    let mut stack: Vec<Step> = nodes_of(roots).map(Step::Enter).collect();
    stack.reverse();
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(node) => order.push(node),
            Step::Enter(node) => {
                if !seen.mark(node) {
                    continue;
                }
                stack.push(Step::Leave(node));
                if collapsed[node as usize] {
                    continue;
                }
                if let Role::Apply(_, children) = &walk.nodes[node as usize].role {
                    let mut below: SmallVec<[u32; 3]> = nodes_of(children).collect();
                    // The last pushed is entered first; ties go left to right.
                    below.reverse();
                    below.sort_by_key(|child| size[*child as usize]);
                    stack.extend(below.into_iter().map(Step::Enter));
                }
            }
        }
    }
    order
}

/// A set of nodes that is emptied in no time: pieces are many, and small beside their walk.
#[derive(Default)]
pub(crate) struct Marks {
    stamps: Vec<u32>,
    now: u32,
}

impl Marks {
    /// Empties the set, for nodes below `count`.
    pub fn clear(&mut self, count: usize) {
        if self.stamps.len() != count || self.now == u32::MAX {
            self.stamps = vec![0; count];
            self.now = 0;
        }
        self.now += 1;
    }

    /// Makes it the set of all nodes below `count`.
    pub fn fill(&mut self, count: usize) {
        self.clear(count);
        self.stamps.fill(self.now);
    }

    /// Adds a node; false when it was there.
    pub fn mark(&mut self, node: u32) -> bool {
        std::mem::replace(&mut self.stamps[node as usize], self.now) != self.now
    }

    /// Whether a node is in the set.
    pub fn has(&self, node: u32) -> bool {
        self.stamps[node as usize] == self.now
    }
}

/// The nodes among children.
pub(crate) fn nodes_of(children: &[Child]) -> impl Iterator<Item = u32> + '_ {
    children.iter().filter_map(|child| match child {
        Child::Node(node) => Some(*node),
        Child::Scalar(_) => None,
    })
}

/// Builds the kernel of the piece below `roots`, one for each destination.
pub(crate) fn build(
    device: &Device,
    walk: &Walk,
    roots: &[Child],
    collapsed: &[bool],
    size: &[u32],
    marks: &mut Marks,
    target: &Target<'_>,
) -> Kernel {
    let order = emission_order(walk, roots, collapsed, size, marks);
    let is_leaf = |node: u32| {
        collapsed[node as usize] || matches!(walk.nodes[node as usize].role, Role::Leaf)
    };
    // The accesses before merging: of leaves within their blocks, of index values.
    let placed: Vec<Option<Placed>> = order
        .iter()
        .map(|n| {
            let node = &walk.nodes[*n as usize];
            match &node.role {
                // A table has no access: a gather says where it is read.
                Role::Table => None,
                _ if is_leaf(*n) => Some(device.place(&node.value, &node.access, &walk.space)),
                Role::Index(coordinate) => {
                    Some(Placed { part: Part::Tile(0), access: coordinate.clone() })
                }
                _ => None,
            }
        })
        .collect();
    let reduce = matches!(target.form, Form::Reduce { .. });
    let walks = placed.iter().flatten().map(|p| &p.access).chain(target.dests);
    let merged = merge_axes(&walk.space, walks, reduce);
    let space: Shape = merged.iter().map(|group| group.1).collect();
    let merge = |access: &Access| Access {
        offset: access.offset,
        strides: merged.iter().map(|group| access.strides[group.0]).collect(),
    };

    let mut builder = Builder::new(target.form, space.len() as u32);
    let mut kernel = Kernel {
        program: Arc::new(Program::empty(target.form, 1)),
        known: None,
        dests: target.dests.iter().map(merge).collect(),
        space,
        operands: Vec::new(),
        params: Vec::new(),
        accesses: Vec::new(),
    };
    let mut value_of: FxHashMap<u32, u32> = FxHashMap::default();
    let mut access_slots: FxHashMap<Access, u32> = FxHashMap::default();
    let mut operands = Operands::default();
    for (n, placed) in order.iter().zip(placed) {
        let node = &walk.nodes[*n as usize];
        let slot = placed.as_ref().map(|placed| {
            let walked = merge(&placed.access);
            let kind = access::kind(&walked, &kernel.space);
            *access_slots.entry(walked.clone()).or_insert_with(|| {
                kernel.accesses.push(walked);
                builder.access(kind)
            })
        });
        let emitted = match (&node.role, slot, placed) {
            (Role::Index(_), Some(slot), _) if !is_leaf(*n) => builder.index(slot),
            (_, Some(slot), Some(placed)) => {
                let operand = operands.slot(&mut builder, &mut kernel, &node.value, placed.part);
                builder.load(operand, slot)
            }
            (Role::Table, ..) => {
                operands.slot(&mut builder, &mut kernel, &node.value, Part::Tile(0))
            }
            (Role::Apply(op, children), _, _) => {
                let mut values: SmallVec<[u32; 3]> = SmallVec::new();
                for child in children {
                    values.push(match child {
                        Child::Node(node) => value_of[node],
                        Child::Scalar(scalar) => {
                            kernel.params.push(scalar.bits);
                            builder.param(scalar.dtype)
                        }
                    });
                }
                emit(device, &mut builder, *op, node.value.dtype(), &values)
            }
            // Leaves and index values have an access.
            (Role::Leaf | Role::Index(_), ..) => continue,
        };
        value_of.insert(*n, emitted);
    }
    for root in roots {
        let mut result = match root {
            Child::Node(node) => value_of[node],
            Child::Scalar(scalar) => {
                kernel.params.push(scalar.bits);
                builder.param(scalar.dtype)
            }
        };
        if reduce {
            result = builder.reduce(result);
        }
        builder.store(result);
    }
    kernel.program = Arc::new(builder.finish());
    debug_assert!(
        kernel.program.verify().is_ok(),
        "{}: {:?}",
        kernel.program,
        kernel.program.verify().err()
    );
    kernel
}

/// Emits an operation on values, or what the device has in its place; gives the result.
pub(crate) fn emit(
    device: &Device,
    builder: &mut Builder,
    op: Op,
    dtype: DType,
    values: &[u32],
) -> u32 {
    if op == Op::Gather {
        return builder.gather(values[1], values[0]);
    }
    if matches!(op, Op::Cast | Op::Bitcast) {
        if builder.dtype(values[0]) == dtype {
            return values[0];
        }
        return builder.convert(op, values[0], dtype);
    }
    let asked = method_dtype(op, dtype, values.first().map(|v| builder.dtype(*v)));
    match device.way(op, asked) {
        Way::Inlined(lowered) | Way::Expanded(lowered) => builder.inline(&lowered.program, values),
        // An absent operation stays: `check_ir` refuses it by name.
        Way::Native | Way::Absent => builder.op(op, values),
    }
}

/// Groups of neighbouring axes that every access walks over as one axis: for each, the axis whose
/// stride is the group's, and its extent. The last axis of a reduce form stays alone.
pub(crate) fn merge_axes<'a>(
    space: &[usize],
    walks: impl Iterator<Item = &'a Access> + Clone,
    reduce: bool,
) -> SmallVec<[(usize, usize); 4]> {
    let mut groups: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    for (axis, extent) in space.iter().enumerate() {
        let keep = reduce && axis + 1 == space.len();
        if *extent == 1 && !keep {
            continue;
        }
        if let Some(group) = groups.last_mut()
            && !keep
            && walks
                .clone()
                .all(|walk| walk.strides[group.0] == walk.strides[axis] * *extent as i64)
        {
            *group = (axis, group.1 * extent);
            continue;
        }
        groups.push((axis, *extent));
    }
    if groups.is_empty() {
        groups.push((space.len() - 1, 1));
    }
    groups
}
