//! Refusals: programs that a driver did not take, although it had said that they fit.
//!
//! Owns [`Refusals`]. A program that a driver refuses it would usually refuse again. One that can be cut smaller is cut
//! as long as the device is open. One that failed for another reason, as there was no room for its operands, is cut
//! smaller, or done apart, until the evaluation is over. A single operation, which nothing cuts, fails until then, and
//! is tried again by the next evaluation. Invariant: the list is bounded; the least recently queried entry is removed
//! first.
//!
//! Not here: where a walk is cut (`partition.rs`).

use crate::schedule::program::kernel::KernelCode;
use gpupy_core::ir::Fingerprint;
use gpupy_core::{Error, ErrorKind};
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::num::NonZeroUsize;

/// The most refused programs that are known.
const MOST: NonZeroUsize = NonZeroUsize::new(1 << 12).unwrap();

/// The programs that a device refused, each with its error.
pub(crate) struct Refusals {
    refused: LruCache<Fingerprint, Error, FxBuildHasher>,
    failed: FxHashMap<Fingerprint, Error>,
}

impl Default for Refusals {
    fn default() -> Refusals {
        let refused = LruCache::with_hasher(MOST, FxBuildHasher);
        Refusals { refused, failed: FxHashMap::default() }
    }
}

impl Refusals {
    /// Notes a device's error for a program, of one operation or of several.
    pub fn note(&mut self, code: &KernelCode, error: &Error) {
        let program = &code.program;
        let is_several = program.operation_count() + program.reductions().count() > 1;
        if error.kind() == ErrorKind::Refused && is_several {
            self.refused.put(code.fingerprint(), error.clone());
        } else {
            self.failed.insert(code.fingerprint(), error.clone());
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.failed.is_empty()
    }

    /// The error of a program that the device refused.
    pub fn find(&mut self, program: Fingerprint) -> Option<&Error> {
        match self.failed.get(&program) {
            Some(error) => Some(error),
            None => self.refused.get(&program),
        }
    }

    /// An evaluation begins, or values are cut smaller: a program that failed before may succeed.
    pub fn begin(&mut self) {
        self.failed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::DType;
    use gpupy_core::ir::{AccessKind, Builder, Form};
    use gpupy_core::op::Op;
    use gpupy_core::shape::Shape;

    fn code(operations: u32) -> KernelCode {
        let mut builder = Builder::new(Form::Map, 1);
        let operand = builder.operand(DType::F32);
        let access = builder.access(AccessKind::Contiguous);
        let mut value = builder.load(operand, access);
        for _ in 0..operations {
            value = builder.op(Op::Neg, &[value]);
        }
        builder.store(value);
        KernelCode::new(builder.finish(), Shape::new(), Vec::new(), Vec::new())
    }

    #[test]
    fn what_is_refused_is_known_longer_than_what_failed() {
        let (refused, full) = (
            Error::new(ErrorKind::Refused, "compile"),
            Error::new(ErrorKind::OutOfMemory, "launch"),
        );
        let mut refusals = Refusals::default();
        assert!(refusals.is_empty());
        refusals.note(&code(2), &refused);
        refusals.note(&code(3), &full);
        // A single operation, which nothing cuts, is tried again.
        refusals.note(&code(1), &refused);
        let kind = |refusals: &mut Refusals, operations| {
            refusals.find(code(operations).fingerprint()).map(Error::kind)
        };
        assert_eq!(kind(&mut refusals, 3), Some(ErrorKind::OutOfMemory));
        assert_eq!(kind(&mut refusals, 1), Some(ErrorKind::Refused));
        refusals.begin();
        assert_eq!(kind(&mut refusals, 3), None);
        assert_eq!(kind(&mut refusals, 1), None);
        assert_eq!(kind(&mut refusals, 2), Some(ErrorKind::Refused));
    }
}
