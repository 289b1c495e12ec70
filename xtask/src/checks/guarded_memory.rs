//! The Python tests on a module whose memory accesses are checked (`sanitize python`).
//!
//! Owns the checked build and its rounds. The module is built with the feature `guard`: nothing is pooled or
//! reused, and a round may put every buffer between guard pages, at the end of its pages or at their start, so
//! that a wrong access is a signal, even in our machine code. Rust code is also checked by the address
//! sanitizer, if the toolchain has its runtime. Invariants: the build is apart from other builds, and the
//! module of `.venv/` is not changed. Not here: the core's own tests (`sanitize`).

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::develop;
use crate::machine::failure::{Failure, Result};
use crate::machine::process::{capture, cargo, command, run as start};
use crate::machine::steps::SuiteStep;
use crate::machine::workspace;
use crate::suites::quick_tests;

/// The one target for which these checks, and those of the core, are known to work.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests of views, exports and products, and random programs.
const TESTS: [&str; 11] = [
    "test_views.py",
    "test_views_of_functions.py",
    "test_bitcast_views.py",
    "test_layout.py",
    "test_index_arrays.py",
    "test_interop.py",
    "test_exports.py",
    "test_exports_written.py",
    "test_numpys_memory.py",
    "test_linear.py",
    "differential",
];

/// The position of buffers in their pages; without guard pages, only the sanitizer checks both of their ends.
const ROUNDS: [&str; 3] = ["end", "start", "off"];

/// The package, its compiled part, and where Python finds them.
const PACKAGE: &str = "crates/gpupy-py/python/gpupy";
const FOLDER: &str = "target/sanitize/python";

/// The build of the checked module, then the tests on it, one round for each position of buffers.
pub fn steps() -> Vec<SuiteStep<'static>> {
    const BUILD: &str = "Python module (checked)";
    let runtime = Rc::new(OnceCell::new());
    let built = Rc::clone(&runtime);
    let mut steps = vec![SuiteStep::new(BUILD, move || {
        let _ = built.set(build()?);
        Ok(())
    })];
    steps.extend(ROUNDS.map(|side| {
        let runtime = Rc::clone(&runtime);
        let title = format!("Python tests, buffers at the {side} of their pages");
        let runtime = move || runtime.get().cloned().flatten();
        SuiteStep::new(title, move || round(side, runtime().as_deref())).after(BUILD)
    }));
    steps
}

/// Builds the module, and returns the sanitizer's runtime if there is one.
fn build() -> Result<Option<PathBuf>> {
    develop::prepare()?;
    let runtime = runtime()?;
    let flags = if runtime.is_some() { "-Zsanitizer=address" } else { "" };
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--target", TARGET]);
    build.args(["--target-dir", "target/sanitize", "-p", "gpupy-py", "--features", "guard"]);
    // The flag needs a nightly compiler, or one that pretends to be.
    build.env("RUSTFLAGS", flags).env("RUSTC_BOOTSTRAP", "1");
    start(build.env("PYO3_PYTHON", workspace::python()))?;
    package()?;
    Ok(runtime)
}

/// The sanitizer's runtime as a library that Python can be started with, or `None` where there is none.
fn runtime() -> Result<Option<PathBuf>> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = capture(command(compiler).args(["--print", "sysroot"]))?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib");
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let Some(archive) = files.find(|path| path.to_string_lossy().ends_with("_rt.asan.a")) else {
        println!(
            "left out: this toolchain has no runtime of the address sanitizer; pages alone check"
        );
        return Ok(None);
    };
    let folder = workspace::root().join("target/sanitize");
    // Under its usual name, the loader would take it for another compiler's runtime.
    let (copy, library) = (folder.join("asan.a"), folder.join("rust_asan.so"));
    fs::create_dir_all(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
    fs::copy(&archive, &copy).map_err(|error| Failure::file("copy", &archive, &error))?;
    // Its early initialisation is for programs, and may not be in a library.
    start(command("ar").arg("d").arg(&copy).arg("asan_preinit.cpp.o"))?;
    let mut link = command("cc");
    link.args(["-shared", "-o"]).arg(&library).arg("-Wl,--whole-archive").arg(&copy);
    // It must find the C++ functions of other modules that it intercepts.
    link.args(["-Wl,--no-whole-archive", "-Wl,--no-as-needed", "-lstdc++"]);
    start(link.args(["-lpthread", "-ldl", "-lm", "-lrt"]))?;
    Ok(Some(library))
}

/// Puts the Python sources, as links, and the checked module into one folder.
fn package() -> Result<()> {
    let folder = workspace::root().join(FOLDER).join("gpupy");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| Failure::file("remove", &folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
    let sources = workspace::root().join(PACKAGE);
    let entries =
        fs::read_dir(&sources).map_err(|error| Failure::file("list", &sources, &error))?;
    for entry in entries.flatten() {
        let (name, from) = (entry.file_name(), entry.path());
        if from.extension().is_none_or(|extension| extension != "so") {
            std::os::unix::fs::symlink(&from, folder.join(name))
                .map_err(|error| Failure::file("link", &from, &error))?;
        }
    }
    let module =
        workspace::root().join("target/sanitize").join(TARGET).join("release/lib_gpupy.so");
    fs::copy(&module, folder.join("_gpupy.abi3.so"))
        .map_err(|error| Failure::file("copy", &module, &error))?;
    Ok(())
}

fn round(side: &str, runtime: Option<&Path>) -> Result<()> {
    let folder = workspace::root().join("crates/gpupy-py/tests");
    let mut tests = command(workspace::python());
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", quick_tests::DRIVERS]);
    tests.args(TESTS.map(|file| folder.join(file)).iter().filter(|path| path.exists()));
    tests.env("PYTHONPATH", workspace::root().join(FOLDER)).env("GPUPY_GUARD", side);
    // The interpreter's own pools would hide wrong frees. The programs are the same in every round.
    tests.env("PYTHONMALLOC", "malloc").env("PYTHONFAULTHANDLER", "1").env("CI", "true");
    tests.env("GPUPY_DIFFERENTIAL", "1000");
    if let Some(runtime) = runtime {
        // Python frees little at its end. A size that no allocator serves is an error for us, not an abort.
        // Pytest captures standard error, so reports go to files.
        let options = "detect_leaks=0:allocator_may_return_null=1:log_path=target/sanitize/report";
        tests.env("LD_PRELOAD", runtime).env("ASAN_OPTIONS", options);
    }
    start(&mut tests)
}
