//! The bytes of masks: which of them are not 0, and how many.
//!
//! Owns [`count`] and [`each_true`].
//!
//! Not here: what is done where a mask is true (`eager/small_boolean_mask.rs`, `execute/host_ops/host_nonzero.rs`).

/// How many bytes are not 0: in pieces of so few that a byte counts them, which is vector code.
pub(crate) fn count(mask: &[u8]) -> usize {
    let pieces = mask.chunks(usize::from(u8::MAX));
    let of_piece = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte != 0)).sum::<u8>();
    pieces.map(|piece| usize::from(of_piece(piece))).sum()
}

/// Calls with the position of each byte that is not 0 and with 1, or with the first position of eight and with 8.
/// Mostly those of one truth lie side by side, so they are looked at eight at a time.
#[inline(always)]
pub(crate) fn each_true(mask: &[u8], mut each: impl FnMut(usize, usize)) {
    /// The highest bit of each byte.
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = mask.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let (at, word) = (8 * number, u64::from_le_bytes(*word));
        // Bytes that are not 0 have their highest bit then.
        let mut set = (((word & !HIGHEST) + !HIGHEST) | word) & HIGHEST;
        if set == HIGHEST {
            each(at, 8);
            continue;
        }
        while set != 0 {
            each(at + set.trailing_zeros() as usize / 8, 1);
            set &= set - 1;
        }
    }
    let before = mask.len() - rest.len();
    (before..).zip(rest).filter(|(_, byte)| **byte != 0).for_each(|(at, _)| each(at, 1));
}
