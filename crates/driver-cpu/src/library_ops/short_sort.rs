//! Sorts and argsorts of many short rows.
//!
//! Owns [`run`] and [`Network`]. Rows are transposed, a tile at a time, and sorted all at once by a sorting network,
//! whose comparisons do not depend on keys: each compares and exchanges two rows of the tile. A network keeps no order
//! of equal keys. Keys of an argsort are all different, because positions are part of them. Elements of equal keys have
//! equal bits, except for NaN and zeros: a row with zeros of both signs, or with several kinds of NaN, is sorted again
//! by itself.
//!
//! Not here: the order of elements (`sort_order.rs`), longer rows (`sort.rs`).

use super::library_launch::LibraryLaunch;
use super::sort_order::SortOrder;
use crate::rows::{SORTED, ShortTile, TileMemory};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::{DType, Result};
use std::ops::Range;

/// Whether a launch has many short rows of real numbers.
pub fn suits(whole: &LibraryLaunch<'_>) -> bool {
    let is_short = (1..=SORTED).contains(&whole.shape[whole.shape.len() - 1]);
    let is_complex = matches!(whole.dtype, DType::C64 | DType::C128);
    is_short && !is_complex && whole.rows() >= T.sorted_rows
}

/// Evaluates a launch that [`suits`]. `alone` sorts a row by itself.
///
/// # Errors
/// - `OutOfMemory`: there is no room for a row's keys.
pub fn run(
    whole: &LibraryLaunch<'_>,
    positions: bool,
    executor: &mut Executor<'_>,
    alone: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<()> {
    let n = whole.shape[whole.shape.len() - 1];
    let network = Network::new(n);
    let size = whole.dtype.size();
    let widest = if positions { (2 * size).clamp(4, 8) } else { size };
    let lanes = ShortTile::new(&mut TileMemory::default(), widest, n).lanes;
    let rows = whole.rows();
    let time = (rows as u64 * n as u64).saturating_mul(T.short_sort_cost) / 1000;
    executor.share(rows.div_ceil(lanes), time, &|tiles| {
        for tile in tiles {
            let numbers = tile * lanes..rows.min((tile + 1) * lanes);
            macro_rules! by {
                ($t:ident) => {
                    match positions {
                        true => {
                            SortOrder::<$t>::of(whole.dtype).positions(whole, &network, numbers)
                        }
                        false => {
                            let order = SortOrder::<$t>::of(whole.dtype);
                            order.sorted(whole, &network, numbers, alone)?;
                        }
                    }
                };
            }
            // SAFETY: the contract guarantees that accesses name elements that exist, and they have these sizes.
            unsafe {
                match size {
                    1 => by!(u8),
                    2 => by!(u16),
                    4 => by!(u32),
                    _ => by!(u64),
                }
            }
        }
        Ok(())
    })
}

/// Pairs of places whose elements are compared, and exchanged if the first is greater, one pair after another.
pub struct Network {
    /// How many elements are sorted.
    extent: usize,
    pairs: Vec<(u8, u8)>,
}

impl Network {
    /// Batcher's odd-even merge sort of `n` elements.
    fn new(n: usize) -> Network {
        let mut pairs = Vec::new();
        let doubled = |first: usize| std::iter::successors(Some(first), |k| Some(k * 2));
        for run in doubled(1).take_while(|run| *run < n) {
            for apart in (0..=run.ilog2()).rev().map(|bit| 1 << bit) {
                for first in (apart % run..n.saturating_sub(apart)).step_by(2 * apart) {
                    for a in first..(first + apart).min(n - apart) {
                        let b = a + apart;
                        if a >> (run.ilog2() + 1) == b >> (run.ilog2() + 1) {
                            pairs.push((a as u8, b as u8));
                        }
                    }
                }
            }
        }
        Network { extent: n, pairs }
    }
}

/// Sorts the first `m` columns of a tile of keys.
///
/// # Safety
/// The tile's rows hold `m` keys of this type.
#[inline(always)]
unsafe fn exchange<K: Ord + Copy>(network: &Network, tile: ShortTile, m: usize) {
    for (a, b) in &network.pairs {
        // SAFETY: both are rows of the tile, each of `m` keys.
        let (a, b) = unsafe { (row::<K>(tile, *a as usize, m), row::<K>(tile, *b as usize, m)) };
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = ((*a).min(*b), (*a).max(*b));
        }
    }
}

/// Sorts like [`exchange`], by keys and then by positions, which lie in a tile of their own.
///
/// # Safety
/// The tiles' rows hold `m` keys, or positions.
#[inline(always)]
unsafe fn exchange_pairs(network: &Network, [keys, places]: [ShortTile; 2], m: usize) {
    for (a, b) in &network.pairs {
        let (a, b) = (*a as usize, *b as usize);
        // SAFETY: all are rows of the tiles, each of `m` elements.
        let (first, second, at, after) = unsafe {
            let (first, second) = (row::<u64>(keys, a, m), row::<u64>(keys, b, m));
            (first, second, row::<u64>(places, a, m), row::<u64>(places, b, m))
        };
        for (((first, second), at), after) in first.iter_mut().zip(second).zip(at).zip(after) {
            let ([x, y], [p, q]) = ([*first, *second], [*at, *after]);
            let turns = (y < x) | ((y == x) & (q < p));
            (*first, *second) = if turns { (y, x) } else { (x, y) };
            (*at, *after) = if turns { (q, p) } else { (p, q) };
        }
    }
}

/// The first `m` elements of a row of a tile.
///
/// # Safety
/// The row holds them, and there is no other reference to it.
#[inline(always)]
unsafe fn row<'a, K>(tile: ShortTile, k: usize, m: usize) -> &'a mut [K] {
    // SAFETY: rows of tiles are aligned for all elements, and this one holds `m` of them.
    unsafe { std::slice::from_raw_parts_mut(tile.row(k).cast(), m) }
}

/// A method of orders that works on tiles, compiled for the processor at hand.
macro_rules! on_this_processor {
    ($name:ident, $inner:ident, $result:ty) => {
        /// # Safety
        /// The tiles' rows hold `m` elements.
        unsafe fn $name(&self, network: &Network, tiles: [ShortTile; 2], m: usize) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                unsafe fn with_avx512(
                    order: &SortOrder<Bits>,
                    network: &Network,
                    tiles: [ShortTile; 2],
                    m: usize,
                ) -> $result {
                    // SAFETY: the conditions are the same.
                    unsafe { order.$inner(network, tiles, m) }
                }
                #[target_feature(enable = "avx2")]
                unsafe fn with_avx2(
                    order: &SortOrder<Bits>,
                    network: &Network,
                    tiles: [ShortTile; 2],
                    m: usize,
                ) -> $result {
                    // SAFETY: the conditions are the same.
                    unsafe { order.$inner(network, tiles, m) }
                }
                let wide =
                    is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq");
                // SAFETY: the processor has these instructions, as was checked; the other conditions are the same.
                unsafe {
                    if wide && is_x86_feature_detected!("avx512vl") {
                        return with_avx512(self, network, tiles, m);
                    }
                    if is_x86_feature_detected!("avx2") {
                        return with_avx2(self, network, tiles, m);
                    }
                }
            }
            // SAFETY: the conditions are the same.
            unsafe { self.$inner(network, tiles, m) }
        }
    };
}

/// Sorts keys that contain positions in their lowest bits.
macro_rules! positions_within {
    ($t:ident $both:ident) => {
        /// Makes keys of a tile's elements and of their positions, and sorts them.
        #[inline(always)]
        unsafe fn positions_here(&self, network: &Network, [tile, keys]: [ShortTile; 2], m: usize) {
            // SAFETY: the rows hold `m` elements, or have room for as many keys.
            unsafe {
                for k in 0..network.extent {
                    let to = keys.row(k).cast::<$both>();
                    for (lane, bits) in row::<$t>(tile, k, m).iter().enumerate() {
                        to.add(lane).write($both::from(self.place_key(*bits)) << 8 | k as $both);
                    }
                }
                exchange::<$both>(network, keys, m);
            }
        }
    };
}

/// Sorts keys of as many bits as the processor compares, with positions in a tile of their own.
macro_rules! positions_beside {
    ($t:ident $both:ident) => {
        /// Makes keys of a tile's elements in place, and positions beside them, and sorts them.
        #[inline(always)]
        unsafe fn positions_here(
            &self,
            network: &Network,
            [tile, places]: [ShortTile; 2],
            m: usize,
        ) {
            // SAFETY: the rows hold `m` elements, or have room for as many positions.
            unsafe {
                for k in 0..network.extent {
                    row::<$t>(tile, k, m).iter_mut().for_each(|bits| *bits = self.place_key(*bits));
                    row::<$both>(places, k, m).fill(k as $both);
                }
                exchange_pairs(network, [tile, places], m);
            }
        }
    };
}

macro_rules! short {
    ($($t:ident $both:ident $name:ident $positions:ident;)*) => { $(
        mod $name {
            use super::*;
            type Bits = $t;

            impl SortOrder<Bits> {
                /// Sorts some rows of a launch.
                ///
                /// # Safety
                /// The elements of the launch exist, and are of this type. The rows fit in a tile.
                pub unsafe fn sorted(
                    &self,
                    whole: &LibraryLaunch<'_>,
                    network: &Network,
                    numbers: Range<usize>,
                    alone: &dyn Fn(usize) -> Result<()>,
                ) -> Result<()> {
                    let (n, m) = (network.extent, numbers.len());
                    let mut memory = TileMemory::default();
                    let tile = ShortTile::new(&mut memory, size_of::<Bits>(), n);
                    // SAFETY: the tile has room for the rows, and holds them then.
                    let unclear = unsafe {
                        whole.load(&whole.reads[0], tile, numbers.clone(), n);
                        let unclear = n > 1 && self.sort_tile(network, [tile; 2], m);
                        whole.store(tile, numbers.clone(), n);
                        unclear
                    };
                    if !unclear {
                        return Ok(());
                    }
                    for (lane, number) in numbers.enumerate() {
                        let is_unclear = |k| {
                            // SAFETY: the tile holds the rows.
                            let bits = unsafe { tile.row(k).cast::<Bits>().add(lane).read() };
                            bits == self.sign || self.is_nan(bits)
                        };
                        if (0..n).any(is_unclear) {
                            alone(number)?;
                        }
                    }
                    Ok(())
                }

                /// Finds the positions of the sorted elements of some rows of a launch.
                ///
                /// # Safety
                /// As for `sorted`, with keys that contain positions.
                pub unsafe fn positions(
                    &self,
                    whole: &LibraryLaunch<'_>,
                    network: &Network,
                    numbers: Range<usize>,
                ) {
                    let (n, m) = (network.extent, numbers.len());
                    let mut memory = [TileMemory::default(), TileMemory::default()];
                    let [first, second] = &mut memory;
                    let tile = ShortTile::new(first, size_of::<Bits>(), n);
                    let keys = ShortTile::new(second, size_of::<$both>(), n);
                    // SAFETY: the tiles have room for the rows, and hold them then.
                    unsafe {
                        whole.load(&whole.reads[0], tile, numbers.clone(), n);
                        self.sort_positions(network, [tile, keys], m);
                        let tile = ShortTile::new(first, size_of::<u32>(), n);
                        for k in 0..n {
                            let (to, from) = (tile.row(k).cast::<u32>(), keys.row(k).cast::<$both>());
                            for lane in 0..m {
                                to.add(lane).write(u32::from(from.add(lane).read() as u8));
                            }
                        }
                        whole.store(tile, numbers, n);
                    }
                }

                /// The key of an element by which its position is found: zeros are equal, and so are NaN.
                #[inline(always)]
                fn place_key(&self, bits: Bits) -> Bits {
                    let nan = if self.is_nan(bits) { Bits::MAX } else { 0 };
                    let zero = self.infinity != 0 && bits == self.sign;
                    self.key(if zero { 0 } else { bits }) | nan
                }

                on_this_processor!(sort_tile, elements_here, bool);
                on_this_processor!(sort_positions, positions_here, ());

                /// Sorts the elements of a tile; tells whether a row may have to be sorted by itself.
                #[inline(always)]
                unsafe fn elements_here(
                    &self,
                    network: &Network,
                    [tile, _]: [ShortTile; 2],
                    m: usize,
                ) -> bool {
                    // The bits of all NaN, combined by `or` and by `and`.
                    let (mut any, mut all, mut zeros): (Bits, Bits, Bits) = (0, Bits::MAX, 0);
                    let floats = self.infinity != 0;
                    // SAFETY: the rows hold `m` elements, and each is named once at a time.
                    unsafe {
                        for k in 0..network.extent {
                            for bits in row::<Bits>(tile, k, m) {
                                let nan = if self.is_nan(*bits) { Bits::MAX } else { 0 };
                                any |= *bits & nan;
                                all &= *bits | !nan;
                                zeros |= Bits::from(floats && *bits == self.sign);
                                *bits = self.key(*bits) | nan;
                            }
                        }
                        exchange::<Bits>(network, tile, m);
                        for k in 0..network.extent {
                            for key in row::<Bits>(tile, k, m) {
                                let is_nan = floats && *key == Bits::MAX;
                                *key = if is_nan { any } else { self.bits(*key) };
                            }
                        }
                    }
                    zeros != 0 || any != 0 && any != all
                }

                $positions!($t $both);
            }
        }
    )* };
}
short! {
    u8 u32 of_bytes positions_within;
    u16 u32 of_halves positions_within;
    u32 u64 of_words positions_within;
    u64 u64 of_longs positions_beside;
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn networks_of_every_length_sort() {
        for n in 1..=crate::rows::SORTED {
            let network = Network::new(n);
            // A network that sorts zeros and ones sorts everything: all of few, and many random ones.
            let mut random = 0x9e37_79b9_7f4a_7c15u64;
            for case in 0..if n <= 12 { 1 << n } else { 3000u64 } {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let more = u128::from(random.wrapping_mul(0x2545_f491_4f6c_dd1d)) << 64;
                let bits = if n <= 12 { case.into() } else { more | u128::from(random) };
                let mut keys: Vec<u128> = (0..n).map(|k| bits >> k & 1).collect();
                for (a, b) in &network.pairs {
                    let (a, b) = (*a as usize, *b as usize);
                    assert!(a < b);
                    if keys[a] > keys[b] {
                        keys.swap(a, b);
                    }
                }
                assert!(keys.is_sorted(), "{n} keys");
            }
        }
    }
}
