//! The errors of a device, as errors of the contract.
//!
//! Owns [`Faults`]. wgpu reports most mistakes and a lost device through callbacks, not in the call that caused
//! them. The callbacks here store the errors, and the calling function reads them with [`Faults::check`].
//! Invariants: a lost device stays lost; no error is dropped before it is read.
//!
//! Not here: refused shaders as files (`kernel_compiler.rs`).

use gpupy_core::{Error, ErrorKind, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The errors that a device reported.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// The first error since the last check.
    error: Mutex<Option<wgpu::Error>>,
    /// The reason for the loss of the device.
    lost: OnceLock<String>,
}

impl Faults {
    /// Registers the callbacks of a device.
    pub fn of(device: &wgpu::Device) -> Faults {
        let faults = Faults::default();
        let heard = faults.clone();
        device.on_uncaptured_error(Arc::new(move |error| {
            heard.slot(|slot| {
                slot.get_or_insert(error);
            });
        }));
        let heard = faults.clone();
        device.set_device_lost_callback(move |reason, message| {
            heard.lose(format!("{reason:?}: {message}"));
        });
        faults
    }

    /// Declares the device lost; the first reason is kept.
    pub fn lose(&self, reason: impl Into<String>) {
        let _ = self.0.lost.set(reason.into());
    }

    /// The error since the last check, if there was one.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    /// - `OutOfMemory`: there was no memory.
    /// - `Refused`: wgpu rejected a call; the message says why.
    pub fn check(&self, operation: &'static str) -> Result<()> {
        let error = self.slot(Option::take);
        if let Some(reason) = self.0.lost.get() {
            return Err(Error::new(ErrorKind::DeviceLost, operation)
                .with("driver", crate::NAME)
                .with("reason", one_line(reason)));
        }
        let Some(error) = error else { return Ok(()) };
        let kind = match error {
            wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
            wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ErrorKind::Refused,
        };
        Err(Error::new(kind, operation)
            .with("driver", crate::NAME)
            .with("reason", one_line(&error.to_string()))
            .from_source(error))
    }

    /// Calls `work`. After a panic in it the device counts as lost, because its state is unknown.
    ///
    /// # Errors
    /// Those of `work`, and `DeviceLost`.
    pub fn guard<T>(&self, operation: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check(operation)?;
        let outcome = caught(work).unwrap_or_else(|panic| {
            self.lose(panic);
            self.check(operation)?;
            work_is_lost(operation)
        })?;
        self.check(operation).map(|()| outcome)
    }

    fn slot<T>(&self, with: impl FnOnce(&mut Option<wgpu::Error>) -> T) -> T {
        with(&mut self.0.error.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn work_is_lost<T>(operation: &'static str) -> Result<T> {
    Err(Error::new(ErrorKind::DeviceLost, operation).with("driver", crate::NAME))
}

/// The result of `work`, or the message of its panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("wgpu panicked: {}", said.unwrap_or("without words"))
    })
}

/// Joins the lines of wgpu's errors, which are trees, to one line.
pub fn one_line(text: &str) -> String {
    let mut parts = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|part| *part != "Caused by:") {
        let between = if line.ends_with([':', ';']) { " " } else { "; " };
        line.push_str(between);
        line.push_str(part);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_lost_device_and_stays_one() {
        let faults = Faults::default();
        assert_eq!(faults.guard("eval_ir", || Ok(3)).ok(), Some(3));
        let error = faults.guard("eval_ir", || -> Result<()> { panic!("no such {}", "thing") });
        let error = error.err().map(|error| (error.kind(), error.to_string()));
        let (kind, text) = error.unwrap_or((ErrorKind::Invalid, String::new()));
        assert_eq!(kind, ErrorKind::DeviceLost);
        assert!(text.contains("no such thing"), "{text}");
        let again = faults.guard("block_read", || Ok(())).err();
        assert_eq!(again.map(|error| error.kind()), Some(ErrorKind::DeviceLost));
    }

    #[test]
    fn errors_are_one_line() {
        let text = "Validation Error\n\nCaused by:\n  In Device::create_buffer\n    too large\n";
        assert_eq!(one_line(text), "Validation Error; In Device::create_buffer; too large");
    }
}
