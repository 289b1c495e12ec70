//! What names are where a nest is entered, and the words of the state that say so.
//!
//! Owns [`Given`] and [`layout`]. Not here: what code makes of it (`versions`).

use crate::kinds::{ElementType, Kind};

/// What a name is when the nest is entered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// A number; whether it is an integer of few bits that is not negative.
    Number(Kind, bool),
    /// An array.
    Array(GivenArray),
    /// No value, or another one.
    Other,
}

impl Given {
    /// How many axes it has; a number has none.
    pub fn axes(&self) -> usize {
        if let Given::Array(array) = self { array.axes } else { 0 }
    }
}

/// What an array is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GivenArray {
    /// Its dtype.
    pub element: ElementType,
    /// How many axes it has.
    pub axes: usize,
    /// Whether the elements of its last axis lie side by side.
    pub is_compact: bool,
    /// Whether it may be written.
    pub is_writeable: bool,
    /// Whether it is gpupy's, whose functions do not warn, and have their own bits.
    pub is_ours: bool,
}

/// Integers of few bits have at most so many.
pub const BITS_OF_COUNTERS: u32 = 40;
/// Lengths of axes have at most so many.
pub const BITS_OF_EXTENTS: u32 = 48;
/// The first word of the state that describes an array, by name; and how many words there are.
///
/// A name has two words, its bits and its kind; a loop over a range three. The last two are the address of scratch
/// memory, and how many elements of eight bytes each of its two regions has.
pub fn layout(names: &[Given], loops: usize) -> (Vec<usize>, usize) {
    let mut words = 2 * names.len() + 3 * loops;
    let mut places = Vec::new();
    for given in names {
        places.push(words);
        if let Given::Array(array) = given {
            words += 1 + 2 * array.axes;
        }
    }
    (places, words + 2)
}

/// The least and the greatest number of each word of a state at the entry.
pub fn ranges(names: &[Given], loops: usize) -> Vec<(i64, i64)> {
    let (places, words) = layout(names, loops);
    let mut found = vec![(i64::MIN, i64::MAX); words];
    for (name, given) in names.iter().enumerate() {
        match *given {
            Given::Number(_, true) => found[2 * name] = (0, (1 << BITS_OF_COUNTERS) - 1),
            Given::Number(kind, false) => {
                found[2 * name] = kind.range().unwrap_or((i64::MIN, i64::MAX));
            }
            Given::Array(array) => {
                let extents = places[name] + 1..places[name] + 1 + array.axes;
                found[extents].fill((0, (1 << BITS_OF_EXTENTS) - 1));
            }
            Given::Other => {}
        }
    }
    found
}
