//! Plans: kernels of walks that look like one that was planned before.
//!
//! Owns [`Plans`] and [`Structure`]. A program that iterates evaluates the same graph on other values
//! again and again. Its walk is planned once: cut, built and checked, and cut smaller where the device refused a piece;
//! then the plan is *replayed* on the values and scalars of the next walk of the same structure. Invariants: a structure,
//! with the tiles of what is stored on the way, is all that planning asks for, compared in full, so that a replay
//! launches what planning would; what plans take is bounded.
//!
//! Not here: planning itself (`partition.rs`, `kernel.rs`).

use crate::blocks::cache::{Blocks, Part};
use crate::graph::value::ValueId;
use crate::memory::tiling::Tile;
use crate::schedule::destination::Ends;
use crate::schedule::program::kernel::{Emitted, Kernel};
use crate::schedule::walk::{Child, Role, Walk, WalkNode};
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Fingerprint, Form, Program};
use gpupy_core::shape::Shape;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
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
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Structure(Vec<u64>);

/// The kernels of a walk, without its values and scalars, in the order of their launches.
pub(crate) struct Plan {
    pub pieces: Vec<Arc<Planned>>,
}

/// A kernel of a walk, without its values and scalars.
pub(crate) struct Planned {
    /// The node that it stores; of none, the walk's roots.
    pub stores: Option<Stores>,
    /// Its nodes in the order of emission.
    pub order: Vec<Emitted>,
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

/// A node of a walk that is stored on the way.
pub(crate) struct Stores {
    pub node: u32,
    /// Where it is needed.
    access: Access,
    /// The tile of its value that this is.
    tile: Tile,
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

    /// Forgets the plan of a structure, as the device does not take it.
    pub fn remove(&mut self, structure: &Structure) {
        if let Some(plan) = self.known.pop(structure) {
            self.words -= plan.words(structure);
        }
    }

    /// Forgets all plans.
    pub fn clear(&mut self) {
        self.known.clear();
        self.words = 0;
    }

    /// The structure of a walk with these ends, if plans of such are kept.
    pub fn structure(&self, blocks: &Blocks, walk: &Walk, ends: &Ends) -> Option<Structure> {
        if !self.allowed || walk.nodes.len() > MOST_NODES {
            return None;
        }
        /// Words of a node, mostly at most.
        const WORDS: usize = 8;
        let mut words = Structure(Vec::with_capacity(WORDS * (walk.nodes.len() + 2)));
        words.form(ends.form);
        words.0.extend(ends.further.iter().map(|op| *op as u64));
        words.push(ends.places.len() as u64);
        for place in &ends.places {
            match place {
                None => words.push(0),
                Some(access) => words.access(access),
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
    pub fn insert(&mut self, structure: Structure, plan: Arc<Plan>) {
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
        if let Some((structure, old)) = self.known.push(structure, plan) {
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
    /// Whether it is a plan for a walk of its structure: what it stores on the way are the same tiles.
    pub fn is_for(&self, blocks: &Blocks, walk: &Walk) -> bool {
        self.pieces.iter().filter_map(|planned| planned.stores.as_ref()).all(|stores| {
            let Some(node) = walk.nodes.get(stores.node as usize) else { return false };
            let tile = blocks.own_tile(&node.value, &node.access, &walk.space);
            node.access == stores.access && tile.as_ref() == Some(&stores.tile)
        })
    }

    /// What it takes with its structure, in words of 8 bytes, roughly.
    fn words(&self, structure: &Structure) -> usize {
        let of_piece = |planned: &Arc<Planned>| {
            2 * planned.program.insts.len() + planned.order.len() + planned.operands.len() * 4 + 64
        };
        structure.0.len() + self.pieces.iter().map(of_piece).sum::<usize>()
    }
}

impl Planned {
    /// The plan of a kernel whose nodes of the walk are emitted in this order, and which stores a node of it or its
    /// roots; `None` where the kernel is not made of the walk alone.
    pub fn of(
        blocks: &Blocks,
        walk: &Walk,
        (node, order): (Option<u32>, &[Emitted]),
        kernel: &Kernel,
    ) -> Option<Planned> {
        let stores = match node {
            None => None,
            Some(node) => {
                let WalkNode { value, access, .. } = &walk.nodes[node as usize];
                let tile = blocks.own_tile(value, access, &walk.space)?;
                Some(Stores { node, access: access.clone(), tile })
            }
        };
        let mut params = Vec::new();
        for emitted in order.iter().filter(|emitted| !emitted.is_loaded) {
            if let Role::Apply(_, children) = &walk.nodes[emitted.node as usize].role {
                params.extend((0..).zip(children).filter_map(|(k, child)| match child {
                    Child::Scalar(_) => Some((Some(emitted.node), k)),
                    Child::Node(_) => None,
                }));
            }
        }
        let roots = if node.is_none() { &walk.roots[..] } else { &[] };
        params.extend((0..).zip(roots).filter_map(|(k, root)| match root {
            Child::Scalar(_) => Some((None, k)),
            Child::Node(_) => None,
        }));
        let node_of = |value: ValueId| {
            let at = walk.nodes.iter().position(|node| node.value.id() == value)?;
            u32::try_from(at).ok()
        };
        let operands = kernel.operands.iter();
        let operands = operands.map(|(value, part)| Some((node_of(value.id())?, part.clone())));
        let planned = Planned {
            stores,
            order: order.to_vec(),
            program: kernel.program.clone(),
            fingerprint: kernel.fingerprint(),
            space: kernel.space.clone(),
            accesses: kernel.accesses.clone(),
            dests: kernel.dests.clone(),
            operands: operands.collect::<Option<_>>()?,
            params,
        };
        (planned.params(walk)? == kernel.params).then_some(planned)
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

    #[test]
    fn what_plans_take_is_bounded() {
        let mut plans = Plans::default();
        for number in 0..100_000 {
            let program = Program::empty(Form::Map, 1);
            let planned = Planned {
                stores: None,
                order: Vec::new(),
                fingerprint: program.fingerprint(),
                program: Arc::new(program),
                space: Shape::new(),
                accesses: Vec::new(),
                dests: Vec::new(),
                operands: Vec::new(),
                params: Vec::new(),
            };
            let plan = Arc::new(Plan { pieces: vec![Arc::new(planned)] });
            plans.insert(Structure(vec![number; 40]), plan);
            assert!(plans.words <= MOST_WORDS);
            assert!(plans.known.len() * 40 <= MOST_WORDS);
            // What comes again and again stays.
            assert!(plans.find(&Structure(vec![0; 40])).is_some());
            assert!(plans.find(&Structure(vec![number; 40])).is_some());
        }
    }
}
