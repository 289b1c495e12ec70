//! Bit generators: streams of words of 64 bits, many at a time.
//!
//! Owns [`BitGenerator`]. Invariant: the words are those of the published algorithms, PCG XSL-RR and DXSM (O'Neill),
//! Philox 4×64 of ten rounds (Salmon et al.), SFC64 (Doty-Humphrey), and so is the state after them. Not here: numbers
//! that are made of words (`numbers.rs`).

/// A bit generator and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BitGenerator {
    /// PCG with a multiplier of 128 bits, whose words are of the state after a step.
    Pcg64(Steps),
    /// PCG with a multiplier of 64 bits, whose words are of the state before a step.
    Pcg64Dxsm(Steps),
    /// A counter with a key.
    Philox(Counter),
    /// Three words and a counter.
    Sfc64([u64; 4]),
}

/// The state of a PCG, which a step multiplies, and to which it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    state: u128,
    increment: u128,
}

/// The state of a Philox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    counter: [u64; 4],
    key: [u64; 2],
    /// The last four words, of which so many are used.
    block: [u64; 4],
    used: usize,
}

const PCG_FACTOR: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
const DXSM_FACTOR: u64 = 0xDA94_2042_E4DD_58B5;

/// States of a PCG that are stepped side by side: the next step does not wait for the product of the last one.
const LANES: usize = 4;

impl BitGenerator {
    /// A generator of this name, from the words of its state: the high half of a number of 128 bits is first, then
    /// come increments, keys, the words of a block, and how many are used. `None` for other names and states.
    pub fn new(name: &str, state: &[u64]) -> Option<BitGenerator> {
        let wide =
            |at: usize| Some(u128::from(*state.get(at)?) << 64 | u128::from(*state.get(at + 1)?));
        let four = |at: usize| state.get(at..at + 4)?.try_into().ok();
        Some(match name {
            "PCG64" => BitGenerator::Pcg64(Steps { state: wide(0)?, increment: wide(2)? }),
            "PCG64DXSM" => BitGenerator::Pcg64Dxsm(Steps { state: wide(0)?, increment: wide(2)? }),
            "Philox" => BitGenerator::Philox(Counter {
                counter: four(0)?,
                key: state.get(4..6)?.try_into().ok()?,
                block: four(6)?,
                used: usize::try_from(*state.get(10)?).ok().filter(|used| *used <= 4)?,
            }),
            "SFC64" => BitGenerator::Sfc64(four(0)?),
            _ => return None,
        })
    }

    /// The words of the state, as [`BitGenerator::new`] takes them.
    pub fn state(&self) -> Vec<u64> {
        match self {
            BitGenerator::Pcg64(Steps { state, increment })
            | BitGenerator::Pcg64Dxsm(Steps { state, increment }) => {
                [state, increment].into_iter().flat_map(|n| [(n >> 64) as u64, *n as u64]).collect()
            }
            BitGenerator::Philox(Counter { counter, key, block, used }) => {
                [&counter[..], key, block, &[*used as u64]].concat()
            }
            BitGenerator::Sfc64(state) => state.to_vec(),
        }
    }

    /// The next words.
    pub fn fill(&mut self, words: &mut [u64]) {
        match self {
            BitGenerator::Pcg64(Steps { state, increment }) => {
                pcg(state, *increment, PCG_FACTOR, words, |_, after| {
                    let (high, low) = ((after >> 64) as u64, after as u64);
                    (high ^ low).rotate_right((high >> 58) as u32)
                });
            }
            BitGenerator::Pcg64Dxsm(Steps { state, increment }) => {
                pcg(state, *increment, u128::from(DXSM_FACTOR), words, |before, _| {
                    let (high, low) = ((before >> 64) as u64, before as u64 | 1);
                    let word = (high ^ high >> 32).wrapping_mul(DXSM_FACTOR);
                    (word ^ word >> 48).wrapping_mul(low)
                });
            }
            BitGenerator::Philox(of) => {
                let left = (4 - of.used).min(words.len());
                let (begun, words) = words.split_at_mut(left);
                begun.copy_from_slice(&of.block[of.used..of.used + left]);
                of.used += left;
                for four in words.chunks_mut(4) {
                    of.step();
                    four.copy_from_slice(&of.block[..four.len()]);
                    of.used = four.len();
                }
            }
            BitGenerator::Sfc64([a, b, c, number]) => {
                for word in words {
                    *word = a.wrapping_add(*b).wrapping_add(*number);
                    *number = number.wrapping_add(1);
                    *a = *b ^ *b >> 11;
                    *b = c.wrapping_add(*c << 3);
                    *c = c.rotate_left(24).wrapping_add(*word);
                }
            }
        }
    }
}

impl Counter {
    /// Makes the block of the next counter.
    #[inline(always)]
    fn step(&mut self) {
        for part in &mut self.counter {
            *part = part.wrapping_add(1);
            if *part != 0 {
                break;
            }
        }
        self.block = philox(self.counter, self.key);
    }
}

/// The next words of a PCG, each of the states before and after its step.
#[inline(always)]
fn pcg(
    state: &mut u128,
    increment: u128,
    factor: u128,
    words: &mut [u64],
    word: impl Fn(u128, u128) -> u64,
) {
    let step =
        |x: u128, factor: u128, increment: u128| x.wrapping_mul(factor).wrapping_add(increment);
    // A step of all lanes at once has the factor's power, and the sum of the powers below times the increment.
    let (mut power, mut sum) = (1u128, 0u128);
    for _ in 0..LANES {
        (power, sum) = (power.wrapping_mul(factor), step(sum, factor, increment));
    }
    let mut lanes = [*state; LANES + 1];
    for k in 0..LANES {
        lanes[k + 1] = step(lanes[k], factor, increment);
    }
    let mut chunks = words.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        for k in 0..LANES {
            chunk[k] = word(lanes[k], lanes[k + 1]);
        }
        lanes[0] = lanes[LANES];
        for lane in &mut lanes[1..] {
            *lane = step(*lane, power, sum);
        }
    }
    *state = lanes[0];
    for to in chunks.into_remainder() {
        let after = step(*state, factor, increment);
        *to = word(*state, after);
        *state = after;
    }
}

/// The four words of a counter.
#[inline(always)]
fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    const FACTORS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
    const KEY_STEPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
    for _ in 0..10 {
        let [x, y] = [0, 1].map(|k| u128::from(counter[2 * k]) * u128::from(FACTORS[k]));
        counter = [
            (y >> 64) as u64 ^ counter[1] ^ key[0],
            y as u64,
            (x >> 64) as u64 ^ counter[3] ^ key[1],
            x as u64,
        ];
        for (part, step) in key.iter_mut().zip(KEY_STEPS) {
            *part = part.wrapping_add(step);
        }
    }
    counter
}
