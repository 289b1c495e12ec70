//! The classes that stand for elements, and what a Python object is to an operation.
//!
//! [`NdArray`](ndarray::NdArray) is `gpupy.ndarray`, whose elements are in a [`Slot`](slot::Slot), with what few arrays
//! have [`Kept`](kept::Kept); [`LazyScalar`](scalar::LazyScalar) is an element, or the result of a reduction; a
//! [`Mirror`](mirror::Mirror) follows the memory of records, of which `fields.rs` reads one field; an
//! [`Operand`](operand::Operand) is what stands on either side of an operator; `subclass.rs` makes instances of
//! subclasses; `wrap.rs` makes results what the user gets; `standin.rs` asks NumPy without evaluating. A [`Recording`](recording::Recording) shows others in the place of
//! elements, and `selection.rs` those that a mask selects.
//!
//! Imports `session` and `convert`. Not here: their methods in Python (`methods`).

pub mod fields;
pub mod kept;
pub mod kind;
pub mod mirror;
pub mod ndarray;
pub mod operand;
pub mod recording;
pub mod repr;
pub mod scalar;
pub mod selection;
pub mod slot;
pub mod standin;
pub mod subclass;
pub mod wrap;
