//! Room: the memory that the operands of a piece of a walk take together, where a device is known to have little.
//!
//! Owns [`RoomOfPieces`]. All that a kernel reads and writes is on the device at once. A walk that reads more than once
//! found no room there is cut into pieces that read less, as one that needs more registers than there are; what it
//! stores on the way may leave the device between them. Invariant: a piece of one operation is a piece whatever it
//! reads, as nothing but smaller tiles helps there.
//!
//! Not here: what is known of a device's room (`blocks/cache/shortage.rs`), the driver's other limits (`need.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::{Value, ValueId};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::walk::{Child, FusionWalk, Role, WalkNode, nodes_of};
use gpupy_core::shape::size_of;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The blocks that the piece below each node reads.
pub(super) struct RoomOfPieces {
    /// The bytes for which there is no room.
    room: u64,
    /// The bytes of each block.
    bytes: Vec<u64>,
    /// The blocks of each piece, in order.
    reads: Vec<SmallVec<[u32; 4]>>,
    /// The nodes whose pieces are known, operands first.
    known: Vec<u32>,
    is_known: Vec<bool>,
    /// Whether a node was stored since, which those above it read now in place of what it is computed from.
    is_stale: bool,
}

impl RoomOfPieces {
    /// Those of a walk on a device; `None` where nothing is known of its room.
    pub fn of(device: &OpenDevice, walk: &FusionWalk) -> Option<RoomOfPieces> {
        let room = device.lacked()?;
        let (mut bytes, mut leaves) = (Vec::new(), Vec::new());
        let mut known: FxHashMap<(ValueId, BlockPart), u32> = FxHashMap::default();
        let mut block = |value: &Value, part: BlockPart| {
            *known.entry((value.id(), part)).or_insert_with_key(|(_, part)| {
                bytes.push(device.part_bytes(value, part));
                bytes.len() as u32 - 1
            })
        };
        let (mut loaded, mut placed) = (Vec::new(), Vec::new());
        for (number, WalkNode { value, access, role }) in (0..).zip(&walk.nodes) {
            match role {
                Role::Leaf => {
                    loaded.push(number);
                    placed.push((
                        value,
                        device.place(value, access, &walk.space, || walk.accesses_of(value)),
                    ));
                }
                Role::Table => leaves.push((number, block(value, BlockPart::Tile(0)))),
                Role::Index(_) | Role::InPieces(_) | Role::Apply(..) => {}
            }
        }
        device.share_views(&mut placed);
        let placed = placed.into_iter().map(|(value, placed)| block(value, placed.part));
        leaves.extend(loaded.into_iter().zip(placed));
        let count = walk.nodes.len();
        let (reads, is_known) = (vec![SmallVec::new(); count], vec![false; count]);
        let (known, is_stale) = (Vec::new(), false);
        let mut found = RoomOfPieces { room, bytes, reads, known, is_known, is_stale };
        leaves.into_iter().for_each(|(leaf, block)| found.read_one(leaf, block));
        Some(found)
    }

    fn read_one(&mut self, node: u32, block: u32) {
        self.reads[node as usize] = smallvec![block];
    }

    /// The piece below a node has these children, whose pieces are known.
    pub fn join(&mut self, node: u32, children: &[Child]) {
        self.reads[node as usize] = self.joined(children);
        if !std::mem::replace(&mut self.is_known[node as usize], true) {
            self.known.push(node);
        }
    }

    fn joined(&self, children: &[Child]) -> SmallVec<[u32; 4]> {
        let reads = nodes_of(children).flat_map(|child| &self.reads[child as usize]);
        let mut reads: SmallVec<[u32; 4]> = reads.copied().collect();
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// A node is stored in a block of so many bytes.
    pub fn store(&mut self, node: u32, bytes: u64) {
        let block = self.bytes.len() as u32;
        self.bytes.push(bytes);
        self.read_one(node, block);
        self.is_stale = true;
    }

    /// Finds once more what the pieces below all nodes read that are known, but stored ones.
    fn refresh(&mut self, walk: &FusionWalk, stored: &[bool]) {
        for number in 0..self.known.len() {
            let node = self.known[number] as usize;
            if let (Role::Apply(_, children), false) = (&walk.nodes[node].role, stored[node]) {
                self.reads[node] = self.joined(children);
            }
        }
        self.is_stale = false;
    }

    /// Whether there may be room for all that the piece below a node of a walk, of which these nodes are stored, reads,
    /// and for so many bytes of results.
    pub fn takes(&mut self, walk: &FusionWalk, stored: &[bool], node: u32, results: u64) -> bool {
        if self.is_stale {
            self.refresh(walk, stored);
        }
        let reads = self.reads[node as usize].iter();
        let bytes = reads.map(|block| self.bytes[*block as usize]);
        bytes.fold(results, u64::saturating_add) < self.room
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
}
