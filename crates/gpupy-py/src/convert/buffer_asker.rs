//! Which code asks for a buffer: NumPy, which makes an array of it, or other code, which wants what NumPy's array gives.
//!
//! Owns [`is_numpy`]. A buffer is asked for by the same call in both cases, so the stack of C functions is looked at.
//! Invariant: where the system does not tell, it is NumPy.
//!
//! Not here: which buffers NumPy reads wrongly (`methods/conversion.rs`).

/// The most functions between NumPy and this module: those by which Python asks for a buffer.
#[cfg(any(all(target_os = "linux", target_env = "gnu"), target_os = "macos"))]
const BETWEEN: usize = 4;

/// Whether NumPy's own code asks for the buffer that this module is about to give.
#[cfg(any(all(target_os = "linux", target_env = "gnu"), target_os = "macos"))]
pub fn is_numpy() -> bool {
    use std::ffi::c_void;
    let mut frames = [std::ptr::null_mut::<c_void>(); 48];
    // SAFETY: there is room for as many addresses as are asked for.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let own = library(is_numpy as *const c_void).map(|(start, _)| start);
    frames
        .iter()
        .take(usize::try_from(count).unwrap_or(0))
        .map(|frame| library(*frame))
        .skip_while(|found| found.map(|(start, _)| start) == own)
        .take(BETWEEN)
        .any(|found| found.is_none_or(|(_, is_numpys)| is_numpys))
}

/// Where the library begins in which an address lies, and whether it is NumPy's; `None` where the system has none.
#[cfg(any(all(target_os = "linux", target_env = "gnu"), target_os = "macos"))]
fn library(address: *const std::ffi::c_void) -> Option<(usize, bool)> {
    use std::ffi::CStr;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address is only looked up, and the description is filled in where the answer is not 0.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) != 0 };
    // SAFETY: zeroes are a description, of nothing.
    let info = unsafe { info.assume_init() };
    if !found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name is a text of the loader's, which lives as long as the library, some of whose code runs.
    let name = unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes();
    let is_numpys = name.windows(NUMPYS.len()).any(|part| part == NUMPYS);
    Some((info.dli_fbase.addr(), is_numpys))
}

/// The name of NumPy's library.
#[cfg(any(all(target_os = "linux", target_env = "gnu"), target_os = "macos"))]
const NUMPYS: &[u8] = b"_multiarray_umath";

/// Whether NumPy's own code asks, which nothing tells here.
#[cfg(not(any(all(target_os = "linux", target_env = "gnu"), target_os = "macos")))]
pub fn is_numpy() -> bool {
    true
}
