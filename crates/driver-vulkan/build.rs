//! Links the libraries that Debian's `libshaderc_combined.a` leaves out: glslang and the SPIR-V tools.
//!
//! Libraries named here reach every artefact that contains this crate, unlike link arguments. Each is linked
//! whole, because the archive that needs them comes later on the linker's command line; the linker drops unused
//! parts again. Without the feature `shaderc` nothing is linked.

use std::path::PathBuf;

/// The libraries of glslang and of the SPIR-V tools, as Debian's packages have them.
const LIBRARIES: [&str; 9] = [
    "glslang",
    "MachineIndependent",
    "GenericCodeGen",
    "OSDependent",
    "OGLCompiler",
    "HLSL",
    "SPIRV",
    "SPIRV-Tools-opt",
    "SPIRV-Tools",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SHADERC_LIB_DIR");
    if std::env::var_os("CARGO_FEATURE_SHADERC").is_none() {
        return;
    }
    let folder = folder();
    println!("cargo:rustc-link-search=native={}", folder.display());
    for library in LIBRARIES {
        // A complete shaderc comes without them.
        if folder.join(format!("lib{library}.a")).exists() {
            println!("cargo:rustc-link-lib=static:+whole-archive={library}");
        }
    }
}

/// The folder of the libraries: that of shaderc, as its crate finds it.
fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("SHADERC_LIB_DIR") {
        return folder.into();
    }
    let architecture = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let multiarch = PathBuf::from(format!("/usr/lib/{architecture}-linux-gnu"));
    if multiarch.exists() { multiarch } else { "/usr/lib64".into() }
}
