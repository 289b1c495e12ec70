//! Exports a driver written in Rust as a table.
//!
//! Owns [`table()`] and the macro `export_driver!`.
//!
//! Not here: the table's functions (`functions.rs`), their use by the host (the engine).

use super::driver_table::{GPUPY_ABI_MAJOR, GPUPY_ABI_MINOR, GPUPY_NAME, Table};
use super::functions::{
    Plugin, block_alloc, block_free, block_read, block_write, check_ir, cleanup, eval_ir,
    get_method, init, resource_add, resource_check, resource_get, resource_sub, resource_zero,
};
use std::ffi::c_char;

/// Exports a driver as the library's `gpupy_driver`. Arguments: its name, and a function that makes it.
///
/// ```
/// # mod my_driver { pub fn new() -> Box<dyn gpupy_core::Driver> { unimplemented!() } }
/// gpupy_core::export_driver!("mine", my_driver::new);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_driver {
    ($name:expr, $new:path) => {
        /// The driver's table; see `include/gpupy_driver.h`.
        #[unsafe(no_mangle)]
        pub extern "C" fn gpupy_driver() -> *const $crate::plugin::driver_table::Table {
            struct Exported;
            impl $crate::plugin::Plugin for Exported {
                const NAME: &'static str = $name;
                fn make() -> ::std::boxed::Box<dyn $crate::Driver> {
                    $new()
                }
            }
            static TABLE: $crate::plugin::driver_table::Table = $crate::plugin::table::<Exported>();
            &TABLE
        }
    };
}

/// The table of a driver.
pub const fn table<P: Plugin>() -> Table {
    Table {
        size: size_of::<Table>(),
        abi_major: GPUPY_ABI_MAJOR,
        abi_minor: GPUPY_ABI_MINOR,
        name: name(P::NAME),
        init: Some(init::<P>),
        cleanup: Some(cleanup),
        get_method: Some(get_method),
        block_alloc: Some(block_alloc),
        block_free: Some(block_free),
        block_read: Some(block_read),
        block_write: Some(block_write),
        check_ir: Some(check_ir),
        eval_ir: Some(eval_ir),
        resource_get: Some(resource_get),
        resource_zero: Some(resource_zero),
        resource_add: Some(resource_add),
        resource_sub: Some(resource_sub),
        resource_check: Some(resource_check),
    }
}

const fn name(words: &str) -> [c_char; GPUPY_NAME] {
    let bytes = words.as_bytes();
    assert!(bytes.len() < GPUPY_NAME && words.is_ascii());
    let mut name = [0; GPUPY_NAME];
    let mut i = 0;
    while i < bytes.len() {
        name[i] = bytes[i] as c_char;
        i += 1;
    }
    name
}
