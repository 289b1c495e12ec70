//! Room: the memory that the operands of a piece of a walk take together, where a device is known to have little.
//!
//! Owns [`RoomOfPieces`]. All that a kernel reads and writes is on the device at once. A walk that reads more than once
//! found no room there is cut into pieces that read less, as one that needs more registers than there are; what it
//! stores on the way may leave the device between them. Invariant: a piece of one operation is a piece whatever it
//! reads, as nothing but smaller tiles helps there.
//!
//! Not here: what is known of a device's room (`blocks/cache/shortage.rs`), the driver's other limits (`need.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::ValueId;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Partition;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::walk::{Child, FusionWalk, Role};
use gpupy_core::shape::size_of;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The blocks that the piece below each node reads.
pub(super) struct RoomOfPieces {
    /// The bytes for which there is no room.
    room: u64,
    /// The bytes of each block.
    bytes: Vec<u64>,
    /// The block of each leaf.
    block_of: FxHashMap<u32, u32>,
    /// The blocks of each piece, in order.
    reads: Vec<SmallVec<[u32; 4]>>,
}

impl RoomOfPieces {
    /// Those of a walk on a device; `None` where nothing is known of its room.
    pub fn of(device: &OpenDevice, walk: &FusionWalk) -> Option<RoomOfPieces> {
        let room = device.lacked()?;
        let mut leaves: Vec<u32> = Vec::new();
        let mut placed = Vec::new();
        let mut bytes = Vec::new();
        let mut block_of = FxHashMap::default();
        let mut known: FxHashMap<(ValueId, BlockPart), u32> = FxHashMap::default();
        let mut block = |value, part: BlockPart, len: u64| {
            *known.entry((value, part)).or_insert_with(|| {
                bytes.push(len);
                bytes.len() as u32 - 1
            })
        };
        for (number, node) in (0..).zip(&walk.nodes) {
            match node.role {
                Role::Leaf => {
                    leaves.push(number);
                    placed
                        .push((&node.value, device.place(&node.value, &node.access, &walk.space)));
                }
                Role::Table => {
                    let len = device.part_bytes(&node.value, &BlockPart::Tile(0));
                    block_of.insert(number, block(node.value.id(), BlockPart::Tile(0), len));
                }
                Role::Index(_) | Role::Apply(..) => {}
            }
        }
        device.share_views(&mut placed);
        for (number, (value, placed)) in leaves.into_iter().zip(placed) {
            let len = device.part_bytes(value, &placed.part);
            block_of.insert(number, block(value.id(), placed.part, len));
        }
        let reads = vec![SmallVec::new(); walk.nodes.len()];
        Some(RoomOfPieces { room, bytes, block_of, reads })
    }

    /// A leaf reads one block.
    pub fn leaf(&mut self, node: u32) {
        let block = self.block_of.get(&node).copied();
        self.reads[node as usize] = block.into_iter().collect();
    }

    /// The piece below a node has these children.
    pub fn join(&mut self, node: u32, children: impl Iterator<Item = u32>) {
        let mut reads: SmallVec<[u32; 4]> =
            children.flat_map(|child| self.reads[child as usize].iter().copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        self.reads[node as usize] = reads;
    }

    /// A node is stored in a block of so many bytes.
    pub fn store(&mut self, node: u32, bytes: u64) {
        let block = self.bytes.len() as u32;
        self.bytes.push(bytes);
        self.block_of.insert(node, block);
        self.leaf(node);
    }

    /// Whether there may be room for all that the piece below a node reads, and for so many bytes of results.
    fn takes(&self, node: u32, results: u64) -> bool {
        let reads = self.reads[node as usize].iter();
        let bytes = reads.map(|block| self.bytes[*block as usize]);
        bytes.fold(results, u64::saturating_add) < self.room
    }
}

impl Partition {
    /// Finds what each leaf reads, where it matters.
    pub(super) fn note_room(&mut self, device: &OpenDevice) {
        if self.room.is_none() {
            self.room = RoomOfPieces::of(device, &self.walk);
        }
    }

    /// Whether there may be room for the piece below a node, with so many results of its dtype.
    pub(super) fn has_room(&self, node: u32, results: usize) -> bool {
        let size = self.walk.nodes[node as usize].value.dtype().size();
        let takes = |room: &RoomOfPieces| room.takes(node, (results * size) as u64);
        self.room.as_ref().is_none_or(takes)
    }

    /// Whether there may be room for a reduction to so many results and its map.
    pub(super) fn has_room_reduced(&self, results: usize) -> bool {
        match self.walk.roots[..] {
            [Child::Node(map)] => self.has_room(map, results),
            _ => true,
        }
    }

    /// The bytes of a node that is stored.
    pub(super) fn stored_bytes(&self, node: u32) -> u64 {
        let size = self.walk.nodes[node as usize].value.dtype().size();
        (size_of(&self.walk.space) * size) as u64
    }
}

impl Kernel {
    /// The bytes of the blocks that it reads, and of the elements that it writes.
    pub fn bytes(&self, device: &OpenDevice) -> u64 {
        let read = self.operands.iter().map(|(value, part)| device.part_bytes(value, part));
        let out = size_of(&self.program.form.out_shape(&self.space));
        let written = self.program.dests.iter().map(|dtype| (out * dtype.size()) as u64);
        read.chain(written).fold(0, u64::saturating_add)
    }

    /// Whether a device is known to have no room for it.
    pub fn lacks_room(&self, device: &OpenDevice) -> bool {
        device.lacked().is_some_and(|room| self.bytes(device) >= room)
    }
}
