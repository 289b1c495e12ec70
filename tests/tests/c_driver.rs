//! Drivers written in C, from the header and the documents alone, pass the suite: today's, and the one that was
//! written for the first header.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a driver against the header of a folder, both from the root, and runs the suite on it.
fn check(name: &str, header: &str, driver: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = format!("lib{name}{}", std::env::consts::DLL_SUFFIX);
    let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .current_dir(&root)
        .args(["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", header])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", driver, "-o"])
        .arg(&library)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let make = gpupy_engine::plugin::driver(&library);
    gpupy_conformance::check(move || make());
}

#[test]
fn the_c_driver_passes_the_suite() {
    check("gpupy_c", "include", "examples/c-driver/driver.c");
}

#[test]
fn a_driver_that_was_written_for_the_first_header_passes_the_suite() {
    check("gpupy_c_1_0", "tests/data/abi/1.0", "tests/data/abi/1.0/driver.c");
}
