//! Words of a bit generator in a buffer, taken as words or as their parts.
//!
//! Owns [`WordBuffer`]. A part of a word is the next one in memory where the least significant byte is first, as NumPy
//! takes the low half first, and of a half its low parts. Invariant: the generator's state afterwards is that after
//! the words that were taken, not after those that were made. Not here: what is made of them (`numbers.rs`).

use crate::bit_generators::BitGenerator;

/// Words of a buffer: they stay in the first cache.
const WORDS: usize = 1024;

/// The half of a word that is left, as NumPy keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpareHalf {
    /// Whether it is left.
    pub is_left: bool,
    /// The high half of the word that was taken as halves last.
    pub half: u32,
}

/// A bit generator with the words that it made and nothing took yet.
pub struct WordBuffer {
    /// The state before the first word of the buffer.
    before: BitGenerator,
    after: BitGenerator,
    words: Vec<u64>,
    /// Bytes that were taken.
    taken: usize,
    /// Whether the words are not the generator's: the last one is that of which half is left, if one is.
    is_given: bool,
}

/// Numbers of which words consist.
pub trait WordPart: Copy {
    /// Bytes.
    const SIZE: usize;
    /// The parts of words, in their order.
    fn of(words: &[u64]) -> &[Self];
}

macro_rules! word_parts {
    ($($part:ty),*) => {
        $(impl WordPart for $part {
            const SIZE: usize = size_of::<$part>();

            #[inline(always)]
            fn of(words: &[u64]) -> &[$part] {
                // SAFETY: every word consists of whole parts, each of which may be any number.
                unsafe { words.align_to::<$part>().1 }
            }
        })*
    };
}

word_parts!(u8, u16, u32, u64);

impl WordBuffer {
    /// Words of a generator, as a whole.
    pub fn of_words(generator: BitGenerator) -> WordBuffer {
        WordBuffer {
            before: generator.clone(),
            after: generator,
            words: vec![0; WORDS],
            taken: 8 * WORDS,
            is_given: true,
        }
    }

    /// Parts of words, the first of which may be the half that is left.
    pub fn of_parts(generator: BitGenerator, spare: SpareHalf) -> WordBuffer {
        let mut made = WordBuffer::of_words(generator);
        if spare.is_left {
            made.taken -= 4;
            made.words[WORDS - 1] = u64::from(spare.half) << 32;
        }
        made
    }

    /// The parts that are there, at least one.
    #[inline(always)]
    pub fn parts<P: WordPart>(&mut self) -> &[P] {
        if self.taken == 8 * WORDS {
            self.before = self.after.clone();
            self.after.fill(&mut self.words);
            (self.taken, self.is_given) = (0, false);
        }
        &P::of(&self.words)[self.taken / P::SIZE..]
    }

    /// Takes the first of the parts.
    #[inline(always)]
    pub fn take<P: WordPart>(&mut self, count: usize) {
        self.taken += P::SIZE * count;
    }

    /// The next word or part.
    #[inline(always)]
    pub fn next<P: WordPart>(&mut self) -> P {
        let part = self.parts::<P>()[0];
        self.take::<P>(1);
        part
    }

    /// The state of the generator, and of the half that is left: of a half, nothing is kept.
    pub fn end(mut self, spare: SpareHalf) -> (BitGenerator, SpareHalf) {
        let halves = self.taken.div_ceil(4);
        let words = halves.div_ceil(2);
        if self.is_given {
            return (self.before, SpareHalf { is_left: halves % 2 == 1, half: spare.half });
        }
        let half = words.checked_sub(1).map_or(spare.half, |at| (self.words[at] >> 32) as u32);
        self.before.fill(&mut self.words[..words]);
        (self.before, SpareHalf { is_left: halves % 2 == 1, half })
    }
}
