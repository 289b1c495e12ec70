//! The wheel and the source distribution.
//!
//! Owns the calls of maturin. Invariants: the wheel is linked by zig for an old C library, which its name says; nothing
//! in it depends on the folders of this machine or on the time, but on the commit; shaderc, which is C++ of this
//! system, is not linked. Not here: what is checked of the wheel besides (`xtask/wheel/contents.py`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist;
use crate::machine::failure::{Failure, Result};
use crate::machine::{process, workspace};

/// The C library of Debian 10, Red Hat 8 and later systems, as PyPI names it.
const COMPATIBLE: &str = "manylinux_2_28";

/// The bill of materials, as `xtask/wheel/third_party.py` writes it.
const BILL: &str = "target/gpupy.cdx.json";

/// What the wheel is built for: the processor of this machine.
fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Builds both into an empty folder; returns the wheel, whose contents are checked.
pub fn both(tools: &Path) -> Result<PathBuf> {
    let out = dist::out();
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| Failure::file("remove", &out, &error))?;
    }
    process::announce("licences of what is linked");
    process::run(dist::program(tools, "third_party.py").arg(target()))?;
    process::announce("wheel");
    process::run(&mut wheel(tools, &out))?;
    process::announce("source distribution");
    process::run(&mut maturin(tools, "sdist", &out))?;
    let wheel = only(&out, "whl")?;
    process::announce("contents of the wheel");
    let mut contents = dist::program(tools, "contents.py");
    contents.arg(&wheel).arg(date()).args(places().into_iter().map(|(path, _)| path));
    process::run(&mut contents)?;
    Ok(wheel)
}

/// Compiles our own crates and links them once more; the wheel has to have the same bytes.
pub fn again(tools: &Path, wheel: &Path) -> Result<()> {
    process::announce("the same bytes a second time");
    let mut clean = process::cargo();
    clean.args(["clean", "--quiet", "--profile", "wheel", "--workspace", "--target", &target()]);
    process::run(&mut clean)?;
    let folder = workspace::target().join("dist-again");
    process::run(&mut self::wheel(tools, &folder))?;
    let read = |path: &Path| fs::read(path).map_err(|error| Failure::file("read", path, &error));
    let second = only(&folder, "whl")?;
    match read(wheel)? == read(&second)? {
        true => Ok(()),
        false => {
            Err(Failure::new(format!("`{}` differs from `{}`", second.display(), wheel.display())))
        }
    }
}

/// The build of the wheel.
fn wheel(tools: &Path, out: &Path) -> Command {
    let mut wheel = maturin(tools, "build", out);
    wheel.args(["--profile", "wheel", "--locked", "--zig", "--compatibility", COMPATIBLE]);
    // Without an interpreter of its own maturin would look for one in the environment of the caller.
    wheel.args(["--sbom-include", BILL]);
    wheel.args(["--target", &target(), "--interpreter"]).arg(tools);
    let renamed =
        places().into_iter().map(|(path, name)| format!("--remap-path-prefix={path}={name}"));
    wheel.env("CARGO_ENCODED_RUSTFLAGS", renamed.collect::<Vec<_>>().join("\u{1f}"));
    wheel
}

/// Maturin's command, which writes to a folder and gives what it packs the time of the commit.
fn maturin(python: &Path, command: &str, out: &Path) -> Command {
    let mut maturin = process::command(python);
    maturin.args(["-m", "maturin", command, "--out"]).arg(out);
    maturin.env("SOURCE_DATE_EPOCH", date());
    // It looks for zig by the name of an interpreter: the one that has it comes first.
    maturin.env("PATH", with_first(python.parent(), std::env::var_os("PATH")));
    maturin
}

/// A search path that begins with a folder.
fn with_first(folder: Option<&Path>, paths: Option<OsString>) -> OsString {
    let paths = paths.unwrap_or_default();
    let folders = folder.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&paths));
    std::env::join_paths(folders).unwrap_or(paths)
}

/// The commit's time in seconds; without a repository, that of the caller, or the first that an archive can have.
fn date() -> String {
    let commits = process::capture(process::command("git").args(["log", "-1", "--format=%ct"]));
    let given = || std::env::var("SOURCE_DATE_EPOCH").ok();
    let date = commits.ok().or_else(given).unwrap_or_default();
    let date = date.trim();
    if date.is_empty() { "315532800".to_owned() } else { date.to_owned() }
}

/// Folders of this machine, and what stands for them in the module. Of two that fit, the compiler takes the later.
fn places() -> Vec<(String, &'static str)> {
    let home = std::env::home_dir().unwrap_or_default();
    let cargo = std::env::var_os("CARGO_HOME").map_or(home.join(".cargo"), PathBuf::from);
    let (root, target) = (workspace::root(), workspace::target());
    let mut places = vec![(cargo.join("registry").join("src"), "crates")];
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let toolchain = process::capture(process::command(compiler).args(["--print", "sysroot"]));
    let library = Path::new(toolchain.unwrap_or_default().trim()).join("lib/rustlib/src/rust");
    // Where the library's sources are installed, errors name their places.
    places.extend(library.exists().then_some((library, "rust")));
    let is_apart = !target.starts_with(&root);
    places.push((root, "gpupy"));
    places.extend(is_apart.then_some((target, "target")));
    places.into_iter().map(|(path, name)| (path.display().to_string(), name)).collect()
}

/// The only file of this kind in a folder.
fn only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder).map_err(|error| Failure::file("read", folder, &error))?;
    let mut files: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == extension));
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => Err(Failure::new(format!(
            "not one `.{extension}` in `{}`: {files:?}",
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_one_file_of_a_kind_has_it_and_others_are_failures() {
        let folder = std::env::temp_dir().join(format!("gpupy-xtask-dist-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let put = |name: &str| fs::write(folder.join(name), "").unwrap();
        put("a.tar.gz");
        let none = only(&folder, "whl");
        put("a.whl");
        let one = only(&folder, "whl");
        put("b.whl");
        let two = only(&folder, "whl");
        fs::remove_dir_all(&folder).unwrap();
        assert!(none.is_err() && two.is_err());
        assert_eq!(one, Ok(folder.join("a.whl")));
    }

    #[test]
    fn no_folder_of_this_machine_stays_in_the_module_and_zig_is_found_first() {
        let wheel = wheel(Path::new("/tools/bin/python"), Path::new("dist"));
        let value = |wanted: &str| {
            let found = wheel.get_envs().find(|(name, _)| *name == wanted).and_then(|(_, v)| v);
            found.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let flags = value("CARGO_ENCODED_RUSTFLAGS");
        let root = format!("--remap-path-prefix={}=gpupy", workspace::root().display());
        assert!(flags.split('\u{1f}').any(|flag| flag == root), "{flags}");
        assert!(value("PATH").starts_with("/tools/bin:"));
        assert!(value("SOURCE_DATE_EPOCH").parse::<u64>().is_ok());
    }
}
