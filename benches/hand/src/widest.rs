//! The choice of vectors at run time.
//!
//! Owns the macro [`widest`] and the choice. Invariant: every variant is the same code, compiled for other
//! instructions; none of them may contract a product and a sum on its own.

/// The vectors of the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline of the architecture.
    Plain,
}

/// The widest vectors of this machine; the standard library asks only once.
pub fn vectors() -> Vectors {
    #[cfg(target_arch = "x86_64")]
    {
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match (avx512 && fused, fused) {
            (true, _) => return Vectors::Avx512,
            (_, true) => return Vectors::Avx2,
            _ => {}
        }
    }
    Vectors::Plain
}

/// Compiles a function for each kind of vectors, and calls the variant for the machine at hand.
macro_rules! widest {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        fn $name($($arg: $type),*) {
            #[inline(always)]
            fn plain($($arg: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $type),*) {
                plain($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) {
                plain($($arg),*)
            }
            match $crate::widest::vectors() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has these instructions.
                $crate::widest::Vectors::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has these instructions.
                $crate::widest::Vectors::Avx2 => unsafe { avx2($($arg),*) },
                $crate::widest::Vectors::Plain => plain($($arg),*),
            }
        }
    };
}

pub(crate) use widest;
