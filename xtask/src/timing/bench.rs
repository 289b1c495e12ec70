//! The command `bench` times NumPy against gpupy; with `--peers` other libraries too, with `--simulations` the
//! examples' own loops, with `--loops` plain NumPy loops and with `--nodes` too the planning of a node, with
//! `--compiled-loops` loops over elements beside Python's, with `--small` the cost of a call, with `--families`
//! programs at sizes that a seed draws, with `--accelerator` the programs of an article, with `--kernels DIR`
//! published programs, with `--functions` compiled functions beside numba's, with `--scale` Dask's workers with NumPy's
//! chunks and with gpupy's, with `--launches` what launches cost the calling thread, with `--shaders` GPU drivers
//! against shaders by hand, with `--second` the first run of a program in a second process against a warm one. With
//! `--record` it stores the instruction counts of small operations, and with `--chart` it draws the README's chart.
//!
//! Owns its command line. The timed programs are in Python (`python -m gpupy bench`, `benches/peers/`,
//! `benches/simulations.py`, `benches/launches.py`, `benches/loops.py`, `benches/compiled_loops.py`,
//! `benches/families.py`, `benches/accelerator/`, `benches/kernels.py`, `benches/scale.py`), except the recording of an
//! operation in the core (`benches/src/main.rs`). Invariant: times are printed and written, never asserted; instruction
//! counts hardly change from run to run, so they are asserted (`benches/instructions.py`). Not here: the peers'
//! environment and library (`peers`), the needs of the article's programs (`accelerator`).

use std::fs;

use crate::machine::failure::{Failure, Result};
use crate::machine::{features, process, workspace};
use crate::suites::libraries;
use crate::timing::{accelerator, peers};
use crate::{demo, develop};

/// The script that counts instructions.
const INSTRUCTIONS: &str = "benches/instructions.py";

/// Sets up, builds and runs the benchmarks.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(place) = arguments.iter().position(|word| word == "--peers") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--programs", "--rounds"], &["--quick"])?;
        return peers::run(&others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--accelerator") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--programs", "--rounds"], &["--quick"])?;
        return accelerator::run(&others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--simulations") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--programs", "--rounds"], &[])?;
        return script("simulations", &["benches/simulations.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--short-axes") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--rounds", "--families"], &[])?;
        return script("short axes", &["benches/short_axes.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--families") {
        let mut others = arguments.to_vec();
        // A list may follow, of words in the names of families.
        let named = others.get(place + 1).is_some_and(|word| !word.starts_with("--"));
        if !named {
            others.remove(place);
        }
        let known = ["--draws", "--families", "--json", "--seed"];
        demo::check(&others, &known, &["--dense", "--instructions", "--list"])?;
        return script("families of programs", &["benches/families.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--loops") {
        let mut others = arguments.to_vec();
        others.remove(place);
        let lists = ["--driver", "--programs", "--readings", "--sizes"];
        let numbers = ["--rounds", "--steps", "--threads"];
        demo::check(&others, &[&lists[..], &numbers].concat(), &["--nodes", "--quick"])?;
        return script("loops", &["benches/loops.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--compiled-loops") {
        let mut others = arguments.to_vec();
        others.remove(place);
        return script("compiled loops", &["benches/compiled_loops.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--launches") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--driver", "--rounds"], &[])?;
        return script("launches", &["benches/launches.py"], &others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--functions") {
        let mut others = arguments.to_vec();
        others.remove(place);
        demo::check(&others, &["--rounds", "--size"], &[])?;
        return peers::functions(&others);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--scale") {
        let mut others = arguments.to_vec();
        others.remove(place);
        if let Some(place) = others.iter().position(|word| word == "--model") {
            others.remove(place);
            let known = ["--gigabytes", "--workers", "--cores", "--bandwidth", "--latency"];
            let all = [&known[..], &["--scheduler", "--task", "--memory", "--disk"]].concat();
            demo::check(&others, &all, &["--check"])?;
            return script("model of many workers", &["benches/model.py"], &others);
        }
        if let Some(place) = others.iter().position(|word| word == "--beyond") {
            others.remove(place);
            demo::check(&others, &["--limit", "--times", "--rounds", "--folder"], &[])?;
            return script("files beyond memory", &["benches/beyond.py"], &others);
        }
        if let Some(place) = others.iter().position(|word| word == "--groups") {
            others.remove(place);
            demo::check(&others, &["--devices", "--size", "--rounds"], &[])?;
            return script("groups of devices", &["benches/groups.py"], &others);
        }
        demo::check(&others, &["--factor", "--programs", "--rounds", "--workers"], &[])?;
        develop::prepare()?;
        let python = libraries::environment()?;
        process::announce("workers of Dask");
        return process::run(process::command(python).arg("benches/scale.py").args(&others));
    }
    if arguments.first().is_some_and(|word| word == "--chart") {
        demo::check(&arguments[1..], &["--store"], &[])?;
        return script("chart of the README", &["benches/chart.py"], &arguments[1..]);
    }
    if arguments == ["--record"] {
        return script("counts of instructions", &[INSTRUCTIONS], arguments);
    }
    if arguments.iter().any(|word| word == "--small") {
        demo::check(arguments, &["--rounds"], &["--small"])?;
        script("operations on few elements", &["-m", "gpupy", "bench"], arguments)?;
        return script("simulations of few elements", &["benches/simulations.py"], arguments);
    }
    if let Some(place) = arguments.iter().position(|word| word == "--kernels") {
        demo::check(
            arguments,
            &["--dtype", "--kernels", "--preset", "--programs", "--seconds"],
            &[],
        )?;
        let mut others = arguments.to_vec();
        others.remove(place);
        return script("published kernels", &["benches/kernels.py"], &others);
    }
    if let Some((title, words)) = of_shaders(arguments) {
        process::announce(title);
        let mut shaders = process::cargo();
        shaders.args(["run", "--release", "--quiet", "-p", "gpupy-shaders"]);
        return process::run(shaders.args(features::of_shaders()).arg("--").args(words));
    }
    demo::check(
        arguments,
        &["--driver", "--kernels", "--programs", "--rounds", "--sizes"],
        &[
            "--accelerator",
            "--chart",
            "--families",
            "--functions",
            "--launches",
            "--loops",
            "--peers",
            "--quick",
            "--scale",
            "--second",
            "--shaders",
            "--short-axes",
            "--simulations",
        ],
    )?;
    develop::prepare()?;
    process::announce("bench");
    let out = workspace::root().join("out");
    fs::create_dir_all(&out).map_err(|error| Failure::file("make", &out, &error))?;
    let mut bench = process::command(workspace::python());
    bench.args(["-m", "gpupy", "bench", "--out", "out/bench.svg", "--json", "out/bench.json"]);
    process::run(bench.args(arguments))?;
    let mut core = process::cargo();
    process::run(core.args(["run", "--release", "--quiet", "-p", "gpupy-bench"]))
}

/// Counts the instructions of small operations; none may need noticeably more than the stored count.
pub fn counts() -> Result<()> {
    script("counts of instructions", &[INSTRUCTIONS], &[])
}

/// Runs a benchmark in Python.
fn script(title: &str, program: &[&str], arguments: &[String]) -> Result<()> {
    develop::prepare()?;
    process::announce(title);
    let mut python = process::command(workspace::python());
    process::run(python.args(program).args(arguments))
}

/// The title and arguments of the program of shaders by hand, if the arguments ask for it.
fn of_shaders(arguments: &[String]) -> Option<(&'static str, &'static [&'static str])> {
    match arguments {
        [word] if word == "--shaders" => Some(("shaders by hand", &[])),
        [word] if word == "--second" => Some(("second processes", &["second"])),
        _ => None,
    }
}
