//! The check of the sources by the compiler for other systems and processors.
//!
//! Owns the list of targets and of the crates that are excluded there. Only types and names are checked, for
//! which a target's standard library is enough: nothing is linked or run. Invariant: where that library cannot
//! be installed, a line says that the check is skipped and how to install it; this is no failure. Not here: the
//! lints of this machine's own target (`lint`).

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::machine::failure::Result;
use crate::machine::process::{capture, cargo, command, run as start};

/// Another processor and another system.
pub const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// A system more, which continuous integration leaves to those who change a driver: a target takes minutes.
pub const APPLES: &str = "aarch64-apple-darwin";

/// Crates that do not support every target, by the word in the target's name that they lack, each with the reason.
const LEFT_OUT: [(&str, &str, &str); 3] = [
    ("xtask", "", "its environments are laid out as on Unix"),
    ("driver-gl", "apple", "there is no EGL"),
    ("gpupy-shaders", "apple", "there is no EGL"),
];

/// Checks all crates but those for a target, whose standard library is installed if it can be.
pub fn check(target: &str) -> Result<()> {
    if !is_installed(target)
        && let Err(failure) = add(target)
    {
        println!(
            "   left out: no standard library for it, which `rustup target add {target}` installs: {failure}"
        );
        return Ok(());
    }
    for (name, reason) in left_out(target) {
        println!("   without {name}: {reason}");
    }
    // An extension module for any Python from 3.11 on needs no Python to be checked. No feature is enabled:
    // shaderc is C++, and without it naga compiles the kernels of the Vulkan driver.
    start(of_all(target).env("PYO3_NO_PYTHON", "1"))
}

fn of_all(target: &str) -> Command {
    let mut check = cargo();
    check.args(["check", "--workspace", "--keep-going", "--target", target]);
    check.args(left_out(target).flat_map(|(name, _)| ["--exclude", name]));
    check
}

/// The crates that do not support a target, with the reasons.
fn left_out(target: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = LEFT_OUT.iter().filter(move |(_, word, _)| target.contains(word));
    rows.map(|(name, _, reason)| (*name, *reason))
}

/// True if the compiler in use has the target's standard library.
fn is_installed(target: &str) -> bool {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder = capture(command(compiler).args(["--print", "target-libdir", "--target", target]));
    folder.is_ok_and(|folder| has_library(Path::new(folder.trim())))
}

fn has_library(folder: &Path) -> bool {
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

/// Installs a target's standard library. Where there is no network, this ends soon.
fn add(target: &str) -> Result<()> {
    println!("   $ rustup target add {target}");
    let mut add = command("rustup");
    add.args(["target", "add", target]).env("RUST_BACKTRACE", "0");
    add.env("RUSTUP_MAX_RETRIES", "0").env("RUSTUP_DOWNLOAD_TIMEOUT", "30");
    capture(&mut add).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_this_machine_is_found() {
        let own = capture(command("rustc").arg("-vV")).unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        assert!(is_installed(own), "{own}");
        assert!(!is_installed("no-such-target"));
    }

    #[test]
    fn a_target_that_cannot_be_had_is_left_out_and_no_failure() {
        assert_eq!(check("no-such-target"), Ok(()));
    }

    #[test]
    fn what_is_left_out_is_excluded() {
        let names = |target| {
            let words =
                of_all(target).get_args().map(|w| w.to_string_lossy().into_owned()).collect();
            let words: Vec<String> = words;
            words[5..].iter().filter(|word| *word != "--exclude").cloned().collect::<Vec<_>>()
        };
        assert_eq!(names("x86_64-pc-windows-gnu"), ["xtask"]);
        assert_eq!(names(APPLES), ["xtask", "driver-gl", "gpupy-shaders"]);
    }
}
