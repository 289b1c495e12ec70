//! Errors and names as fixed arrays of characters.
//!
//! Owns the codes of error kinds. Invariants: a written string ends with a 0 and is cut between characters. A string
//! that is read becomes one line, for any contents.
//!
//! Not here: the arrays' sizes (`driver_table.rs`).

use super::driver_table::{
    GPUPY_DEVICE_LOST, GPUPY_INVALID, GPUPY_OK, GPUPY_OUT_OF_MEMORY, GPUPY_POISONED, GPUPY_REFUSED,
    GPUPY_UNAVAILABLE, GPUPY_UNSUPPORTED, RawError,
};
use super::growing::Growing;
use crate::error::{Error, ErrorKind, Result};
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

/// The kinds that a driver may return. Others are errors of the driver.
const KINDS: [(ErrorKind, i32); 7] = [
    (ErrorKind::OutOfMemory, GPUPY_OUT_OF_MEMORY),
    (ErrorKind::Unsupported, GPUPY_UNSUPPORTED),
    (ErrorKind::Refused, GPUPY_REFUSED),
    (ErrorKind::DeviceLost, GPUPY_DEVICE_LOST),
    (ErrorKind::Unavailable, GPUPY_UNAVAILABLE),
    (ErrorKind::Invalid, GPUPY_INVALID),
    (ErrorKind::Poisoned, GPUPY_POISONED),
];

/// Writes a string into an array, cut to fit.
pub fn put(words: &str, into: &mut [c_char]) {
    let words = words.split('\0').next().unwrap_or_default();
    let room = words.len().min(into.len().saturating_sub(1));
    let end = (0..=room).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
    let kept = &words[..end];
    into.fill(0);
    for (to, byte) in into.iter_mut().zip(kept.bytes()) {
        *to = byte as c_char;
    }
}

/// The string in an array, on one line.
pub fn get(from: &[c_char]) -> String {
    let bytes: Vec<u8> = from.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).replace(char::is_control, " ")
}

/// A string of any length as a C string.
pub fn words_of(text: &str) -> CString {
    let kept = text.split('\0').next().unwrap_or_default();
    CString::new(kept).unwrap_or_default()
}

/// A C string of any length; `None` for null.
///
/// # Safety
/// The pointer is null, or points to characters that end with a 0.
pub unsafe fn text(from: *const c_char) -> Option<Arc<str>> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, so by this function's condition it points to a C string.
    Some(unsafe { CStr::from_ptr(from) }.to_string_lossy().into())
}

/// Reports a result to the host: returns its code, and writes an error to `to`.
///
/// # Safety
/// The conditions of [`Growing::give`].
pub unsafe fn tell(result: Result<()>, to: *mut RawError) -> i32 {
    let Err(error) = result else { return GPUPY_OK };
    let mut raw = RawError::cleared();
    put(error.operation(), &mut raw.operation);
    put(error.message(), &mut raw.message);
    let cause = error.source().map(|source| ("cause", source.to_string()));
    let facts = error.facts().map(|(key, value)| (key, value.to_string())).chain(cause);
    for (slot, (key, value)) in facts.take(raw.fact_keys.len()).enumerate() {
        put(key, &mut raw.fact_keys[slot]);
        put(&value, &mut raw.fact_values[slot]);
        raw.fact_count += 1;
    }
    // A host that passes no struct for the error still gets the kind.
    // SAFETY: the conditions of `give` are those of this function.
    let _ = unsafe { raw.give(to) };
    let code = KINDS.iter().find(|(kind, _)| *kind == error.kind());
    code.map_or(GPUPY_INVALID, |(_, code)| *code)
}

/// The result that a driver reported.
pub fn heard(code: i32, function: &'static str, raw: &RawError) -> Result<()> {
    if code == GPUPY_OK {
        return Ok(());
    }
    let known = KINDS.iter().find(|(_, known)| *known == code);
    let kind = known.map_or(ErrorKind::Invalid, |(kind, _)| *kind);
    let mut error = match get(&raw.operation) {
        operation if operation.is_empty() => Error::new(kind, function),
        operation => Error::new(kind, operation),
    };
    match get(&raw.message) {
        message if !message.is_empty() => error = error.says(message),
        _ if known.is_none() => {
            error = error.says(format!("the plug-in gave `{code}`, which is no kind of error"));
        }
        _ => {}
    }
    let facts = raw.fact_keys.iter().zip(&raw.fact_values).take(raw.fact_count as usize);
    for (key, value) in facts {
        error = error.with(get(key), get(value));
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_between_characters_and_read_as_one_line() {
        let check = |words: &str, want: &str| {
            let mut room = [1; 8];
            put(words, &mut room);
            assert_eq!(get(&room), want, "{words:?}");
        };
        check("", "");
        check("seven77", "seven77");
        check("eight888", "eight88");
        check("größer", "größe");
        check("größte!", "größt");
        check("two\nlines", "two lin");
        check("a\0b", "a");
        assert_eq!(get(&[b'x' as c_char, 0xff_u8 as c_char]), "x\u{fffd}");
    }

    #[test]
    fn errors_arrive_as_they_were_told() {
        let told = Error::new(ErrorKind::OutOfMemory, "block_alloc").with("bytes", 5).with("a", 1);
        let mut raw = RawError::cleared();
        // SAFETY: `raw` is a complete struct on the stack.
        let code = unsafe { tell(Err(told.clone()), &mut raw) };
        let heard = heard(code, "eval_ir", &raw).map_err(|error| (error.kind(), error.to_string()));
        assert_eq!(heard, Err((told.kind(), told.to_string())));
    }

    #[test]
    fn a_code_that_is_no_kind_is_a_mistake_in_words() {
        let said = heard(99, "eval_ir", &RawError::cleared()).map_err(|error| error.to_string());
        let want = "eval_ir: the plug-in gave `99`, which is no kind of error";
        assert_eq!(said, Err(want.to_string()));
    }
}
