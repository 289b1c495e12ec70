//! Classes: of `gpupy.ndarray` itself, of its subclasses' instances, and of results.
//!
//! `asked_class.rs` answers for the class of an array, `metaclass.rs` gives `gpupy.ndarray` its metaclass,
//! `subclass.rs` makes instances of the subclasses that programs define, and `wrap.rs` makes results: arrays and
//! scalars of ours.
//!
//! Imports `ndarray.rs`, `lazy_scalar.rs` and `operand.rs` of the arrays. Not here: the classes of results of ufuncs
//! and reductions (`python/gpupy/_classes/subclass.py`).

pub mod asked_class;
pub mod metaclass;
pub mod subclass;
pub mod wrap;
