//! The Python classes that hold elements, and the classification of a Python object as an operand.
//!
//! [`NdArray`](ndarray::NdArray) is `gpupy.ndarray`. Its elements are in a [`ReadCell`](read_cell::ReadCell); data
//! that few arrays have is in [`SideData`](side_data::SideData). [`LazyScalar`](lazy_scalar::LazyScalar) is an
//! element, or the result of a full reduction. A [`ShadowCopy`](shadow_copy::ShadowCopy) follows the memory of
//! records; `record_fields.rs` reads one field of it. A [`UfuncOperand`](operand::UfuncOperand) stands on either
//! side of an operator. `classes/` has the classes of arrays and of results, and `meta.rs` asks NumPy about meta
//! arrays without evaluating. While a function is traced, a
//! [`JitRecording`](recording::JitRecording) shows other arrays in place of the elements, and `masked_selection.rs`
//! the elements that a mask selects.
//!
//! Imports `session` and `convert`. Not here: the methods of these classes in Python (`methods`).

pub mod classes;
pub mod common_dtype;
pub mod lazy_scalar;
pub mod masked_selection;
pub mod meta;
pub mod ndarray;
pub mod operand;
pub mod read_cell;
pub mod record_fields;
pub mod recording;
pub mod repr;
pub mod shadow_copy;
pub mod side_data;
