//! The classes that stand for elements, and what a Python object is to an operation.
//!
//! [`NdArray`](ndarray::NdArray) is `gpupy.ndarray`, whose elements are in a [`ReadCell`](read_cell::ReadCell), with what few arrays
//! have [`SideData`](side_data::SideData); [`LazyScalar`](lazy_scalar::LazyScalar) is an element, or the result of a reduction; a
//! [`ShadowCopy`](shadow_copy::ShadowCopy) follows the memory of records, of which `record_fields.rs` reads one field; an
//! [`UfuncOperand`](operand::UfuncOperand) is what stands on either side of an operator; `subclass.rs` makes instances of
//! subclasses; `wrap.rs` makes results what the user gets; `meta.rs` asks NumPy without evaluating. A [`JitRecording`](recording::JitRecording) shows others in the place of
//! elements, and `masked_selection.rs` those that a mask selects.
//!
//! Imports `session` and `convert`. Not here: their methods in Python (`methods`).

pub mod lazy_scalar;
pub mod masked_selection;
pub mod meta;
pub mod metaclass;
pub mod ndarray;
pub mod operand;
pub mod read_cell;
pub mod record_fields;
pub mod recording;
pub mod repr;
pub mod shadow_copy;
pub mod side_data;
pub mod subclass;
pub mod wrap;
