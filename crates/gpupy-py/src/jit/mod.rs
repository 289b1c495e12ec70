//! Functions that are recorded once and done again without Python.
//!
//! A [`Jit`](call::Jit) has [`Variant`](variant::Variant)s, one for each way in which its arguments and what it reads
//! besides looked ([`Given`](given::Given), [`Guard`](guard::Guard)). A variant has a [`Path`](path::Path) of
//! segments that parts where the function decided, and an [`Ending`](ending::Ending): what is written, and what the
//! call gives. `finish.rs` makes all that of what was recorded (`array/recording/`).
//!
//! `saving.rs` and `loading.rs` bring variants into files and back.
//!
//! Not here: watching what the function reads, and what is refused (`python/gpupy/_jit`).

pub mod call;
mod ending;
pub mod finish;
mod given;
mod guard;
pub mod loading;
mod path;
mod saving;
mod variant;
