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

use crate::develop;
use crate::machine::command_line::{CommandForm, GivenWords};
use crate::machine::failure::{Failure, Result};
use crate::machine::{features, process, workspace};
use crate::suites::libraries;
use crate::timing::{accelerator, peers};

/// The script that counts instructions.
const INSTRUCTIONS: &str = "benches/instructions.py";

/// What the command takes. Of several forms that fit, the first is meant.
pub const FORMS: &[CommandForm] = &[
    CommandForm::new("--peers", "--programs WORD,… --rounds N --quick", peers::run),
    CommandForm::new("--accelerator", "--programs WORD,… --rounds N --quick", accelerator::run),
    CommandForm::new("--simulations", "--programs WORD,… --rounds N", |given| {
        script("simulations", &["benches/simulations.py"], &given.others)
    }),
    CommandForm::new("--short-axes", "--families WORD,… --rounds N", |given| {
        script("short axes", &["benches/short_axes.py"], &given.others)
    }),
    CommandForm::new("--library", "--rows WORD,… --rounds N", |given| {
        script("library operations", &["benches/library.py"], &given.others)
    }),
    CommandForm::new("--families", FAMILIES, families),
    CommandForm::new("--loops", LOOPS, |given| {
        script("loops", &["benches/loops.py"], &given.others)
    }),
    CommandForm::new("--compiled-loops", "NAME --numba PYTHON --runs N", |given| {
        script("compiled loops", &["benches/compiled_loops.py"], &given.others)
    }),
    CommandForm::new("--launches", "--driver NAME --rounds N", |given| {
        script("launches", &["benches/launches.py"], &given.others)
    }),
    CommandForm::new("--functions", "--rounds N --size N", peers::functions),
    CommandForm::new("--scale --model", MODEL, |given| {
        script("model of many workers", &["benches/model.py"], &given.others)
    }),
    CommandForm::new(
        "--scale --beyond",
        "--limit MIB --times X,… --rounds N --folder DIR",
        |given| script("files beyond memory", &["benches/beyond.py"], &given.others),
    ),
    CommandForm::new("--scale --groups", "--devices NAME,… --size N --rounds N", |given| {
        script("groups of devices", &["benches/groups.py"], &given.others)
    }),
    CommandForm::new("--scale", "--factor X --programs WORD,… --rounds N --workers N,…", scale),
    CommandForm::new("--chart", "--store FILE", |given| {
        script("chart of the README", &["benches/chart.py"], &given.others)
    }),
    CommandForm::new("--record", "", |_| {
        script("counts of instructions", &[INSTRUCTIONS, "--record"], &[])
    }),
    CommandForm::new("--small", "--rounds N", small),
    CommandForm::new(
        "--kernels",
        "DIR --dtype NAME --preset NAME --programs WORD,… --seconds X",
        |given| script("published kernels", &["benches/kernels.py"], &given.others),
    ),
    CommandForm::new("--shaders", "", |_| shaders("shaders by hand", &[])),
    CommandForm::new("--second", "", |_| shaders("second processes", &["second"])),
    CommandForm::new(
        "",
        "--driver NAME --programs WORD,… --rounds N --sizes N,… --quick",
        beside_numpy,
    ),
];

const FAMILIES: &str = "WORD,… --draws N --json FILE --seed S --dense --instructions --list";
const LOOPS: &str = "--driver NAME --programs WORD,… --readings NAME,… --rounds N --sizes N,… --steps N \
                     --threads N --nodes --quick";
const MODEL: &str = "--gigabytes GB --workers N,… --cores N --bandwidth GB/S --latency MS --scheduler MS \
                     --task MS --memory GB --disk GB/S --check";

/// Sets up, builds, and times NumPy beside the drivers.
fn beside_numpy(given: &GivenWords) -> Result<()> {
    let out = workspace::root().join("out");
    fs::create_dir_all(&out).map_err(|error| Failure::file("make", &out, &error))?;
    let bench = ["-m", "gpupy", "bench", "--out", "out/bench.svg", "--json", "out/bench.json"];
    script("bench", &bench, &given.others)?;
    let mut core = process::cargo();
    process::run(core.args(["run", "--release", "--quiet", "-p", "gpupy-bench"]))
}

/// Families of programs, of which words may choose some.
fn families(given: &GivenWords) -> Result<()> {
    let program = ["benches/families.py"];
    let Some((words, _)) = given.words.split_first() else {
        return script("families of programs", &program, &given.others);
    };
    let others: Vec<_> = given.others.iter().filter(|word| *word != words).cloned().collect();
    script("families of programs", &[&program[..], &["--families", words]].concat(), &others)
}

/// Dask's workers with NumPy's chunks and with ours.
fn scale(given: &GivenWords) -> Result<()> {
    develop::prepare()?;
    let python = libraries::environment()?;
    process::announce("workers of Dask");
    process::run(process::command(python).arg("benches/scale.py").args(&given.others))
}

/// The cost of a call, and of the steps of simulations.
fn small(given: &GivenWords) -> Result<()> {
    let bench = ["-m", "gpupy", "bench", "--small"];
    script("operations on few elements", &bench, &given.others)?;
    let simulations = ["benches/simulations.py", "--small"];
    script("simulations of few elements", &simulations, &given.others)
}

/// The program of shaders by hand.
fn shaders(title: &str, words: &[&str]) -> Result<()> {
    process::announce(title);
    let mut shaders = process::cargo();
    shaders.args(["run", "--release", "--quiet", "-p", "gpupy-shaders"]);
    process::run(shaders.args(features::of_shaders()).arg("--").args(words))
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
