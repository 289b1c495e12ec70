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
use std::path::PathBuf;

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

    fn path(&self) -> Option<PathBuf> {
        (self.text.len() >= LEAST_TEXT).then_some(())?;
        let mut low = rustc_hash::FxHasher::default();
        let mut high = rustc_hash::FxHasher::default();
        self.text.hash(&mut low);
        ("gpupy", &self.text).hash(&mut high);
        let name = format!("{:016x}{:016x}", high.finish(), low.finish());
        Some(folder()?.join(name))
    }
}

fn folder() -> Option<PathBuf> {
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
pub unsafe fn load(gl: &glow::Context, program: glow::Program, key: &Key) -> bool {
    let Some(bytes) = key.path().and_then(|path| fs::read(path).ok()) else { return false };
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
pub unsafe fn store(gl: &glow::Context, program: glow::Program, key: &Key) {
    let Some(path) = key.path() else { return };
    // SAFETY: promised by the caller.
    let Some(binary) = (unsafe { gl.get_program_binary(program) }) else { return };
    let Some(folder) = path.parent() else { return };
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
