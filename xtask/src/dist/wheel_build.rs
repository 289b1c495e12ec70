//! The wheels and the source distribution.
//!
//! Owns the calls of maturin. Invariants: a wheel is linked by zig for an old C library, which its name says; nothing
//! in it depends on the folders of this machine or on the time, but on the commit; shaderc, which is C++ of this
//! system, is not linked. Not here: what is checked of a wheel besides (`xtask/wheel/contents.py`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist::wheel_program::program;
use crate::machine::failure::{Failure, Result};
use crate::machine::{process, workspace};

/// The C library of Debian 10, Red Hat 8 and later systems, as PyPI names it.
const COMPATIBLE: &str = "manylinux_2_28";

/// The bill of materials, as `xtask/wheel/third_party.py` writes it.
const BILL: &str = "target/gpupy.cdx.json";

/// The target of a wheel, by the processor.
pub fn target(processor: &str) -> String {
    format!("{processor}-unknown-linux-gnu")
}

/// What all builds of a release have in common.
pub struct WheelBuild<'a> {
    /// The interpreter of the environment with maturin and zig.
    tools: &'a Path,
    /// The time of what is packed, in seconds: a commit during the build changes nothing.
    date: String,
}

impl<'a> WheelBuild<'a> {
    pub fn new(tools: &'a Path) -> Self {
        Self { tools, date: date() }
    }

    /// Builds a wheel, and checks its contents; `twice`: our crates are compiled and linked again, to the same bytes.
    pub fn wheel(&self, processor: &str, out: &Path, twice: bool) -> Result<PathBuf> {
        process::run(program(self.tools, "third_party.py").arg(target(processor)))?;
        process::run(&mut self.maturin_build(processor, out))?;
        let wheel = only(out, &format!("_{processor}.whl"))?;
        let mut contents = program(self.tools, "contents.py");
        contents.arg(&wheel).arg(&self.date).args(places().into_iter().map(|(path, _)| path));
        process::run(&mut contents)?;
        if twice {
            self.again(processor, &wheel)?;
        }
        Ok(wheel)
    }

    fn again(&self, processor: &str, wheel: &Path) -> Result<()> {
        let mut clean = process::cargo();
        clean.args(["clean", "--quiet", "--profile", "wheel", "--workspace"]);
        process::run(clean.args(["--target", &target(processor)]))?;
        let folder = workspace::target().join("dist-again").join(processor);
        process::run(&mut self.maturin_build(processor, &folder))?;
        let second = folder.join(wheel.file_name().unwrap_or_default());
        let read =
            |path: &Path| fs::read(path).map_err(|error| Failure::file("read", path, &error));
        if read(wheel)? != read(&second)? {
            let (first, second) = (wheel.display(), second.display());
            return Err(Failure::new(format!("`{second}` differs from `{first}`")));
        }
        println!("   the same bytes a second time");
        Ok(())
    }

    /// Builds the source distribution.
    pub fn source(&self, out: &Path) -> Result<()> {
        process::run(&mut self.maturin("sdist", out))
    }

    fn maturin_build(&self, processor: &str, out: &Path) -> Command {
        let mut build = self.maturin("build", out);
        build.args(["--profile", "wheel", "--locked", "--zig", "--compatibility", COMPATIBLE]);
        build.args(["--sbom-include", BILL, "--target", &target(processor)]);
        // Without an interpreter of its own maturin would look for one in the environment of the caller.
        build.arg("--interpreter").arg(self.tools);
        let renamed =
            places().into_iter().map(|(path, name)| format!("--remap-path-prefix={path}={name}"));
        build.env("CARGO_ENCODED_RUSTFLAGS", renamed.collect::<Vec<_>>().join("\u{1f}"));
        build
    }

    fn maturin(&self, command: &str, out: &Path) -> Command {
        let mut maturin = process::command(self.tools);
        maturin.args(["-m", "maturin", command, "--out"]).arg(out);
        maturin.env("SOURCE_DATE_EPOCH", &self.date);
        // It looks for zig by the name of an interpreter: the one that has it comes first.
        maturin.env("PATH", with_first(self.tools.parent(), std::env::var_os("PATH")));
        maturin
    }
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

/// The only file in a folder whose name ends so.
fn only(folder: &Path, ending: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder).map_err(|error| Failure::file("read", folder, &error))?;
    let mut files: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => {
            let folder = folder.display();
            Err(Failure::new(format!("not one `{ending}` in `{folder}`: {files:?}")))
        }
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
        put("a_aarch64.whl");
        let none = only(&folder, "_x86_64.whl");
        put("a_x86_64.whl");
        let one = only(&folder, "_x86_64.whl");
        let two = only(&folder, ".whl");
        fs::remove_dir_all(&folder).unwrap();
        assert!(none.is_err() && two.is_err());
        assert_eq!(one, Ok(folder.join("a_x86_64.whl")));
    }

    #[test]
    fn no_folder_of_this_machine_stays_in_the_module_and_zig_is_found_first() {
        let build = WheelBuild::new(Path::new("/tools/bin/python"));
        let wheel = build.maturin_build("aarch64", Path::new("dist"));
        let value = |wanted: &str| {
            let found = wheel.get_envs().find(|(name, _)| *name == wanted).and_then(|(_, v)| v);
            found.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let flags = value("CARGO_ENCODED_RUSTFLAGS");
        let root = format!("--remap-path-prefix={}=gpupy", workspace::root().display());
        assert!(flags.split('\u{1f}').any(|flag| flag == root), "{flags}");
        assert!(value("PATH").starts_with("/tools/bin:"));
        assert!(value("SOURCE_DATE_EPOCH").parse::<u64>().is_ok());
        assert!(wheel.get_args().any(|word| word == "aarch64-unknown-linux-gnu"));
    }
}
