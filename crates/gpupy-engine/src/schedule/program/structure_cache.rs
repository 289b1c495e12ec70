//! A cache of plans by structure, with least-recently-used eviction.
//!
//! Owns [`Structure`], words that are compared in full, and [`StructureCache`]. Invariant: entries take a bounded
//! number of words; the least recently used one is removed first.
//!
//! Not here: the structure of a walk (`program/plan_cache.rs`), of a flush (`compiled/flush_key.rs`).

use crate::thresholds::T;
use gpupy_core::driver::Access;
use gpupy_core::ir::Fingerprint;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// The key of a plan: all facts that planning depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Structure(Vec<u64>);

impl Structure {
    /// Room for so many words.
    pub fn with_room(words: usize) -> Structure {
        Structure(Vec::with_capacity(words))
    }

    pub fn push(&mut self, word: u64) {
        self.0.push(word);
    }

    pub fn extend(&mut self, words: impl IntoIterator<Item = u64>) {
        self.0.extend(words);
    }

    pub fn extents(&mut self, shape: &[usize]) {
        self.push(shape.len() as u64);
        self.extend(shape.iter().map(|extent| *extent as u64));
    }

    pub fn access(&mut self, access: &Access) {
        self.push(1 << 32 | access.strides.len() as u64);
        self.push(access.offset.cast_unsigned());
        self.extend(access.strides.iter().map(|stride| stride.cast_unsigned()));
    }

    pub fn fingerprint(&mut self, Fingerprint(bits): Fingerprint) {
        self.extend([bits as u64, (bits >> 64) as u64]);
    }

    /// Adds positions in memory.
    pub fn layout(&mut self, offset: isize, strides: &[isize]) {
        self.push(1 << 32 | strides.len() as u64);
        self.push(offset.cast_unsigned() as u64);
        self.extend(strides.iter().map(|stride| stride.cast_unsigned() as u64));
    }
}

/// The size of a plan, besides its structure.
pub(crate) trait Weighed {
    /// Words of 8 bytes, roughly.
    fn words(&self) -> usize;
}

/// A cache of plans, the most recently used ones.
pub(crate) struct StructureCache<T> {
    known: LruCache<Structure, Arc<T>, FxBuildHasher>,
    words: usize,
}

impl<T> Default for StructureCache<T> {
    fn default() -> StructureCache<T> {
        StructureCache { known: LruCache::unbounded_with_hasher(FxBuildHasher), words: 0 }
    }
}

impl<T: Weighed> StructureCache<T> {
    /// The plan for this structure.
    pub fn find(&mut self, structure: &Structure) -> Option<Arc<T>> {
        self.known.get(structure).cloned()
    }

    /// Forgets the plan for a structure.
    pub fn remove(&mut self, structure: &Structure) {
        if let Some(planned) = self.known.pop(structure) {
            self.words -= words(structure, &*planned);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.known.clear();
        self.words = 0;
    }

    /// Keeps a plan, and removes the least recently used ones to make room; false where it is larger than all of it.
    pub fn insert(&mut self, structure: Structure, planned: Arc<T>) -> bool {
        let more = words(&structure, &*planned);
        if more > T.kept_words {
            return false;
        }
        while self.words + more > T.kept_words
            && let Some((structure, planned)) = self.known.pop_lru()
        {
            self.words -= words(&structure, &*planned);
        }
        self.words += more;
        if let Some((structure, old)) = self.known.push(structure, planned) {
            self.words -= words(&structure, &*old);
        }
        true
    }
}

fn words<T: Weighed>(structure: &Structure, planned: &T) -> usize {
    structure.0.len() + planned.words()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct CachedPlan;

    impl Weighed for CachedPlan {
        fn words(&self) -> usize {
            100
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut kept = StructureCache::default();
        for number in 0..100_000 {
            kept.insert(Structure(vec![number; 40]), Arc::new(CachedPlan));
            assert!(kept.words <= T.kept_words);
            assert!(kept.known.len() * 140 <= T.kept_words);
            // A structure that comes again and again stays.
            assert!(kept.find(&Structure(vec![0; 40])).is_some());
            assert!(kept.find(&Structure(vec![number; 40])).is_some());
        }
        kept.remove(&Structure(vec![0; 40]));
        assert!(kept.find(&Structure(vec![0; 40])).is_none());
    }
}
