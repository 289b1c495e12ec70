//! The disk cache of compiled programs, between runs.
//!
//! Owns [`BinaryKey`]. Short programs are cached, too: the first text that Mesa compiles in a process makes it
//! set up all functions of GLSL, which takes 10 ms. Invariant: a cached program that the device rejects is
//! compiled again.
//!
//! Not here: the files (`gpupy_codegen::disk_cache`), kernels of this run.

use crate::context::egl::Limits;
use glow::HasContext;
use gpupy_codegen::disk_cache::DiskCache;

/// The key of a compiled program: everything that it depends on.
pub struct BinaryKey {
    text: String,
}

impl BinaryKey {
    /// The key of a program made of these shaders on this device.
    pub fn new(limits: &Limits, vertex: &str, fragment: &str) -> BinaryKey {
        let text = [&limits.renderer, &limits.version, vertex, fragment].map(|s| s.trim());
        BinaryKey { text: text.join("\n") }
    }
}

/// Loads a cached program; false when there is none that the device accepts.
///
/// # Safety
/// The context is current, and the program is its own and not linked.
pub unsafe fn load(
    gl: &glow::Context,
    program: glow::Program,
    disk_cache: &DiskCache,
    key: &BinaryKey,
) -> bool {
    let found = disk_cache.take(&key.text);
    // The format, then the binary.
    let Some((format, binary)) = found.as_ref().and_then(|bytes| bytes.split_first_chunk()) else {
        return false;
    };
    let format = u32::from_le_bytes(*format);
    let binary = glow::ProgramBinary { buffer: binary.to_vec(), format };
    // SAFETY: the context is current and owns the program; a binary that the device rejects leaves an error,
    // which `get_error` clears, and an unlinked program.
    unsafe {
        gl.program_binary(program, &binary);
        gl.get_error();
        gl.get_program_link_status(program)
    }
}

/// Stores a linked program.
///
/// # Safety
/// The context is current, and the program is its own and linked.
pub unsafe fn store(
    gl: &glow::Context,
    program: glow::Program,
    disk_cache: &DiskCache,
    key: &BinaryKey,
) {
    // SAFETY: the context is current, and the program is its own and linked.
    let Some(binary) = (unsafe { gl.get_program_binary(program) }) else { return };
    let content = [&binary.format.to_le_bytes()[..], &binary.buffer].concat();
    disk_cache.put(&key.text, &content);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::context::{egl, kernel_compiler};
    use gpupy_codegen::fragment;
    use gpupy_core::driver::Config;

    #[test]
    fn programs_come_back_and_nonsense_is_refused() {
        let Ok(context) = egl::open(&Config::default()) else {
            return gpupy_conformance::skipped("no context");
        };
        if !context.limits.program_binaries {
            return gpupy_conformance::skipped("no program binaries");
        }
        let folder = std::env::temp_dir().join(format!("gpupy-gl-test-{}", std::process::id()));
        let disk_cache = DiskCache::at(&folder);
        let gl = &context.gl;
        let vertex = fragment::vertex_source(context.limits.glsl);
        let source = "#version 400 core\nout vec4 o0;\nvoid main() { o0 = vec4(2.0); }\n";
        let key = BinaryKey::new(&context.limits, &vertex, source);
        let other = BinaryKey::new(&context.limits, &vertex, &source.replace("2.0", "3.0"));
        // SAFETY: the context is current, and the programs are its own.
        unsafe {
            let built = gl.create_program().unwrap();
            kernel_compiler::build(gl, built, &vertex, source, true).unwrap();
            store(gl, built, &disk_cache, &key);
            let fresh = || gl.create_program().unwrap();
            assert!(load(gl, fresh(), &disk_cache, &key));
            assert!(!load(gl, fresh(), &disk_cache, &other));
            let bytes = disk_cache.take(&key.text).unwrap();
            for len in [0, 3, 4, 20, bytes.len() / 2, bytes.len() - 1] {
                disk_cache.put(&key.text, &bytes[..len]);
                load(gl, fresh(), &disk_cache, &key);
                assert_eq!(gl.get_error(), glow::NO_ERROR);
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
