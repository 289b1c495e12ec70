//! Radix sort of unsigned integers.
//!
//! Owns [`sort`] and [`RadixKey`]. Many keys are partitioned by their highest digit that differs, into parts
//! that fit in the cache and that threads share. Fewer keys are sorted digit by digit if they have few digits,
//! otherwise by vectors if the processor supports it, and otherwise by comparison.
//!
//! Not here: the meaning of the keys (`sort.rs`), vectors (`vector_sort.rs`).

use super::vector_sort::VectorSort;
use crate::thresholds::T;
use bytemuck::Zeroable;
use gpupy_core::{Result, memory};
use std::ops::Range;

/// Bits of a digit.
const DIGIT: u32 = 8;

/// An unsigned integer.
pub trait RadixKey: VectorSort + Copy + Ord + Default + Zeroable + Send + Sync {
    /// The digit from this bit on.
    fn digit(self, from: u32) -> usize;
    /// The bits in which two keys differ.
    fn difference(self, other: Self) -> Self;
    /// The bits of either.
    fn either(self, other: Self) -> Self;
    /// The number of bits up to the highest that is set.
    fn length(self) -> u32;
}

macro_rules! keys {
    ($($t:ident)*) => { $(
        impl RadixKey for $t {
            #[inline(always)]
            fn digit(self, from: u32) -> usize {
                (self >> from) as usize & ((1 << DIGIT) - 1)
            }
            #[inline(always)]
            fn difference(self, other: $t) -> $t {
                self ^ other
            }
            #[inline(always)]
            fn either(self, other: $t) -> $t {
                self | other
            }
            #[inline(always)]
            fn length(self) -> u32 {
                $t::BITS - self.leading_zeros()
            }
        }
    )* };
}
keys!(u8 u16 u32 u64 u128);

/// Runs items, which take so many nanoseconds together, possibly on several threads.
pub type ShareItems<'a> =
    &'a mut dyn FnMut(usize, u64, &(dyn Fn(Range<usize>) + Sync)) -> Result<()>;

/// Sorts keys. Bits below `low` are already in ascending order among keys that are equal above.
///
/// # Errors
/// - `OutOfMemory`: there is no memory for as many spare keys. The keys are then in an unspecified order.
pub fn sort<K: RadixKey>(keys: &mut [K], low: u32, share: ShareItems<'_>) -> Result<()> {
    if keys.len() < T.vector_keys {
        keys.sort_unstable();
        return Ok(());
    }
    match keys.is_sorted() {
        true => Ok(()),
        false => {
            sort_by(keys, &mut memory::zeroed(keys.len())?, low, T.partitioned_by_threads, share)
        }
    }
}

/// Sorts keys like [`sort`], given spare memory; fewer than `for_one` keys may be sorted by vectors.
fn sort_by<K: RadixKey>(
    keys: &mut [K],
    spare: &mut [K],
    low: u32,
    for_one: usize,
    share: ShareItems<'_>,
) -> Result<()> {
    if keys.len() < T.vector_keys {
        keys.sort_unstable();
        return Ok(());
    }
    let differ = |differ: K, key: &K| differ.either(keys[0].difference(*key));
    let high = keys.iter().fold(K::default(), differ).length();
    if high <= low {
        return Ok(());
    }
    let vectors = K::is_possible() && (high - low).div_ceil(DIGIT) > T.digits_beside_vectors;
    if keys.len() < if vectors { for_one } else { T.partitioned_keys } {
        few(keys, spare, low..high);
        return Ok(());
    }
    let from = high.saturating_sub(DIGIT).max(low);
    let ends = part(keys, spare, from);
    keys.copy_from_slice(spare);
    if from == low {
        return Ok(());
    }
    let (all, spare) = (DisjointParts(keys.as_mut_ptr()), DisjointParts(spare.as_mut_ptr()));
    let time = T.radix_cost * keys.len() as u64;
    share(ends.len(), time, &|items| {
        for number in items {
            let start = if number == 0 { 0 } else { ends[number - 1] as usize };
            let len = ends[number] as usize - start;
            // SAFETY: parts do not overlap, and lie inside both buffers.
            let (keys, spare) = unsafe { (all.part(start, len), spare.part(start, len)) };
            // It allocates nothing, so it cannot fail.
            let _ = sort_by(keys, spare, low, usize::MAX, &mut |items, _, run| {
                run(0..items);
                Ok(())
            });
        }
    })
}

/// Memory that is split into disjoint parts, one for a thread.
struct DisjointParts<K>(*mut K);

// SAFETY: the type is only an address; callers of `part` guarantee that no two threads use the same part.
unsafe impl<K: Send> Sync for DisjointParts<K> {}

impl<K> DisjointParts<K> {
    /// # Safety
    /// The part is inside the memory, and not borrowed elsewhere.
    #[allow(clippy::mut_from_ref)] // parts are different ones
    unsafe fn part(&self, start: usize, len: usize) -> &mut [K] {
        // SAFETY: the part is inside the memory, and not borrowed elsewhere.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }
}

/// Sorts keys that differ only in these bits.
fn few<K: RadixKey>(keys: &mut [K], spare: &mut [K], bits: Range<u32>) {
    let digits = (bits.end - bits.start).div_ceil(DIGIT);
    let by_digits = keys.len() >= T.radix_keys && digits <= T.digits_beside_comparison;
    if digits > T.digits_beside_vectors || !by_digits {
        if VectorSort::sort(keys, spare) {
            return;
        }
        if !by_digits {
            return keys.sort_unstable();
        }
    }
    let mut there = false;
    for from in bits.step_by(DIGIT as usize) {
        match there {
            false => part(keys, spare, from),
            true => part(spare, keys, from),
        };
        there = !there;
    }
    if there {
        keys.copy_from_slice(spare);
    }
}

/// A counting sort by one digit, which keeps the order of equal keys; returns the end of each digit's keys.
fn part<K: RadixKey>(keys: &[K], to: &mut [K], from: u32) -> [u32; 1 << DIGIT] {
    let mut ends = [0; 1 << DIGIT];
    keys.iter().for_each(|key| ends[key.digit(from)] += 1);
    let mut at = 0;
    for end in &mut ends {
        at += std::mem::replace(end, at);
    }
    for key in keys {
        let place = &mut ends[key.digit(from)];
        // SAFETY: `to` is as long as `keys`, and places are prefix sums of their counts.
        unsafe { *to.get_unchecked_mut(*place as usize) = *key };
        *place += 1;
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_number_and_spread_are_sorted() -> Result<()> {
        fn alone<K: RadixKey>(keys: &mut [K], low: u32) -> Result<()> {
            sort(keys, low, &mut |items, _, run| {
                run(0..items);
                Ok(())
            })
        }
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 20
        };
        for n in [
            0,
            1,
            2,
            T.vector_keys,
            T.radix_keys - 1,
            T.radix_keys,
            257,
            3000,
            T.partitioned_keys,
            T.partitioned_by_threads,
        ] {
            for mask in [0, 1, 0xff, 0xf0_0000, 0xffff_ffff, u64::MAX] {
                let keys: Vec<u64> =
                    (0..n).map(|_| random().wrapping_mul(0x9e37_79b9) & mask).collect();
                let mut want = keys.clone();
                want.sort();
                let mut got = keys.clone();
                alone(&mut got, 0)?;
                assert_eq!(got, want, "{n} {mask:x}");
                let mut narrow: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
                let mut want = narrow.clone();
                want.sort();
                alone(&mut narrow, 0)?;
                assert_eq!(narrow, want, "{n} {mask:x}");
                // With positions below, which rise.
                let both: Vec<u128> =
                    keys.iter().zip(0..).map(|(key, at)| u128::from(*key) << 32 | at).collect();
                let mut want = both.clone();
                want.sort();
                let mut got = both;
                alone(&mut got, 32)?;
                assert_eq!(got, want, "{n} {mask:x}");
            }
        }
        Ok(())
    }
}
