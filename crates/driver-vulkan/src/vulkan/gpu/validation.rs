//! The messages of the validation layers, for tests.
//!
//! Owns [`complaints`]. Invariant: a message of a watched instance is kept until the process ends.
//!
//! Not here: when they are enabled (`trial.rs`).

use super::errors::unavailable;
use ash::vk;
use gpupy_core::Result;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// The layer that checks calls.
pub const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// All messages so far.
static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The messages of the validation layers so far in this process.
pub fn complaints() -> Vec<String> {
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A messenger that listens as long as it lives.
pub struct Watch {
    functions: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
}

impl Watch {
    /// Listens to an instance.
    ///
    /// # Errors
    /// - `Unavailable`: the messenger cannot be made.
    pub fn new(entry: &ash::Entry, instance: &ash::Instance) -> Result<Watch> {
        let functions = ash::ext::debug_utils::Instance::new(entry, instance);
        // SAFETY: the callback is a function of this process's.
        let messenger = unsafe { functions.create_debug_utils_messenger(&messages(), None) }
            .map_err(|result| {
                unavailable("no messages of validation layers").with("reason", result)
            })?;
        Ok(Watch { functions, messenger })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: the messenger was made by these functions, and the instance lives longer.
        unsafe { self.functions.destroy_debug_utils_messenger(self.messenger, None) };
    }
}

/// The kinds of messages, and the callback.
pub fn messages() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::ERROR
                | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
        )
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(hear))
}

/// Called by the layers, on any thread.
unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer gives data that live during the call, with text or without.
    let text = unsafe {
        match data.as_ref().map(|data| data.p_message) {
            Some(text) if !text.is_null() => CStr::from_ptr(text).to_string_lossy().into_owned(),
            _ => "a message without text".to_owned(),
        }
    };
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    vk::FALSE
}
