//! `gpupy.jit`: functions that are traced once and repeated without Python.
//!
//! A [`Jit`](jit_function::Jit) has [`Variant`](variant::Variant)s, one for each combination of arguments and
//! surroundings, as its [`ArgumentSpec`](argument_spec::ArgumentSpec)s and [`Guard`](guards::Guard)s describe them.
//! A variant has a [`TraceTree`](trace_tree::TraceTree) of segments, which branches where the function decided, and
//! an [`Epilogue`](epilogue::Epilogue) for each end: the arrays that are written, and the call's result.
//! `finish.rs` makes all of these from a recording (`array/recording/`).
//!
//! `saving.rs` and `loading.rs` write variants to files and read them.
//!
//! Not here: finding guards, and refusals (`python/gpupy/_jit`).

mod argument_spec;
mod epilogue;
pub mod finish;
mod guards;
pub mod jit_function;
pub mod loading;
mod saving;
mod trace_tree;
mod variant;
