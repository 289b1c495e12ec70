//! Machine code of typed code, by Cranelift.
//!
//! Owns [`MachineCode`] and all that calls code. It refers to nothing outside but functions by their addresses, so that
//! no relocation is left; where one is, there is no code. Not here: instructions (`emission.rs`), which operations
//! there are (`code.rs`), what runs without code (`interpreter.rs`).

mod element_addresses;
mod emission;
mod exit_words;
mod float_warnings;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Function, InstBuilder, UserFuncName};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use memmap2::{Mmap, MmapMut};

use crate::code::Code;
use crate::pause::Pause;
use emission::{Emitter, of_pause, signature};

type Entry = unsafe extern "C" fn(*mut u64, *mut c_void) -> i64;

/// Code of a version.
pub struct MachineCode {
    memory: Mmap,
}

impl MachineCode {
    /// Compiles; `None` where that cannot be done on this machine.
    pub fn new(code: &Code) -> Option<Self> {
        // Elsewhere caches of instructions need care.
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let isa = isa()?;
        let ask = quiet_ask(&isa)?.as_ptr() as i64;
        let mut context = Context::new();
        context.func = Function::with_name_signature(
            UserFuncName::default(),
            signature(&isa, &[I64, I64], I64),
        );
        let mut scratch = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        Emitter::new(code, &isa, builder, ask).emit();
        Some(Self { memory: executable(&isa, context)? })
    }

    /// Runs it; gives the number of the exit.
    ///
    /// # Safety
    ///
    /// As of [`crate::NestVersion::run`].
    pub unsafe fn run(&self, state: &mut [u64], pause: &mut Pause) -> usize {
        // SAFETY: the memory holds a function of this type, which `emit` wrote.
        let entry: Entry = unsafe { std::mem::transmute(self.memory.as_ptr()) };
        // SAFETY: the state and its arrays are as the code needs them; the pause lives until it returns.
        unsafe { entry(state.as_mut_ptr(), std::ptr::from_mut(pause).cast()) as usize }
    }
}

/// The code of a function that refers to nothing.
fn executable(isa: &OwnedTargetIsa, mut context: Context) -> Option<Mmap> {
    // Of one value by two names the compiler makes a value where ways meet, which it hoists from no loop.
    context.func.dfg.resolve_all_aliases();
    let compiled = context.compile(&**isa, &mut ControlPlane::default()).ok()?;
    if !compiled.buffer.relocs().is_empty() {
        return None;
    }
    let bytes = compiled.code_buffer();
    let mut memory = MmapMut::map_anon(bytes.len()).ok()?;
    memory[..bytes.len()].copy_from_slice(bytes);
    memory.make_exec().ok()
}

/// A function that calls `ask` and leaves all registers as they are: no value of a loop has to be in memory for it.
fn quiet_ask(isa: &OwnedTargetIsa) -> Option<&'static Mmap> {
    static CODE: OnceLock<Option<Mmap>> = OnceLock::new();
    let code = CODE.get_or_init(|| {
        let mut context = Context::new();
        context.func = Function::with_name_signature(UserFuncName::default(), of_pause());
        let mut scratch = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let pause = builder.block_params(entry)[0];
        let of_ask = builder.import_signature(signature(isa, &[I64], I64));
        let function = builder.ins().iconst(I64, ask as *const () as i64);
        builder.ins().call_indirect(of_ask, function, &[pause]);
        builder.ins().return_(&[]);
        builder.seal_all_blocks();
        builder.finalize();
        executable(isa, context)
    });
    code.as_ref()
}

/// What code calls in pauses.
extern "C" fn ask(pause: *mut c_void) -> i64 {
    // SAFETY: code hands on the pointer that `run` gave it, which nobody else uses meanwhile.
    let pause = unsafe { &mut *pause.cast::<Pause>() };
    catch_unwind(AssertUnwindSafe(|| pause.rounds())).unwrap_or(0)
}

fn isa() -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    for (name, value) in
        [("opt_level", "speed"), ("enable_verifier", "false"), ("unwind_info", "false")]
    {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}
