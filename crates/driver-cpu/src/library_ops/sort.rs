//! Sorts of rows, and argsorts.
//!
//! Owns [`run`]. Elements are mapped to keys; keys are sorted, alone or together with the elements' positions. NaN and
//! zeros are put in order afterwards, because keys do not preserve the order in which they stood. Threads share rows,
//! or a single row.
//!
//! Not here: what the key of an element is (`sort_order.rs`), the sorting of keys (`radix_sort.rs`), many short rows at
//! once (`short_sort.rs`).

use super::library_launch::LibraryLaunch;
use super::radix_sort::{self, RadixKey, ShareItems};
use super::short_sort;
use super::sort_order::SortOrder;
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::op_eval::order;
use gpupy_core::{DType, Result, memory};
use gpupy_jit::StridedPointer;

/// Evaluates a launch of a sort.
///
/// # Errors
/// - `OutOfMemory`: there is no room for the keys of a row.
pub fn run(whole: &LibraryLaunch<'_>, positions: bool, executor: &mut Executor<'_>) -> Result<()> {
    let last = whole.shape.len() - 1;
    let n = whole.shape[last];
    let time = (whole.rows() as u64 * n as u64).saturating_mul(T.sort_cost) / 1000;
    let dtype = whole.dtype;
    let row = |number: usize, share: ShareItems<'_>| {
        let point = whole.row(number);
        let (to, from) = (whole.dest.walk(&point, last), whole.reads[0].walk(&point, last));
        // SAFETY: the contract guarantees that accesses name elements that exist.
        unsafe {
            match dtype {
                DType::C64 => complex::<u64>(DType::F32, to, from, n, positions),
                DType::C128 => complex::<u128>(DType::F64, to, from, n, positions),
                _ => real(dtype, to, from, n, positions, share),
            }
        }
    };
    if short_sort::suits(whole) {
        return short_sort::run(whole, positions, executor, &|number| {
            row(number, &mut |items, _, run| {
                run(0..items);
                Ok(())
            })
        });
    }
    if whole.rows() == 1 {
        return row(0, &mut |items, time, run| {
            executor.share(items, time, &|items| {
                run(items);
                Ok(())
            })
        });
    }
    executor.share(whole.rows(), time, &|mut rows| {
        rows.try_for_each(|number| {
            row(number, &mut |items, _, run| {
                run(0..items);
                Ok(())
            })
        })
    })
}

/// # Safety
/// The rows have `n` elements of the dtype; the results', if they are `positions`, of int32.
unsafe fn real(
    dtype: DType,
    to: StridedPointer,
    from: StridedPointer,
    n: usize,
    positions: bool,
    share: ShareItems<'_>,
) -> Result<()> {
    macro_rules! by {
        ($t:ident, $both:ident) => {
            // SAFETY: the rows have `n` elements of the dtype, as this function requires.
            unsafe {
                if positions {
                    let with = |key: $t, at| $both::from(key) << 32 | $both::from(at);
                    let keys = SortOrder::<$t>::of(dtype).indices(from, n, with, share)?;
                    write_each(to, keys.into_iter().map(|both: $both| both as u32));
                } else {
                    write(to, &SortOrder::<$t>::of(dtype).elements(from, n, share)?);
                }
            }
        };
    }
    match dtype.size() {
        1 => by!(u8, u64),
        2 => by!(u16, u64),
        4 => by!(u32, u64),
        _ => by!(u64, u128),
    }
    Ok(())
}

/// The elements of a row.
///
/// # Safety
/// The row has `n` elements of this type, for as long as the iterator.
unsafe fn read<T: Copy>(row: StridedPointer, n: usize) -> impl ExactSizeIterator<Item = T> {
    (0..n as isize).map(move |k| {
        // SAFETY: `k` is below `n`, and the row has `n` elements.
        unsafe { row.ptr.wrapping_offset(row.step * k).cast::<T>().read_unaligned() }
    })
}

/// The elements of a row, contiguous.
///
/// # Safety
/// The row has `n` elements of this type.
unsafe fn gathered<T: Copy>(row: StridedPointer, n: usize) -> Result<Vec<T>> {
    let mut all: Vec<T> = memory::with_room(n)?;
    // SAFETY: the row has `n` elements, and `with_room` has reserved as many.
    unsafe {
        if row.step != size_of::<T>() as isize {
            all.extend(read::<T>(row, n));
            return Ok(all);
        }
        std::ptr::copy_nonoverlapping(row.ptr, all.as_mut_ptr().cast::<u8>(), n * size_of::<T>());
        all.set_len(n);
    }
    Ok(all)
}

/// Writes the elements of a row.
///
/// # Safety
/// The row has as many elements of this type.
unsafe fn write<T: Copy>(row: StridedPointer, elements: &[T]) {
    // SAFETY: the row has as many elements as `elements`.
    unsafe {
        if row.step == size_of::<T>() as isize {
            return std::ptr::copy_nonoverlapping(
                elements.as_ptr().cast(),
                row.ptr,
                size_of_val(elements),
            );
        }
        write_each(row, elements.iter().copied());
    }
}

/// Writes elements to a row as an iterator yields them.
///
/// # Safety
/// As for [`write()`].
unsafe fn write_each<T: Copy>(row: StridedPointer, elements: impl Iterator<Item = T>) {
    let side_by_side = row.step == size_of::<T>() as isize;
    for (k, element) in elements.enumerate() {
        let at = match side_by_side {
            true => row.ptr.cast::<T>().wrapping_add(k),
            false => row.ptr.wrapping_offset(k as isize * row.step).cast(),
        };
        // SAFETY: the row has as many elements as the iterator.
        unsafe { at.write_unaligned(element) }
    }
}

/// Runs loops as vector code for the processor at hand.
#[inline(always)]
fn widely<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor's features were just checked.
            return unsafe { with_avx2(run) };
        }
    }
    run()
}

macro_rules! ordered {
    ($($t:ident)*) => { $(
        impl SortOrder<$t> {
            /// The elements of a row in order.
            ///
            /// # Safety
            /// As of [`real`].
            unsafe fn elements(&self, from: StridedPointer, n: usize, share: ShareItems<'_>) -> Result<Vec<$t>> {
                // SAFETY: the row has `n` elements of this type.
                let mut keys: Vec<$t> = unsafe { gathered(from, n) }?;
                let mut nans = Vec::new();
                let float = self.infinity != 0;
                // Flags are words as wide as the keys, and the loop has no early exit, so that it is
                // vectorised.
                let seen = |(nan, zero): ($t, $t), bits: &$t| {
                    (nan | self.is_nan(*bits) as $t, zero | (*bits == self.sign) as $t)
                };
                let (nan, zeros) = match float {
                    true => widely(|| keys.iter().fold((0, 0), seen)),
                    false => (0, 0),
                };
                if nan != 0 {
                    let count = keys.iter().filter(|bits| self.is_nan(**bits)).count();
                    memory::reserve(&mut nans, count)?;
                    nans.extend(keys.extract_if(.., |bits| self.is_nan(*bits)));
                }
                widely(|| keys.iter_mut().for_each(|bits| *bits = self.key(*bits)));
                radix_sort::sort(&mut keys, 0, share)?;
                let zeros = (zeros != 0)
                    .then(|| keys.partition_point(|key| *key < self.key(self.sign)));
                widely(|| keys.iter_mut().for_each(|key| *key = self.bits(*key)));
                if let Some(first) = zeros {
                    // Zeros of both signs keep their original order.
                    // SAFETY: the row has `n` elements of this type.
                    let stood = unsafe { read::<$t>(from, n) }.filter(|bits| bits & !self.sign == 0);
                    keys[first..].iter_mut().zip(stood).for_each(|(to, bits)| *to = bits);
                }
                // The room of the removed NaN is still reserved.
                keys.extend(nans);
                Ok(keys)
            }

            /// Keys with positions, in order.
            ///
            /// # Safety
            /// As of [`real`].
            unsafe fn indices<K: RadixKey>(
                &self,
                from: StridedPointer,
                n: usize,
                with: impl Fn($t, u32) -> K,
                share: ShareItems<'_>,
            ) -> Result<Vec<K>> {
                // SAFETY: the row has `n` elements of this type.
                let row = unsafe { read::<$t>(from, n) };
                let key = |bits: $t| match bits {
                    _ if self.is_nan(bits) => $t::MAX,
                    _ if self.infinity != 0 && bits & !self.sign == 0 => self.key(0),
                    _ => self.key(bits),
                };
                let both = row.zip(0..).map(|(bits, at)| with(key(bits), at));
                let mut keys: Vec<K> = memory::with_room(n)?;
                keys.extend(both);
                radix_sort::sort(&mut keys, 32, share)?;
                Ok(keys)
            }
        }
    )* };
}
ordered!(u8 u16 u32 u64);

/// Sorts complex numbers by their real parts, then by their imaginary parts; numbers with a NaN come last. A
/// part has this dtype and half the bits of the word.
///
/// # Safety
/// As for [`real`].
unsafe fn complex<W: ComplexWord>(
    part: DType,
    to: StridedPointer,
    from: StridedPointer,
    n: usize,
    positions: bool,
) -> Result<()> {
    // SAFETY: the rows have `n` elements, as this function requires.
    let row: Vec<W> = unsafe { gathered(from, n) }?;
    let mut places = memory::collected(n, 0..n as u32)?;
    // Only NaN is ordered after infinity.
    let nan = |x: u64| order(part, x, W::INFINITY).is_gt();
    // Ties are broken by position: a stable sort would allocate memory of its own.
    places.sort_unstable_by(|a, b| {
        let stood = a.cmp(b);
        let ([a, c], [b, d]) = (row[*a as usize].parts(), row[*b as usize].parts());
        let classes = (nan(a), nan(c)).cmp(&(nan(b), nan(d)));
        classes.then_with(|| order(part, a, b)).then_with(|| order(part, c, d)).then(stood)
    });
    // SAFETY: the rows have `n` elements, as this function requires.
    unsafe {
        match positions {
            true => write(to, &places),
            false => write_each(to, places.into_iter().map(|at| row[at as usize])),
        }
    }
    Ok(())
}

/// A word that holds a complex number.
trait ComplexWord: Copy {
    /// The bits of a part that is infinite.
    const INFINITY: u64;
    /// The bits of the real and the imaginary part.
    fn parts(self) -> [u64; 2];
}

impl ComplexWord for u64 {
    const INFINITY: u64 = 0x7f80_0000;
    fn parts(self) -> [u64; 2] {
        [self & 0xffff_ffff, self >> 32]
    }
}

impl ComplexWord for u128 {
    const INFINITY: u64 = 0x7ff0_0000_0000_0000;
    fn parts(self) -> [u64; 2] {
        [self as u64, (self >> 64) as u64]
    }
}
