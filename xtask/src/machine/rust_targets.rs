//! Rust's standard library for other processors and systems.
//!
//! Owns its installation. Invariant: where it cannot be installed, a line says so, and how to install it. Not here:
//! what is built with it (`dist`) or checked (`targets`).

use std::fs;
use std::path::Path;

use crate::machine::failure::Result;
use crate::machine::process::{capture, command};

/// True if a target's standard library is there, installed now if it can be; otherwise prints the reason.
pub fn is_there(target: &str) -> bool {
    if is_installed(target) {
        return true;
    }
    match add(target) {
        Ok(()) => true,
        Err(failure) => {
            println!(
                "   left out: no standard library for it, which `rustup target add {target}` installs: {failure}"
            );
            false
        }
    }
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
}
