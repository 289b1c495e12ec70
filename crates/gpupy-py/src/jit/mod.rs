//! Functions that are recorded once and done again without Python.
//!
//! A [`Jit`](jit_function::Jit) has [`Variant`](variant::Variant)s, one for each way in which its arguments and what it reads
//! besides looked ([`ArgumentSpec`](argument_spec::ArgumentSpec), [`Guard`](guards::Guard)). A variant has a [`TraceTree`](trace_tree::TraceTree) of
//! segments that parts where the function decided, and an [`Epilogue`](epilogue::Epilogue): what is written, and what the
//! call gives. `finish.rs` makes all that of what was recorded (`array/recording/`).
//!
//! `saving.rs` and `loading.rs` bring variants into files and back.
//!
//! Not here: watching what the function reads, and what is refused (`python/gpupy/_jit`).

mod argument_spec;
mod epilogue;
pub mod finish;
mod guards;
pub mod jit_function;
pub mod loading;
mod saving;
mod trace_tree;
mod variant;
