//! A driver written in C, from the header and the documents alone, passes the suite.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_c_driver_passes_the_suite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = format!("libgpupy_c{}", std::env::consts::DLL_SUFFIX);
    let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .current_dir(&root)
        .args(["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Iinclude"])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "examples/c-driver/driver.c", "-o"])
        .arg(&library)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let make = gpupy_engine::plugin::driver(&library);
    gpupy_conformance::check(move || make());
}
