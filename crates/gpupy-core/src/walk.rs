//! The walk: what one block of a value needs, from the value down to what is computed already.
//!
//! Owns [`Walk`]: the nodes of one evaluation, each a value with the access at which it is needed.
//! Values are visited parents first (by falling creation number), with a heap instead of recursion,
//! so that all accesses to a value are known before it is expanded. Invariants: a node's children
//! are other nodes of the walk; a leaf is computed; no value is expanded at several accesses when
//! computing it once is cheaper.
//!
//! Not here: which nodes go into which kernel (`partition.rs`).

use crate::access::{self, Coordinates};
use crate::driver::Access;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::scalar::Scalar;
use crate::value::{Input, Kind, Layout, NodeOp, Value, ValueId};
use crate::view::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Operations that may be computed again for another access to the same value, rather than storing
/// it: about what a load and a launch cost.
pub(crate) const RECOMPUTE: u32 = 16;

/// A node's operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Child {
    Node(u32),
    Scalar(Scalar),
}

/// What gives a node's elements.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// Computed before: loaded from a block.
    Leaf,
    /// The affine number of an access.
    Index(Access),
    /// A scalar operation; `cast` to the operand's own dtype is a copy.
    Apply(Op, SmallVec<[Child; 3]>),
}

/// A value as it is needed.
pub(crate) struct WalkNode {
    pub value: Value,
    pub access: Access,
    pub role: Role,
}

/// What one evaluation over a space needs.
pub(crate) struct Walk {
    pub space: Shape,
    /// Parents before children.
    pub nodes: Vec<WalkNode>,
    /// What the evaluation gives.
    pub roots: SmallVec<[Child; 1]>,
}

/// Where a walk starts.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    Value(&'a Value),
    Scalar(Scalar),
}

impl<'a> Start<'a> {
    /// The start at an input of an expression.
    ///
    /// # Errors
    /// - `Lost`: the input's value is not held any more.
    pub fn input(input: &Input, value: Option<&'a Value>) -> Result<Start<'a>> {
        match (input, value) {
            (Input::Scalar(scalar), _) => Ok(Start::Scalar(*scalar)),
            (_, Some(value)) => Ok(Start::Value(value)),
            (Input::Whole(id) | Input::View(id, _), None) => Err(lost(*id)),
        }
    }
}

/// Values (with positions) that have to be computed before a walk is possible.
pub(crate) type Needs = Vec<(Value, Range<usize>)>;

struct Walker {
    space: Shape,
    nodes: Vec<WalkNode>,
    by_value: FxHashMap<ValueId, SmallVec<[u32; 1]>>,
    pending: BinaryHeap<ValueId>,
    needs: Needs,
    /// The last coordinates found: neighbours in a graph mostly share shape and access.
    last: Option<(Shape, Access, Coordinates)>,
}

impl Walk {
    /// The walk from values (or scalars) needed at an access over `space`.
    ///
    /// # Errors
    /// - `Lost`: a value was lost with its device, and cannot be computed again.
    pub fn new(
        starts: &[Start<'_>],
        at: Access,
        space: Shape,
    ) -> Result<std::result::Result<Walk, Needs>> {
        let mut walker = Walker {
            space,
            nodes: Vec::new(),
            by_value: FxHashMap::default(),
            pending: BinaryHeap::new(),
            needs: Vec::new(),
            last: None,
        };
        let roots = starts
            .iter()
            .map(|start| match start {
                Start::Scalar(scalar) => Child::Scalar(*scalar),
                Start::Value(value) => walker.visit(value, at.clone()),
            })
            .collect();
        while let Some(id) = walker.pending.pop() {
            walker.expand(id)?;
        }
        if !walker.needs.is_empty() {
            return Ok(Err(walker.needs));
        }
        Ok(Ok(Walk { space: walker.space, nodes: walker.nodes, roots }))
    }
}

impl Walker {
    /// The node of a value at an access, new or known.
    fn visit(&mut self, value: &Value, at: Access) -> Child {
        if let Kind::Constant(scalar) = value.0.kind {
            return Child::Scalar(scalar);
        }
        let known = self.by_value.entry(value.id()).or_default();
        if let Some(found) = known.iter().find(|n| self.nodes[**n as usize].access == at) {
            return Child::Node(*found);
        }
        if known.is_empty() {
            self.pending.push(value.id());
        }
        let node = self.nodes.len() as u32;
        known.push(node);
        self.nodes.push(WalkNode { value: value.clone(), access: at, role: Role::Leaf });
        Child::Node(node)
    }

    /// Decides what a value is here, when all its accesses are known.
    fn expand(&mut self, id: ValueId) -> Result<()> {
        let Some(nodes) = self.by_value.get(&id).cloned() else {
            return Ok(());
        };
        let value = self.nodes[nodes[0] as usize].value.clone();
        let Kind::Expr { op, inputs } = &value.0.kind else {
            return Ok(());
        };
        let state = value.state();
        let reach = |n: &u32| access::reach(&self.nodes[*n as usize].access, &self.space);
        let open: SmallVec<[u32; 1]> =
            nodes.iter().filter(|n| !state.computed.covers(reach(n))).copied().collect();
        if open.is_empty() {
            return Ok(());
        }
        let operands = state.operands.clone();
        drop(state);
        if operands.len() != inputs.len() {
            return Err(lost(id));
        }
        let again = value.0.weight.saturating_mul(open.len() as u32 - 1);
        let whole_kernel = matches!(op, NodeOp::Reduce { .. } | NodeOp::Assign(_));
        if whole_kernel || again > RECOMPUTE {
            for node in open {
                self.need(node);
            }
            return Ok(());
        }
        for node in open {
            let at = self.nodes[node as usize].access.clone();
            let found = if value.0.linear { None } else { self.coordinates(&value, &at) };
            if found.is_none() && !value.0.linear {
                self.need(node);
                continue;
            }
            let role = match op {
                NodeOp::Apply(apply) => {
                    let mut children = SmallVec::new();
                    for (input, operand) in inputs.iter().zip(&operands) {
                        children.push(self.child(
                            input,
                            operand.as_ref(),
                            value.shape(),
                            &at,
                            found.as_deref(),
                        )?);
                    }
                    Role::Apply(*apply, children)
                }
                NodeOp::Index(axis) => match found.as_ref().and_then(|f| f.get(*axis as usize)) {
                    Some(coordinate) => Role::Index(coordinate.clone()),
                    None => return Err(lost(id)),
                },
                NodeOp::Reduce { .. } | NodeOp::Assign(_) => return Ok(()),
            };
            self.nodes[node as usize].role = role;
        }
        Ok(())
    }

    fn child(
        &mut self,
        input: &Input,
        operand: Option<&Value>,
        shape: &[usize],
        at: &Access,
        coordinates: Option<&[Access]>,
    ) -> Result<Child> {
        let value = match (input, operand) {
            (Input::Scalar(scalar), _) => return Ok(Child::Scalar(*scalar)),
            (_, Some(value)) => value,
            (Input::Whole(id) | Input::View(id, _), None) => return Err(lost(*id)),
        };
        let composed = match (coordinates, input) {
            (Some(found), _) => {
                let Layout { offset, strides } = input.layout(shape);
                access::through(offset, &strides, found, self.space.len())
            }
            // A linear value's positions are its operands' positions.
            (None, Input::View(_, layout)) => {
                let mut same = at.clone();
                same.offset += layout.offset as i64;
                same
            }
            (None, _) => at.clone(),
        };
        Ok(self.visit(value, composed))
    }

    fn coordinates(&mut self, value: &Value, at: &Access) -> Option<Coordinates> {
        if let Some((shape, access, found)) = &self.last
            && shape[..] == *value.shape()
            && access == at
        {
            return Some(found.clone());
        }
        let found = access::coordinates(at, &self.space, value.shape())?;
        self.last = Some((value.shape().into(), at.clone(), found.clone()));
        Some(found)
    }

    fn need(&mut self, node: u32) {
        let node = &self.nodes[node as usize];
        self.needs.push((node.value.clone(), access::reach(&node.access, &self.space)));
    }
}

fn lost(id: ValueId) -> Error {
    Error::new(ErrorKind::Lost, "evaluate")
        .says("a value was lost with its device and cannot be computed again")
        .with("value", id)
}
