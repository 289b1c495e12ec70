//! Partitioning: which nodes of a walk go into one kernel (thesis, figure 4.7; article, 4.8).
//!
//! Owns [`Evaluation`]: one walk on its way through a device. Nodes are taken children first; each
//! has an upper bound of what its piece needs, the sum of its children's. Only when a bound exceeds
//! the driver's limits is the exact program built and asked about; when that exceeds them too,
//! children are collapsed (evaluated into blocks), the largest first, until it fits. Invariants:
//! every piece that is launched was accepted by `check_ir` or lies under the bound; a shared node
//! that is costly is evaluated once.
//!
//! Not here: launching (`evaluate.rs`), code (`kernel.rs`).

use crate::blocks::cache;
use crate::execute::evaluate::Engine;
use crate::explain::trace::{Event, subject};
use crate::graph::value::Value;
use crate::graph::value::ValueId;
use crate::schedule::destination::Destination;
use crate::schedule::program::emit;
use crate::schedule::program::kernel::{Kernel, Marks, Target, emission_order, nodes_of};
use crate::schedule::program::plans::Structure;
use crate::schedule::walk::{Child, Needs, RECOMPUTE, Role, Walk};
use crate::schedule::ways::{Way, method_dtype};
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::contiguous_strides;
use gpupy_core::{Error, ErrorKind, Result, Scalar};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Whether a step is done, or other values must be computed before it is tried again.
pub(crate) enum Flow {
    Done,
    Needs(Needs),
}

/// One walk on its way through a device.
pub(crate) struct Evaluation<'e> {
    pub engine: &'e mut Engine,
    pub device: usize,
    pub walk: Walk,
    /// Nodes that count as leaves because their elements are in a block now.
    pub collapsed: Vec<bool>,
    /// Operations in the piece below each node, shared ones counted again; saturating.
    pub size: Vec<u32>,
    /// What the walk's plan is kept for, should it become one.
    pub structure: Option<Structure>,
    /// The nodes of the piece looked at last.
    pub marks: Marks,
    need: Vec<Resources>,
    /// The signature of the node that was collapsed last to make a piece fit.
    last_cut: Option<u64>,
    parents: Vec<SmallVec<[u32; 2]>>,
    /// How many uses of each node are still to come: parents that are neither in a block nor needed
    /// for anything but what is.
    uses: Vec<u32>,
    /// Stands in the place of values that are no longer needed, so that they can go.
    nothing: Value,
}

impl<'e> Evaluation<'e> {
    pub fn new(engine: &'e mut Engine, device: usize, walk: Walk) -> Evaluation<'e> {
        let count = walk.nodes.len();
        let last_cut = engine.slice.cut.take();
        Evaluation {
            engine,
            device,
            walk,
            collapsed: vec![false; count],
            size: vec![0; count],
            structure: None,
            marks: Marks::default(),
            need: Vec::new(),
            last_cut,
            parents: Vec::new(),
            uses: Vec::new(),
            nothing: Value::constant(&[], Scalar::bool(false)),
        }
    }

    /// Finds out who reads whom, which a walk whose plan is known mostly need not be asked.
    pub fn look_up(&mut self) {
        let count = self.walk.nodes.len();
        if self.uses.len() == count {
            return;
        }
        self.need = vec![Resources::default(); count];
        self.parents = vec![SmallVec::new(); count];
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

    /// The nodes that read a node, one for each use, once they were looked up.
    pub fn parents(&self, node: u32) -> &[u32] {
        &self.parents[node as usize]
    }

    /// Evaluates everything but the last piece, whose kernel is left to launch.
    ///
    /// # Errors
    /// - `Unsupported`: the driver lacks an operation of the walk.
    /// - `Refused`: one operation alone exceeds the driver's limits.
    pub fn partition(&mut self) -> Result<Flow> {
        self.look_up();
        let mut order: Vec<u32> = (0..self.walk.nodes.len() as u32).collect();
        order.sort_unstable_by_key(|n| self.walk.nodes[*n as usize].value.order());
        for node in order {
            let settled = self.settle(node);
            if settled.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
                self.engine.slice.cut = self.last_cut;
            }
            if let Flow::Needs(needs) = settled? {
                return Ok(Flow::Needs(needs));
            }
        }
        Ok(Flow::Done)
    }

    /// Finds what the piece below a node needs, and makes it fit.
    fn settle(&mut self, node: u32) -> Result<Flow> {
        self.add_up(node)?;
        let Role::Apply(_, children) = &self.walk.nodes[node as usize].role else {
            return Ok(Flow::Done);
        };
        let mut children: SmallVec<[u32; 3]> = nodes_of(children).collect();
        if self.fits(node)? {
            return Ok(Flow::Done);
        }
        children.sort_by_key(|child| std::cmp::Reverse(self.size[*child as usize]));
        children.dedup();
        for child in children {
            if self.is_leaf(child) {
                continue;
            }
            let before = self.need[child as usize];
            let path = self.path_to_cut(child);
            let Some(cut) = path.last().copied() else { continue };
            if let Flow::Needs(needs) = self.collapse(cut)? {
                return Ok(Flow::Needs(needs));
            }
            self.last_cut = Some(self.signature(cut));
            for above in path.iter().rev().skip(1) {
                self.add_up(*above)?;
            }
            let driver = &self.engine.device(self.device)?.driver;
            driver.resource_sub(&mut self.need[node as usize], &before);
            let after = self.need[child as usize];
            driver.resource_add(&mut self.need[node as usize], &after);
            if self.fits(node)? {
                return Ok(Flow::Done);
            }
            if cut != child
                && let Flow::Needs(needs) = self.collapse(child)?
            {
                return Ok(Flow::Needs(needs));
            }
            self.add_up(node)?;
            if self.fits(node)? {
                return Ok(Flow::Done);
            }
        }
        Err(Error::new(ErrorKind::Refused, "partition")
            .says("one operation alone exceeds the driver's limits")
            .with("driver", self.engine.device(self.device)?.name)
            .with("operation", self.describe(node)))
    }

    /// The upper bound of what the piece below a node needs: its own and its children's.
    fn add_up(&mut self, node: u32) -> Result<()> {
        if self.collapsed[node as usize] {
            return Ok(());
        }
        let dtype = self.walk.nodes[node as usize].value.dtype();
        let driver = &self.engine.device(self.device)?.driver;
        let (op, children) = match &self.walk.nodes[node as usize].role {
            Role::Leaf | Role::Table => {
                self.need[node as usize] = driver.resource_get(Part::Operand(dtype));
                return Ok(());
            }
            Role::Index(_) => {
                self.need[node as usize] = driver.resource_get(Part::Index);
                self.size[node as usize] = 1;
                return Ok(());
            }
            Role::Apply(op, children) => (*op, children.clone()),
        };
        let (mut need, mut size) = self.own_need(op, node)?;
        let driver = &self.engine.device(self.device)?.driver;
        for (i, child) in children.iter().enumerate() {
            match child {
                Child::Scalar(scalar) => {
                    driver.resource_add(&mut need, &driver.resource_get(Part::Param(scalar.dtype)));
                }
                // An operand that stands twice is one node.
                Child::Node(_) if children[..i].contains(child) => {}
                Child::Node(child) => {
                    driver.resource_add(&mut need, &self.need[*child as usize]);
                    size = size.saturating_add(self.size[*child as usize]);
                }
            }
        }
        self.need[node as usize] = need;
        self.size[node as usize] = size;
        Ok(())
    }

    /// What an operation needs, whatever its operands, and how many operations it is.
    fn own_need(&mut self, op: Op, node: u32) -> Result<(Resources, u32)> {
        let node = &self.walk.nodes[node as usize];
        let first = match &node.role {
            Role::Apply(_, children) => children.first(),
            _ => None,
        };
        let first = first.map(|child| match child {
            Child::Node(child) => self.walk.nodes[*child as usize].value.dtype(),
            Child::Scalar(scalar) => scalar.dtype,
        });
        let dtype = node.value.dtype();
        let device = self.engine.device(self.device)?;
        Ok(match device.way(op, method_dtype(op, dtype, first)) {
            Way::Inlined(lowered) | Way::Expanded(lowered) => (lowered.need, lowered.operations),
            Way::Native | Way::Absent => (device.driver.resource_get(Part::Op(op, dtype)), 1),
        })
    }

    /// Where to cut below a child that has to be collapsed, as the way down to it: at the child,
    /// or, when a node shortly below looks like the last cut, there. Then the pieces of a loop
    /// that was recorded turn by turn begin and end at the same place of its body, and are one
    /// program.
    fn path_to_cut(&self, child: u32) -> Vec<u32> {
        /// Operations between two looks that a loop's body may have.
        const BODY: usize = 64;
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
                    if path.len() < BODY
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

    /// What a node and the nodes two steps below do.
    fn signature(&self, node: u32) -> u64 {
        let mut hash = FxHasher::default();
        let mut level: SmallVec<[u32; 9]> = SmallVec::from_slice(&[node]);
        for _ in 0..3 {
            let mut below = SmallVec::new();
            for node in level {
                match &self.walk.nodes[node as usize].role {
                    Role::Leaf | Role::Table => 0u32.hash(&mut hash),
                    Role::Index(_) => 1u32.hash(&mut hash),
                    Role::Apply(op, children) => {
                        (2u32, *op, children.len()).hash(&mut hash);
                        below.extend(nodes_of(children));
                    }
                }
            }
            level = below;
        }
        hash.finish()
    }

    /// Whether the piece below a node fits: by its bound, or exactly; an exact need replaces the
    /// bound.
    fn fits(&mut self, node: u32) -> Result<bool> {
        let dtype = self.walk.nodes[node as usize].value.dtype();
        let driver = &self.engine.device(self.device)?.driver;
        let dest = driver.resource_get(Part::Dest(dtype));
        let mut total = self.need[node as usize];
        driver.resource_add(&mut total, &dest);
        if driver.resource_check(&total) {
            return Ok(true);
        }
        let program = self.kernel(node)?.program;
        let driver = &mut self.engine.device(self.device)?.driver;
        let check = driver.check_ir(&program)?;
        if check.fits {
            let mut exact = check.resources;
            driver.resource_sub(&mut exact, &dest);
            self.need[node as usize] = exact;
        }
        Ok(check.fits)
    }

    /// The map kernel of the piece below a node, with a contiguous destination.
    fn kernel(&mut self, node: u32) -> Result<Kernel> {
        let dest = crate::memory::access::access(0, &contiguous_strides(&self.walk.space));
        let target = Target { form: Form::Map, dests: &[dest] };
        let device = self.engine.device(self.device)?;
        Ok(emit::build(
            device,
            &self.walk,
            &[Child::Node(node)],
            &self.collapsed,
            &self.size,
            &mut self.marks,
            &target,
        ))
    }

    /// Evaluates the piece below a node into a block; costly nodes in it that other pieces need too
    /// go first.
    pub fn collapse(&mut self, node: u32) -> Result<Flow> {
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
            if let Flow::Needs(needs) = self.evaluate_piece(top)? {
                return Ok(Flow::Needs(needs));
            }
            stack.pop();
        }
        Ok(Flow::Done)
    }

    /// Launches the piece below a node into its value's tile, and counts it as a leaf from then on.
    fn evaluate_piece(&mut self, node: u32) -> Result<Flow> {
        let value = self.walk.nodes[node as usize].value.clone();
        let Some(tile) = self.own_tile(node)? else {
            let access = &self.walk.nodes[node as usize].access;
            let reach = crate::memory::access::reach(access, &self.walk.space);
            return Ok(Flow::Needs(vec![(value, reach)]));
        };
        self.engine.device(self.device)?.tracer.event(|| Event::Cut(subject(&value)));
        let dtype = value.dtype();
        let flow =
            self.launch(&[Child::Node(node)], &[Destination::Tile { value, tile }], Form::Map)?;
        if let Flow::Done = flow {
            let driver = &self.engine.device(self.device)?.driver;
            self.need[node as usize] = driver.resource_get(Part::Operand(dtype));
            self.collapsed[node as usize] = true;
            self.size[node as usize] = 0;
            self.release_below(node)?;
        }
        Ok(flow)
    }

    /// Lets go of everything when the roots are in their destinations.
    pub fn release_roots(&mut self) -> Result<()> {
        let roots = self.walk.roots.clone();
        nodes_of(&roots).try_for_each(|root| self.release_below(root))
    }

    /// Lets go of the values below a node that is in a block now, as far as nothing else of the walk
    /// needs them. A chain that is cut into many pieces takes the memory of two of them.
    fn release_below(&mut self, node: u32) -> Result<()> {
        let mut done = vec![node];
        while let Some(node) = done.pop() {
            let Role::Apply(_, children) = self.walk.nodes[node as usize].role.clone() else {
                continue;
            };
            for child in nodes_of(&children) {
                let uses = &mut self.uses[child as usize];
                *uses = uses.saturating_sub(1);
                if *uses > 0 {
                    continue;
                }
                self.release(child)?;
                // What a collapsed node needed was let go when it was collapsed.
                if !self.is_leaf(child) {
                    done.push(child);
                }
            }
        }
        Ok(())
    }

    /// Lets go of one value. When the rest of it is still pending, and nobody outside the walk holds
    /// it, this tile was computed for this evaluation only, and its block goes at once.
    fn release(&mut self, node: u32) -> Result<()> {
        let node_of_walk = &mut self.walk.nodes[node as usize];
        let value = std::mem::replace(&mut node_of_walk.value, self.nothing.clone());
        let inside = 1 + self.parents[node as usize].len();
        if self.collapsed[node as usize]
            && !value.is_computed()
            && Arc::strong_count(&value.0) <= inside
        {
            let at = node_of_walk.access.offset.max(0) as usize;
            let device = self.engine.device(self.device)?;
            let tile =
                device.tiling(value.shape()).tile(device.tiling(value.shape()).number_at(at));
            if !value.state().on_host.covers(tile.range.clone()) {
                device.forget(&(value.id(), cache::Part::Tile(tile.number)));
                value.mark_lost(tile.range);
            }
        }
        Ok(())
    }

    /// A node in the piece below `root` that another piece needs too and that is costly to compute
    /// again: the last one in the order of emission.
    fn shared_below(&mut self, root: u32) -> Option<u32> {
        let order = self.order_below(root);
        order.iter().rev().copied().find(|n| {
            *n != root
                && !self.is_leaf(*n)
                && self.size[*n as usize] >= RECOMPUTE
                && self.parents[*n as usize].iter().any(|p| !self.marks.has(*p))
        })
    }

    /// Where a refused piece is cut: the last node in the order of emission after which nothing but
    /// its own value is still needed (the article's waypoint), or else the largest child.
    pub fn waypoint(&mut self, root: u32) -> Option<u32> {
        let order = self.order_below(root);
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

    /// The values that the piece below `roots` computes.
    pub fn values_below(&mut self, roots: &[Child]) -> Vec<ValueId> {
        let (collapsed, size) = (&self.collapsed, &self.size);
        let order = emission_order(&self.walk, roots, collapsed, size, &mut self.marks);
        let inner = order.into_iter().filter(|node| !self.is_leaf(*node));
        inner.map(|node| self.walk.nodes[node as usize].value.id()).collect()
    }

    /// The piece below a node in the order of emission; afterwards `marks` holds its nodes.
    fn order_below(&mut self, root: u32) -> Vec<u32> {
        let root = [Child::Node(root)];
        emission_order(&self.walk, &root, &self.collapsed, &self.size, &mut self.marks)
    }

    pub fn is_leaf(&self, node: u32) -> bool {
        let role = &self.walk.nodes[node as usize].role;
        self.collapsed[node as usize] || matches!(role, Role::Leaf | Role::Table)
    }

    /// What a node computes, for messages.
    pub fn describe(&self, node: u32) -> String {
        let node = &self.walk.nodes[node as usize];
        let name = match &node.role {
            Role::Leaf | Role::Table => "load",
            Role::Index(_) => "index",
            Role::Apply(op, _) => op.info().name,
        };
        format!("{name} of {}", node.value.dtype())
    }
}
