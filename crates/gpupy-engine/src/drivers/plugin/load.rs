//! Loading of a plug-in: from a library's path to its driver table.
//!
//! Invariants: nothing is loaded before a driver is opened; a library that cannot be loaded gives a one-line error of
//! kind `Unavailable`; a loaded library is never unloaded, as its functions and the memory that they returned may be in
//! use until the end.
//!
//! Not here: calling the table's functions (`imported_driver.rs`).

use super::imported_driver::Imported;
use crate::drivers::registry::Constructor;
use gpupy_core::plugin::Growing;
use gpupy_core::plugin::driver_table::{GPUPY_ABI_MAJOR, GPUPY_ABI_MINOR, Table};
use gpupy_core::plugin::fixed_strings::get;
use gpupy_core::{Error, ErrorKind, Result};
use libloading::Library;
use std::env::consts::DLL_SUFFIX;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The function that every plug-in exports.
const SYMBOL: &str = "gpupy_driver";

/// True for a driver's name that means a library: it has a separator of paths in it, or ends as
/// libraries do here.
pub fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(DLL_SUFFIX)
}

/// Makes the driver of a library, closed. Its `init` loads the library, and is `Unavailable` where
/// that is not possible or the library no driver for us.
///
/// A library runs as part of this process, with all its rights: the program that names it trusts it.
pub fn driver(path: &Path) -> Constructor {
    let (name, file) = (path.display().to_string(), file(path));
    Arc::new(move || {
        let (name, file) = (name.clone(), file.clone());
        let table = move || load(&file).map_err(|error| error.with("driver", &name));
        // SAFETY: the program that names a library promises that it keeps the contract.
        Box::new(unsafe { Imported::new(table) })
    })
}

fn unavailable(said: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, "load").says(said)
}

/// Where the library is, whatever the working directory becomes. A bare name that is no file here is
/// left to the system's search.
fn file(path: &Path) -> PathBuf {
    let is_bare = path.components().count() == 1 && !path.exists();
    match std::path::absolute(path) {
        Ok(file) if !is_bare => file,
        _ => path.to_path_buf(),
    }
}

fn load(file: &Path) -> Result<Table> {
    if file.is_absolute() && !file.exists() {
        return Err(unavailable("there is no such file"));
    }
    // To open a pipe would wait for a writer.
    if file.is_absolute() && !file.is_file() {
        return Err(unavailable("this is no library that can be loaded: it is no regular file"));
    }
    // SAFETY: the library's initialisation runs here; see `driver`.
    let library = unsafe { Library::new(file) }
        .map_err(|error| unavailable(format!("this is no library that can be loaded: {error}")))?;
    let library = ManuallyDrop::new(library);
    // SAFETY: the header says that the symbol is such a function.
    let table = unsafe {
        let symbol = library.get::<unsafe extern "C" fn() -> *const Table>(SYMBOL.as_bytes());
        symbol.map(|symbol| symbol()).map_err(|_| {
            unavailable(format!("this library has no function `{SYMBOL}`, so it is no driver"))
        })
    }?;
    // SAFETY: the header says what the function returns.
    unsafe { checked(table) }
}

/// The table of a driver that we can use.
///
/// # Errors
/// - `Unavailable`: it is missing, of another major version, too small, or lacks a function.
///
/// # Safety
/// The pointer is null, or points to as many bytes as the `size` there says, of which the first 16
/// are the sizes and versions of a table.
pub unsafe fn checked(table: *const Table) -> Result<Table> {
    if table.is_null() || !table.is_aligned() {
        return Err(unavailable("the driver has no table"));
    }
    // SAFETY: the versions stand where they stand in every version.
    let (major, minor) = unsafe { ((*table).abi_major, (*table).abi_minor) };
    if major != GPUPY_ABI_MAJOR {
        return Err(unavailable(format!(
            "the driver is for version {major}.{minor} of the driver table, and this gpupy has \
             {GPUPY_ABI_MAJOR}.{GPUPY_ABI_MINOR}; build it with this gpupy's gpupy_driver.h"
        )));
    }
    // SAFETY: the caller promises that `table` is a driver table.
    let table = unsafe { Table::take(table) }
        .map_err(|error| unavailable(format!("the driver's table is too small: {error}")))?;
    let functions = [
        ("init", table.init.is_some()),
        ("cleanup", table.cleanup.is_some()),
        ("get_method", table.get_method.is_some()),
        ("block_alloc", table.block_alloc.is_some()),
        ("block_free", table.block_free.is_some()),
        ("block_read", table.block_read.is_some()),
        ("block_write", table.block_write.is_some()),
        ("check_ir", table.check_ir.is_some()),
        ("eval_ir", table.eval_ir.is_some()),
        ("resource_get", table.resource_get.is_some()),
        ("resource_zero", table.resource_zero.is_some()),
        ("resource_add", table.resource_add.is_some()),
        ("resource_sub", table.resource_sub.is_some()),
        ("resource_check", table.resource_check.is_some()),
    ];
    match functions.iter().find(|(_, there)| !there) {
        Some((function, _)) => Err(unavailable(format!(
            "the driver `{}` has no function `{function}`",
            get(&table.name)
        ))),
        None => Ok(table),
    }
}
