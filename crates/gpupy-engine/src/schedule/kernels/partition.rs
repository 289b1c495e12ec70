//! Partitioning: which nodes of a walk go into one kernel (thesis, figure 4.7; article, 4.8).
//!
//! Owns [`Partition`]: a walk with the pieces that it is cut into for a device, in the order in which they are
//! launched. Nodes are taken children first; each has an upper bound of the needs of its piece, the sum of its
//! children's. Only when all bounds exceed the driver's limits is the exact program built and checked by the driver;
//! when that fails too, children are collapsed (become pieces of their own), the largest first, until it fits.
//! Invariants: nothing is launched or stored here; every piece was accepted by `check_ir` or lies under the bound; a
//! shared node that is costly is computed by one piece.
//!
//! Not here: launching (`commands/list.rs`), the needs of a piece (`need.rs`), the memory that it reads
//! (`room.rs`), tiles that pieces release (`release.rs`).

use crate::graph::value::{Value, ValueId};
use crate::memory::access;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::open_nodes::OpenNodes;
use crate::schedule::kernels::room::RoomOfPieces;
use crate::schedule::program::kernel::{Emitted, KernelPiece, Marks, emission_order};
use crate::schedule::walk::{Applied, Child, FusionWalk, Needs, Role, nodes_of};
use crate::thresholds::T;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Form;
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// A step that is possible, or the tiles that must be computed before it.
pub(crate) type Possible<T> = std::result::Result<T, Needs>;

/// A walk, and the pieces that it is cut into.
pub(crate) struct Partition {
    pub walk: FusionWalk,
    /// The pieces to be launched, the next one first.
    pub pieces: VecDeque<KernelPiece>,
    /// Nodes that have pieces of their own, before which nothing reads them: they count as leaves.
    pub(super) collapsed: Vec<bool>,
    /// Those among them whose elements are in a block now.
    pub(super) stored: Vec<bool>,
    /// Operations in the piece below each node, shared ones counted again; saturating.
    pub(super) size: Vec<u32>,
    /// The nodes of the piece looked at last.
    pub(super) marks: Marks,
    /// A bound of the needs of the piece below each node when it was found, and what the node needs by itself.
    pub(super) need: Vec<Resources>,
    pub(super) own: Vec<Resources>,
    /// The needs of reading all that was collapsed, and as they were when the bound of each node was found.
    pub(super) cut: Resources,
    pub(super) cut_before: Vec<Resources>,
    /// The nodes that pieces to come may have.
    pub(super) open: OpenNodes,
    /// What the piece below each node reads, where a device has little room.
    pub(super) room: Option<RoomOfPieces>,
    /// The signature of the node that was collapsed last to make a piece fit.
    last_cut: Option<u64>,
    /// Each piece stores one node, as the device refused one that stores several.
    pub(super) is_one_each: bool,
    pub(super) parents: Vec<SmallVec<[u32; 2]>>,
    /// How many uses of each node are still to come: parents that are neither in a block nor needed
    /// for anything but what is.
    pub(super) uses: Vec<u32>,
    /// Some node is a function with a loop, once nodes were looked up.
    pub(super) has_loops: bool,
    /// Stands in the place of values that are no longer needed, so that they can go.
    pub(super) nothing: Option<Value>,
}

/// Where a walk was cut across so far (`frontier.rs`).
pub(super) struct Frontiers {
    /// The place of each node in the order of recording.
    pub places: Vec<u32>,
    /// Whether pieces to come compute or read a node.
    pub is_open: Vec<bool>,
    /// How many of the first nodes the pieces so far have.
    pub end: usize,
    /// So many nodes at least have to come before it is looked again, as nothing was found.
    pub next: usize,
}

impl Partition {
    /// A walk that is not cut yet; the last one was cut at a node of this signature.
    pub fn new(walk: FusionWalk, last_cut: Option<u64>) -> Partition {
        Partition {
            walk,
            pieces: VecDeque::new(),
            collapsed: Vec::new(),
            stored: Vec::new(),
            size: Vec::new(),
            marks: Marks::default(),
            need: Vec::new(),
            own: Vec::new(),
            cut: Resources::default(),
            cut_before: Vec::new(),
            open: OpenNodes::default(),
            room: None,
            last_cut,
            is_one_each: false,
            parents: Vec::new(),
            uses: Vec::new(),
            has_loops: false,
            nothing: None,
        }
    }

    /// Makes room for notes on nodes; a walk that stays one piece usually needs none.
    fn make_room(&mut self) {
        let count = self.walk.nodes.len();
        if self.size.len() != count {
            self.collapsed = vec![false; count];
            self.stored = vec![false; count];
            self.size = vec![0; count];
        }
    }

    /// All of the walk that is left as one piece, whether it fits or not.
    pub fn as_one(&mut self) -> KernelPiece {
        self.make_room();
        let (collapsed, size) = (&self.collapsed, &self.size);
        let order = emission_order(&self.walk, &self.walk.roots, collapsed, size, &mut self.marks);
        KernelPiece { stores: SmallVec::new(), order }
    }

    /// The signature of the node that was collapsed last, here or before.
    pub fn last_cut(&self) -> Option<u64> {
        self.last_cut
    }

    /// Whether all of the walk is one piece.
    pub fn is_one(&self) -> bool {
        !self.collapsed.contains(&true)
    }

    /// Finds the readers of each node; a walk whose plan is known usually needs none.
    pub fn look_up(&mut self) {
        self.make_room();
        let count = self.walk.nodes.len();
        if self.uses.len() == count {
            return;
        }
        self.need = vec![Resources::default(); count];
        self.own = vec![Resources::default(); count];
        self.cut_before = vec![Resources::default(); count];
        self.parents = vec![SmallVec::new(); count];
        self.has_loops = self.walk.nodes.iter().any(|node| Partition::steps(node) > 0);
        for (n, node) in self.walk.nodes.iter().enumerate() {
            if let Role::Apply(_, children) = &node.role {
                for child in nodes_of(children) {
                    self.parents[child as usize].push(n as u32);
                }
            }
        }
        self.uses = self.parents.iter().map(|parents| parents.len() as u32).collect();
        for root in nodes_of(&self.walk.roots) {
            self.uses[root as usize] += 1;
        }
    }

    /// Cuts the walk into pieces, the last one of this form.
    ///
    /// # Errors
    /// - `Unsupported`: the driver lacks an operation of the walk.
    /// - `Refused`: one operation alone exceeds the driver's limits.
    pub fn cut(&mut self, device: &mut OpenDevice, form: Form) -> Result<Possible<()>> {
        self.look_up();
        self.note_room(device);
        self.open = OpenNodes::of(&self.uses);
        let order = self.walk.operands_first();
        let mut frontiers = Frontiers::of(order.len());
        for at in 0..order.len() {
            if let Err(needs) = self.make_fit(device, &mut frontiers, &order[..=at])? {
                return Ok(Err(needs));
            }
        }
        let whole = self.as_one();
        // A reduction's map is the first thing to take out of it.
        if let (Form::Reduce { .. }, &[Child::Node(map)]) = (form, &self.walk.roots[..])
            && !self.is_leaf(map)
            && !self.fits_reduced(device, &whole, form)?
        {
            if let Err(needs) = self.collapse(device, map)? {
                return Ok(Err(needs));
            }
            let rest = self.as_one();
            self.pieces.push_back(rest);
            return Ok(Ok(()));
        }
        self.pieces.push_back(whole);
        Ok(Ok(()))
    }

    /// Whether the last piece computes every root.
    pub fn has_all_roots(&self) -> bool {
        nodes_of(&self.walk.roots).all(|root| !self.collapsed[root as usize])
    }

    /// Takes a node that several roots read out of the last piece: the largest one, if it is costly.
    ///
    /// # Errors
    /// As of a cut.
    pub fn cut_shared(&mut self, device: &mut OpenDevice) -> Option<Result<Possible<()>>> {
        let shared = self.shared_by_roots()?;
        self.pieces.pop_back();
        let cut = self.collapse(device, shared);
        let rest = self.as_one();
        self.pieces.push_back(rest);
        Some(cut)
    }

    /// The largest node of the last piece that several roots read and that is costly to compute again.
    fn shared_by_roots(&mut self) -> Option<u32> {
        let mut known = vec![false; self.walk.nodes.len()];
        let mut largest = None;
        for root in nodes_of(&self.walk.roots).collect::<SmallVec<[u32; 4]>>() {
            for Emitted { node, .. } in self.order_below(root) {
                let size = self.size[node as usize];
                let is_shared = std::mem::replace(&mut known[node as usize], true);
                if is_shared && !self.is_leaf(node) && size >= T.recompute {
                    largest = largest.max(Some((size, node)));
                }
            }
        }
        largest.map(|(_, node)| node)
    }

    /// Cuts again, as the device did not take the next piece: at its last waypoint, and anew behind it.
    ///
    /// # Errors
    /// - `Refused` or what it was refused for: it is a single operation.
    pub fn split(
        &mut self,
        device: &mut OpenDevice,
        form: Form,
        error: Error,
    ) -> Result<Possible<()>> {
        let Some(refused) = self.pieces.front() else { return Err(error) };
        let is_of_several = refused.stores.len() > 1;
        let refused = self.root_of(refused);
        let is_last = self.pieces.len() == 1;
        for node in self.pieces.drain(..).flat_map(|piece| piece.stores) {
            self.collapsed[node as usize] = false;
        }
        self.look_up();
        self.note_room(device);
        if is_of_several {
            self.is_one_each = true;
            return self.cut(device, form);
        }
        let Some(refused) = refused else { return Err(error) };
        for node in self.walk.operands_first() {
            self.add_up(device, node);
        }
        let cut = match form {
            Form::Reduce { .. } if is_last => Some(refused).filter(|map| !self.is_leaf(*map)),
            _ => self.waypoint(refused),
        };
        let Some(cut) = cut else {
            if self.is_without_pieces(device) {
                return Ok(Err(Needs::new()));
            }
            return Err(error.with("operation", self.describe(refused)));
        };
        match self.collapse(device, cut)? {
            Ok(()) => self.cut(device, form),
            Err(needs) => Ok(Err(needs)),
        }
    }

    /// The one node that a piece computes, if it is one.
    pub(super) fn root_of(&self, piece: &KernelPiece) -> Option<u32> {
        match (&piece.stores[..], &self.walk.roots[..]) {
            (&[node], _) | (&[], &[Child::Node(node)]) => Some(node),
            _ => None,
        }
    }

    /// Finds the needs of the piece below the last of these nodes, which are those so far, and makes it fit.
    fn make_fit(
        &mut self,
        device: &mut OpenDevice,
        frontiers: &mut Frontiers,
        so_far: &[u32],
    ) -> Result<Possible<()>> {
        let Some(&node) = so_far.last() else { return Ok(Ok(())) };
        self.add_up(device, node);
        self.add_open(device, node);
        let Role::Apply(_, children) = &self.walk.nodes[node as usize].role else {
            return Ok(Ok(()));
        };
        let mut children: SmallVec<[u32; 3]> = nodes_of(children).collect();
        if self.fits(device, node)? {
            return Ok(Ok(()));
        }
        if self.cut_across(device, frontiers, so_far)? && self.fits(device, node)? {
            return Ok(Ok(()));
        }
        children.sort_by_key(|child| std::cmp::Reverse(self.size[*child as usize]));
        children.dedup();
        for child in children {
            if self.is_leaf(child) {
                continue;
            }
            let path = self.path_to_cut(child);
            let Some(cut) = path.last().copied() else { continue };
            if let Err(needs) = self.collapse(device, cut)? {
                return Ok(Err(needs));
            }
            self.last_cut = Some(self.signature(cut));
            for above in path.iter().rev().skip(1) {
                self.add_up(device, *above);
            }
            // Its size stays as before, so that operands that other pieces share with it are stored rather than
            // recomputed.
            let size = self.size[node as usize];
            self.add_up(device, node);
            self.size[node as usize] = size;
            if self.fits(device, node)? {
                return Ok(Ok(()));
            }
            if cut != child
                && let Err(needs) = self.collapse(device, child)?
            {
                return Ok(Err(needs));
            }
            self.add_up(device, node);
            if self.fits(device, node)? {
                return Ok(Ok(()));
            }
        }
        // It reads as little as it can.
        if self.fits_limits(device, node)? {
            return Ok(Ok(()));
        }
        if self.is_without_pieces(device) {
            return Ok(Err(Needs::new()));
        }
        Err(Error::new(ErrorKind::Refused, "partition")
            .says("one operation alone exceeds the driver's limits")
            .with("driver", device.name)
            .with("operation", self.describe(node)))
    }

    /// Whether the walk begins once more without numbers in pieces, which cannot be cut: the device reads joins part by
    /// part from now on.
    fn is_without_pieces(&self, device: &mut OpenDevice) -> bool {
        let has_pieces = self.walk.nodes.iter().any(|node| matches!(node.role, Role::InPieces(_)));
        has_pieces && std::mem::replace(&mut device.caps.pieces, false)
    }

    /// Where to cut below a child that has to be collapsed, as the way down to it: at the child,
    /// or, when a node shortly below looks like the last cut, there. Then the pieces of a loop
    /// that was recorded turn by turn begin and end at the same place of its body, and are one
    /// program.
    fn path_to_cut(&self, child: u32) -> Vec<u32> {
        let mut path = vec![child];
        let Some(last_cut) = self.last_cut else { return path };
        let mut at = child;
        while self.signature(at) != last_cut {
            let Role::Apply(_, children) = &self.walk.nodes[at as usize].role else {
                return vec![child];
            };
            let below = nodes_of(children)
                .filter(|child| !self.is_leaf(*child))
                .max_by_key(|child| self.size[*child as usize]);
            match below {
                // A cut that leaves most of the piece behind would need many launches.
                Some(below)
                    if path.len() < T.loop_body
                        && self.size[below as usize] > self.size[child as usize] / 2 =>
                {
                    path.push(below);
                    at = below;
                }
                _ => return vec![child],
            }
        }
        path
    }

    /// A hash of the operations of a node and of the nodes two steps below.
    fn signature(&self, node: u32) -> u64 {
        let mut hash = FxHasher::default();
        let mut level: SmallVec<[u32; 9]> = SmallVec::from_slice(&[node]);
        for _ in 0..3 {
            let mut below = SmallVec::new();
            for node in level {
                match &self.walk.nodes[node as usize].role {
                    Role::Leaf | Role::Table => 0u32.hash(&mut hash),
                    Role::Index(_) | Role::InPieces(_) => 1u32.hash(&mut hash),
                    Role::Apply(applied, children) => {
                        (2u32, applied, children.len()).hash(&mut hash);
                        below.extend(nodes_of(children));
                    }
                }
            }
            level = below;
        }
        hash.finish()
    }

    /// Gives the node a piece of its own; costly nodes in it that other pieces need too go first.
    fn collapse(&mut self, device: &mut OpenDevice, node: u32) -> Result<Possible<()>> {
        let mut stack = vec![node];
        while let Some(top) = stack.last().copied() {
            if self.is_leaf(top) {
                stack.pop();
                continue;
            }
            if let Some(shared) = self.shared_below(top) {
                stack.push(shared);
                continue;
            }
            // What was stored below it takes room of its own.
            if let Some(child) = self.first_to_store(top) {
                stack.push(child);
                continue;
            }
            // What was collapsed below it may be one operand too many.
            if !self.fits_limits(device, top)?
                && let Some(child) = self.largest_below(top)
            {
                stack.push(child);
                continue;
            }
            let node = &self.walk.nodes[top as usize];
            if device.own_tile(&node.value, &node.access, &self.walk.space).is_none() {
                let reach = access::reach(&node.access, &self.walk.space);
                return Ok(Err(vec![(node.value.clone(), reach)]));
            }
            let order = self.order_below(top);
            self.push(device, KernelPiece { stores: smallvec![top], order });
            stack.pop();
        }
        Ok(Ok(()))
    }

    /// A piece is launched behind those so far, and what it stores is read from then on.
    pub(super) fn push(&mut self, device: &OpenDevice, piece: KernelPiece) {
        for &node in &piece.stores {
            let dtype = self.walk.nodes[node as usize].value.dtype();
            self.need[node as usize] = device.driver.resource_get(Part::Operand(dtype));
            // Pieces to come read it, also where they were found to fit when they computed it.
            device.driver.resource_add(&mut self.open.need, &self.need[node as usize]);
            device.driver.resource_add(&mut self.cut, &self.need[node as usize]);
            let bytes = self.stored_bytes(node);
            if let Some(room) = &mut self.room {
                room.store(node, bytes);
            }
            self.collapsed[node as usize] = true;
            self.size[node as usize] = 0;
        }
        self.open.cut();
        self.pieces.push_back(piece);
    }

    /// A node in the piece below `root` that another piece needs too and that is costly to compute
    /// again: the last one in the order of emission.
    pub(super) fn shared_below(&mut self, root: u32) -> Option<u32> {
        let order = self.order_below(root);
        order.iter().rev().map(|emitted| emitted.node).find(|n| {
            *n != root
                && !self.is_leaf(*n)
                && self.size[*n as usize] >= T.recompute
                && self.parents[*n as usize].iter().any(|p| !self.marks.has(*p))
        })
    }

    /// Where a refused piece is cut: the last node in the order of emission after which nothing but
    /// its own value is still needed (the article's waypoint), or else the largest child.
    fn waypoint(&mut self, root: u32) -> Option<u32> {
        let order: Vec<u32> = self.order_below(root).iter().map(|emitted| emitted.node).collect();
        let mut position = vec![usize::MAX; self.walk.nodes.len()];
        order.iter().enumerate().for_each(|(i, n)| position[*n as usize] = i);
        let last_use = |n: u32| {
            let parents = self.parents[n as usize].iter();
            parents.map(|p| position[*p as usize]).filter(|p| *p != usize::MAX).max().unwrap_or(0)
        };
        let mut busy_until = 0;
        let mut found = None;
        for (i, n) in order.iter().enumerate() {
            if *n != root && busy_until <= i && !self.is_leaf(*n) && self.size[*n as usize] > 1 {
                found = Some(*n);
            }
            // Leaves and index values are as cheap to have again as a block's load.
            if !self.is_leaf(*n) && self.size[*n as usize] > 1 {
                busy_until = busy_until.max(last_use(*n));
            }
        }
        found.or_else(|| {
            let Role::Apply(_, children) = &self.walk.nodes[root as usize].role else {
                return None;
            };
            nodes_of(children)
                .filter(|child| !self.is_leaf(*child))
                .max_by_key(|child| self.size[*child as usize])
        })
    }

    /// The values that a piece computes.
    pub fn values_of(&self, piece: &KernelPiece) -> Vec<ValueId> {
        let inner = piece.order.iter().filter(|emitted| !emitted.is_loaded);
        let node = |emitted: &Emitted| &self.walk.nodes[emitted.node as usize];
        let inner = inner.map(node).filter(|node| !matches!(node.role, Role::Table));
        inner.map(|node| node.value.id()).collect()
    }

    /// The signature of a piece's node, for the next walk to be cut alike.
    pub fn signature_of(&self, piece: &KernelPiece) -> Option<u64> {
        piece.stores.last().map(|node| self.signature(*node))
    }

    /// The piece below a node in the order of emission; afterwards `marks` holds its nodes.
    pub(super) fn order_below(&mut self, root: u32) -> Vec<Emitted> {
        let root = [Child::Node(root)];
        emission_order(&self.walk, &root, &self.collapsed, &self.size, &mut self.marks)
    }

    pub(super) fn is_leaf(&self, node: u32) -> bool {
        let role = &self.walk.nodes[node as usize].role;
        self.collapsed[node as usize] || matches!(role, Role::Leaf | Role::Table)
    }

    /// A description of a node, for messages.
    fn describe(&self, node: u32) -> String {
        let node = &self.walk.nodes[node as usize];
        let name = match &node.role {
            Role::Leaf | Role::Table => "load",
            Role::Index(_) => "index",
            Role::InPieces(_) => "number in pieces",
            Role::Apply(Applied::Op(op), _) => op.info().name,
            Role::Apply(Applied::Call(_), _) => "a function",
        };
        format!("{name} of {}", node.value.dtype())
    }
}
