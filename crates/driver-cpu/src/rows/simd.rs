//! Vectors: floats on which the processor computes at once.
//!
//! Owns [`Real`] and [`Vector`]. Loops over arrays of floats become vector code by themselves where there is one
//! running sum; of several at once the compiler makes shuffles, which take longer than the sums. So they are said
//! here. A float is a vector of one, and an array of vectors is a vector, so that a vector of 16 floats is
//! one for every processor. Invariant: bits do not depend on the processor; products and sums are rounded
//! separately.
//!
//! Not here: what is computed with them (`gemv.rs`, `min_max.rs`).

use std::array::from_fn;
use std::ops::{Add, Mul, Neg, Sub};

/// A float of the processor.
pub trait Real:
    Copy
    + Default
    + Send
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Vector<Real = Self>
    + 'static
{
    /// 16 of them where the processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Real = Self>;
    /// 16 of them where it has AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Real = Self>;
}

/// Some floats side by side.
pub trait Vector: Copy {
    /// What it consists of.
    type Real: Real;
    /// How many.
    const COUNT: usize;

    /// All the same.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn all(value: Self::Real) -> Self;

    /// Those at an address, which need not be aligned.
    ///
    /// # Safety
    /// They exist, and the processor has such vectors.
    unsafe fn load(from: *const Self::Real) -> Self;

    /// The first `count` of those at an address, and zeros behind them.
    ///
    /// # Safety
    /// So many exist, and the processor has such vectors.
    unsafe fn load_first(from: *const Self::Real, count: usize) -> Self;

    /// Puts them to an address, which need not be aligned.
    ///
    /// # Safety
    /// There is room, and the processor has such vectors.
    unsafe fn store(self, to: *mut Self::Real);

    /// Puts the first `count` to an address.
    ///
    /// # Safety
    /// There is room for so many, and the processor has such vectors.
    unsafe fn store_first(self, to: *mut Self::Real, count: usize);

    /// This one and the products of two others.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn and_product(self, a: Self, b: Self) -> Self;

    /// Of each two floats this one's where it is greater, or else less, and otherwise the other's, as where one
    /// is NaN.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn or_beyond<const GREATEST: bool>(self, other: Self) -> Self;

    /// What is 0 where none is NaN.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn nans(self) -> u32;
}

macro_rules! reals {
    ($($t:ident $avx512:ty, $avx2:ty;)*) => { $(
        impl Real for $t {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = $avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;
        }

        impl Vector for $t {
            type Real = $t;
            const COUNT: usize = 1;
            #[inline(always)]
            unsafe fn all(value: $t) -> $t {
                value
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> $t {
                // SAFETY: the caller's.
                unsafe { from.read_unaligned() }
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $t, count: usize) -> $t {
                // SAFETY: the caller's.
                if count > 0 { unsafe { from.read_unaligned() } } else { 0.0 }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller's.
                unsafe { to.write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn store_first(self, to: *mut $t, count: usize) {
                if count > 0 {
                    // SAFETY: the caller's.
                    unsafe { to.write_unaligned(self) }
                }
            }
            #[inline(always)]
            unsafe fn and_product(self, a: $t, b: $t) -> $t {
                self + a * b
            }
            #[inline(always)]
            unsafe fn or_beyond<const GREATEST: bool>(self, other: $t) -> $t {
                let beyond = if GREATEST { self > other } else { self < other };
                if beyond { self } else { other }
            }
            #[inline(always)]
            unsafe fn nans(self) -> u32 {
                u32::from(self.is_nan())
            }
        }
    )* };
}
reals! {
    f32 [x86::__m512; 1], [x86::__m256; 2];
    f64 [x86::__m512d; 2], [x86::__m256d; 4];
}

impl<W: Vector, const N: usize> Vector for [W; N] {
    type Real = W::Real;
    const COUNT: usize = N * W::COUNT;
    #[inline(always)]
    unsafe fn all(value: W::Real) -> [W; N] {
        // SAFETY: the caller's.
        unsafe { [W::all(value); N] }
    }
    #[inline(always)]
    unsafe fn load(from: *const W::Real) -> [W; N] {
        // SAFETY: the caller's.
        from_fn(|k| unsafe { W::load(from.add(k * W::COUNT)) })
    }
    #[inline(always)]
    unsafe fn load_first(from: *const W::Real, count: usize) -> [W; N] {
        from_fn(|k| {
            let before = k * W::COUNT;
            // SAFETY: the caller's.
            unsafe { W::load_first(from.wrapping_add(before), count.saturating_sub(before)) }
        })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut W::Real) {
        for (k, vector) in self.into_iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { vector.store(to.add(k * W::COUNT)) }
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut W::Real, count: usize) {
        for (k, vector) in self.into_iter().enumerate() {
            let before = k * W::COUNT;
            // SAFETY: the caller's.
            unsafe { vector.store_first(to.wrapping_add(before), count.saturating_sub(before)) }
        }
    }
    #[inline(always)]
    unsafe fn and_product(self, a: [W; N], b: [W; N]) -> [W; N] {
        // SAFETY: the caller's.
        from_fn(|k| unsafe { self[k].and_product(a[k], b[k]) })
    }
    #[inline(always)]
    unsafe fn or_beyond<const GREATEST: bool>(self, other: [W; N]) -> [W; N] {
        // SAFETY: the caller's.
        from_fn(|k| unsafe { self[k].or_beyond::<GREATEST>(other[k]) })
    }
    #[inline(always)]
    unsafe fn nans(self) -> u32 {
        // SAFETY: the caller's.
        self.into_iter().fold(0, |nans, vector| nans | unsafe { vector.nans() })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    pub use std::arch::x86_64::*;

    macro_rules! vectors {
        ($($vector:ident $t:ident $count:literal $all:ident $load:ident $load_first:ident $store:ident
           $store_first:ident $first:ident $add:ident $mul:ident
           $max:ident $min:ident $nans:ident;)*) => { $(
            impl Vector for $vector {
                type Real = $t;
                const COUNT: usize = $count;
                #[inline(always)]
                unsafe fn all(value: $t) -> $vector {
                    // SAFETY: the caller's.
                    unsafe { $all(value) }
                }
                #[inline(always)]
                unsafe fn load(from: *const $t) -> $vector {
                    // SAFETY: the caller's.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn load_first(from: *const $t, count: usize) -> $vector {
                    // SAFETY: the caller's; lanes outside the mask are not read.
                    unsafe { $load_first($first(count), from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $t) {
                    // SAFETY: the caller's.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn store_first(self, to: *mut $t, count: usize) {
                    // SAFETY: the caller's; lanes outside the mask are not written.
                    unsafe { $store_first(to, $first(count), self) }
                }
                #[inline(always)]
                unsafe fn and_product(self, a: $vector, b: $vector) -> $vector {
                    // SAFETY: the caller's.
                    unsafe { $add(self, $mul(a, b)) }
                }
                #[inline(always)]
                unsafe fn or_beyond<const GREATEST: bool>(self, other: $vector) -> $vector {
                    // SAFETY: the caller's.
                    unsafe { if GREATEST { $max(self, other) } else { $min(self, other) } }
                }
                #[inline(always)]
                unsafe fn nans(self) -> u32 {
                    // SAFETY: the caller's.
                    unsafe { $nans(self) }
                }
            }
        )* };
    }
    vectors! {
        __m512 f32 16 _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps
            _mm512_mask_storeu_ps first_16 _mm512_add_ps _mm512_mul_ps
            _mm512_max_ps _mm512_min_ps nans_512_ps;
        __m512d f64 8 _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd
            _mm512_mask_storeu_pd first_8 _mm512_add_pd _mm512_mul_pd
            _mm512_max_pd _mm512_min_pd nans_512_pd;
        __m256 f32 8 _mm256_set1_ps _mm256_loadu_ps maskz_loadu_ps _mm256_storeu_ps
            _mm256_maskstore_ps first_words _mm256_add_ps _mm256_mul_ps
            _mm256_max_ps _mm256_min_ps nans_256_ps;
        __m256d f64 4 _mm256_set1_pd _mm256_loadu_pd maskz_loadu_pd _mm256_storeu_pd
            _mm256_maskstore_pd first_longs _mm256_add_pd _mm256_mul_pd
            _mm256_max_pd _mm256_min_pd nans_256_pd;
    }

    /// What is 0 where none is NaN.
    #[inline(always)]
    unsafe fn nans_512_ps(x: __m512) -> u32 {
        // SAFETY: the caller's.
        u32::from(unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x) })
    }

    /// The same.
    #[inline(always)]
    unsafe fn nans_512_pd(x: __m512d) -> u32 {
        // SAFETY: the caller's.
        u32::from(unsafe { _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x) })
    }

    /// The same.
    #[inline(always)]
    unsafe fn nans_256_ps(x: __m256) -> u32 {
        // SAFETY: the caller's.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)) as u32 }
    }

    /// The same.
    #[inline(always)]
    unsafe fn nans_256_pd(x: __m256d) -> u32 {
        // SAFETY: the caller's.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)) as u32 }
    }

    /// The mask of the first of 16 lanes.
    #[inline(always)]
    unsafe fn first_16(count: usize) -> __mmask16 {
        if count < 16 { (1 << count) - 1 } else { __mmask16::MAX }
    }

    /// The mask of the first of 8 lanes.
    #[inline(always)]
    unsafe fn first_8(count: usize) -> __mmask8 {
        if count < 8 { (1 << count) - 1 } else { __mmask8::MAX }
    }

    /// As AVX2 wants it, for numbers of 32 bits.
    #[inline(always)]
    unsafe fn first_words(count: usize) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), lanes)
        }
    }

    /// The same for numbers of 64 bits.
    #[inline(always)]
    unsafe fn first_longs(count: usize) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let lanes = _mm256_setr_epi64x(0, 1, 2, 3);
            _mm256_cmpgt_epi64(_mm256_set1_epi64x(count.min(4) as i64), lanes)
        }
    }

    #[inline(always)]
    unsafe fn maskz_loadu_ps(mask: __m256i, from: *const f32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_maskload_ps(from, mask) }
    }

    #[inline(always)]
    unsafe fn maskz_loadu_pd(mask: __m256i, from: *const f64) -> __m256d {
        // SAFETY: the caller's.
        unsafe { _mm256_maskload_pd(from, mask) }
    }
}
