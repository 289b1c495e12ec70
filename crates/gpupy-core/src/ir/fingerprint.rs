//! The fingerprint of a program: a 128-bit hash of its contents.
//!
//! Owns [`Fingerprint`]. Invariant: equal programs have equal fingerprints in every process, on every machine and in
//! every version that keeps the IR's memory form, so that disk caches of kernels can use it as key.
//!
//! Not here: caches that use it (drivers).

use super::Program;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A stable 128-bit hash of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint(pub u128);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Fingerprint {
    /// A name of these words.
    pub fn of(words: impl IntoIterator<Item = u64>) -> Fingerprint {
        let mut hash = Hash::new();
        words.into_iter().for_each(|word| hash.word(word));
        hash.finish()
    }
}

impl Program {
    /// The program's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Hash::new();
        hash.word(self.form.kind() as u64 | u64::from(self.form.number()) << 8);
        hash.word(u64::from(self.rank));
        for dtypes in [&self.operands, &self.params, &self.dests] {
            hash.word(dtypes.len() as u64);
            dtypes.iter().for_each(|d| hash.word(*d as u64));
        }
        hash.word(self.accesses.len() as u64);
        self.accesses.iter().for_each(|a| hash.word(*a as u64));
        hash.word(self.insts.len() as u64);
        for inst in &self.insts {
            let [a, b, c] = inst.args;
            hash.word(inst.op as u64 | (inst.dtype as u64) << 16 | u64::from(a) << 32);
            hash.word(u64::from(b) | u64::from(c) << 32);
        }
        hash.word(self.extra.len() as u64);
        self.extra.iter().for_each(|e| hash.word(u64::from(*e)));
        hash.finish()
    }
}

/// Two 64-bit lanes of multiply-and-fold mixing. It need not be cryptographic: the author of a program gains nothing
/// from a collision of their own kernels.
struct Hash([u64; 2]);

const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

impl Hash {
    fn new() -> Hash {
        Hash([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344])
    }

    fn word(&mut self, word: u64) {
        for (lane, multiplier) in self.0.iter_mut().zip(MULTIPLIERS) {
            let wide = u128::from(*lane ^ word) * u128::from(multiplier);
            // The lane itself is added back in, so that folding loses no state.
            *lane = lane.rotate_left(23).wrapping_add(wide as u64 ^ (wide >> 64) as u64);
        }
    }

    fn finish(mut self) -> Fingerprint {
        self.word(0x5bd1_e995);
        self.word(0);
        Fingerprint(u128::from(self.0[0]) << 64 | u128::from(self.0[1]))
    }
}
