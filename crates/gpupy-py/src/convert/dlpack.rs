//! The dtype in DLPack's capsules, for bfloat16, which NumPy's capsules cannot have.
//!
//! Owns [`retyped`]. NumPy exports and imports the same bits as uint16. Invariant: nothing but the code of the dtype
//! changes, and only in a capsule that nothing has consumed.
//!
//! Not here: capsules themselves, which are NumPy's and other libraries' (`python/gpupy/_methods/exchange.py`,
//! `python/gpupy/_creation/tensors.py`).

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};

/// DLPack's description of a tensor, as far as the dtype.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
}

/// What comes before the tensor in a capsule with a version.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: *mut c_void,
    flags: u64,
    tensor: Tensor,
}

/// The names of capsules that nothing has consumed, without a version and with one.
const NAMES: [&CStr; 2] = [c"dltensor", c"dltensor_versioned"];

/// Changes the code of a capsule's dtype of 16 bits; false, with nothing changed, where it has another.
#[pyfunction]
pub fn retyped(capsule: &Bound<'_, PyAny>, source: u8, target: u8) -> bool {
    let tensor = |name: &CStr| {
        // SAFETY: any object may be asked for its validity and, where that holds, for its pointer.
        let pointer = unsafe {
            match ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) {
                0 => return None,
                _ => ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()),
            }
        };
        Some(match name == NAMES[0] {
            true => pointer.cast::<Tensor>(),
            // SAFETY: the capsule of this name has this struct.
            false => unsafe { &raw mut (*pointer.cast::<Versioned>()).tensor },
        })
    };
    let Some(tensor) = NAMES.into_iter().find_map(tensor) else { return false };
    // SAFETY: the capsule, which nothing has consumed, keeps the struct for its one consumer: this process, under
    // Python's lock.
    let tensor = unsafe { &mut *tensor };
    let fits = (tensor.code, tensor.bits, tensor.lanes) == (source, 16, 1);
    if fits {
        tensor.code = target;
    }
    fits
}
