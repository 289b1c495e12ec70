//! A nest for some kinds of values, ready to run.
//!
//! Owns [`Version`] and [`Pause`]. Where there is no machine code for the machine at hand, the code is interpreted.

use crate::code::{Code, Exit};
use crate::flow::Flow;
use crate::interpreter::interpret;
use crate::machine::Compiled;
use crate::versions::{self, Given};

/// What code asks from time to time: whether to go on, and for how many rounds of loops.
pub struct Pause<'a> {
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

/// Code of a nest for what its names are.
pub struct Version {
    code: Code,
    compiled: Option<Compiled>,
}

impl Version {
    /// Compiles a flow; `None` where it would be too much code. ``is_interpreted`` makes no machine code.
    pub fn new(flow: &Flow, given: &[Given], is_interpreted: bool) -> Option<Self> {
        let code = versions::code(flow, given)?;
        let compiled = if is_interpreted { None } else { Compiled::new(&code) };
        Some(Self { code, compiled })
    }

    /// Whether it is machine code.
    pub fn is_compiled(&self) -> bool {
        self.compiled.is_some()
    }

    /// The typed code.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Runs it on a state as [`versions::layout`] has it, and says by which exit it left.
    ///
    /// # Safety
    ///
    /// The state has the words of the layout for what the version was made for; its arrays live, and nothing else
    /// writes them meanwhile but what the pauses let run.
    pub unsafe fn run(&self, state: &mut [u64], mut pause: Pause) -> &Exit {
        let number = match &self.compiled {
            // SAFETY: as the caller says.
            Some(compiled) => unsafe { compiled.run(state, &mut pause) },
            // SAFETY: as the caller says.
            None => unsafe { interpret(&self.code, state, &mut pause) },
        };
        &self.code.exits[number]
    }
}
