//! Vectorised quicksort of unsigned integers of 32 and 64 bits, for processors with AVX-512.
//!
//! Owns [`VectorSort`]. Keys are partitioned by a *pivot*, a vector at a time, until they fit into a *square*
//! of 16 vectors. A square lies in registers and is sorted by sorting networks, whose comparisons do not depend
//! on the keys. The method is that of Intel's x86-simd-sort, which NumPy uses. Invariant: the output has the
//! same keys, in order; bad pivots cost no more time than `sort_unstable`.
//!
//! Not here: when this sort is used (`radix_sort.rs`).

/// Types of keys that may be sorted by vectors.
pub trait VectorSort: Sized {
    /// Whether the processor supports it.
    fn is_possible() -> bool {
        false
    }

    /// Sorts keys, with as many spare places; returns false, and does nothing, where the processor does not
    /// support it.
    fn sort(_keys: &mut [Self], _spare: &mut [Self]) -> bool {
        false
    }
}

impl VectorSort for u8 {}
impl VectorSort for u16 {}
impl VectorSort for u128 {}
#[cfg(not(target_arch = "x86_64"))]
impl VectorSort for u32 {}
#[cfg(not(target_arch = "x86_64"))]
impl VectorSort for u64 {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::VectorSort;
    use smallvec::SmallVec;
    use std::arch::x86_64::*;
    use std::array::from_fn;

    /// Keys in a vector of the processor.
    ///
    /// # Safety of all methods
    /// The processor has AVX-512, and memory that is named exists.
    trait KeyVector: Copy {
        type Key: Copy + Ord;
        /// The number of lanes.
        const COUNT: usize;
        /// The key in all lanes.
        unsafe fn all(key: Self::Key) -> Self;
        /// Loads the first `count` keys, and the greatest key in the lanes after them.
        unsafe fn load(from: *const Self::Key, count: usize) -> Self;
        /// Stores the first `count` keys.
        unsafe fn store(self, to: *mut Self::Key, count: usize);
        unsafe fn min(self, other: Self) -> Self;
        unsafe fn max(self, other: Self) -> Self;
        /// The lanes of `other` where the mask is set, and of this vector elsewhere.
        unsafe fn or_in(self, mask: u16, other: Self) -> Self;
        /// Permutes lanes: lane `l` gets the key of lane `l ^ by`.
        unsafe fn crossed(self, by: usize) -> Self;
        /// The mask of lanes whose key is less than in `other`.
        unsafe fn below(self, other: Self) -> u16;
        /// The keys in the lanes of the mask, compressed to the front.
        unsafe fn packed(self, mask: u16) -> Self;
    }

    #[derive(Clone, Copy)]
    struct Keys32(__m512i);
    #[derive(Clone, Copy)]
    struct Keys64(__m512i);

    macro_rules! lanes {
        ($($lanes:ident $key:ident $signed:ident $mask:ident $count:literal $set:ident $load:ident
           $store:ident $min:ident $max:ident $blend:ident $permute:ident $less:ident $compress:ident;)*) => { $(
            impl KeyVector for $lanes {
                type Key = $key;
                const COUNT: usize = $count;
                #[inline(always)]
                unsafe fn all(key: $key) -> $lanes {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    $lanes(unsafe { $set(key as $signed) })
                }
                #[inline(always)]
                unsafe fn load(from: *const $key, count: usize) -> $lanes {
                    // SAFETY: `count` keys exist, and lanes outside the mask are not read.
                    $lanes(unsafe { $load($set(-1), first(count) as $mask, from.cast()) })
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $key, count: usize) {
                    // SAFETY: `count` places exist, and lanes outside the mask are not written.
                    unsafe { $store(to.cast(), first(count) as $mask, self.0) }
                }
                #[inline(always)]
                unsafe fn min(self, other: $lanes) -> $lanes {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    $lanes(unsafe { $min(self.0, other.0) })
                }
                #[inline(always)]
                unsafe fn max(self, other: $lanes) -> $lanes {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    $lanes(unsafe { $max(self.0, other.0) })
                }
                #[inline(always)]
                unsafe fn or_in(self, mask: u16, other: $lanes) -> $lanes {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    $lanes(unsafe { $blend(mask as $mask, self.0, other.0) })
                }
                #[inline(always)]
                unsafe fn crossed(self, by: usize) -> $lanes {
                    let lanes: [$key; $count] = from_fn(|l| (l ^ by) as $key);
                    // SAFETY: the processor has AVX-512, and `lanes` has the size of a vector.
                    $lanes(unsafe { $permute(_mm512_loadu_si512(lanes.as_ptr().cast()), self.0) })
                }
                #[inline(always)]
                unsafe fn below(self, other: $lanes) -> u16 {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    u16::from(unsafe { $less(self.0, other.0) })
                }
                #[inline(always)]
                unsafe fn packed(self, mask: u16) -> $lanes {
                    // SAFETY: the processor has AVX-512, as all methods of the trait require.
                    $lanes(unsafe { $compress(mask as $mask, self.0) })
                }
            }

            impl VectorSort for $key {
                fn is_possible() -> bool {
                    is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("bmi1")
                        && is_x86_feature_detected!("bmi2")
                        && is_x86_feature_detected!("popcnt")
                }

                fn sort(keys: &mut [$key], spare: &mut [$key]) -> bool {
                    #[target_feature(enable = "avx512f,popcnt,bmi1,bmi2")]
                    unsafe fn with_avx512(keys: &mut [$key], spare: &mut [$key]) {
                        let parts = 2 * keys.len().max(1).ilog2();
                        // SAFETY: the processor has AVX-512.
                        unsafe { sort::<$lanes, $count>(keys, spare, parts) }
                    }
                    let able = Self::is_possible() && spare.len() >= keys.len();
                    if able {
                        // SAFETY: `is_possible` has found the instructions, and `spare` is as long as `keys`.
                        unsafe { with_avx512(keys, spare) }
                    }
                    able
                }
            }
        )* };
    }
    lanes! {
        Keys32 u32 i32 __mmask16 16 _mm512_set1_epi32 _mm512_mask_loadu_epi32
            _mm512_mask_storeu_epi32 _mm512_min_epu32 _mm512_max_epu32 _mm512_mask_blend_epi32
            _mm512_permutexvar_epi32 _mm512_cmplt_epu32_mask _mm512_maskz_compress_epi32;
        Keys64 u64 i64 __mmask8 8 _mm512_set1_epi64 _mm512_mask_loadu_epi64
            _mm512_mask_storeu_epi64 _mm512_min_epu64 _mm512_max_epu64 _mm512_mask_blend_epi64
            _mm512_permutexvar_epi64 _mm512_cmplt_epu64_mask _mm512_maskz_compress_epi64;
    }

    /// The vectors of a square: half of the processor's registers.
    const ROWS: usize = 16;

    /// The mask of the first lanes.
    #[inline(always)]
    fn first(count: usize) -> u16 {
        if count >= 16 { u16::MAX } else { (1 << count) - 1 }
    }

    /// The lanes whose number has this bit.
    #[inline(always)]
    fn lanes_with(bit: usize) -> u16 {
        (0..16).filter(|lane| lane & bit != 0).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Partitions that wait, with the number of times that each may still be partitioned.
    type Waiting<'a, K> = SmallVec<[(&'a mut [K], u32); 32]>;

    /// Sorts keys with at most `parts` levels of partitioning; `N` is the number of lanes.
    ///
    /// # Safety
    /// The processor has AVX-512; `spare` is as long as `keys`.
    #[inline(always)]
    unsafe fn sort<L: KeyVector, const N: usize>(
        mut keys: &mut [L::Key],
        spare: &mut [L::Key],
        mut parts: u32,
    ) {
        // The smaller partition is sorted first, which bounds the stack.
        let mut waiting = Waiting::new();
        loop {
            // SAFETY: the processor has AVX-512, as all methods of the trait require.
            unsafe {
                if keys.len() <= ROWS * N {
                    square::<L, N>(keys);
                } else if parts == 0 {
                    keys.sort_unstable();
                } else {
                    parts -= 1;
                    let pivot = pivot(keys);
                    let low = part::<L, false>(keys, spare, pivot);
                    if low > 0 {
                        let (left, right) = keys.split_at_mut(low);
                        let (few, many) =
                            if left.len() < right.len() { (left, right) } else { (right, left) };
                        waiting.push((many, parts));
                        keys = few;
                    } else {
                        // The pivot is the least key: keys that equal it are in place.
                        let equal = part::<L, true>(keys, spare, pivot);
                        keys = &mut keys[equal..];
                    }
                    continue;
                }
            }
            match waiting.pop() {
                Some(next) => (keys, parts) = next,
                None => return,
            }
        }
    }

    /// A key near the median: the median of three medians of three.
    fn pivot<K: Copy + Ord>(keys: &[K]) -> K {
        let median = |a: K, b: K, c: K| a.min(b).max(a.max(b).min(c));
        let of = |k: usize| keys[(2 * k + 1) * keys.len() / 18];
        let three = |k: usize| median(of(k), of(k + 3), of(k + 6));
        median(three(0), three(1), three(2))
    }

    /// Partitions: moves keys below the pivot (with `EQUAL`, up to it) to the front, and returns their number.
    ///
    /// # Safety
    /// As for [`sort`].
    #[inline(always)]
    unsafe fn part<L: KeyVector, const EQUAL: bool>(
        keys: &mut [L::Key],
        spare: &mut [L::Key],
        pivot: L::Key,
    ) -> usize {
        let n = keys.len();
        let (keys, spare) = (keys.as_mut_ptr(), spare.as_mut_ptr());
        // SAFETY: a vector is stored only where all keys have been read, and never beyond an end: the keys read so
        // far reach at least as far as the stored vectors, in both buffers. The processor has AVX-512.
        unsafe {
            let pivot = L::all(pivot);
            let is_low = |x: L| if EQUAL { !pivot.below(x) } else { x.below(pivot) };
            let mut low = 0;
            let whole = n - n % L::COUNT;
            for at in (0..whole).step_by(L::COUNT) {
                let x = L::load(keys.add(at), L::COUNT);
                let mask = is_low(x) & first(L::COUNT);
                x.packed(mask).store(keys.add(low), L::COUNT);
                x.packed(!mask).store(spare.add(at - low), L::COUNT);
                low += mask.count_ones() as usize;
            }
            let rest = n - whole;
            let x = L::load(keys.add(whole), rest);
            let mask = is_low(x) & first(rest);
            let count = mask.count_ones() as usize;
            x.packed(mask).store(keys.add(low), count);
            x.packed(!mask).store(spare.add(whole - low), rest - count);
            low += count;
            std::ptr::copy_nonoverlapping(spare, keys.add(low), n - low);
            low
        }
    }

    /// Sorts keys that fit into a square. Keys are numbered down its columns, lane by lane.
    ///
    /// # Safety
    /// As for [`sort`]; there are at most `ROWS * N` keys.
    #[inline(always)]
    unsafe fn square<L: KeyVector, const N: usize>(keys: &mut [L::Key]) {
        let (n, keys) = (keys.len(), keys.as_mut_ptr());
        let count = |at: usize| n.saturating_sub(at).min(N);
        // SAFETY: `count` limits loads and stores to the keys, and the processor has AVX-512.
        unsafe {
            let mut rows: [L; ROWS] = from_fn(|r| L::load(keys.wrapping_add(r * N), count(r * N)));
            columns(&mut rows);
            merge::<L, N, 2>(&mut rows);
            merge::<L, N, 4>(&mut rows);
            merge::<L, N, 8>(&mut rows);
            if N == 16 {
                merge::<L, N, 16>(&mut rows);
            }
            transpose::<L, N>(&mut rows);
            for (r, row) in rows.into_iter().enumerate() {
                // Row `r % N` of a transposed part has numbers of column `r % N`.
                let at = r % N * ROWS + r / N * N;
                row.store(keys.wrapping_add(at), count(at));
            }
        }
    }

    /// Compares and exchanges two rows, lane by lane: the lesser keys go to the first.
    #[inline(always)]
    unsafe fn exchange<L: KeyVector>(rows: &mut [L; ROWS], a: usize, b: usize) {
        // SAFETY: the processor has AVX-512, as all methods of the trait require.
        unsafe { (rows[a], rows[b]) = (rows[a].min(rows[b]), rows[a].max(rows[b])) }
    }

    /// Sorts every column, by Batcher's odd-even merge sort.
    #[inline(always)]
    unsafe fn columns<L: KeyVector>(rows: &mut [L; ROWS]) {
        macro_rules! exchange {
            ($from:expr; $($a:literal $b:literal,)*) => { $(
                // SAFETY: the processor has AVX-512, as all methods of the trait require.
                unsafe { exchange(rows, $from + $a, $from + $b) };
            )* };
        }
        macro_rules! eight {
            ($from:expr) => {
                exchange! { $from; 0 1, 2 3, 4 5, 6 7, 0 2, 1 3, 4 6, 5 7, 1 2, 5 6,
                0 4, 1 5, 2 6, 3 7, 2 4, 3 5, 1 2, 3 4, 5 6, }
            };
        }
        eight!(0);
        eight!(8);
        exchange! { 0; 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15, 4 8, 5 9, 6 10, 7 11,
        2 4, 3 5, 6 8, 7 9, 10 12, 11 13, 1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14, }
    }

    /// Merges the sorted runs of every two halves of `K` columns: a bitonic merge.
    #[inline(always)]
    unsafe fn merge<L: KeyVector, const N: usize, const K: usize>(rows: &mut [L; ROWS]) {
        // SAFETY: the processor has AVX-512, as all methods of the trait require.
        unsafe {
            // Compares each key with its mirror image.
            let upper = lanes_with(K / 2);
            for r in 0..ROWS / 2 {
                let (a, b) = (rows[r], rows[ROWS - 1 - r]);
                let (from_b, from_a) = (b.crossed(K - 1), a.crossed(K - 1));
                rows[r] = a.min(from_b).or_in(upper, a.max(from_b));
                rows[ROWS - 1 - r] = b.min(from_a).or_in(upper, b.max(from_a));
            }
            // Then compares keys at half the distance each time, first in other columns.
            macro_rules! lanes_apart {
                ($($by:literal)*) => { $(
                    if K > 2 * $by {
                        for row in rows.iter_mut() {
                            let other = row.crossed($by);
                            *row = row.min(other).or_in(lanes_with($by), row.max(other));
                        }
                    }
                )* };
            }
            lanes_apart!(4 2 1);
            macro_rules! rows_apart {
                ($($by:literal)*) => { $(
                    for r in (0..ROWS).filter(|r| r & $by == 0) {
                        exchange(rows, r, r + $by);
                    }
                )* };
            }
            rows_apart!(8 4 2 1);
        }
    }

    /// Transposes each `N` rows.
    #[inline(always)]
    unsafe fn transpose<L: KeyVector, const N: usize>(rows: &mut [L; ROWS]) {
        macro_rules! squares {
            ($($by:literal)*) => { $(
                if N > $by {
                    for r in (0..ROWS).filter(|r| r & $by == 0) {
                        let (a, b) = (rows[r], rows[r + $by]);
                        // SAFETY: the processor has AVX-512, as all methods of the trait require.
                        unsafe {
                            rows[r] = a.or_in(lanes_with($by), b.crossed($by));
                            rows[r + $by] = a.crossed($by).or_in(lanes_with($by), b);
                        }
                    }
                }
            )* };
        }
        squares!(8 4 2 1);
    }
}
