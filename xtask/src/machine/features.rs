//! The Cargo features that this machine can build.
//!
//! Owns the lists of them. Invariant: all commands build with the same features, so that nothing is built
//! twice. Not here: the installation of their dependencies (`system`), linking (`driver-vulkan/build.rs`).

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

/// The archives that the Vulkan driver links, of two packages.
const ARCHIVES: [&str; 2] = ["libshaderc_combined.a", "libSPIRV-Tools.a"];

/// The words for a command about the whole workspace.
pub fn of_workspace() -> &'static [&'static str] {
    words(&["--features", "gpupy-py/shaderc,gpupy-conformance/shaderc,gpupy-shaders/shaderc"])
}

/// The words for a command about all of the workspace but the Python module.
pub fn of_all_but_module() -> &'static [&'static str] {
    words(&["--features", "gpupy-conformance/shaderc,gpupy-shaders/shaderc"])
}

/// The words for a command about the Python module.
pub fn of_module() -> &'static [&'static str] {
    words(&["--features", "shaderc"])
}

/// The words for a command about the shaders by hand.
pub fn of_shaders() -> &'static [&'static str] {
    words(&["--features", "gpupy-shaders/shaderc"])
}

/// None of them where shaderc is not installed.
fn words(features: &'static [&'static str]) -> &'static [&'static str] {
    if folders().iter().any(|folder| has_shaderc(folder)) { features } else { &[] }
}

/// Where the Vulkan driver looks for shaderc.
fn folders() -> Vec<PathBuf> {
    match std::env::var_os("SHADERC_LIB_DIR") {
        Some(folder) => vec![folder.into()],
        None => vec![format!("/usr/lib/{ARCH}-linux-gnu").into(), "/usr/lib64".into()],
    }
}

fn has_shaderc(folder: &Path) -> bool {
    ARCHIVES.iter().all(|archive| folder.join(archive).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaderc_is_there_when_all_archives_are() {
        let folder = std::env::temp_dir().join(format!("gpupy-features-{}", std::process::id()));
        assert!(std::fs::create_dir_all(&folder).is_ok());
        for archive in ARCHIVES {
            assert!(!has_shaderc(&folder));
            assert!(std::fs::write(folder.join(archive), "").is_ok());
        }
        assert!(has_shaderc(&folder));
        assert!(std::fs::remove_dir_all(folder).is_ok());
    }
}
