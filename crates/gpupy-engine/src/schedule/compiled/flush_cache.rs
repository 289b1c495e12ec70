//! The one cache of plans: compiled flushes by structure, with least-recently-used eviction.
//!
//! Owns [`Structure`], words that are compared in full, and [`FlushCache`]. Invariant: entries take a bounded number of
//! words; the least recently used one is removed first.
//!
//! Not here: the structure of a flush (`flush_key.rs`).

use super::compiled_flush::CompiledFlush;
use crate::thresholds::T;
use gpupy_core::ir::Fingerprint;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// The key of a flush: all facts that compiling it depends on.
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

/// The flushes that were run, the most recent ones.
pub(crate) struct FlushCache {
    known: LruCache<Structure, Arc<CompiledFlush>, FxBuildHasher>,
    words: usize,
}

impl Default for FlushCache {
    fn default() -> FlushCache {
        FlushCache { known: LruCache::unbounded_with_hasher(FxBuildHasher), words: 0 }
    }
}

impl FlushCache {
    /// The flush of this structure.
    pub fn find(&mut self, structure: &Structure) -> Option<Arc<CompiledFlush>> {
        self.known.get(structure).cloned()
    }

    /// Forgets the flush of a structure.
    pub fn remove(&mut self, structure: &Structure) {
        if let Some(flush) = self.known.pop(structure) {
            self.words -= words(structure, &flush);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.known.clear();
        self.words = 0;
    }

    /// Keeps a flush, and removes the least recently used ones to make room; false where it is larger than all of it.
    pub fn insert(&mut self, structure: Structure, flush: Arc<CompiledFlush>) -> bool {
        let more = words(&structure, &flush);
        if more > T.kept_words {
            return false;
        }
        while self.words + more > T.kept_words
            && let Some((structure, flush)) = self.known.pop_lru()
        {
            self.words -= words(&structure, &flush);
        }
        self.words += more;
        if let Some((structure, old)) = self.known.push(structure, flush) {
            self.words -= words(&structure, &old);
        }
        true
    }
}

fn words(structure: &Structure, flush: &CompiledFlush) -> usize {
    structure.0.len() + flush.words()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut kept = FlushCache::default();
        for number in 0..400_000 {
            kept.insert(Structure(vec![number; 40]), Arc::new(CompiledFlush::default()));
            assert!(kept.words <= T.kept_words);
            assert!(kept.known.len() * 40 <= T.kept_words);
            // A structure that comes again and again stays.
            assert!(kept.find(&Structure(vec![0; 40])).is_some());
            assert!(kept.find(&Structure(vec![number; 40])).is_some());
        }
        kept.remove(&Structure(vec![0; 40]));
        assert!(kept.find(&Structure(vec![0; 40])).is_none());
    }
}
