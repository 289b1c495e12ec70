//! Keys: unsigned integers in the order of the elements that they stand for.
//!
//! Owns [`SortOrder`]. Invariant: different numbers have different keys, except for NaN, which have none of their own.
//!
//! Not here: sorts (`sort.rs`, `short_sort.rs`).

use gpupy_core::DType;

/// The order of a dtype's elements, in terms of their bits.
pub struct SortOrder<T> {
    /// The sign bit; 0 for unsigned integers.
    pub sign: T,
    /// The bits of infinity; 0 for integers.
    pub infinity: T,
}

macro_rules! ordered {
    ($($t:ident)*) => { $(
        impl SortOrder<$t> {
            /// The order of a dtype with elements of this size.
            pub fn of(dtype: DType) -> SortOrder<$t> {
                let signed = dtype.is_signed_int() || dtype.is_float();
                let sign = if signed { 1 << ($t::BITS - 1) } else { 0 };
                SortOrder { sign, infinity: dtype.infinity() as $t }
            }

            /// Whether these are the bits of NaN.
            #[inline(always)]
            pub fn is_nan(&self, bits: $t) -> bool {
                self.infinity != 0 && bits & !self.sign > self.infinity
            }

            /// The key of an element: the bits of negative floats are all flipped.
            #[inline(always)]
            pub fn key(&self, bits: $t) -> $t {
                let negative = self.infinity != 0 && bits & self.sign != 0;
                bits ^ if negative { $t::MAX } else { self.sign }
            }

            /// The element that has a key.
            #[inline(always)]
            pub fn bits(&self, key: $t) -> $t {
                let negative = self.infinity != 0 && key & self.sign == 0;
                key ^ if negative { $t::MAX } else { self.sign }
            }
        }
    )* };
}
ordered!(u8 u16 u32 u64);
