//! Compiles shaders into kernels.
//!
//! Owns [`Kernel`]. Invariant: a refused shader is saved to a file that the error names.
//!
//! Not here: the text (`gpupy-codegen`), the cache of kernels (`gpupy-codegen/src/kernels/kernel_cache.rs`).

use crate::context::egl::GlContext;
use crate::context::program_binaries;
use crate::errors::NAME;
use glow::HasContext;
use gpupy_codegen::disk_cache::DiskCache;
use gpupy_codegen::fragment;
use gpupy_core::memory::private_file;
use gpupy_core::{Error, ErrorKind, Result};

/// A compiled program.
#[derive(Debug)]
pub struct Kernel {
    /// OpenGL's name.
    pub program: glow::Program,
    /// The location of the kernel arguments, if there are any.
    pub words: Option<glow::UniformLocation>,
}

/// Compiles a fragment shader; `samplers` are in the order of their texture units.
///
/// # Errors
/// - `Refused`: the compiler rejects it.
pub fn compile(context: &GlContext, source: &str, samplers: &[String]) -> Result<Kernel> {
    let gl = &context.gl;
    let vertex = fragment::vertex_source(context.limits.glsl);
    let key = program_binaries::BinaryKey::new(&context.limits, &vertex, source);
    // Without program binaries nothing can be cached.
    let place = DiskCache::of(NAME).filter(|_| context.limits.program_binaries);
    // SAFETY: the context is current; objects made here are deleted here or kept in the kernel.
    unsafe {
        let program = gl.create_program().map_err(|e| refused(context, &e, source))?;
        let loaded =
            place.as_ref().is_some_and(|place| program_binaries::load(gl, program, place, &key));
        if !loaded {
            let linked = build(gl, program, &vertex, source, place.is_some());
            if let Err(log) = linked {
                gl.delete_program(program);
                return Err(refused(context, &log, source));
            }
            if let Some(place) = &place {
                program_binaries::store(gl, program, place, &key);
            }
        }
        gl.use_program(Some(program));
        for (unit, name) in samplers.iter().enumerate() {
            let location = gl.get_uniform_location(program, name);
            gl.uniform_1_i32(location.as_ref(), unit as i32);
        }
        let words = gl.get_uniform_location(program, "k");
        Ok(Kernel { program, words })
    }
}

/// # Safety
/// The context is current, and the program is its own.
pub(crate) unsafe fn build(
    gl: &glow::Context,
    program: glow::Program,
    vertex: &str,
    fragment: &str,
    retrievable: bool,
) -> std::result::Result<(), String> {
    // SAFETY: the context is current and owns the program; shaders are made and deleted here.
    unsafe {
        if retrievable {
            gl.program_binary_retrievable_hint(program, true);
        }
        for (kind, source) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind)?;
            gl.shader_source(shader, source);
            gl.compile_shader(shader);
            let compiled = gl.get_shader_compile_status(shader);
            let log = gl.get_shader_info_log(shader);
            gl.attach_shader(program, shader);
            // A shader lives as long as the program that it is attached to.
            gl.delete_shader(shader);
            if !compiled {
                return Err(log);
            }
        }
        gl.link_program(program);
        match gl.get_program_link_status(program) {
            true => Ok(()),
            false => Err(gl.get_program_info_log(program)),
        }
    }
}

/// The error of a refused shader, which is saved for people to look at.
fn refused(context: &GlContext, log: &str, source: &str) -> Error {
    // The first message usually causes the others.
    let first = log.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    let error = Error::new(ErrorKind::Refused, "eval_ir")
        .with("driver", NAME)
        .with("device", &context.limits.renderer)
        .with("compiler", first.trim());
    match private_file::temporary("gpupy-refused", ".frag", source) {
        Ok(path) => error.with("source", path.display()),
        Err(_) => error.with("source", "could not be saved"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::context::egl;
    use gpupy_core::driver::Config;

    #[test]
    fn every_snapshot_of_the_generator_compiles() {
        let Ok(context) = egl::open(&Config::default()) else {
            return gpupy_conformance::skipped("no context");
        };
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpupy-codegen/tests/snapshots");
        let mut count = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "frag") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let compiled = super::compile(&context, &source, &["t0".to_owned()]);
            assert!(compiled.is_ok(), "{}: {:?}", path.display(), compiled.err());
            count += 1;
        }
        assert!(count > 10);
    }

    #[test]
    fn a_refusal_names_the_compilers_reason_and_the_saved_source() {
        let Ok(context) = egl::open(&Config::default()) else {
            return gpupy_conformance::skipped("no context");
        };
        let source = "#version 400 core\nvoid main() { undeclared = 1; }\n";
        let error = super::compile(&context, source, &[]).unwrap_err();
        assert_eq!(error.kind(), gpupy_core::ErrorKind::Refused);
        assert!(error.fact("compiler").unwrap().contains("undeclared"), "{error}");
        let path = error.fact("source").unwrap().to_owned();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), source);
        std::fs::remove_file(path).unwrap();
    }
}
