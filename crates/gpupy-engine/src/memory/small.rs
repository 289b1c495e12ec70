//! What counts as little: elements that are computed or moved in host memory sooner than they are recorded.
//!
//! Not here: how that is done (`eager/`), when a base comes to host memory for good (`context/host_promotion.rs`).

use crate::thresholds::T;

/// Whether a write of so many elements to a base of so many is a little one.
pub(crate) fn is_little(elements: usize, base: usize) -> bool {
    elements == 1 || is_part(elements, base)
}

/// Whether so many elements are few, and a small part of so many.
pub(crate) fn is_part(elements: usize, base: usize) -> bool {
    elements <= T.most_points && elements.saturating_mul(T.little_part) <= base
}
