//! The cases of the documents.
//!
//! Owns [`files`]. Invariant: every exact operation, function, dtype, kind of access, form and instruction
//! occurs.
//!
//! Not here: the cases (the files beside), the results of launches (`oracle.rs`), the format of documents
//! (`write.rs`).

use super::forms::forms;
use super::named::Named;
use super::operations::{casts, functions, operations};
use super::pieces::pieces;
use super::programs::programs;
use super::reductions::reductions;
use super::regions::regions;
use super::views::{accesses, destinations};
use gpupy_core::DType;

/// Each document's name and cases.
pub fn files() -> Vec<(&'static str, Vec<Named>)> {
    vec![
        ("accesses", accesses()),
        ("casts", casts()),
        ("destinations", destinations()),
        ("forms", forms()),
        ("functions", functions()),
        ("operations-bool", operations(DType::Bool)),
        ("operations-float32", operations(DType::F32)),
        ("operations-int32", operations(DType::I32)),
        ("operations-uint32", operations(DType::U32)),
        ("pieces", pieces()),
        ("programs", programs()),
        ("reductions", reductions()),
        ("regions", regions()),
    ]
}
