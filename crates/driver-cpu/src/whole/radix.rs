//! Sorting unsigned integers digit by digit.
//!
//! Owns [`sort`] and [`Key`]. Invariant: keys that are equal in the digits that count stay in their
//! order.
//!
//! Not here: which elements the keys stand for (`sort.rs`).

use std::ops::Range;

/// Bits of a digit: as many places are written to at once.
const DIGIT: u32 = 11;
/// The fewest keys that are sorted so; fewer are faster compared.
const ENOUGH: usize = 1500;

/// An unsigned integer.
pub trait Key: Copy + Ord + Default + Send + Sync {
    /// The digit from this bit on.
    fn digit(self, from: u32) -> usize;
}

macro_rules! keys {
    ($($t:ident)*) => { $(
        impl Key for $t {
            #[inline(always)]
            fn digit(self, from: u32) -> usize {
                (self >> from) as usize & ((1 << DIGIT) - 1)
            }
        }
    )* };
}
keys!(u8 u16 u32 u64 u128);

/// Sorts keys by the bits in the range, which are all that differ but for bits below, in which equal
/// keys rise.
pub fn sort<K: Key>(keys: &mut Vec<K>, bits: Range<u32>) {
    if keys.len() < ENOUGH {
        return keys.sort_unstable();
    }
    let digits: Vec<u32> = bits.step_by(DIGIT as usize).collect();
    let mut counts = vec![[0u32; 1 << DIGIT]; digits.len()];
    for key in keys.iter() {
        for (from, counts) in digits.iter().zip(&mut counts) {
            counts[key.digit(*from)] += 1;
        }
    }
    let mut spare = vec![K::default(); keys.len()];
    for (from, counts) in digits.into_iter().zip(&mut counts) {
        // A digit that all have in common orders nothing.
        if counts[keys[0].digit(from)] as usize == keys.len() {
            continue;
        }
        let mut at = 0;
        for count in counts.iter_mut() {
            at += std::mem::replace(count, at);
        }
        for key in keys.iter() {
            let place = &mut counts[key.digit(from)];
            // SAFETY: the counts are those of the same digits, so places are below the length.
            unsafe { *spare.get_unchecked_mut(*place as usize) = *key };
            *place += 1;
        }
        std::mem::swap(keys, &mut spare);
    }
}
