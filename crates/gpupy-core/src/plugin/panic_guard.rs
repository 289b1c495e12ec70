//! The panic guard of an exported driver: no panic leaves it.
//!
//! Owns [`GuardedDriver`], the state of a table. Invariants: a driver that panicked answers `DeviceLost`, with the
//! panic's message, until it is opened again. Lowered programs do not change until then.
//!
//! Not here: the functions of the table (`functions.rs`).

use super::driver_table::RawProgram;
use super::program::{ProgramCache, raw_program};
use crate::driver::Driver;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::ir::Program;
use crate::op::Op;
use crate::routines::Routine;
use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// An open driver behind a panic guard.
pub struct GuardedDriver {
    pub driver: Box<dyn Driver>,
    /// The routines that the driver has, with the dtypes of their operands.
    pub routines: Vec<(Routine, DType)>,
    /// The programs that the host has pointers to.
    pub lowered: HashMap<(Op, DType), Rc<LoweredMethod>>,
    /// The programs that the host has passed.
    pub programs: ProgramCache,
    /// The code of the last evaluation. The host has a pointer to it.
    pub code: CString,
    /// The message of the driver's panic.
    panicked: Option<String>,
}

/// A program and its C form, which points into the program.
pub struct LoweredMethod {
    pub raw: RawProgram,
    _program: Program,
}

impl GuardedDriver {
    pub fn new(driver: Box<dyn Driver>, routines: Vec<(Routine, DType)>) -> GuardedDriver {
        let (lowered, programs, code) = Default::default();
        GuardedDriver { driver, routines, lowered, programs, code, panicked: None }
    }
}

impl LoweredMethod {
    pub fn new(program: Program) -> LoweredMethod {
        // The lists of the program do not move with it.
        LoweredMethod { raw: raw_program(&program), _program: program }
    }
}

/// The message of a panic.
pub fn words(panic: Box<dyn Any + Send>) -> String {
    let said = match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => match panic.downcast::<&str>() {
            Ok(said) => said.to_string(),
            Err(panic) => {
                // A payload of another type may panic when it is dropped.
                std::mem::forget(panic);
                "no message".to_string()
            }
        },
    };
    format!("the driver panicked: {said}")
}

/// The error of a null pointer.
pub fn null(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, "plugin").says(format!("{what} is null"))
}

/// Calls a driver, unless it has panicked before, and catches its panics.
///
/// # Safety
/// The state is null, or was made by `init`, was not cleaned up, and is in no other call.
pub unsafe fn guarded<R>(
    state: *mut c_void,
    operation: &'static str,
    call: impl FnOnce(&mut GuardedDriver) -> Result<R>,
) -> Result<R> {
    // SAFETY: the state is null, or an open driver that no other call uses.
    let open =
        unsafe { state.cast::<GuardedDriver>().as_mut() }.ok_or_else(|| null("the state"))?;
    if open.panicked.is_none() {
        match catch_unwind(AssertUnwindSafe(|| call(open))) {
            Ok(result) => return result,
            Err(panic) => open.panicked = Some(words(panic)),
        }
    }
    let said = open.panicked.clone().unwrap_or_default();
    Err(Error::new(ErrorKind::DeviceLost, operation).says(said))
}
