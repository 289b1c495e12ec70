//! The command: runs targets, and prints how to repeat an input.
//!
//! Exit codes: 0 when no input panicked, 1 when one did, 2 for a wrong argument.
//!
//! Not here: the targets (the library).

use gpupy_fuzz::engine::{self, Plan};
use gpupy_fuzz::{TARGETS, Target, target};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The folder with the input that is running.
const FOLDER: &str = "out/fuzz";

/// The arguments.
struct Wanted {
    targets: Vec<&'static Target>,
    plan: Plan,
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match parse() {
        Ok(None) => {
            print!("{}", help());
            return ExitCode::SUCCESS;
        }
        Ok(Some(wanted)) => match &wanted.input {
            Some(input) => again(&wanted.targets, input).map(|()| true),
            None => run(&wanted),
        },
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(said) => {
            eprintln!("{said}");
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut text = "Tries mutated inputs on what gpupy reads.\n\n\
        gpupy-fuzz [TARGET]… [--runs N] [--seconds N] [--seed N]\n\
        gpupy-fuzz TARGET --input FILE\n\nTargets, all when none is named:\n"
        .to_owned();
    for target in TARGETS {
        text += &format!("  {:12} {}\n", target.name, target.does);
    }
    text + "\nThe input that runs is in out/fuzz/TARGET, also after a crash.\n"
}

fn parse() -> Result<Option<Wanted>, lexopt::Error> {
    let plan = Plan { runs: 1_000_000, seed: 1, time: Duration::MAX };
    let mut wanted = Wanted { targets: Vec::new(), plan, input: None };
    let mut words = lexopt::Parser::from_env();
    while let Some(word) = words.next()? {
        match word {
            Short('h') | Long("help") => return Ok(None),
            Long("runs") => wanted.plan.runs = words.value()?.parse()?,
            Long("seed") => wanted.plan.seed = words.value()?.parse()?,
            Long("seconds") => wanted.plan.time = Duration::from_secs(words.value()?.parse()?),
            Long("input") => wanted.input = Some(words.value()?.into()),
            Value(name) => {
                let name = name.string()?;
                let known = target(&name).ok_or_else(|| format!("there is no target `{name}`"))?;
                wanted.targets.push(known);
            }
            _ => return Err(word.unexpected()),
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets.extend(TARGETS);
    }
    Ok(Some(wanted))
}

/// Runs one input, which panics as it did before.
fn again(targets: &[&Target], input: &Path) -> Result<(), String> {
    let [target] = targets else { return Err("an input needs one target".to_owned()) };
    let bytes = std::fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    println!("{}: {:?}", target.name, (target.run)(&bytes));
    Ok(())
}

fn run(wanted: &Wanted) -> Result<bool, String> {
    let mut good = true;
    for target in &wanted.targets {
        let (name, file) = (target.name, Path::new(FOLDER).join(target.name));
        let begun = Instant::now();
        let outcome = engine::run(target, wanted.plan, &file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let (runs, reached) = (outcome.runs, outcome.reached);
        let seconds = begun.elapsed().as_secs();
        println!("{name}: {runs} runs in {seconds} s, {reached} different ends");
        if outcome.failed {
            let file = file.display();
            println!("{name}: the last one panicked; again: gpupy-fuzz {name} --input {file}");
            good = false;
        }
    }
    Ok(good)
}
