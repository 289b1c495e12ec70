//! Thread-local free lists: small host memory that a thread just freed, for its next allocations.
//!
//! Owns [`take`] and [`put`]. Programs on small arrays allocate and free buffers of few sizes in turns. Neither the
//! allocator nor a pool that all threads share is as fast. Invariants: a list keeps memory of one size; a thread keeps
//! no more than [`FREE_LISTS`] times [`DEEP`] pieces of at most [`LARGEST`] bytes, and none when it ends.
//!
//! Not here: the pool of all threads, and the sizes that there are (`host_buffer.rs`).

use crate::memory::owned::Owned;
use std::cell::RefCell;

/// Sizes from here on are eight to a power of two; those below are multiples of 16.
const COARSE_FROM: usize = 1 << 10;
/// How many free lists a thread has: one for each size (`host_buffer.rs`).
const FREE_LISTS: usize = place(LARGEST) + 1;
/// How many pieces a free list has room for.
const DEEP: usize = 4;
/// Bytes of the largest piece.
const LARGEST: usize = 16 << 10;

/// Pieces of one size, and how many there are.
struct FreeList {
    pieces: [Option<Owned>; DEEP],
    count: usize,
}

thread_local! {
    static OWN: RefCell<[FreeList; FREE_LISTS]> = const {
        RefCell::new([const { FreeList { pieces: [const { None }; DEEP], count: 0 } }; FREE_LISTS])
    };
}

/// Memory of just this capacity, if this thread has some to hand.
#[inline]
pub(crate) fn take(capacity: usize) -> Option<Owned> {
    if capacity > LARGEST {
        return None;
    }
    // A thread that is ending has none.
    let found = OWN.try_with(|own| {
        let free_list = &mut own.borrow_mut()[place(capacity)];
        let last = free_list.count.checked_sub(1)?;
        let piece = free_list.pieces[last].take_if(|piece| piece.capacity() == capacity)?;
        free_list.count = last;
        Some(piece)
    });
    found.ok().flatten()
}

/// Keeps memory for this thread; returns memory that has to go elsewhere.
#[inline]
pub(crate) fn put(owned: Owned) -> Option<Owned> {
    let capacity = owned.capacity();
    if capacity > LARGEST {
        return Some(owned);
    }
    let mut given = Some(owned);
    let back = OWN.try_with(|own| {
        let free_list = &mut own.borrow_mut()[place(capacity)];
        if let Some(room) = free_list.pieces.get_mut(free_list.count) {
            *room = given.take();
            free_list.count += 1;
        }
    });
    // On a thread that is ending nothing was kept.
    let _ = back;
    given
}

/// Lets go of all that this thread keeps.
pub(crate) fn clear() {
    let kept = OWN.try_with(|own| {
        own.borrow_mut().iter_mut().for_each(|free_list| {
            free_list.pieces = [const { None }; DEEP];
            free_list.count = 0;
        });
    });
    // A thread that is ending keeps nothing.
    let _ = kept;
}

/// The free list of a size.
const fn place(capacity: usize) -> usize {
    if capacity < COARSE_FROM {
        return capacity / 16;
    }
    let octave = capacity.ilog2();
    let below = (octave - COARSE_FROM.ilog2()) as usize;
    COARSE_FROM / 16 + 8 * below + (capacity >> (octave - 3) & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::host_buffer::HostBuffer;
    use gpupy_core::Result;

    #[test]
    fn a_dropped_small_buffer_is_what_the_thread_gets_next() -> Result<()> {
        let first = HostBuffer::new(100)?;
        let address = first.as_ptr();
        drop(first);
        assert_eq!(HostBuffer::new(110)?.as_ptr(), address);
        Ok(())
    }

    #[test]
    fn a_free_list_keeps_few_pieces_until_it_is_cleared() -> Result<()> {
        clear();
        let count = |capacity: usize| std::iter::from_fn(|| take(capacity)).count();
        drop((0..100).map(|_| HostBuffer::new(256)).collect::<Result<Vec<_>>>()?);
        assert_eq!(count(256), DEEP);
        clear();
        drop(HostBuffer::new(256)?);
        clear();
        assert_eq!(count(256), 0);
        Ok(())
    }
}
