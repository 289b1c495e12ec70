//! Pauses of code that runs for long.
//!
//! Owns [`Pause`]. Not here: what is done in one (gpupy-py).

/// What code asks from time to time: whether to go on, and for how many rounds of loops.
#[repr(C)]
pub struct Pause<'a> {
    // Code reads it.
    left: i64,
    ask: &'a mut dyn FnMut() -> Option<i64>,
    // Rounds until now, and those that are left.
    rounds: i64,
}

/// No run has more rounds than this power of two: some weeks of the shortest ones. Then it is left.
pub(crate) const BITS_OF_ROUNDS: u32 = 52;

/// Rounds before the first time.
pub(crate) const FIRST_ROUNDS: i64 = 5_000;

impl<'a> Pause<'a> {
    /// ``ask`` gives the rounds until it is asked again, or nothing where the code is to leave.
    pub fn new(ask: &'a mut dyn FnMut() -> Option<i64>) -> Self {
        Self { left: FIRST_ROUNDS, ask, rounds: FIRST_ROUNDS }
    }

    /// One round; whether to go on.
    pub(crate) fn step(&mut self) -> bool {
        self.left -= 1;
        self.left > 0 || self.rounds() > 0
    }

    /// Several rounds at once; whether more of them are left, else it is asked by the next one.
    pub(crate) fn take(&mut self, rounds: i64) -> bool {
        self.left -= rounds;
        self.left > 0
    }

    /// The rounds until the next time; 0 where the code is to leave.
    pub(crate) fn rounds(&mut self) -> i64 {
        let most = (1 << BITS_OF_ROUNDS) - self.rounds;
        self.left = (self.ask)().map_or(0, |rounds| rounds.max(1).min(most));
        self.rounds += self.left;
        self.left
    }
}
