//! A nest for some kinds of values, ready to run.
//!
//! Owns [`NestVersion`]. Where there is no machine code for the machine at hand, the code is interpreted.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::{Code, Exit};
use crate::flow::Flow;
use crate::interpreter::interpret;
use crate::machine::MachineCode;
use crate::pause::Pause;
use crate::row_functions::DotFunctions;
use crate::versions::{self, Given};

/// Code of a nest for what its names are.
pub struct NestVersion {
    code: Code,
    compiled: Option<MachineCode>,
}

impl NestVersion {
    /// Compiles a flow; `None` where it would be too much code. ``is_interpreted`` makes no machine code.
    pub fn new(
        flow: &Flow,
        given: &[Given],
        products: DotFunctions,
        is_interpreted: bool,
    ) -> Option<Self> {
        let code = versions::code(flow, given, products)?;
        // The compiler's own mistakes are none of the program's: then it is interpreted.
        let compiled = || catch_unwind(AssertUnwindSafe(|| MachineCode::new(&code))).ok().flatten();
        let compiled = if is_interpreted { None } else { compiled() };
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
