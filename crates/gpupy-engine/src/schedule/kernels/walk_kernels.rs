//! The kernels of a walk: the list of launches, one after another, that computes it into its destination.
//!
//! Owns [`WalkKernels`]: the pieces that the walk is cut into, each with its kernel. Invariants: nothing is launched or
//! stored here; all kernels are known before the first is launched; a kernel reads operands of its walk, or results
//! that an earlier kernel stores.
//!
//! Not here: which pieces there are (`partition.rs`), launches (`commands/list.rs`), flushes that come again
//! (`compiled/`).

use crate::graph::value::{Value, ValueId};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::command::Recut;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::{Partition, Possible};
use crate::schedule::kernels::release::ReleasedTiles;
use crate::schedule::program::emit;
use crate::schedule::program::kernel::{Kernel, KernelPiece, KernelTarget};
use crate::schedule::walk::{Child, FusionWalk, Role, WalkNode};
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, REDUCE_CHUNK};
use gpupy_core::shape::{contiguous_strides, size_of};
use gpupy_core::{Error, Result};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;

/// The part of a refused kernel that is tried next where its resources say nothing.
const UNKNOWN_SHARE: f64 = 0.5;
/// The largest part of a kernel that does not fit.
const ALMOST: f64 = 0.99;

/// A walk whose roots are not all given by one kernel.
pub(crate) struct RefusedWalk {
    pub walk: FusionWalk,
    /// The part of a kernel of all that a device takes, by its resources.
    share: f64,
}

impl RefusedWalk {
    /// How many of so many roots may be one kernel: fewer, and at least one.
    pub fn fewer(&self, roots: usize) -> usize {
        ((roots as f64 * self.share) as usize).clamp(1, (roots - 1).max(1))
    }
}

/// The kernels of a walk.
pub(crate) struct WalkKernels {
    pub partition: Partition,
    ends: RootDestinations,
    /// The next one last.
    ready: SmallVec<[(KernelPiece, Kernel); 1]>,
    /// How many were launched before these.
    launched: usize,
    /// The node at which the walk was cut last, by its signature.
    pub last_cut: Option<u64>,
}

/// The most kernels that may give several roots.
#[derive(Clone, Copy)]
pub(crate) enum MostKernels {
    /// So many.
    Are(usize),
    /// So many, or more where the roots share most of what they are computed from.
    OrSaving(usize),
}

impl WalkKernels {
    /// The kernels of a walk.
    ///
    /// # Errors
    /// - `Unsupported`: the driver lacks an operation of the walk.
    /// - `Refused`: one operation alone exceeds the driver's limits.
    pub fn of(
        device: &mut OpenDevice,
        walk: FusionWalk,
        ends: RootDestinations,
    ) -> Result<Possible<WalkKernels>> {
        let last_cut = device.flush.last_cut.take();
        let mut kernels = WalkKernels::none_of(walk, ends, last_cut);
        if let Err(needs) = kernels.partition.cut(device, kernels.ends.form)? {
            // One of its steps may be among these: the walk that comes to it again reads it.
            device.flush.steps.keep(&kernels.partition.walk);
            return Ok(Err(needs));
        }
        kernels.build(device);
        while let Some((number, error)) = kernels.refused(device) {
            if let Err(needs) = kernels.split(device, number, error)? {
                return Ok(Err(needs));
            }
        }
        kernels.last_cut = kernels.partition.last_cut();
        Ok(Ok(kernels))
    }

    /// The number of the first kernel that the device refused before, with its error.
    fn refused(&self, device: &mut OpenDevice) -> Option<(usize, Error)> {
        if device.refusals.is_empty() {
            return None;
        }
        let mut programs =
            self.ready.iter().rev().map(|(_, kernel)| kernel.fingerprint()).enumerate();
        programs
            .find_map(|(number, program)| Some((number, device.refusals.find(program)?.clone())))
    }

    /// The one kernel that gives all roots of a walk; the walk again, where the device does not take it, or did not
    /// before.
    pub fn of_all(
        device: &mut OpenDevice,
        walk: FusionWalk,
        ends: RootDestinations,
    ) -> std::result::Result<WalkKernels, Box<RefusedWalk>> {
        let mut kernels = WalkKernels::none_of(walk, ends, None);
        let whole = kernels.partition.as_one();
        kernels.partition.pieces.push_back(whole);
        kernels.build(device);
        let share = kernels.fitting_share(device);
        kernels.taken(device, share)
    }

    /// Kernels of which the last gives all roots of a walk that no one kernel gives, or the walk again.
    pub fn of_several(
        device: &mut OpenDevice,
        walk: FusionWalk,
        ends: RootDestinations,
        most: MostKernels,
    ) -> std::result::Result<WalkKernels, Box<RefusedWalk>> {
        let last_cut = device.flush.last_cut;
        let mut kernels = WalkKernels::none_of(walk, ends, last_cut);
        let mut cut = kernels.partition.cut(device, Form::Map);
        let is_taken = loop {
            // A root that another reads may get a kernel of its own: it is there then, and not one of the last's.
            let is_cut = matches!(cut, Ok(Ok(()))) && kernels.partition.has_all_roots();
            let count = kernels.partition.pieces.len();
            let are_few = match most {
                MostKernels::Are(most) => count <= most,
                MostKernels::OrSaving(most) => count <= most || kernels.partition.saves(device),
            };
            if !is_cut || !are_few {
                break false;
            }
            kernels.build(device);
            if kernels.fitting_share(device) >= 1.0 {
                break true;
            }
            let pieces = kernels.ready.drain(..).rev().map(|(piece, _)| piece);
            kernels.partition.pieces = pieces.collect();
            match kernels.partition.cut_shared(device) {
                Some(again) => cut = again,
                None => break false,
            }
        };
        kernels.last_cut = kernels.partition.last_cut();
        kernels.taken(device, if is_taken { 1.0 } else { UNKNOWN_SHARE })
    }

    /// These where the device takes all of them and has refused none, or else their walk.
    fn taken(
        self,
        device: &mut OpenDevice,
        share: f64,
    ) -> std::result::Result<WalkKernels, Box<RefusedWalk>> {
        if share >= 1.0 && self.refused(device).is_none() {
            Ok(self)
        } else {
            let share = if share < 1.0 { share } else { UNKNOWN_SHARE };
            Err(Box::new(RefusedWalk { walk: self.partition.walk, share }))
        }
    }

    /// How many are still to be launched.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// The part of the last kernel that the device takes, by its resources: 1 if all; the others were asked about when
    /// they were cut.
    fn fitting_share(&self, device: &mut OpenDevice) -> f64 {
        if let Some(room) = device.lacked() {
            let bytes = self.ready.iter().map(|(_, kernel)| kernel.bytes(device)).max();
            if let Some(bytes) = bytes.filter(|bytes| *bytes >= room) {
                return (room as f64 / bytes as f64).min(ALMOST);
            }
        }
        let check = self.ready.first().map(|(_, kernel)| device.driver.check_ir(&kernel.program));
        let Some(Ok(check)) = check else { return UNKNOWN_SHARE };
        if check.fits {
            return 1.0;
        }
        let limits = device.caps.resources.iter().map(|(_, limit)| f64::from(*limit));
        let shares = limits.zip(check.resources.0).map(|(limit, need)| limit / f64::from(need));
        shares.fold(1.0, f64::min).min(ALMOST)
    }

    /// The walk without kernels.
    fn none_of(walk: FusionWalk, ends: RootDestinations, last_cut: Option<u64>) -> WalkKernels {
        let partition = Partition::new(walk, last_cut);
        WalkKernels { partition, ends, ready: SmallVec::new(), launched: 0, last_cut }
    }

    /// Builds the kernels of all pieces.
    fn build(&mut self, device: &mut OpenDevice) {
        self.ready.reserve_exact(self.partition.pieces.len());
        for piece in std::mem::take(&mut self.partition.pieces) {
            let kernel = self.kernel_of(device, &piece);
            device.expect(&kernel.operands);
            self.ready.push((piece, kernel));
        }
        self.ready.reverse();
    }

    /// Builds the kernel of a piece.
    fn kernel_of(&self, device: &OpenDevice, piece: &KernelPiece) -> Kernel {
        let walk = &self.partition.walk;
        let own: SmallVec<[Child; 1]> = piece.stores.iter().copied().map(Child::Node).collect();
        let (roots, form, further) = match &own[..] {
            [] => (&walk.roots[..], self.ends.form, &self.ends.further[..]),
            own => (own, Form::Map, &[][..]),
        };
        let strides = contiguous_strides(&form.out_shape(&walk.space));
        let tile = || access::access(0, &strides);
        let places = self.ends.places.iter().map(|place| place.clone().unwrap_or_else(tile));
        let dests: SmallVec<[Access; 1]> = match own.len() {
            0 => places.collect(),
            several => smallvec![tile(); several],
        };
        emit::build(
            device,
            walk,
            roots,
            &piece.order,
            &KernelTarget { form, further, dests: &dests },
        )
    }

    /// The tiles that are stored on the way, of values that more than one kernel may read.
    pub fn stored<'k>(
        &'k self,
        device: &'k OpenDevice,
    ) -> impl Iterator<Item = (&'k Value, Tile)> + 'k {
        let nodes = self.ready.iter().flat_map(|(piece, _)| piece.stores.iter().copied());
        nodes.filter_map(|node| {
            let node = &self.partition.walk.nodes[node as usize];
            let tile = device.own_tile(&node.value, &node.access, &self.partition.walk.space)?;
            (!device.flush.fates.passes(&node.value)).then_some((&node.value, tile))
        })
    }

    /// Whether earlier steps will have computed values that the walk computes on the way.
    pub fn are_outdated(&self, device: &OpenDevice) -> bool {
        let FusionWalk { nodes, space, .. } = &self.partition.walk;
        nodes.iter().any(|WalkNode { value, access, role }| {
            matches!(role, Role::Apply(..))
                && device.flush.promised.has(value.id())
                && device.is_there(value, access::reach(access, space))
        })
    }

    /// The values that those read which are still to be launched.
    pub fn operands(&self) -> impl Iterator<Item = &Value> {
        let operands = self.ready.iter().flat_map(|(_, kernel)| &kernel.operands);
        operands.map(|(operand, _)| operand)
    }

    /// Whether one of those that are still to be launched reads a value.
    pub fn reads(&self, value: ValueId) -> bool {
        self.operands().any(|operand| operand.id() == value)
    }

    /// The one kernel of the walk, where it is one.
    pub fn sole(&self) -> Option<&Kernel> {
        match &self.ready[..] {
            [(piece, kernel)] if self.launched == 0 && piece.stores.is_empty() => Some(kernel),
            _ => None,
        }
    }

    /// The next kernel, with the piece that it computes.
    pub fn next(&mut self) -> Option<(KernelPiece, Kernel)> {
        self.ready.pop()
    }

    /// Notes that a piece is in its destination; gives the tiles that nothing else of the walk needs.
    pub fn launched(&mut self, device: &OpenDevice, piece: &KernelPiece) -> ReleasedTiles {
        self.launched += 1;
        self.last_cut = self.partition.signature_of(piece).or(self.last_cut);
        if self.partition.is_one() {
            return ReleasedTiles::new();
        }
        self.partition.release(device, piece)
    }

    /// The facts of a piece's kernel that say whether cutting the walk otherwise may help where the device fails.
    pub fn recut(&self, device: &OpenDevice, piece: &KernelPiece) -> Recut {
        let is_map = !piece.stores.is_empty() || self.ends.form == Form::Map;
        let is_small = size_of(&self.partition.walk.space) <= REDUCE_CHUNK;
        let several = piece.stores.len().max(self.ends.places.len()) > 1;
        let is_small_map = is_map && is_small;
        Recut { several, is_small_map, room: device.lacked() }
    }

    /// Cuts smaller from a kernel on that the device does not take.
    ///
    /// # Errors
    /// - `Refused` or what it was refused for: it is a single operation.
    fn split(
        &mut self,
        device: &mut OpenDevice,
        number: usize,
        error: Error,
    ) -> Result<Possible<()>> {
        let pieces = std::mem::take(&mut self.ready).into_iter().rev().map(|(piece, _)| piece);
        let mut before: VecDeque<KernelPiece> = pieces.collect();
        self.partition.pieces = before.split_off(number);
        if let Err(needs) = self.partition.split(device, self.ends.form, error)? {
            device.flush.steps.keep(&self.partition.walk);
            return Ok(Err(needs));
        }
        before.append(&mut self.partition.pieces);
        self.partition.pieces = before;
        self.build(device);
        Ok(Ok(()))
    }
}
