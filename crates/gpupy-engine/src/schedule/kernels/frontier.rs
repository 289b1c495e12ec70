//! Frontiers: the values that live where a walk is cut across all of its chains at once.
//!
//! Owns the cut after which few values live. Where two chains share what each of their turns computes (the weights of
//! a filter, of which one sum is of the weights and another of weighted elements), a piece of one chain would leave
//! everything shared to the other, each value stored. Here the nodes so far, in the order of recording, become one
//! piece up to a node behind which few of them are read, and it stores these together. Invariant: what a piece stores
//! is read by nodes behind it; what is cheap is computed again (`T.recompute`).
//!
//! Not here: pieces that store one node (`partition.rs`).

use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::{Frontiers, Partition};
use crate::schedule::program::kernel::{Emitted, KernelPiece, emission_order};
use crate::schedule::walk::{Child, Role, nodes_of};
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Form;
use smallvec::SmallVec;

/// The nodes that live at a frontier.
type Live = SmallVec<[u32; 8]>;

/// A frontier: the nodes before this place are the piece, which stores the live ones.
struct Frontier {
    end: usize,
    live: Live,
}

impl Frontiers {
    /// None in a walk of so many nodes.
    pub fn of(nodes: usize) -> Frontiers {
        Frontiers { places: vec![u32::MAX; nodes], is_open: vec![false; nodes], end: 0, next: 0 }
    }
}

impl Partition {
    /// Cuts all nodes so far across, where the last one does not fit because of the driver's limits and its largest
    /// operand shares costly nodes with others; false, with nothing done, where there is no such place.
    pub(super) fn cut_across(
        &mut self,
        device: &mut OpenDevice,
        frontiers: &mut Frontiers,
        so_far: &[u32],
    ) -> Result<bool> {
        let (Some((&node, before)), None) = (so_far.split_last(), &self.room) else {
            return Ok(false);
        };
        let is_possible = !self.is_one_each && device.caps.max_dests > 1;
        let shares = |cut: &mut Partition| {
            cut.largest_below(node).is_some_and(|child| cut.shared_below(child).is_some())
        };
        if !is_possible || before.len() < frontiers.next || !shares(self) {
            return Ok(false);
        }
        self.look_back(frontiers, so_far);
        let mut most = before.len();
        while let Some(found) = self.frontier(device, frontiers, &before[..most]) {
            let roots: SmallVec<[Child; 8]> = found.live.iter().copied().map(Child::Node).collect();
            let (collapsed, size) = (&self.collapsed, &self.size);
            let mut order = emission_order(&self.walk, &roots, collapsed, size, &mut self.marks);
            // One chain after another would keep all terms that they share until the last of them has read them.
            order.sort_by_key(|emitted| frontiers.places[emitted.node as usize]);
            let kernel = self.contiguous(device, &roots, &order, Form::Map);
            if device.driver.check_ir(&kernel.program)?.fits {
                self.push(device, KernelPiece { stores: SmallVec::from_slice(&found.live), order });
                frontiers.end = found.end;
                so_far[found.end..].iter().for_each(|node| self.add_up(device, *node));
                return Ok(true);
            }
            // What is computed again was not counted.
            most = found.end - 1 - (found.end - frontiers.end) / 8;
        }
        frontiers.next = 2 * before.len();
        Ok(false)
    }

    /// Whether the pieces compute, and store, less than each root by itself would.
    pub(super) fn saves(&mut self, device: &OpenDevice) -> bool {
        let operations = |node: u32| match &self.walk.nodes[node as usize].role {
            Role::Apply(applied, _) => u64::from(self.own_need(device, applied, node).1),
            _ => 0,
        };
        let own: Vec<u64> = (0..self.walk.nodes.len() as u32).map(operations).collect();
        let computed = |order: &[Emitted]| -> u64 {
            let computed = order.iter().filter(|emitted| !emitted.is_loaded);
            computed.map(|emitted| own[emitted.node as usize]).sum()
        };
        let stores = |piece: &KernelPiece| u64::from(T.recompute) * piece.stores.len() as u64;
        let pieces = self.pieces.iter().map(|piece| computed(&piece.order) + stores(piece));
        let together: u64 = pieces.sum();
        let whole = vec![false; own.len()];
        let apart = self.walk.roots.iter().map(|root| {
            let (root, marks) = (std::slice::from_ref(root), &mut self.marks);
            computed(&emission_order(&self.walk, root, &whole, &self.size, marks))
        });
        together < apart.sum()
    }

    /// The frontier of the fewest bytes that leaves a piece of at least half of what fits of these nodes; the last one
    /// of those alike.
    fn frontier(
        &self,
        device: &OpenDevice,
        frontiers: &Frontiers,
        nodes: &[u32],
    ) -> Option<Frontier> {
        let driver = &device.driver;
        let mut need = Resources::default();
        let mut live = Live::new();
        let mut found: Vec<(usize, u64, Live)> = Vec::new();
        for (place, &node) in nodes.iter().enumerate().skip(frontiers.end) {
            if !frontiers.is_open[node as usize] {
                continue;
            }
            let is_read = self.collapsed[node as usize];
            let needs = if is_read { &self.need } else { &self.own };
            driver.resource_add(&mut need, &needs[node as usize]);
            if !driver.resource_check(&need) {
                break;
            }
            live.retain(|own| self.is_read_behind(frontiers, *own, place));
            let is_costly = self.size[node as usize] >= T.recompute;
            if is_costly && !is_read && self.is_read_behind(frontiers, node, place) {
                live.push(node);
            }
            let mut all = need;
            for own in &live {
                let dtype = self.walk.nodes[*own as usize].value.dtype();
                driver.resource_add(&mut all, &driver.resource_get(Part::Dest(dtype)));
            }
            let fits = live.len() <= device.caps.max_dests && driver.resource_check(&all);
            if fits && !live.is_empty() && live.iter().all(|own| self.may_be_stored(device, *own)) {
                let bytes = live.iter().map(|own| self.stored_bytes(*own)).sum();
                found.push((place + 1, bytes, live.clone()));
            }
        }
        let last = found.last()?.0;
        let half = frontiers.end + (last - frontiers.end) / 2;
        let (end, _, live) = found
            .into_iter()
            .filter(|(end, ..)| *end > half)
            .min_by_key(|(end, bytes, _)| (*bytes, std::cmp::Reverse(*end)))?;
        Some(Frontier { end, live })
    }

    /// Finds the places of the nodes so far, and which of them are open.
    fn look_back(&self, frontiers: &mut Frontiers, so_far: &[u32]) {
        for (place, node) in so_far.iter().enumerate().skip(frontiers.end) {
            frontiers.places[*node as usize] = place as u32;
        }
        for (place, &node) in so_far.iter().enumerate().skip(frontiers.end).rev() {
            let is_root = nodes_of(&self.walk.roots).any(|root| root == node);
            let is_open = is_root || self.is_read_behind(frontiers, node, place);
            frontiers.is_open[node as usize] = is_open;
        }
    }

    /// Whether a node behind this place, which pieces to come compute, reads a node.
    fn is_read_behind(&self, frontiers: &Frontiers, node: u32, place: usize) -> bool {
        let computes = |reader: usize| {
            let is_open = frontiers.places[reader] == u32::MAX || frontiers.is_open[reader];
            is_open && !self.collapsed[reader]
        };
        let is_behind = |reader: &u32| {
            let reader = *reader as usize;
            frontiers.places[reader] as usize > place && computes(reader)
        };
        self.parents[node as usize].iter().any(is_behind)
    }

    /// Whether a piece may store a node beside others: a root goes where the walk does.
    fn may_be_stored(&self, device: &OpenDevice, node: u32) -> bool {
        let own = &self.walk.nodes[node as usize];
        matches!(own.role, Role::Apply(..))
            && device.caps.dtypes.contains(&own.value.dtype())
            && device.own_tile(&own.value, &own.access, &self.walk.space).is_some()
            && !nodes_of(&self.walk.roots).any(|root| root == node)
    }
}
