//! SIMD vectors of floats.
//!
//! Owns [`Real`] and [`Vector`]. Compilers vectorise loops over arrays of floats with one accumulator. With
//! several, they generate shuffles that take longer than the sums, so vectors are explicit here. A float is a
//! vector of one, and an array of vectors is a vector, so every processor has a vector of 16 floats. Invariant:
//! bits do not depend on the processor; products and sums are rounded separately. No closure calls an instruction:
//! closures are compiled for any processor, where it would be a call of a function that works on memory.
//!
//! Not here: the computations with them (`products`, `vector_rows.rs`).

use std::ops::{Add, Mul, Neg, Sub};

/// A float type of the processor.
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
    /// The greatest number.
    const INFINITY: Self;
    /// A vector of 16 on processors with AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Real = Self>;
    /// A vector of 16 on processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Real = Self>;
    /// A register of AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Register512: Vector<Real = Self>;
    /// A register of AVX2.
    #[cfg(target_arch = "x86_64")]
    type Register256: Vector<Real = Self>;
}

/// Some floats side by side.
pub trait Vector: Copy {
    /// The type of its floats.
    type Real: Real;
    /// The number of floats.
    const COUNT: usize;

    /// A vector with the value in all lanes.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn all(value: Self::Real) -> Self;

    /// Loads a vector; the address need not be aligned.
    ///
    /// # Safety
    /// The floats exist, and the processor has such vectors.
    unsafe fn load(from: *const Self::Real) -> Self;

    /// Loads the first `count` floats, and zeros after them.
    ///
    /// # Safety
    /// `count` floats exist, and the processor has such vectors.
    unsafe fn load_first(from: *const Self::Real, count: usize) -> Self;

    /// Stores the vector; the address need not be aligned.
    ///
    /// # Safety
    /// There is room, and the processor has such vectors.
    unsafe fn store(self, to: *mut Self::Real);

    /// Stores the first `count` floats.
    ///
    /// # Safety
    /// There is room for `count` floats, and the processor has such vectors.
    unsafe fn store_first(self, to: *mut Self::Real, count: usize);

    /// This vector plus the products of two others, each step rounded.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn and_product(self, a: Self, b: Self) -> Self;

    /// This vector plus the products of two others, rounded once.
    ///
    /// # Safety
    /// The processor has such vectors; for those of AVX2, fused products too.
    unsafe fn and_fused_product(self, a: Self, b: Self) -> Self;

    /// Lane by lane the sum.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn plus(self, other: Self) -> Self;

    /// The sum of the lanes: the upper half is added to the lower one until one lane is left.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn folded(self) -> Self::Real;

    /// The greatest lane, or the least: of the upper half and the lower one until one lane is left, as by
    /// [`Vector::or_beyond`].
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn most<const GREATEST: bool>(self) -> Self::Real;

    /// The first `count` lanes of `other`, and the others of this vector.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn with_first(self, other: Self, count: usize) -> Self;

    /// Lane by lane the greater float, or the lesser; if either is NaN, the float of `other`.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn or_beyond<const GREATEST: bool>(self, other: Self) -> Self;

    /// Returns 0 if no lane is NaN.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn nans(self) -> u32;
}

macro_rules! reals {
    ($($t:ident $register512:ty, $avx512:ty, $register256:ty, $avx2:ty;)*) => { $(
        impl Real for $t {
            const INFINITY: $t = $t::INFINITY;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = $avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;
            #[cfg(target_arch = "x86_64")]
            type Register512 = $register512;
            #[cfg(target_arch = "x86_64")]
            type Register256 = $register256;
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
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe { from.read_unaligned() }
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $t, count: usize) -> $t {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                if count > 0 { unsafe { from.read_unaligned() } } else { 0.0 }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe { to.write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn store_first(self, to: *mut $t, count: usize) {
                if count > 0 {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { to.write_unaligned(self) }
                }
            }
            #[inline(always)]
            unsafe fn and_product(self, a: $t, b: $t) -> $t {
                self + a * b
            }
            #[inline(always)]
            unsafe fn and_fused_product(self, a: $t, b: $t) -> $t {
                a.mul_add(b, self)
            }
            #[inline(always)]
            unsafe fn plus(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            unsafe fn folded(self) -> $t {
                self
            }
            #[inline(always)]
            unsafe fn most<const GREATEST: bool>(self) -> $t {
                self
            }
            #[inline(always)]
            unsafe fn with_first(self, other: $t, count: usize) -> $t {
                if count > 0 { other } else { self }
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
    f32 x86::__m512, [x86::__m512; 1], x86::__m256, [x86::__m256; 2];
    f64 x86::__m512d, [x86::__m512d; 2], x86::__m256d, [x86::__m256d; 4];
}

impl<W: Vector, const N: usize> Vector for [W; N] {
    type Real = W::Real;
    const COUNT: usize = N * W::COUNT;
    #[inline(always)]
    unsafe fn all(value: W::Real) -> [W; N] {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { [W::all(value); N] }
    }
    #[inline(always)]
    unsafe fn load(from: *const W::Real) -> [W; N] {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe {
            let mut loaded = [W::load(from); N];
            for (k, vector) in loaded.iter_mut().enumerate().skip(1) {
                *vector = W::load(from.add(k * W::COUNT));
            }
            loaded
        }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const W::Real, count: usize) -> [W; N] {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe {
            let mut loaded = [W::load_first(from, count); N];
            for (k, vector) in loaded.iter_mut().enumerate().skip(1) {
                let before = k * W::COUNT;
                let (from, count) = (from.wrapping_add(before), count.saturating_sub(before));
                *vector = W::load_first(from, count);
            }
            loaded
        }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut W::Real) {
        for (k, vector) in self.into_iter().enumerate() {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            unsafe { vector.store(to.add(k * W::COUNT)) }
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut W::Real, count: usize) {
        for (k, vector) in self.into_iter().enumerate() {
            let before = k * W::COUNT;
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            unsafe { vector.store_first(to.wrapping_add(before), count.saturating_sub(before)) }
        }
    }
    #[inline(always)]
    unsafe fn and_product(mut self, a: [W; N], b: [W; N]) -> [W; N] {
        for k in 0..N {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            self[k] = unsafe { self[k].and_product(a[k], b[k]) };
        }
        self
    }
    #[inline(always)]
    unsafe fn and_fused_product(mut self, a: [W; N], b: [W; N]) -> [W; N] {
        for k in 0..N {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            self[k] = unsafe { self[k].and_fused_product(a[k], b[k]) };
        }
        self
    }
    #[inline(always)]
    unsafe fn plus(mut self, other: [W; N]) -> [W; N] {
        for k in 0..N {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            self[k] = unsafe { self[k].plus(other[k]) };
        }
        self
    }
    #[inline(always)]
    unsafe fn folded(mut self) -> W::Real {
        const { assert!(N.is_power_of_two(), "halves have as many lanes") };
        let mut half = N / 2;
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe {
            while half > 0 {
                for k in 0..half {
                    self[k] = self[k].plus(self[k + half]);
                }
                half /= 2;
            }
            self[0].folded()
        }
    }
    #[inline(always)]
    unsafe fn most<const GREATEST: bool>(mut self) -> W::Real {
        let mut half = N / 2;
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe {
            while half > 0 {
                for k in 0..half {
                    self[k] = self[k].or_beyond::<GREATEST>(self[k + half]);
                }
                half /= 2;
            }
            self[0].most::<GREATEST>()
        }
    }
    #[inline(always)]
    unsafe fn with_first(mut self, other: [W; N], count: usize) -> [W; N] {
        for (k, (vector, other)) in self.iter_mut().zip(other).enumerate() {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            *vector = unsafe { vector.with_first(other, count.saturating_sub(k * W::COUNT)) };
        }
        self
    }
    #[inline(always)]
    unsafe fn or_beyond<const GREATEST: bool>(mut self, other: [W; N]) -> [W; N] {
        for k in 0..N {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            self[k] = unsafe { self[k].or_beyond::<GREATEST>(other[k]) };
        }
        self
    }
    #[inline(always)]
    unsafe fn nans(self) -> u32 {
        let mut nans = 0;
        for vector in self {
            // SAFETY: memory and instructions are those that the trait's method requires of its caller.
            nans |= unsafe { vector.nans() };
        }
        nans
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    pub use std::arch::x86_64::*;

    macro_rules! vectors {
        ($($vector:ident $t:ident $count:literal $all:ident $load:ident $load_first:ident $store:ident
           $store_first:ident $first:ident $add:ident $mul:ident $fused:ident
           $max:ident $min:ident $nans:ident $folded:ident $greatest:ident $least:ident $blend:ident;)*) => { $(
            impl Vector for $vector {
                type Real = $t;
                const COUNT: usize = $count;
                #[inline(always)]
                unsafe fn all(value: $t) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $all(value) }
                }
                #[inline(always)]
                unsafe fn load(from: *const $t) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn load_first(from: *const $t, count: usize) -> $vector {
                    // SAFETY: `count` floats exist, and lanes outside the mask are not read.
                    unsafe { $load_first($first(count), from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $t) {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn store_first(self, to: *mut $t, count: usize) {
                    // SAFETY: there is room for `count` floats, and lanes outside the mask are not written.
                    unsafe { $store_first(to, $first(count), self) }
                }
                #[inline(always)]
                unsafe fn and_product(self, a: $vector, b: $vector) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $add(self, $mul(a, b)) }
                }
                #[inline(always)]
                unsafe fn and_fused_product(self, a: $vector, b: $vector) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $fused(a, b, self) }
                }
                #[inline(always)]
                unsafe fn plus(self, other: $vector) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $add(self, other) }
                }
                #[inline(always)]
                unsafe fn folded(self) -> $t {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $folded(self) }
                }
                #[inline(always)]
                unsafe fn most<const GREATEST: bool>(self) -> $t {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { if GREATEST { $greatest(self) } else { $least(self) } }
                }
                #[inline(always)]
                unsafe fn with_first(self, other: $vector, count: usize) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $blend(self, $first(count), other) }
                }
                #[inline(always)]
                unsafe fn or_beyond<const GREATEST: bool>(self, other: $vector) -> $vector {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { if GREATEST { $max(self, other) } else { $min(self, other) } }
                }
                #[inline(always)]
                unsafe fn nans(self) -> u32 {
                    // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                    unsafe { $nans(self) }
                }
            }
        )* };
    }
    vectors! {
        __m512 f32 16 _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps
            _mm512_mask_storeu_ps first_16 _mm512_add_ps _mm512_mul_ps _mm512_fmadd_ps
            _mm512_max_ps _mm512_min_ps nans_512_ps folded_512_ps
            greatest_512_ps least_512_ps _mm512_mask_mov_ps;
        __m512d f64 8 _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd
            _mm512_mask_storeu_pd first_8 _mm512_add_pd _mm512_mul_pd _mm512_fmadd_pd
            _mm512_max_pd _mm512_min_pd nans_512_pd folded_512_pd
            greatest_512_pd least_512_pd _mm512_mask_mov_pd;
        __m256 f32 8 _mm256_set1_ps _mm256_loadu_ps maskz_loadu_ps _mm256_storeu_ps
            _mm256_maskstore_ps first_words _mm256_add_ps _mm256_mul_ps _mm256_fmadd_ps
            _mm256_max_ps _mm256_min_ps nans_256_ps folded_256_ps
            greatest_256_ps least_256_ps blended_ps;
        __m256d f64 4 _mm256_set1_pd _mm256_loadu_pd maskz_loadu_pd _mm256_storeu_pd
            _mm256_maskstore_pd first_longs _mm256_add_pd _mm256_mul_pd _mm256_fmadd_pd
            _mm256_max_pd _mm256_min_pd nans_256_pd folded_256_pd
            greatest_256_pd least_256_pd blended_pd;
    }

    /// Returns 0 if no lane is NaN, for a vector of float32 of AVX-512.
    #[inline(always)]
    unsafe fn nans_512_ps(x: __m512) -> u32 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        u32::from(unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x) })
    }

    /// Returns 0 if no lane is NaN, for a vector of float64 of AVX-512.
    #[inline(always)]
    unsafe fn nans_512_pd(x: __m512d) -> u32 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        u32::from(unsafe { _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x) })
    }

    /// Returns 0 if no lane is NaN, for a vector of float32 of AVX2.
    #[inline(always)]
    unsafe fn nans_256_ps(x: __m256) -> u32 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)) as u32 }
    }

    /// Returns 0 if no lane is NaN, for a vector of float64 of AVX2.
    #[inline(always)]
    unsafe fn nans_256_pd(x: __m256d) -> u32 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)) as u32 }
    }

    /// Functions that combine the lanes of vectors by halves, the lower one as the left operand.
    macro_rules! folds {
        ($($ps_512:ident $pd_512:ident $ps_256:ident $pd_256:ident
           $wide_ps:ident $ps:ident $ss:ident $wide_pd:ident $sd:ident;)*) => { $(
            #[inline(always)]
            unsafe fn $ps_512(x: __m512) -> f32 {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe {
                    let above = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x));
                    $ps_256($wide_ps(_mm512_castps512_ps256(x), _mm256_castpd_ps(above)))
                }
            }

            #[inline(always)]
            unsafe fn $pd_512(x: __m512d) -> f64 {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe {
                    let above = _mm512_extractf64x4_pd::<1>(x);
                    $pd_256($wide_pd(_mm512_castpd512_pd256(x), above))
                }
            }

            #[inline(always)]
            unsafe fn $ps_256(x: __m256) -> f32 {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe {
                    let four = $ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
                    let two = $ps(four, _mm_movehl_ps(four, four));
                    _mm_cvtss_f32($ss(two, _mm_shuffle_ps::<1>(two, two)))
                }
            }

            #[inline(always)]
            unsafe fn $pd_256(x: __m256d) -> f64 {
                // SAFETY: memory and instructions are those that the trait's method requires of its caller.
                unsafe {
                    let above = _mm256_castpd128_pd256(_mm256_extractf128_pd::<1>(x));
                    let two = _mm256_castpd256_pd128($wide_pd(x, above));
                    _mm_cvtsd_f64($sd(two, _mm_unpackhi_pd(two, two)))
                }
            }
        )* };
    }
    folds! {
        folded_512_ps folded_512_pd folded_256_ps folded_256_pd
            _mm256_add_ps _mm_add_ps _mm_add_ss _mm256_add_pd _mm_add_sd;
        greatest_512_ps greatest_512_pd greatest_256_ps greatest_256_pd
            _mm256_max_ps _mm_max_ps _mm_max_ss _mm256_max_pd _mm_max_sd;
        least_512_ps least_512_pd least_256_ps least_256_pd
            _mm256_min_ps _mm_min_ps _mm_min_ss _mm256_min_pd _mm_min_sd;
    }

    /// The lanes of `other` where the mask has them, and the others of `x`, of float32.
    #[inline(always)]
    unsafe fn blended_ps(x: __m256, mask: __m256i, other: __m256) -> __m256 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_blendv_ps(x, other, _mm256_castsi256_ps(mask)) }
    }

    /// The lanes of `other` where the mask has them, and the others of `x`, of float64.
    #[inline(always)]
    unsafe fn blended_pd(x: __m256d, mask: __m256i, other: __m256d) -> __m256d {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_blendv_pd(x, other, _mm256_castsi256_pd(mask)) }
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

    /// The mask of the first lanes of 32 bits, in the form of AVX2.
    #[inline(always)]
    unsafe fn first_words(count: usize) -> __m256i {
        // SAFETY: callers have checked that the processor has AVX2.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), lanes)
        }
    }

    /// The mask of the first lanes of 64 bits, in the form of AVX2.
    #[inline(always)]
    unsafe fn first_longs(count: usize) -> __m256i {
        // SAFETY: callers have checked that the processor has AVX2.
        unsafe {
            let lanes = _mm256_setr_epi64x(0, 1, 2, 3);
            _mm256_cmpgt_epi64(_mm256_set1_epi64x(count.min(4) as i64), lanes)
        }
    }

    #[inline(always)]
    unsafe fn maskz_loadu_ps(mask: __m256i, from: *const f32) -> __m256 {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_maskload_ps(from, mask) }
    }

    #[inline(always)]
    unsafe fn maskz_loadu_pd(mask: __m256i, from: *const f64) -> __m256d {
        // SAFETY: memory and instructions are those that the trait's method requires of its caller.
        unsafe { _mm256_maskload_pd(from, mask) }
    }
}
