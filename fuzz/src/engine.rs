//! A small fuzzer: it mutates inputs, keeps those that reach something new, and stores the one that is running.
//!
//! Owns [`Plan`] and [`run`]. Invariants: the same plan runs the same inputs; an input is in its file before it
//! runs, so it is there even if the process dies.
//!
//! Not here: the targets (`lib.rs`, [`Target`]).

use crate::{Reached, Target};
use gpupy_core::DType;
use gpupy_core::op::{OPS, Op};
use std::collections::HashSet;
use std::fs::{File, create_dir_all};
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The limits of a run, and its seed.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The most inputs.
    pub runs: u64,
    /// Where random numbers begin.
    pub seed: u64,
    /// The most time.
    pub time: Duration,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Inputs that were tried, the last one included.
    pub runs: u64,
    /// The number of different outcomes.
    pub reached: usize,
    /// True when the last one panicked; it is in the file.
    pub failed: bool,
}

/// The longest input.
const LONGEST: usize = 4096;
/// The most inputs that are kept.
const KEPT: usize = 4096;

/// Tries inputs until one panics or the plan is done. The one that runs is written to the file first.
///
/// # Errors
/// - The file cannot be written.
pub fn run(target: &Target, plan: Plan, file: &Path) -> io::Result<Outcome> {
    if let Some(folder) = file.parent() {
        create_dir_all(folder)?;
    }
    let mut running = File::create(file)?;
    let mut corpus = (target.seeds)();
    let first = corpus.len() as u64;
    let mut rng = Rng(plan.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut reached: HashSet<Reached> = HashSet::new();
    let begun = Instant::now();
    for done in 0..plan.runs {
        if done % 256 == 0 && begun.elapsed() > plan.time {
            return Ok(Outcome { runs: done, reached: reached.len(), failed: false });
        }
        // The seeds as they are come first.
        let input = match corpus.get(done as usize) {
            Some(seed) if done < first => seed.clone(),
            _ => mutated(&corpus, &mut rng, target.is_text),
        };
        running.seek(SeekFrom::Start(0))?;
        running.write_all(&input)?;
        running.set_len(input.len() as u64)?;
        match catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            Ok(new) if reached.insert(new) && done >= first && corpus.len() < KEPT => {
                corpus.push(input);
            }
            Ok(_) => {}
            Err(_) => return Ok(Outcome { runs: done + 1, reached: reached.len(), failed: true }),
        }
    }
    Ok(Outcome { runs: plan.runs, reached: reached.len(), failed: false })
}

/// xorshift64*.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`, or 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Numbers at which things change.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    7,
    63,
    64,
    255,
    1 << 16,
    i32::MAX as u64,
    u32::MAX as u64 - 1,
    u32::MAX as u64,
    u64::MAX,
];

/// An input of the corpus with a few changes.
fn mutated(corpus: &[Vec<u8>], rng: &mut Rng, is_text: bool) -> Vec<u8> {
    let mut input = rng.pick(corpus).cloned().unwrap_or_default();
    // Text mostly keeps its form, or else little of it would be read.
    let kinds = if is_text && rng.below(4) > 0 { 6..10 } else { 0..10 };
    for _ in 0..=rng.below(2) {
        let (at, end) = (rng.below(input.len() + 1), rng.below(input.len() + 1));
        let part = at.min(end)..at.max(end).min(at.min(end) + 64);
        let byte = rng.next() as u8;
        let edge = match rng.below(2) {
            0 => rng.below(32) as u64,
            _ => rng.pick(&EDGES).copied().unwrap_or_default(),
        };
        match kinds.start + rng.below(kinds.len()) {
            0 => input.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << (byte % 8)),
            1 => input.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
            2 => input.insert(at, byte),
            3 => drop(input.drain(part)),
            4 => {
                let copy = input[part].to_vec();
                drop(input.splice(at..at, copy));
            }
            5 => {
                let other = rng.pick(corpus).map_or(&[][..], Vec::as_slice);
                let from = rng.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 | 7 if is_text => word(&mut input, at, rng),
            8 | 9 if is_text => digits(&mut input, at, &edge.to_string()),
            6 | 7 => input.iter_mut().skip(at).take(1).for_each(|b| *b = edge as u8),
            8 => input.iter_mut().skip(at).zip(edge.to_le_bytes()).for_each(|(b, to)| *b = to),
            _ => input.resize(at, 0),
        }
    }
    input.truncate(LONGEST);
    input
}

/// Puts another word of the same kind in the place of an operation or dtype behind `at`; sometimes a
/// stray one in the place of any word.
fn word(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    const STRAYS: [&str; 9] = ["%1", "(", ")", "#", "\n", "\u{e9}", "[]", "null", "-1"];
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_stray = rng.below(8) == 0;
    let mut start = at;
    while start < input.len() {
        let len = input[start..].iter().take_while(|byte| is_letter(byte)).count();
        let old = std::str::from_utf8(&input[start..start + len]).unwrap_or_default();
        let new = if len > 0 && is_stray {
            rng.pick(&STRAYS).copied()
        } else if Op::from_name(old).is_some() {
            rng.pick(OPS).map(|row| row.name)
        } else if DType::from_name(old).is_some() {
            rng.pick(&DType::ALL).map(|dtype| dtype.name())
        } else {
            None
        };
        if let Some(new) = new {
            return drop(input.splice(start..start + len, new.bytes()));
        }
        start += len.max(1);
    }
}

/// Puts another number in the place of one behind `at` that is no part of a word.
fn digits(input: &mut Vec<u8>, at: usize, number: &str) {
    let is_digit = |k: usize| input.get(k).is_some_and(u8::is_ascii_digit);
    let is_letter = |k: usize| input.get(k).is_some_and(u8::is_ascii_alphanumeric);
    // One letter may stand before a number: a slot's.
    let begins =
        |k: &usize| is_digit(*k) && !is_digit(k - 1) && !(is_letter(k - 1) && is_letter(k - 2));
    let Some(start) = (at.max(2)..input.len()).find(begins) else { return };
    let len = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    drop(input.splice(start..start + len, number.bytes()));
}
