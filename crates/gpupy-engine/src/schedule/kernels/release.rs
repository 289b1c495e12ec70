//! Release (last use): tiles that a walk frees when one of its pieces is in a block.
//!
//! A chain that is cut into many pieces takes the memory of two of them: each operand is freed after its last use.
//!
//! Not here: which pieces there are (`partition.rs`), eviction (`blocks/cache/eviction.rs`).

use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Partition;
use crate::schedule::program::kernel::KernelPiece;
use crate::schedule::walk::{Role, WalkNode, nodes_of};
use gpupy_core::Scalar;
use smallvec::SmallVec;
use std::sync::Arc;

/// Tiles that nothing needs any more.
pub(crate) type ReleasedTiles = SmallVec<[(Value, Tile); 1]>;

impl Partition {
    /// Notes that a piece is in its destination, and gives the tiles that the rest of the walk does not need.
    pub fn release(&mut self, device: &OpenDevice, piece: &KernelPiece) -> ReleasedTiles {
        let mut gone = ReleasedTiles::new();
        let filled: SmallVec<[u32; 4]> = match &piece.stores[..] {
            [] => nodes_of(&self.walk.roots).collect(),
            stores => stores.into(),
        };
        piece.stores.iter().for_each(|node| self.stored[*node as usize] = true);
        filled.iter().for_each(|node| self.release_below(device, *node, &mut gone));
        gone
    }

    /// Lets go of the values below a node that is in a block now, as far as nothing else of the walk
    /// needs them.
    fn release_below(&mut self, device: &OpenDevice, node: u32, gone: &mut ReleasedTiles) {
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
                gone.extend(self.let_go(device, child));
                // The operands of a stored node were released when it was stored.
                if !self.stored[child as usize] {
                    done.push(child);
                }
            }
        }
    }

    /// Lets go of one value. When the rest of it is still pending, and nothing but this walk's kernel holds
    /// it, this tile was computed for this walk only, and its block is to go at once.
    fn let_go(&mut self, device: &OpenDevice, node: u32) -> Option<(Value, Tile)> {
        let node_of_walk = &mut self.walk.nodes[node as usize];
        let first = node_of_walk.access.offset.max(0) as usize;
        let nothing = self.nothing.get_or_insert_with(|| Value::constant(&[], Scalar::bool(false)));
        let value = std::mem::replace(&mut node_of_walk.value, nothing.clone());
        // It may be read at another access, too, which is another node.
        let is_read = |other: &WalkNode| Arc::ptr_eq(&other.value.0, &value.0);
        if self.stored[node as usize]
            && !value.is_computed()
            && device.flush.fates.passes(&value)
            && !self.walk.nodes.iter().any(is_read)
        {
            let tiling = device.tiling_of(&value);
            let tile = tiling.tile(tiling.number_at(first));
            return Some((value, tile));
        }
        None
    }
}
