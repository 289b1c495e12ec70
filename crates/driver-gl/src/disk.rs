//! Compiled programs on disk, between runs.
//!
//! Owns [`Key`]. Programs lie in `$XDG_CACHE_HOME/gpupy/gl` (or `~/.cache/gpupy/gl`), named by a
//! hash of the device, its driver's version and the text. Invariants: a program is taken only when
//! the key stored beside it is equal, not just its hash; nothing fails because of the disk.
//!
//! Not here: kernels of this run (`cache.rs`).

use crate::context::Limits;
use glow::HasContext;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files beyond this many are not written: a cache must not fill a disk.
const MOST_FILES: usize = 4096;

/// Programs below this many bytes of text compile faster than they are found.
const LEAST_TEXT: usize = 2048;

/// What a compiled program depends on.
pub struct Key {
    text: String,
}

impl Key {
    /// The key of a program made of these shaders on this device.
    pub fn new(limits: &Limits, vertex: &str, fragment: &str) -> Key {
        let text = [&limits.renderer, &limits.version, vertex, fragment].map(|s| s.trim());
        Key { text: text.join("\n") }
    }

    fn path(&self, folder: &Path) -> Option<PathBuf> {
        (self.text.len() >= LEAST_TEXT).then_some(())?;
        let mut low = rustc_hash::FxHasher::default();
        let mut high = rustc_hash::FxHasher::default();
        self.text.hash(&mut low);
        ("gpupy", &self.text).hash(&mut high);
        let name = format!("{:016x}{:016x}", high.finish(), low.finish());
        Some(folder.join(name))
    }
}

/// Where programs lie, if there is such a place.
pub fn folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("gpupy").join("gl"))
}

/// Puts a stored program in place; false when there is none that the device takes.
///
/// # Safety
/// The context is current, and the program is its own and not linked.
pub unsafe fn load(gl: &glow::Context, program: glow::Program, folder: &Path, key: &Key) -> bool {
    let Some(bytes) = key.path(folder).and_then(|path| fs::read(path).ok()) else { return false };
    // The format, the key's length, the key, the binary.
    let Some((head, rest)) = bytes.split_at_checked(8) else { return false };
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let Some((text, buffer)) = rest.split_at_checked(number(4) as usize) else { return false };
    if text != key.text.as_bytes() {
        return false;
    }
    let binary = glow::ProgramBinary { buffer: buffer.to_vec(), format: number(0) };
    // SAFETY: promised by the caller; a binary that the device does not know leaves an error,
    // which is taken, and an unlinked program.
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
pub unsafe fn store(gl: &glow::Context, program: glow::Program, folder: &Path, key: &Key) {
    let Some(path) = key.path(folder) else { return };
    // SAFETY: promised by the caller.
    let Some(binary) = (unsafe { gl.get_program_binary(program) }) else { return };
    // Whatever the disk refuses only costs the next run a compilation.
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        if fs::read_dir(folder)?.count() >= MOST_FILES {
            return Ok(());
        }
        // Written aside and renamed, so that no reader finds half of it.
        let aside = path.with_extension(std::process::id().to_string());
        let mut file = fs::File::create(&aside)?;
        file.write_all(&binary.format.to_le_bytes())?;
        file.write_all(&(key.text.len() as u32).to_le_bytes())?;
        file.write_all(key.text.as_bytes())?;
        file.write_all(&binary.buffer)?;
        drop(file);
        fs::rename(aside, &path)
    };
    let _ = write();
}

/// A short name for a text.
pub fn short_hash(text: &str) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{context, kernels};
    use gpupy_codegen::fragment;
    use gpupy_core::driver::Config;

    #[test]
    fn programs_come_back_whole_or_not_at_all() {
        let Ok(context) = context::open(&Config::default()) else {
            return println!("skipped: no context");
        };
        if !context.limits.program_binaries {
            return println!("skipped: no program binaries");
        }
        let folder = std::env::temp_dir().join(format!("gpupy-disk-test-{}", std::process::id()));
        let gl = &context.gl;
        let vertex = fragment::vertex_source(context.limits.glsl);
        let padding = "// so that it is worth storing\n".repeat(LEAST_TEXT / 16);
        let body = "#version 400 core\nout vec4 o0;\nvoid main() { o0 = vec4(2.0); }\n";
        let source = format!("{body}{padding}");
        let key = Key::new(&context.limits, &vertex, &source);
        let other = Key::new(&context.limits, &vertex, &source.replace("2.0", "3.0"));
        // SAFETY: the context is current, and the programs are its own.
        unsafe {
            let built = gl.create_program().unwrap();
            kernels::build(gl, built, &vertex, &source, true).unwrap();
            store(gl, built, &folder, &key);
            let fresh = || gl.create_program().unwrap();
            assert!(load(gl, fresh(), &folder, &key));
            assert!(!load(gl, fresh(), &folder, &other));
            // Half a file is no program, and neither is another program's file.
            let path = key.path(&folder).unwrap();
            let bytes = fs::read(&path).unwrap();
            fs::write(other.path(&folder).unwrap(), &bytes).unwrap();
            assert!(!load(gl, fresh(), &folder, &other));
            for len in [0, 5, 20, bytes.len() / 2, bytes.len() - 1] {
                fs::write(&path, &bytes[..len]).unwrap();
                load(gl, fresh(), &folder, &key);
                assert_eq!(gl.get_error(), glow::NO_ERROR);
            }
            // A folder that cannot be made is no error.
            store(gl, built, Path::new("/dev/null/gpupy"), &key);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
