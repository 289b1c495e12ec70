//! The instruction sets that the compiler targets.
//!
//! Owns [`Isa`]. Not here: their encodings (`encode.rs`).

/// An instruction set beyond the x86-64 baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// AVX2 and F16C: 16 registers of 256 bits.
    Avx2,
    /// AVX-512 with F, BW, DQ and VL, and BMI2: 32 registers of 512 bits, and mask registers.
    Avx512,
}

impl Isa {
    /// The best instruction set of this machine, if it has one.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Option<Isa> {
        use std::arch::is_x86_feature_detected as has;
        let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        if avx512 && has!("bmi2") {
            Some(Isa::Avx512)
        } else {
            (has!("avx2") && has!("f16c")).then_some(Isa::Avx2)
        }
    }

    /// The best instruction set of this machine: none, since it is not x86-64.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Option<Isa> {
        None
    }

    /// Bytes of a vector register.
    pub fn bytes(self) -> usize {
        match self {
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
        }
    }

    /// Vector registers.
    pub fn registers(self) -> usize {
        match self {
            Isa::Avx2 => 16,
            Isa::Avx512 => 32,
        }
    }
}
