//! The virtual environment in `.venv/` and the Python packages in it.
//!
//! Owns the choice of an interpreter and the list [`PACKAGES`]. Invariants: a complete environment is not
//! changed (a stamp file lists the installed packages); a broken one, for example without its interpreter, is
//! created again. Not here: how environments are made (`python_packages.rs`), gpupy's own module (`develop`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::machine::failure::{Failure, Result};
use crate::machine::python_packages::Installer;
use crate::machine::{process, workspace};

/// The packages that the examples, the tests and the build use; only numpy is needed by gpupy itself.
const PACKAGES: [&str; 8] = [
    "numpy>=2",
    "pillow",
    "matplotlib",
    "maturin>=1.8,<2",
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "ml_dtypes>=0.5",
];

/// The packages that tests need beside NumPy.
pub const FOR_TESTS: [&str; 4] = ["pytest", "pytest-xdist", "hypothesis", "ml_dtypes>=0.5"];

/// The oldest Python that the module is built for.
const OLDEST: (u32, u32) = (3, 11);

/// Prints the version, and whether the interpreter can be used at all.
const PROBE: &str = "
import importlib.util as u, sys, sysconfig
free = 'free-threaded' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''
venv = '' if u.find_spec('venv') and u.find_spec('ensurepip') else 'no-venv'
print(sys.version_info[0], sys.version_info[1], free or venv or 'good')
";

/// Makes the environment and installs missing packages.
pub fn prepare() -> Result<()> {
    let stamp = workspace::venv().join("gpupy-packages.txt");
    let wanted = PACKAGES.join("\n");
    let usable =
        process::succeeds(process::command(workspace::python()).args(["-m", "pip", "--version"]));
    if usable && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    process::announce("Python environment .venv/");
    if !usable {
        let installer = Installer::of_machine();
        let candidates = candidates();
        let chosen = choose(&candidates, installer, |candidate| probe(candidate))?;
        installer.make(chosen, &workspace::venv())?;
    }
    install(&PACKAGES)?;
    fs::write(&stamp, wanted).map_err(|error| Failure::file("write", &stamp, &error))
}

/// Makes an environment for tests with another interpreter, and returns its interpreter. NumPy is of the series
/// given, such as `2.0`, or the newest.
///
/// The module is imported from the sources: built once, it serves every Python.
pub fn beside(interpreter: &Path, numpy: Option<&str>) -> Result<PathBuf> {
    let series = numpy.map(|series| format!("-numpy-{series}")).unwrap_or_default();
    let numpy = numpy.map_or("numpy>=2".to_owned(), |series| format!("numpy=={series}.*"));
    apart(interpreter, &series, &numpy)
}

/// Makes an environment for tests like [`beside`], given the requirement of NumPy for pip, in a folder whose
/// name has `words` after the version.
pub fn apart(interpreter: &Path, words: &str, numpy: &str) -> Result<PathBuf> {
    let library = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let installer = Installer::of_machine();
    let enough: &[&str] = if installer.has_uv { &["good", "no-venv"] } else { &["good"] };
    let version = probe(interpreter).and_then(|answer| version_of(&answer, enough));
    let Some((major, minor)) = version else {
        let words = format!("`{}` is no Python with venv and pip", interpreter.display());
        return Err(Failure::new(words));
    };
    let folder = workspace::beside(&format!("{major}.{minor}{words}"));
    let python = folder.join("bin").join("python");
    process::announce(&format!("Python environment {}", folder.display()));
    if !process::succeeds(process::command(&python).args(["-m", "pip", "--version"])) {
        installer.make(interpreter, &folder)?;
    }
    install_into(&python, &[&[numpy], &FOR_TESTS[..]].concat())?;
    let answer = process::capture(process::command(&python).args(["-c", library]))?;
    let link = PathBuf::from(answer.trim()).join("gpupy.pth");
    let sources = workspace::root().join("crates/gpupy-py/python");
    fs::write(&link, sources.display().to_string())
        .map_err(|error| Failure::file("write", &link, &error))?;
    Ok(python)
}

/// Makes the environment `target/<name>/` with the versions of a file of requirements, unless it is there with them;
/// returns its interpreter. It is made by the interpreter of `.venv/`, so that it can import gpupy's module.
pub fn locked(name: &str, requirements: &str) -> Result<PathBuf> {
    let folder = workspace::root().join("target").join(name);
    let python = folder.join("bin").join("python");
    let list = workspace::root().join(requirements);
    let wanted = fs::read_to_string(&list).map_err(|error| Failure::file("read", &list, &error))?;
    let stamp = folder.join("gpupy-packages.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    process::announce(&format!("Python environment target/{name}/"));
    Installer::of_machine().make(&workspace::python(), &folder)?;
    install_into(&python, &["-r", requirements])?;
    fs::write(&stamp, wanted).map_err(|error| Failure::file("write", &stamp, &error))?;
    Ok(python)
}

/// A suitable interpreter, and its version.
pub struct Interpreter {
    pub program: PathBuf,
    pub version: (u32, u32),
}

/// Every suitable version of Python, once: by the names in the search path, then those of pyenv.
pub fn interpreters() -> Vec<Interpreter> {
    let mut found: Vec<Interpreter> = Vec::new();
    for program in candidates().into_iter().chain(of_pyenv()) {
        if let Some(version) = version(&program)
            && version >= OLDEST
            && found.iter().all(|known| known.version != version)
        {
            found.push(Interpreter { program, version });
        }
    }
    found
}

/// The version of an interpreter that has venv and pip.
pub fn version(interpreter: &Path) -> Option<(u32, u32)> {
    version_of(&probe(interpreter)?, &["good"])
}

/// The version in an answer of [`PROBE`] that has one of these verdicts.
fn version_of(answer: &str, verdicts: &[&str]) -> Option<(u32, u32)> {
    let words: Vec<&str> = answer.split_whitespace().collect();
    let [major, minor, verdict] = words[..] else {
        return None;
    };
    verdicts.contains(&verdict).then_some((major.parse().ok()?, minor.parse().ok()?))
}

/// The interpreters of pyenv, whose commands only answer for the version that the user has chosen.
fn of_pyenv() -> Vec<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".pyenv"));
    let Some(root) = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home) else {
        return Vec::new();
    };
    let versions = fs::read_dir(root.join("versions")).into_iter().flatten().flatten();
    let mut programs: Vec<PathBuf> =
        versions.map(|version| version.path().join("bin").join("python")).collect();
    programs.sort();
    programs
}

/// Installs packages into the environment.
pub fn install(packages: &[&str]) -> Result<()> {
    install_into(&workspace::python(), packages)
}

/// Installs packages into another environment, by its interpreter.
pub fn install_into(python: &Path, packages: &[&str]) -> Result<()> {
    Installer::of_machine().install(python, packages)
}

/// Possible interpreters, best first: the user's `python3`, then the newest.
fn candidates() -> Vec<PathBuf> {
    let mut names = vec![PathBuf::from("python3")];
    names.extend((OLDEST.1..=15).rev().map(|minor| format!("python3.{minor}").into()));
    names.push("/usr/bin/python3".into());
    names
}

/// The output of [`PROBE`] for an interpreter; `None` if there is none of this name.
fn probe(interpreter: &Path) -> Option<String> {
    process::capture(process::command(interpreter).args(["-c", PROBE])).ok()
}

/// The first candidate that can create the environment.
fn choose(
    candidates: &[PathBuf],
    installer: Installer,
    probe: impl Fn(&PathBuf) -> Option<String>,
) -> Result<&PathBuf> {
    let mut seen = Vec::new();
    for candidate in candidates {
        let Some(answer) = probe(candidate) else {
            continue;
        };
        let words: Vec<&str> = answer.split_whitespace().collect();
        let [major, minor, verdict] = words[..] else {
            continue;
        };
        let version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
        let verdict = match verdict {
            _ if version < OLDEST => "too old",
            "good" => return Ok(candidate),
            "no-venv" if installer.has_uv => return Ok(candidate),
            "no-venv" => "without venv and pip",
            other => other,
        };
        seen.push(format!("`{}` is {major}.{minor}, {verdict}", candidate.display()));
    }
    let found = if seen.is_empty() { "none found".to_owned() } else { seen.join("; ") };
    Err(Failure::new(format!(
        "need Python {}.{} or newer with venv and pip, or with uv ({found}); on Debian: apt-get install python3 python3-venv",
        OLDEST.0, OLDEST.1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answers: &[(&str, &str)], wanted: std::result::Result<&str, &str>) {
        check_with(false, answers, wanted);
    }

    fn check_with(has_uv: bool, answers: &[(&str, &str)], wanted: std::result::Result<&str, &str>) {
        let names: Vec<PathBuf> = answers.iter().map(|(name, _)| name.into()).collect();
        let chosen = choose(&names, Installer { has_uv }, |name| {
            let found = answers.iter().find(|(known, _)| name == &PathBuf::from(known))?;
            (!found.1.is_empty()).then(|| found.1.to_owned())
        });
        match (chosen, wanted) {
            (Ok(path), Ok(name)) => assert_eq!(path, &PathBuf::from(name)),
            (Err(failure), Err(part)) => {
                assert!(failure.to_string().contains(part), "{failure}");
            }
            (got, _) => panic!("{answers:?}: got {got:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn the_first_python_that_can_serve_is_chosen() {
        check(&[("python3", "3 11 good\n"), ("python3.13", "3 13 good")], Ok("python3"));
        check(&[("python3", "3 9 good"), ("python3.13", "3 13 good")], Ok("python3.13"));
        check(&[("python3", "3 12 no-venv"), ("python3.11", "3 11 good")], Ok("python3.11"));
        check(&[("python3", ""), ("python3.11", "3 11 good")], Ok("python3.11"));
    }

    #[test]
    fn uv_needs_no_venv_but_a_python_that_is_new_enough() {
        check_with(
            true,
            &[("python3", "3 12 no-venv"), ("python3.11", "3 11 good")],
            Ok("python3"),
        );
        check_with(true, &[("python3", "3 9 no-venv")], Err("`python3` is 3.9, too old"));
    }

    #[test]
    fn a_version_counts_by_its_verdict() {
        assert_eq!(version_of("3 12 good\n", &["good"]), Some((3, 12)));
        assert_eq!(version_of("3 12 no-venv", &["good"]), None);
        assert_eq!(version_of("3 12 no-venv", &["good", "no-venv"]), Some((3, 12)));
        assert_eq!(version_of("", &["good"]), None);
    }

    #[test]
    fn without_a_python_the_message_says_what_to_install() {
        check(&[("python3", "")], Err("none found"));
        check(&[("python3", "3 9 good")], Err("`python3` is 3.9, too old"));
        check(&[("python3", "3 12 no-venv")], Err("without venv and pip"));
        check(&[("python3", "3 14 free-threaded")], Err("free-threaded"));
        check(&[("python3", "3 9 good")], Err("apt-get install python3 python3-venv"));
    }
}
