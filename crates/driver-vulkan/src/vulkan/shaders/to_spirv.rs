//! Compiles the text of kernels to SPIR-V, in this process.
//!
//! Owns [`compile`]. shaderc, where it is linked, compiles GLSL; naga compiles WGSL. Invariant: a refused
//! shader is saved to a file that the error names.
//!
//! Not here: the language of a device's kernels (`gpu/gpu_device.rs`), pipelines (`kernel_compiler.rs`).

use super::float_controls;
use crate::NAME;
use crate::vulkan::gpu::gpu_device::Traits;
use gpupy_codegen::compute::Language;
use gpupy_codegen::compute::spirv as wgsl;
use gpupy_core::memory::private_file;
use gpupy_core::{Error, ErrorKind, Result};

/// The name of shaders in shaderc's messages.
const FILE: &str = "kernel";

/// Compiles a compute shader, and adds the device's float controls.
///
/// # Errors
/// - `Refused`: the compiler rejects it.
pub fn compile(source: &str, traits: &Traits) -> Result<Vec<u32>> {
    let words = match traits.kernels.language {
        Language::Glsl => glsl(source),
        Language::Wgsl => wgsl::compile(source, &traits.kernels),
    };
    let words = words.map_err(|reason| refused(&reason, source, traits))?;
    Ok(float_controls::with_modes(&words, &traits.floats))
}

#[cfg(feature = "shaderc")]
fn glsl(source: &str) -> std::result::Result<Vec<u32>, String> {
    use std::sync::OnceLock;
    /// shaderc, loaded at the first compilation. Its start takes a tenth of a second, so all drivers of the
    /// process share it.
    static COMPILER: OnceLock<std::result::Result<shaderc::Compiler, String>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| shaderc::Compiler::new().map_err(|e| e.to_string()));
    let compiler = compiler.as_ref().map_err(String::clone)?;
    let mut options = shaderc::CompileOptions::new().map_err(|e| e.to_string())?;
    let version = shaderc::EnvVersion::Vulkan1_2 as u32;
    options.set_target_env(shaderc::TargetEnv::Vulkan, version);
    // Devices optimise themselves, and shaderc's optimiser removes operations that must be kept.
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    let kind = shaderc::ShaderKind::Compute;
    let artifact = compiler.compile_into_spirv(source, kind, FILE, "main", Some(&options));
    artifact.map(|artifact| artifact.as_binary().to_vec()).map_err(|e| e.to_string())
}

/// A build without shaderc has no kernels in GLSL.
#[cfg(not(feature = "shaderc"))]
fn glsl(_: &str) -> std::result::Result<Vec<u32>, String> {
    Err("this build has no compiler of GLSL".to_owned())
}

/// The error of a refused shader, which is saved for people to look at.
pub fn refused(reason: &str, source: &str, traits: &Traits) -> Error {
    let suffix = match traits.kernels.language {
        Language::Glsl => ".comp",
        Language::Wgsl => ".wgsl",
    };
    // The first message usually causes the others.
    let first = reason.lines().find(|line| line.starts_with(FILE)).or(reason.lines().next());
    let error = Error::new(ErrorKind::Refused, "eval_ir")
        .with("driver", NAME)
        .with("device", &traits.name)
        .with("compiler", first.unwrap_or("no reason given").trim());
    match private_file::temporary("gpupy-refused", suffix, source) {
        Ok(path) => error.with("source", path.display()),
        Err(_) => error.with("source", "could not be saved"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::vulkan::gpu::gpu_device::Gpu;
    use crate::vulkan::gpu::instance::VulkanInstance;
    use gpupy_core::driver::Config;

    /// The traits of a device of this machine; `None` (a skip, with the reason) where there is none.
    fn traits() -> Option<Traits> {
        let opened = VulkanInstance::shared(false).and_then(|instance| {
            let devices = instance.devices()?;
            Gpu::open(instance, &devices, &Config::default())
        });
        opened.map(|gpu| gpu.traits.clone()).inspect_err(|e| gpupy_conformance::skipped(e)).ok()
    }

    #[cfg(feature = "shaderc")]
    #[test]
    fn every_snapshot_of_the_generator_compiles() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpupy-codegen/tests/snapshots");
        let mut count = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "comp") {
                let compiled = glsl(&std::fs::read_to_string(&path).unwrap());
                assert!(compiled.is_ok(), "{}: {:?}", path.display(), compiled.err());
                count += 1;
            }
        }
        assert!(count > 10);
    }

    #[test]
    fn a_refusal_names_the_compilers_reason_and_the_saved_source() {
        let Some(traits) = traits() else { return };
        let mut of_naga = traits.clone();
        of_naga.write_wgsl();
        for traits in [traits, of_naga] {
            let source = match traits.kernels.language {
                Language::Glsl => "#version 450\nvoid main() { undeclared = 1; }\n",
                Language::Wgsl => "@compute @workgroup_size(1) fn main() { undeclared = 1; }\n",
            };
            let error = compile(source, &traits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            assert!(error.fact("compiler").unwrap().contains("undeclared"), "{error}");
            let path = error.fact("source").unwrap().to_owned();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), source);
            std::fs::remove_file(path).unwrap();
        }
    }
}
