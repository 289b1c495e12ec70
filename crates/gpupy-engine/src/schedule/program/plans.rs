//! Plans: kernels of walks that look like one that was planned before.
//!
//! Owns [`Plans`] and [`Structure`]. A program that iterates evaluates the same graph on other values
//! again and again. Its walk is planned once: cut, built and checked; then the plan is *replayed* on the
//! values and scalars of the next walk of the same structure. Invariants: a structure is all that planning
//! asks for, compared in full, so that a replay launches what planning would; what plans take is bounded.
//!
//! Not here: planning itself (`partition.rs`, `kernel.rs`), walks of more than one kernel, which are planned
//! each time.

use crate::blocks::cache::{Blocks, Part};
use crate::graph::value::ValueId;
use crate::schedule::destination::Destination;
use crate::schedule::program::kernel::{Emitted, Kernel};
use crate::schedule::walk::{Child, Role, Walk};
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::sync::Arc;

/// The most nodes of a walk whose plan is kept.
const MOST_NODES: usize = 512;
/// The most words of all structures and programs together.
const MOST_WORDS: usize = 1 << 18;

/// The plans of a device.
pub(crate) struct Plans {
    known: LruCache<Structure, Arc<Plan>, FxBuildHasher>,
    /// What they take, in words of 8 bytes, roughly.
    words: usize,
    /// Whether plans are kept and replayed.
    pub allowed: bool,
}

/// All of a walk, and of what becomes of it, that its plan depends on: everything but which values and which
/// scalars there are.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Structure(SmallVec<[u64; 64]>);

/// A kernel, without the values and scalars of one walk.
pub(crate) struct Plan {
    program: Arc<Program>,
    fingerprint: Fingerprint,
    space: Shape,
    accesses: Vec<Access>,
    dests: Vec<Access>,
    /// The nodes whose values are the operands, with their parts.
    operands: Vec<(u32, Part)>,
    /// The nodes and the operands of these that are the parameters; of no node, a root.
    params: Vec<(Option<u32>, u32)>,
}

impl Default for Plans {
    fn default() -> Plans {
        Plans { known: LruCache::unbounded_with_hasher(FxBuildHasher), words: 0, allowed: true }
    }
}

impl Plans {
    /// The plan of walks of this structure.
    pub fn find(&mut self, structure: &Structure) -> Option<Arc<Plan>> {
        self.known.get(structure).cloned()
    }

    /// Forgets all plans.
    pub fn clear(&mut self) {
        self.known.clear();
        self.words = 0;
    }

    /// The structure of a walk that goes into destinations, one for each root, if plans of such are kept; of reductions,
    /// with the operations behind the first.
    pub fn structure(
        &self,
        blocks: &Blocks,
        walk: &Walk,
        (form, further): (Form, &[Op]),
        dests: &[Destination],
    ) -> Option<Structure> {
        if !self.allowed || walk.nodes.len() > MOST_NODES {
            return None;
        }
        /// Words of a node, mostly at most.
        const WORDS: usize = 8;
        let mut words = Structure(SmallVec::with_capacity(WORDS * (walk.nodes.len() + 2)));
        words.form(form);
        words.0.extend(further.iter().map(|op| *op as u64));
        words.push(dests.len() as u64);
        for dest in dests {
            match dest {
                Destination::Tile { .. } => words.push(0),
                Destination::Block { access, .. } => words.access(access),
            }
        }
        words.extents(&walk.space);
        walk.roots.iter().for_each(|root| words.child(root));
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        for node in &walk.nodes {
            words.push(node.value.dtype() as u64);
            match &node.role {
                Role::Apply(op, children) => {
                    words.push(1 << 32 | (*op as u64) << 8 | children.len() as u64);
                    children.iter().for_each(|child| words.child(child));
                }
                Role::Index(access) => {
                    words.push(2 << 32);
                    words.access(access);
                }
                Role::Leaf | Role::Table => {
                    let next = numbers.len() as u64;
                    let number = *numbers.entry(node.value.id()).or_insert(next);
                    if let Role::Table = node.role {
                        words.push(3 << 32 | number);
                        continue;
                    }
                    words.push(4 << 32 | number);
                    let placed = blocks.place(&node.value, &node.access, &walk.space);
                    words.access(&placed.access);
                    match &placed.part {
                        Part::Tile(number) => words.push(*number as u64),
                        Part::View(view) => {
                            let (access, shape) = &**view;
                            words.push(u64::MAX);
                            words.access(access);
                            words.extents(shape);
                        }
                    }
                }
            }
        }
        Some(words)
    }

    /// Keeps a plan; those that were used least recently go where there is no room for it.
    pub fn insert(&mut self, structure: Structure, plan: Plan) {
        let words = plan.words(&structure);
        if words > MOST_WORDS {
            return;
        }
        while self.words + words > MOST_WORDS
            && let Some((structure, plan)) = self.known.pop_lru()
        {
            self.words -= plan.words(&structure);
        }
        self.words += words;
        if let Some((structure, old)) = self.known.push(structure, Arc::new(plan)) {
            self.words -= old.words(&structure);
        }
    }
}

impl Structure {
    fn push(&mut self, word: u64) {
        self.0.push(word);
    }

    fn form(&mut self, form: Form) {
        self.push(match form {
            Form::Reduce { op } => 1 << 32 | op as u64,
            _ => 0,
        });
    }

    fn extents(&mut self, shape: &[usize]) {
        self.push(shape.len() as u64);
        self.0.extend(shape.iter().map(|extent| *extent as u64));
    }

    fn access(&mut self, access: &Access) {
        self.push(1 << 32 | access.strides.len() as u64);
        self.push(access.offset.cast_unsigned());
        self.0.extend(access.strides.iter().map(|stride| stride.cast_unsigned()));
    }

    fn child(&mut self, child: &Child) {
        self.push(match child {
            Child::Node(node) => u64::from(*node),
            Child::Scalar(scalar) => 1 << 32 | scalar.dtype as u64,
        });
    }
}

impl Plan {
    /// The plan of a kernel for all of a walk, whose nodes are emitted in this order; `None` where the kernel is not made of it alone.
    pub fn of(walk: &Walk, order: &[Emitted], kernel: &Kernel) -> Option<Plan> {
        let mut params = Vec::new();
        for node in order.iter().map(|emitted| emitted.node) {
            if let Role::Apply(_, children) = &walk.nodes[node as usize].role {
                params.extend((0..).zip(children).filter_map(|(k, child)| match child {
                    Child::Scalar(_) => Some((Some(node), k)),
                    Child::Node(_) => None,
                }));
            }
        }
        params.extend((0..).zip(&walk.roots).filter_map(|(k, root)| match root {
            Child::Scalar(_) => Some((None, k)),
            Child::Node(_) => None,
        }));
        let node_of = |value: ValueId| {
            let at = walk.nodes.iter().position(|node| node.value.id() == value)?;
            u32::try_from(at).ok()
        };
        let operands = kernel.operands.iter();
        let operands = operands.map(|(value, part)| Some((node_of(value.id())?, part.clone())));
        let plan = Plan {
            program: kernel.program.clone(),
            fingerprint: kernel.fingerprint(),
            space: kernel.space.clone(),
            accesses: kernel.accesses.clone(),
            dests: kernel.dests.clone(),
            operands: operands.collect::<Option<_>>()?,
            params,
        };
        (plan.params(walk)? == kernel.params).then_some(plan)
    }

    /// What it takes with its structure, in words of 8 bytes, roughly.
    fn words(&self, structure: &Structure) -> usize {
        structure.0.len() + 2 * self.program.insts.len() + 64
    }

    /// The kernel of a walk of the plan's structure.
    pub fn kernel(&self, walk: &Walk) -> Option<Kernel> {
        let value = |(node, part): &(u32, Part)| {
            let node = walk.nodes.get(*node as usize)?;
            Some((node.value.clone(), part.clone()))
        };
        Some(Kernel {
            program: self.program.clone(),
            known: Some(self.fingerprint),
            space: self.space.clone(),
            operands: self.operands.iter().map(value).collect::<Option<_>>()?,
            params: self.params(walk)?,
            accesses: self.accesses.clone(),
            dests: self.dests.clone(),
        })
    }

    fn params(&self, walk: &Walk) -> Option<Vec<u64>> {
        let bits = |(node, k): &(Option<u32>, u32)| {
            let children = match node {
                None => &walk.roots[..],
                Some(node) => match &walk.nodes.get(*node as usize)?.role {
                    Role::Apply(_, children) => &children[..],
                    _ => return None,
                },
            };
            match children.get(*k as usize)? {
                Child::Scalar(Scalar { bits, .. }) => Some(*bits),
                Child::Node(_) => None,
            }
        };
        self.params.iter().map(bits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn what_plans_take_is_bounded() {
        let mut plans = Plans::default();
        for number in 0..100_000 {
            let program = Program::empty(Form::Map, 1);
            let plan = Plan {
                fingerprint: program.fingerprint(),
                program: Arc::new(program),
                space: Shape::new(),
                accesses: Vec::new(),
                dests: Vec::new(),
                operands: Vec::new(),
                params: Vec::new(),
            };
            plans.insert(Structure(smallvec![number; 40]), plan);
            assert!(plans.words <= MOST_WORDS);
            assert!(plans.known.len() * 40 <= MOST_WORDS);
            // What comes again and again stays.
            assert!(plans.find(&Structure(smallvec![0; 40])).is_some());
            assert!(plans.find(&Structure(smallvec![number; 40])).is_some());
        }
    }
}
