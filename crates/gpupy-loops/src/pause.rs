//! Pauses of code that runs for long.
//!
//! Owns [`Pause`]. Not here: what is done in one (gpupy-py).

/// What code asks from time to time: whether to go on, and for how many rounds of loops.
#[repr(C)]
pub struct Pause<'a> {
    // Code reads it.
    left: i64,
    ask: &'a mut dyn FnMut() -> Option<i64>,
}

/// Rounds before the first time.
pub(crate) const FIRST_ROUNDS: i64 = 5_000;

impl<'a> Pause<'a> {
    /// ``ask`` gives the rounds until it is asked again, or nothing where the code is to leave.
    pub fn new(ask: &'a mut dyn FnMut() -> Option<i64>) -> Self {
        Self { left: FIRST_ROUNDS, ask }
    }

    /// One round; whether to go on.
    pub(crate) fn step(&mut self) -> bool {
        self.left -= 1;
        self.left > 0 || self.rounds() > 0
    }

    /// The rounds until the next time; 0 where the code is to leave.
    pub(crate) fn rounds(&mut self) -> i64 {
        self.left = (self.ask)().map_or(0, |rounds| rounds.max(1));
        self.left
    }
}
