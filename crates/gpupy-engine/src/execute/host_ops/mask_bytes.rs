//! The bytes of masks: which of them are not 0, and how many.
//!
//! Owns [`count`], [`each_true`] and [`each_eight`].
//!
//! Not here: what is done where a mask is true (`eager/small_boolean_mask.rs`, `execute/host_ops/host_nonzero.rs`).

/// How many bytes are not 0: in pieces of so few that a byte counts them, which is vector code.
pub(crate) fn count(mask: &[u8]) -> usize {
    let pieces = mask.chunks(usize::from(u8::MAX));
    let of_piece = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte != 0)).sum::<u8>();
    pieces.map(|piece| usize::from(of_piece(piece))).sum()
}

/// The highest bit of each byte.
const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// The highest bits of the bytes that are not 0.
#[inline(always)]
fn set(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    (((word & !HIGHEST) + !HIGHEST) | word) & HIGHEST
}

/// The places of the bits that each byte has, and zeros.
static PLACES: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                all[byte][found] = bit as u8;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// Calls for eight bytes at a time that are not all 0: with the position of the first, the places of those among them
/// that are not 0, and how many these are.
#[inline(always)]
pub(crate) fn each_eight(mask: &[u8], mut each: impl FnMut(usize, &[u8; 8], usize)) {
    let (words, rest) = mask.as_chunks::<8>();
    let mut of_word = |at: usize, word: [u8; 8]| {
        let ones = set(word) >> 7;
        if ones != 0 {
            // Products of single bits, without carries: those of the eight bytes side by side, and their sum.
            let bits = ones.wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let n = ones.wrapping_mul(0x0101_0101_0101_0101) >> 56;
            each(at, &PLACES[bits as usize], n as usize);
        }
    };
    (0..).step_by(8).zip(words).for_each(|(at, word)| of_word(at, *word));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    of_word(mask.len() - rest.len(), last);
}

/// Calls with the position of each byte that is not 0 and with 1, or with the first position of eight and with 8.
/// Mostly those of one truth lie side by side, so they are looked at eight at a time.
#[inline(always)]
pub(crate) fn each_true(mask: &[u8], mut each: impl FnMut(usize, usize)) {
    let (words, rest) = mask.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let (at, mut set) = (8 * number, set(*word));
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
