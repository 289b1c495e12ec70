//! The size below which elements are computed or moved in host memory instead of being recorded.
//!
//! Not here: eager work (`eager/`), when a base is promoted to host memory (`context/host_promotion.rs`).

use crate::thresholds::T;

/// Whether a write of so many elements to a base of so many is a little one.
pub(crate) fn is_little(elements: usize, base: usize) -> bool {
    elements == 1 || is_part(elements, base)
}

/// Whether so many elements are few, and a small part of so many.
pub(crate) fn is_part(elements: usize, base: usize) -> bool {
    elements <= T.most_points && elements.saturating_mul(T.little_part) <= base
}
