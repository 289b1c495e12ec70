//! The command `test`: every test of the project.
//!
//! Owns the order of the parts and the list of drivers that the suite runs on. Invariants: all parts use the
//! release profile, so that they share what is built; a part runs even when an earlier one failed; a driver
//! that does not start here is left out with its reason, never silently. Not here: the tests themselves.

use crate::failure::{self, Failure, Result};
use crate::process::{announce, capture, cargo, command, run as start};
use crate::{develop, workspace};

/// One line for each driver: its name, whether it starts, its device or the reason.
const DRIVERS: &str = "
import gpupy
for d in gpupy.drivers():
    text = str(d['device'] if d['starts'] else d['reason'])
    print(d['name'], 'starts' if d['starts'] else 'fails', ' '.join(text.split()))
";

/// The parts, in the order in which they run.
const PARTS: [&str; 3] = ["rust", "conformance", "python"];

/// Sets up, builds, and runs the tests.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(word) = arguments.iter().find(|word| !PARTS.contains(&word.as_str())) {
        return Err(Failure::new(format!("no part `{word}`; there are {}", PARTS.join(", "))));
    }
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|word| word == part);
    let mut results = Vec::new();
    let module = develop::prepare();
    let built = module.is_ok();
    if !built {
        results.push(("module".to_owned(), module));
    }
    if wanted("rust") {
        results.push(("rust".to_owned(), rust()));
    }
    if wanted("conformance") && built {
        results.extend(conformance());
    }
    if wanted("python") && built {
        results.push(("python".to_owned(), python()));
    }
    failure::summary(&results)
}

fn rust() -> Result<()> {
    announce("Rust tests");
    start(cargo().args(["test", "--release", "--workspace", "--no-fail-fast"]))
}

/// Runs the suite on each driver that starts on this machine.
fn conformance() -> Vec<(String, Result<()>)> {
    announce("drivers on this machine");
    let answer = match capture(command(workspace::python()).args(["-c", DRIVERS])) {
        Ok(answer) => answer,
        Err(failure) => return vec![("conformance".to_owned(), Err(failure))],
    };
    let mut results = Vec::new();
    for (name, starts, text) in answer.lines().filter_map(driver) {
        println!(
            "   {name}: {}",
            if starts { text.to_owned() } else { format!("left out: {text}") }
        );
        if starts {
            results.push((format!("conformance on {name}"), Ok(())));
        }
    }
    if results.is_empty() {
        let none = Failure::new("no driver starts on this machine");
        return vec![("conformance".to_owned(), Err(none))];
    }
    for (name, result) in &mut results {
        announce(name);
        let driver = name.rsplit(' ').next().unwrap_or_default().to_owned();
        let mut suite = cargo();
        suite.args(["run", "--release", "--quiet", "-p", "gpupy-conformance", "--", &driver]);
        *result = start(&mut suite);
    }
    results
}

/// Takes apart one line of what [`DRIVERS`] prints.
fn driver(line: &str) -> Option<(&str, bool, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let (starts, text) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((name, starts == "starts", text))
}

fn python() -> Result<()> {
    announce("Python tests");
    start(command(workspace::python()).args(["-m", "pytest"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_line_is_taken_apart() {
        assert_eq!(
            driver("gl starts llvmpipe (LLVM 15)"),
            Some(("gl", true, "llvmpipe (LLVM 15)"))
        );
        assert_eq!(
            driver("gl fails no EGL: install it"),
            Some(("gl", false, "no EGL: install it"))
        );
        assert_eq!(driver("soft starts"), Some(("soft", true, "")));
    }

    #[test]
    fn an_unknown_part_is_refused_before_anything_is_built() {
        let refused = run(&["rusty".to_owned()]).map_err(|failure| failure.to_string());
        assert_eq!(refused, Err("no part `rusty`; there are rust, conformance, python".to_owned()));
    }
}
