//! What cannot be loaded as a driver is one clear line, and the program goes on.

#![allow(clippy::unwrap_used)]

use gpupy_core::ErrorKind;
use gpupy_core::driver::Config;
use gpupy_core::plugin::driver_table::{GPUPY_ABI_MAJOR, GPUPY_ABI_MINOR};
use gpupy_engine::plugin;
use gpupy_engine::{Context, Registry, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library of this C code.
fn library(name: &str, code: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, code).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-I"]).arg(include).arg(source).arg("-o").arg(&library);
    assert!(compiler.status().unwrap().success());
    library
}

#[track_caller]
fn refused(path: &Path, words: &str) {
    let error = plugin::driver(path)().init(&Config::default()).unwrap_err();
    assert_eq!((error.operation(), error.kind()), ("load", ErrorKind::Unavailable));
    let told = error.to_string();
    assert!(told.contains(words) && !told.contains('\n'), "{told}");
    assert_eq!(error.fact("driver"), Some(&*path.display().to_string()));
}

#[test]
fn a_path_that_is_no_driver_is_refused_in_words() {
    refused(Path::new("/no/such/driver.so"), "there is no such file");
    refused(Path::new("libnobodyhasthis.so"), "this is no library that can be loaded: ");
    refused(&std::env::temp_dir(), "this is no library that can be loaded: ");
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join("text.so");
    std::fs::write(&text, "not a library").unwrap();
    refused(&text, "this is no library that can be loaded: ");
    let other = library("other", "int other = 1;");
    refused(&other, "this library has no function `gpupy_driver`, so it is no driver");
    let empty = library("empty", "void *gpupy_driver(void) { return 0; }");
    refused(&empty, "the driver has no table");
    let newer = "#include \"gpupy_driver.h\"\n
        static const gpupy_driver_table table = { sizeof table, 9, 8 };
        const gpupy_driver_table *gpupy_driver(void) { return &table; }";
    let own = format!("this gpupy has {GPUPY_ABI_MAJOR}.{GPUPY_ABI_MINOR}");
    refused(&library("newer", newer), &format!("for version 9.8 of the driver table, and {own}"));
    let hollow = "#include \"gpupy_driver.h\"\n
        static const gpupy_driver_table table = { sizeof table, GPUPY_ABI_MAJOR, 0, \"hollow\" };
        const gpupy_driver_table *gpupy_driver(void) { return &table; }";
    refused(&library("hollow", hollow), "the driver `hollow` has no function `init`");
}

#[test]
fn names_with_a_separator_or_the_ending_of_a_library_are_paths() {
    let check = |name: &str, wanted| assert_eq!(plugin::is_path(name), wanted, "{name}");
    check("gl", false);
    check("auto", false);
    check("./gl", true);
    check("/a/b", true);
    check("libx.so", cfg!(target_os = "linux"));
}

#[test]
fn a_path_from_the_settings_is_listed_with_its_reason_and_refused_at_first_use() {
    let path = "/no/such/driver.so";
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let context = Context::new(registry, Settings { driver: path.into(), ..Settings::default() });
    for _ in 0..2 {
        let error = context.driver().map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), format!("load: there is no such file (driver: {path})"));
    }
    assert_eq!(context.driver_names().unwrap(), ["soft", path]);
    let reason = context.drivers().unwrap().pop().unwrap().1.unwrap_err();
    assert_eq!(reason.kind(), ErrorKind::Unavailable);
    context.use_driver("soft").unwrap();
}

#[test]
fn a_path_that_does_not_load_changes_nothing() {
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let context = Context::new(registry, Settings::default());
    assert_eq!(context.driver().unwrap().0, "soft");
    let error = context.use_driver("/no/such/driver.so").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(context.driver_names().unwrap(), ["soft"]);
    assert_eq!(context.driver().unwrap().0, "soft");
    let error = context.use_driver("cuda").unwrap_err();
    assert!(error.to_string().contains("choose one of `soft`, `auto`, or the path of a plug-in"));
}
