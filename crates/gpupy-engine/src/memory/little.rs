//! What counts as little: elements that are computed or moved in host memory sooner than they are recorded.
//!
//! Not here: how that is done (`eager/`), when a base comes to host memory for good (`context/settle.rs`).

/// The most points of an operation that is computed at once. Then one operation takes less than half the
/// time of recording and evaluating it, three take three quarters, and twelve a tenth more.
pub(crate) const MOST_POINTS: usize = 16 << 10;

/// A write that may settle its base is of at most one in so many of its elements.
const PART: usize = 8;

/// Whether a write of so many elements to a base of so many is a little one.
pub(crate) fn is_little(elements: usize, base: usize) -> bool {
    elements == 1 || is_part(elements, base)
}

/// Whether so many elements are few, and a small part of so many.
pub(crate) fn is_part(elements: usize, base: usize) -> bool {
    elements <= MOST_POINTS && elements.saturating_mul(PART) <= base
}
