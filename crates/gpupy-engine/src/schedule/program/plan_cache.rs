//! The plan cache: kernels of walks with the structure of an earlier walk.
//!
//! Owns [`PlanCache`] and the structure of a walk. A program that iterates evaluates the same graph on other values
//! again and again. Its walk is planned once: cut, built and checked, and cut smaller where the device refused a piece.
//! Then the plan is *replayed* on the values and scalars of the next walk of the same structure. Invariants: planning
//! depends on nothing but a structure and the tiles that are stored on the way, and structures are compared in full, so
//! that a replay launches the kernels that planning would; the size of all plans is bounded.
//!
//! Not here: planning itself (`partition.rs`, `kernel.rs`).

use crate::blocks::cache::{BlockCache, BlockPart};
use crate::graph::value::ValueId;
use crate::memory::tiling::Tile;
use crate::schedule::destination::RootDestinations;
use crate::schedule::program::kernel::{Emitted, Kernel, KernelCode, KernelPiece, ParamPlace};
use crate::schedule::program::structure_cache::{Structure, StructureCache, Weighed};
use crate::schedule::walk::{Applied, Child, FusionWalk, Role, WalkNode};
use crate::thresholds::T;
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The plans of a device.
#[derive(Default)]
pub(crate) struct PlanCache {
    pub kept: StructureCache<WalkPlan>,
    /// Whether none are kept and replayed.
    pub are_forbidden: bool,
}

/// The kernels of a walk, without its values and scalars, in the order of their launches.
pub(crate) struct WalkPlan {
    pub pieces: Vec<Arc<KernelPlan>>,
    /// The bytes for which the device was known to have no room when the walk was cut.
    pub room: Option<u64>,
}

/// A kernel of a walk, without its values and scalars.
pub(crate) struct KernelPlan {
    /// The nodes that it stores; of none, the walk's roots.
    pub stores: SmallVec<[Stores; 1]>,
    /// Its nodes in the order of emission.
    pub order: Vec<Emitted>,
    pub code: Arc<KernelCode>,
    /// The nodes whose values are the operands, with their parts.
    operands: Vec<(u32, BlockPart)>,
}

/// A node of a walk that is stored on the way.
pub(crate) struct Stores {
    pub node: u32,
    /// Where it is needed.
    access: Access,
    /// The tile of its value that this is.
    tile: Tile,
}

impl PlanCache {
    /// The structure of a walk with these ends, if plans of such are kept.
    pub fn structure(
        &self,
        blocks: &BlockCache,
        walk: &FusionWalk,
        ends: &RootDestinations,
    ) -> Option<Structure> {
        if self.are_forbidden || walk.nodes.len() > T.planned_nodes {
            return None;
        }
        /// Words of a node, mostly at most.
        const WORDS: usize = 8;
        let mut words = Structure::with_room(WORDS * (walk.nodes.len() + 2));
        form(&mut words, ends.form);
        words.extend(ends.further.iter().map(|op| *op as u64));
        words.push(ends.places.len() as u64);
        for place in &ends.places {
            match place {
                None => words.push(0),
                Some(access) => words.access(access),
            }
        }
        words.extents(&walk.space);
        walk.roots.iter().for_each(|root| child(&mut words, root));
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        for node in &walk.nodes {
            words.push(node.value.dtype() as u64);
            match &node.role {
                Role::Apply(applied, children) => {
                    match applied {
                        Applied::Op(op) => words.push(1 << 32 | *op as u64),
                        Applied::Call(called) => {
                            words.push(5 << 32 | u64::from(called.result));
                            words.fingerprint(called.function.fingerprint());
                        }
                    }
                    words.push(children.len() as u64);
                    children.iter().for_each(|own| child(&mut words, own));
                }
                Role::Index(access) => {
                    words.push(2 << 32);
                    words.access(access);
                }
                Role::InPieces(own) => {
                    words.push(6 << 32);
                    own.words(|word| words.push(word));
                }
                Role::Leaf | Role::Table => {
                    let next = numbers.len() as u64;
                    let number = *numbers.entry(node.value.id()).or_insert(next);
                    if let Role::Table = node.role {
                        words.push(3 << 32 | number);
                        continue;
                    }
                    words.push(4 << 32 | number);
                    let accesses = || walk.accesses_of(&node.value);
                    let placed = blocks.place(&node.value, &node.access, &walk.space, accesses);
                    words.access(&placed.access);
                    match &placed.part {
                        BlockPart::Tile(number) => words.push(*number as u64),
                        BlockPart::View(view) => {
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
}

fn form(words: &mut Structure, form: Form) {
    words.push(match form {
        Form::Reduce { op } => 1 << 32 | op as u64,
        _ => 0,
    });
}

fn child(words: &mut Structure, child: &Child) {
    words.push(match child {
        Child::Node(node) => u64::from(*node),
        Child::Scalar(scalar) => 1 << 32 | scalar.dtype as u64,
    });
}

impl Weighed for WalkPlan {
    fn words(&self) -> usize {
        let of_piece = |planned: &Arc<KernelPlan>| {
            let insts = planned.code.program.insts.len();
            2 * insts + planned.order.len() + planned.operands.len() * 4 + 64
        };
        self.pieces.iter().map(of_piece).sum::<usize>()
    }
}

impl WalkPlan {
    /// Whether it is a plan for a walk of its structure: the tiles that it stores on the way are the same.
    pub fn is_for(&self, blocks: &BlockCache, walk: &FusionWalk) -> bool {
        self.pieces.iter().flat_map(|planned| &planned.stores).all(|stores| {
            let Some(node) = walk.nodes.get(stores.node as usize) else { return false };
            let tile = blocks.own_tile(&node.value, &node.access, &walk.space);
            node.access == stores.access && tile.as_ref() == Some(&stores.tile)
        })
    }
}

impl KernelPlan {
    /// The plan of the kernel of a piece of a walk; `None` where the kernel is not made of the walk alone.
    pub fn of(
        blocks: &BlockCache,
        walk: &FusionWalk,
        piece: &KernelPiece,
        kernel: &Kernel,
    ) -> Option<KernelPlan> {
        let stores = |node: &u32| {
            let WalkNode { value, access, .. } = &walk.nodes[*node as usize];
            let tile = blocks.own_tile(value, access, &walk.space)?;
            Some(Stores { node: *node, access: access.clone(), tile })
        };
        let node_of = |value: ValueId| {
            let at = walk.nodes.iter().position(|node| node.value.id() == value)?;
            u32::try_from(at).ok()
        };
        let operands = kernel.operands.iter();
        let operands = operands.map(|(value, part)| Some((node_of(value.id())?, part.clone())));
        let planned = KernelPlan {
            stores: piece.stores.iter().map(stores).collect::<Option<_>>()?,
            order: piece.order.clone(),
            code: kernel.code.clone(),
            operands: operands.collect::<Option<_>>()?,
        };
        (planned.params(walk)? == kernel.params).then_some(planned)
    }

    /// The kernel of a walk of the plan's structure.
    pub fn kernel(&self, walk: &FusionWalk) -> Option<Kernel> {
        let value = |(node, part): &(u32, BlockPart)| {
            let node = walk.nodes.get(*node as usize)?;
            Some((node.value.clone(), part.clone()))
        };
        Some(Kernel {
            code: self.code.clone(),
            operands: self.operands.iter().map(value).collect::<Option<_>>()?,
            params: self.params(walk)?,
        })
    }

    fn params(&self, walk: &FusionWalk) -> Option<Vec<u64>> {
        let bits = |place: &ParamPlace| {
            let (children, k) = match place {
                ParamPlace::Bits(bits) => return Some(*bits),
                ParamPlace::Root(k) => (&walk.roots[..], k),
                ParamPlace::Operand(node, k) => match &walk.nodes.get(*node as usize)?.role {
                    Role::Apply(_, children) => (&children[..], k),
                    _ => return None,
                },
            };
            match children.get(*k as usize)? {
                Child::Scalar(Scalar { bits, .. }) => Some(*bits),
                Child::Node(_) => None,
            }
        };
        self.code.places.iter().map(bits).collect()
    }
}
