//! A nest for some kinds of values, ready to run.
//!
//! Owns [`NestVersion`]. Where there is no machine code for the machine at hand, the code is interpreted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::code::{Code, Exit};
use crate::flow::Flow;
use crate::interpreter::interpret;
use crate::machine::MachineCode;
use crate::optimization::{
    Assumption, with_unrolled_loops, without_choosing_branches, without_constant_loops,
    without_proven_checks,
};
use crate::pause::Pause;
use crate::row_functions::DotFunctions;
use crate::versions::{self, Given};

/// Code of a nest for what its names are.
pub struct NestVersion {
    // Without checks that hold where these do.
    proven: Runnable,
    assumptions: Vec<Assumption>,
    // With all of them, where there are assumptions, and what runs that once they do not hold.
    all: Option<(Code, OnceLock<Runnable>)>,
    is_interpreted: bool,
}

/// Code, and machine code of it.
struct Runnable {
    code: Code,
    compiled: Option<MachineCode>,
}

impl Runnable {
    fn new(code: Code, is_interpreted: bool) -> Self {
        // The compiler's own mistakes are none of the program's: then it is interpreted.
        let compiled = || catch_unwind(AssertUnwindSafe(|| MachineCode::new(&code))).ok().flatten();
        let compiled = if is_interpreted { None } else { compiled() };
        Self { code, compiled }
    }
}

impl NestVersion {
    /// Compiles a flow; `None` where it would be too much code. ``is_interpreted`` makes no machine code. Checks that
    /// hold for states like this one are left out; others run code that has all of them.
    pub fn new(
        flow: &Flow,
        given: &[Given],
        state: &[u64],
        products: DotFunctions,
        is_interpreted: bool,
    ) -> Option<Self> {
        let mut code = versions::code(flow, given, products)?;
        without_constant_loops(&mut code);
        without_choosing_branches(&mut code);
        let all = code.clone();
        let ranges = versions::ranges(given, flow.loops.len());
        let assumptions = without_proven_checks(&mut code, &ranges, state);
        // Without their checks more branches only choose.
        without_choosing_branches(&mut code);
        with_unrolled_loops(&mut code);
        let all = (!assumptions.is_empty()).then(|| (all, OnceLock::new()));
        Some(Self { proven: Runnable::new(code, is_interpreted), assumptions, all, is_interpreted })
    }

    /// Whether it is machine code.
    pub fn is_compiled(&self) -> bool {
        self.proven.compiled.is_some()
    }

    /// The typed code, without checks that hold.
    pub fn code(&self) -> &Code {
        &self.proven.code
    }

    /// What is right for a state.
    fn runnable(&self, state: &[u64]) -> &Runnable {
        match &self.all {
            Some((code, all)) if !self.assumptions.iter().all(|one| one.holds(state)) => all
                .get_or_init(|| {
                    let mut code = code.clone();
                    with_unrolled_loops(&mut code);
                    Runnable::new(code, self.is_interpreted)
                }),
            _ => &self.proven,
        }
    }

    /// Runs it on a state as [`versions::layout`] has it, and says by which exit it left.
    ///
    /// # Safety
    ///
    /// The state has the words of the layout for what the version was made for; its arrays live, and nothing else
    /// writes them meanwhile but what the pauses let run.
    pub unsafe fn run(&self, state: &mut [u64], mut pause: Pause) -> &Exit {
        let one = self.runnable(state);
        let number = match &one.compiled {
            // SAFETY: as the caller says.
            Some(compiled) => unsafe { compiled.run(state, &mut pause) },
            // SAFETY: as the caller says.
            None => unsafe { interpret(&one.code, state, &mut pause) },
        };
        &one.code.exits[number]
    }
}
