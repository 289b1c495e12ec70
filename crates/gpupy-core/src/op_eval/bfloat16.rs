//! The Rust type of bfloat16: the upper half of a float32.
//!
//! Owns [`Bfloat16`]. Invariant: a cast from any dtype is a cast to float32, rounded once more, as in the package
//! ml_dtypes; so is the result of an operation.
//!
//! Not here: operations (`table.rs`); bfloat16 in programs for drivers without it (`ir/bfloat16_lowering.rs`).

/// A bfloat16, as bits.
#[derive(Clone, Copy)]
pub struct Bfloat16(pub u16);

impl From<f32> for Bfloat16 {
    /// The nearest bfloat16, ties to even; of NaN, the quiet one with its sign. Without branches, so that loops over it
    /// are vectors.
    #[inline(always)]
    fn from(x: f32) -> Bfloat16 {
        let bits = x.to_bits();
        // Half of the last place, less one where the last bit is 0. It carries up to infinity.
        let rounded = bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1);
        let nan = (bits & 0x8000_0000) | 0x7fc0_0000;
        Bfloat16((if x.is_nan() { nan } else { rounded } >> 16) as u16)
    }
}

impl From<Bfloat16> for f32 {
    #[inline(always)]
    fn from(x: Bfloat16) -> f32 {
        f32::from_bits(u32::from(x.0) << 16)
    }
}

impl From<Bfloat16> for f64 {
    #[inline(always)]
    fn from(x: Bfloat16) -> f64 {
        f64::from(f32::from(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a bfloat16 that is a number, from its definition.
    fn value(bits: u16) -> f64 {
        let (exponent, digits) = (i32::from(bits >> 7 & 255), f64::from(bits & 127));
        let size = match exponent {
            0 => digits * 2f64.powi(-133),
            _ => (128.0 + digits) * 2f64.powi(exponent - 134),
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    #[test]
    fn every_bfloat16_is_its_value_and_comes_back() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7f80 != 0x7f80) {
            assert_eq!(f64::from(Bfloat16(bits)).to_bits(), value(bits).to_bits(), "{bits:#x}");
            assert_eq!(Bfloat16::from(f32::from(Bfloat16(bits))).0, bits);
        }
        assert_eq!(f32::from(Bfloat16(0x7f80)), f32::INFINITY);
        assert_eq!(f32::from(Bfloat16(0xff80)), f32::NEG_INFINITY);
        assert!(f32::from(Bfloat16(0xff81)).is_nan());
    }

    #[test]
    fn what_lies_between_two_bfloat16_goes_to_the_nearer_one_and_ties_to_even() {
        for bits in 0..0x7f80u16 {
            let tie = (u32::from(bits) << 16) + 0x8000;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            for (x, want) in [(tie - 1, bits), (tie, even), (tie + 1, bits + 1)] {
                assert_eq!(Bfloat16::from(f32::from_bits(x)).0, want, "{x:#x}");
                assert_eq!(Bfloat16::from(-f32::from_bits(x)).0, want | 0x8000, "-{x:#x}");
            }
        }
        assert_eq!(Bfloat16::from(f32::MAX).0, 0x7f80);
    }

    #[test]
    fn a_nan_stays_one_with_its_sign_and_becomes_quiet() {
        for bits in [0x7f80_0001, 0x7fff_ffff, 0x7fc0_0000] {
            assert_eq!(Bfloat16::from(f32::from_bits(bits)).0, 0x7fc0, "{bits:#x}");
            assert_eq!(Bfloat16::from(f32::from_bits(bits | 1 << 31)).0, 0xffc0, "{bits:#x}");
        }
    }
}
