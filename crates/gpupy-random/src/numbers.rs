//! Numbers that are made of words: uniform, by ziggurats, and whole ones below a bound.
//!
//! Owns [`Distribution`], [`Layers`] and [`draw`]. A ziggurat (Marsaglia and Tsang, "The ziggurat method for generating
//! random variables", 2000) rejects one of a hundred words, a bound (Lemire, "Fast random integer generation in an
//! interval", 2019) few; each takes the next ones then. Invariant: numbers are in the order of the words. Not here:
//! words (`bit_generators.rs`, `word_buffer.rs`), where the layers are from
//! (`crates/gpupy-py/python/gpupy/_random/layers.py`).

use crate::bit_generators::BitGenerator;
use crate::word_buffer::{SpareHalf, WordBuffer, WordPart};

/// The numbers of a call.
#[derive(Clone, Copy, Debug)]
pub enum Distribution {
    /// The first number, and what is multiplied with numbers from 0 to 1, in float64.
    Uniform(f64, f64),
    /// Normal numbers, or a first number and what is multiplied with them, in float64.
    Normal(Option<[f64; 2]>),
    /// Exponential numbers, or what is multiplied with them, in float64.
    Exponential(Option<f64>),
    /// Whole numbers.
    Integers(Interval),
}

/// An interval of whole numbers of so many bytes; they wrap around.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Bytes of a number.
    pub bytes: usize,
    /// The first one.
    pub first: u64,
    /// How much more the last one is.
    pub range: u64,
}

/// The layers of a ziggurat.
pub struct Layers {
    /// Below these, a word's bits lie in the layer whatever its height.
    pub inside: [u64; 256],
    /// What a unit of these bits is.
    pub unit: [f64; 256],
    /// The density at the edge of the layer.
    pub height: [f64; 256],
}

/// Where the last layer of the normal density ends, and its reciprocal.
const NORMAL_END: f64 = 3.654_152_885_361_009;
const NORMAL_END_INVERSE: f64 = 0.273_661_237_329_758_3;
/// Where the last layer of the exponential density ends.
const EXPONENTIAL_END: f64 = 7.697_117_470_131_05;

/// Draws as many numbers as there is room for, and returns the state afterwards; `None` for a size of whole numbers
/// that is none, and for a room that is not of whole, aligned numbers.
pub fn draw(
    generator: BitGenerator,
    spare: SpareHalf,
    distribution: Distribution,
    layers: &Layers,
    room: &mut [u8],
) -> Option<(BitGenerator, SpareHalf)> {
    match distribution {
        Distribution::Uniform(low, length) => words_to(generator, spare, room, |words, to| {
            let mut rest = to;
            while !rest.is_empty() {
                let given = words.parts::<u64>();
                let count = given.len().min(rest.len());
                let (now, later) = rest.split_at_mut(count);
                for (to, word) in now.iter_mut().zip(given) {
                    *to = low + length * fraction(*word);
                }
                words.take::<u64>(count);
                rest = later;
            }
        }),
        Distribution::Normal(of) => words_to(generator, spare, room, |words, to| {
            let inside = |word| normal_inside(word, layers);
            let any = |words: &mut WordBuffer| normal(words, layers);
            match of {
                None => mostly(words, to, inside, any, |z| z),
                Some([center, width]) => mostly(words, to, inside, any, |z| center + width * z),
            }
        }),
        Distribution::Exponential(scale) => words_to(generator, spare, room, |words, to| {
            let inside = |word| exponential_inside(word, layers);
            let any = |words: &mut WordBuffer| exponential(words, layers);
            match scale {
                None => mostly(words, to, inside, any, |z| z),
                Some(scale) => mostly(words, to, inside, any, |z| scale * z),
            }
        }),
        Distribution::Integers(Interval { bytes, first, range }) => {
            let mut words = if bytes == 8 && u32::try_from(range).is_err() {
                WordBuffer::of_words(generator)
            } else {
                WordBuffer::of_parts(generator, spare)
            };
            match (bytes, u32::try_from(range)) {
                (8, Ok(range)) => bounded::<u32, u64>(&mut words, range, first, numbers(room)?),
                (8, Err(_)) => bounded::<u64, u64>(&mut words, range, first, numbers(room)?),
                (4, Ok(range)) => {
                    bounded::<u32, u32>(&mut words, range, first as u32, numbers(room)?);
                }
                (2, Ok(range)) => {
                    bounded::<u16, u16>(&mut words, range as u16, first as u16, numbers(room)?);
                }
                (1, Ok(range)) => {
                    bounded::<u8, u8>(&mut words, range as u8, first as u8, numbers(room)?);
                }
                _ => return None,
            }
            let (generator, left) = words.end(spare);
            let is_of_words = bytes == 8 && u32::try_from(range).is_err();
            Some((generator, if is_of_words { spare } else { left }))
        }
    }
}

/// Numbers of whole words, which leave the spare half alone.
fn words_to(
    generator: BitGenerator,
    spare: SpareHalf,
    room: &mut [u8],
    fill: impl FnOnce(&mut WordBuffer, &mut [f64]),
) -> Option<(BitGenerator, SpareHalf)> {
    let mut words = WordBuffer::of_words(generator);
    fill(&mut words, numbers(room)?);
    Some((words.end(spare).0, spare))
}

/// The room as numbers; `None` where it does not consist of these.
fn numbers<T: PlainNumber>(room: &mut [u8]) -> Option<&mut [T]> {
    // SAFETY: whatever the bytes are, they are numbers.
    let (before, numbers, after) = unsafe { room.align_to_mut::<T>() };
    (before.is_empty() && after.is_empty()).then_some(numbers)
}

/// Numbers for which any bytes stand.
trait PlainNumber: Copy {}
impl PlainNumber for f64 {}
impl PlainNumber for u64 {}
impl PlainNumber for u32 {}
impl PlainNumber for u16 {}
impl PlainNumber for u8 {}

/// A word as a number from 0 to 1, without 1.
#[inline(always)]
fn fraction(word: u64) -> f64 {
    // Below 2⁵³: signed numbers are converted by one instruction.
    (word >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Numbers of a word each, but for those of a word that is not `inside`: these are made by `any`, of that word and
/// more.
#[inline(always)]
fn mostly(
    words: &mut WordBuffer,
    to: &mut [f64],
    inside: impl Fn(u64) -> Option<f64>,
    any: impl Fn(&mut WordBuffer) -> f64,
    made_of: impl Fn(f64) -> f64,
) {
    let mut made = 0;
    while made < to.len() {
        let mut count = 0;
        for (to, word) in to[made..].iter_mut().zip(words.parts::<u64>()) {
            let Some(z) = inside(*word) else { break };
            *to = made_of(z);
            count += 1;
        }
        words.take::<u64>(count);
        made += count;
        if let Some(to) = to.get_mut(made) {
            *to = made_of(any(words));
            made += 1;
        }
    }
}

/// The normal number of a word whose bits are within their layer, or else its layer, its bits, and the number.
#[inline(always)]
fn normal_of(word: u64, layers: &Layers) -> (usize, u64, f64) {
    let layer = usize::from(word as u8);
    let bits = word >> 9 & 0x000F_FFFF_FFFF_FFFF;
    let size = bits as i64 as f64 * layers.unit[layer];
    // A sign that is a branch would be guessed wrong half of the time.
    (layer, bits, f64::from_bits(size.to_bits() | (word & 0x100) << 55))
}

#[inline(always)]
fn normal_inside(word: u64, layers: &Layers) -> Option<f64> {
    let (layer, bits, x) = normal_of(word, layers);
    (bits < layers.inside[layer]).then_some(x)
}

/// A normal number.
fn normal(words: &mut WordBuffer, layers: &Layers) -> f64 {
    loop {
        let (layer, bits, x) = normal_of(words.next(), layers);
        if bits < layers.inside[layer] {
            return x;
        }
        if layer == 0 {
            return normal_beyond(words, bits >> 8 & 1 == 1);
        }
        if is_below(words, layers, layer, (-0.5 * x * x).exp()) {
            return x;
        }
    }
}

/// A normal number beyond the last layer.
fn normal_beyond(words: &mut WordBuffer, is_negative: bool) -> f64 {
    loop {
        let beyond = -NORMAL_END_INVERSE * (-fraction(words.next())).ln_1p();
        let y = -(-fraction(words.next())).ln_1p();
        if y + y > beyond * beyond {
            let x = NORMAL_END + beyond;
            return if is_negative { -x } else { x };
        }
    }
}

#[inline(always)]
fn exponential_of(word: u64, layers: &Layers) -> (usize, u64, f64) {
    let (layer, bits) = (usize::from((word >> 3) as u8), word >> 11);
    (layer, bits, bits as i64 as f64 * layers.unit[layer])
}

#[inline(always)]
fn exponential_inside(word: u64, layers: &Layers) -> Option<f64> {
    let (layer, bits, x) = exponential_of(word, layers);
    (bits < layers.inside[layer]).then_some(x)
}

/// An exponential number.
fn exponential(words: &mut WordBuffer, layers: &Layers) -> f64 {
    loop {
        let (layer, bits, x) = exponential_of(words.next(), layers);
        if bits < layers.inside[layer] {
            return x;
        }
        if layer == 0 {
            return EXPONENTIAL_END - (-fraction(words.next())).ln_1p();
        }
        if is_below(words, layers, layer, (-x).exp()) {
            return x;
        }
    }
}

/// Whether a random height of a layer is below this one.
fn is_below(words: &mut WordBuffer, layers: &Layers, layer: usize, height: f64) -> bool {
    let [above, own] = [layers.height[layer - 1], layers.height[layer]];
    (above - own) * fraction(words.next()) + own < height
}

/// A part of a word that is multiplied with the number of values; the high half of the product is one of them, and the
/// low half tells whether one part too many gives it.
trait Bounded: WordPart + PartialOrd {
    const MOST: Self;
    /// The halves of the product with one more than a range.
    fn scaled(self, range: Self) -> (Self, Self);
    /// The least low half of a part that is not one too many, of a range that is not the whole one.
    fn least(range: Self) -> Self;
}

macro_rules! bounded_parts {
    ($($part:ty, $wide:ty);*) => {
        $(impl Bounded for $part {
            const MOST: $part = <$part>::MAX;

            #[inline(always)]
            fn scaled(self, range: $part) -> ($part, $part) {
                let product = <$wide>::from(self) * (<$wide>::from(range) + 1);
                ((product >> <$part>::BITS) as $part, product as $part)
            }

            #[inline(always)]
            fn least(range: $part) -> $part {
                (<$part>::MAX - range) % (range + 1)
            }
        })*
    };
}

bounded_parts!(u8, u16; u16, u32; u32, u64; u64, u128);

/// Whole numbers from the first one on.
trait Whole<P>: PlainNumber {
    fn from_first(first: Self, more: P) -> Self;
}

macro_rules! whole {
    ($($part:ty, $number:ty);*) => {
        $(impl Whole<$part> for $number {
            #[inline(always)]
            fn from_first(first: $number, more: $part) -> $number {
                first.wrapping_add(<$number>::from(more))
            }
        })*
    };
}

whole!(u8, u8; u16, u16; u32, u32; u32, u64; u64, u64);

/// Numbers between which no part is looked at alone: rejections are rare.
const TOGETHER: usize = 16;

/// Whole numbers in a range.
fn bounded<P: Bounded, T: Whole<P>>(words: &mut WordBuffer, range: P, first: T, to: &mut [T]) {
    let is_whole = range == P::MOST;
    let least = if is_whole { range } else { P::least(range) };
    let mut rest = to;
    while !rest.is_empty() {
        let given = words.parts::<P>();
        let count = given.len().min(rest.len());
        if is_whole {
            let (now, later) = rest.split_at_mut(count);
            for (to, part) in now.iter_mut().zip(given) {
                *to = T::from_first(first, *part);
            }
            words.take::<P>(count);
            rest = later;
            continue;
        }
        let (mut made, mut used) = (0, 0);
        while used + TOGETHER <= given.len() && made + TOGETHER <= rest.len() {
            let mut is_rejected = false;
            let parts = &given[used..used + TOGETHER];
            for (to, part) in rest[made..made + TOGETHER].iter_mut().zip(parts) {
                let (high, low) = part.scaled(range);
                is_rejected |= low < least;
                *to = T::from_first(first, high);
            }
            used += TOGETHER;
            if !is_rejected {
                made += TOGETHER;
                continue;
            }
            for part in parts {
                let (high, low) = part.scaled(range);
                rest[made] = T::from_first(first, high);
                made += usize::from(low >= least);
            }
        }
        while used < given.len() && made < rest.len() {
            let (high, low) = given[used].scaled(range);
            rest[made] = T::from_first(first, high);
            made += usize::from(low >= least);
            used += 1;
        }
        words.take::<P>(used);
        rest = &mut rest[made..];
    }
}
