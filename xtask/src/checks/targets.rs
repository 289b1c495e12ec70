//! The check of the sources by the compiler for other systems and processors.
//!
//! Owns the list of targets and of the crates that are excluded there. Only types and names are checked, for
//! which a target's standard library is enough (`rust_targets`): nothing is linked or run. Invariant: where that
//! library cannot be had, the check is left out; this is no failure. Not here: the lints of this machine's own
//! target (`lint`), wheels for others (`dist`).

use std::process::Command;

use crate::machine::failure::Result;
use crate::machine::process::{cargo, run as start};
use crate::machine::rust_targets;

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
    if !rust_targets::is_there(target) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
