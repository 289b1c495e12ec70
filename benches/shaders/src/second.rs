//! `gpupy-shaders second`: how long a program takes the first time, in a process that is the first to
//! compile its kernels, and in the ones after it, beside a warm run.
//!
//! Owns the processes: each is this program again, with one driver, and with a folder for caches that
//! begins empty. Opening the device is not counted. Programs are small, so that what is timed is finding
//! or compiling their kernels. Invariant: it judges nothing.
//!
//! Not here: the programs (`work.rs`, `ours.rs`).

use crate::Outcome;
use crate::clock::Span;
use crate::ours::Ours;
use crate::work::Work;
use std::path::Path;
use std::process::Command;

/// The side of the pictures that are computed.
const SIDE: usize = 64;

/// Runs of a program in one process, after its first; the median is shown.
const RUNS: usize = 21;

/// Processes after the first one; the medians of each program's times are shown.
const PROCESSES: usize = 7;

/// The word by which a process knows that it is one of those that are timed.
const ONE: &str = "second-one";

/// What a process tells of each program: what the first run takes, and what a warm one does.
type Times = Vec<[Span; 2]>;

/// Prints the table, or what one process measures, as the words after the program's name say; `false`
/// where they ask for something else.
pub fn run(words: &[String], drivers: &[&'static str]) -> Outcome<bool> {
    match words {
        [word] if word == "second" => drivers.iter().try_for_each(|driver| compare(driver))?,
        [word, driver] if word == ONE => {
            for [first, warm] in times(driver)? {
                println!("{} {} {} {}", first.wall, first.cpu, warm.wall, warm.cpu);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Prints a driver's table.
fn compare(driver: &str) -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("gpupy-second-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let compared = process(driver, &folder).and_then(|first| {
        let others: Outcome<Vec<Times>> =
            (0..PROCESSES).map(|_| process(driver, &folder)).collect();
        Ok((first, others?))
    });
    std::fs::remove_dir_all(&folder)?;
    let (first, others) = match compared {
        Ok(both) => both,
        Err(error) => {
            println!("{driver}: cannot be timed: {error}\n");
            return Ok(());
        }
    };
    println!("{driver}, milliseconds");
    println!(
        "{:32}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "", "first", "second", "warm", "over", "of CPU"
    );
    for (at, work) in Work::ALL.into_iter().enumerate() {
        let of_others = |which: usize| {
            let spans: Vec<Span> = others.iter().map(|times| times[at][which]).collect();
            Span::median(&spans)
        };
        let (second, warm) = (of_others(0), of_others(1));
        let times = [
            first[at][0].wall,
            second.wall,
            warm.wall,
            second.wall - warm.wall,
            second.cpu - warm.cpu,
        ];
        let times: String = times.iter().map(|time| format!("{:>12.2}", time * 1e3)).collect();
        println!("{:32}{times}", work.name());
    }
    println!();
    Ok(())
}

/// The times that a process of its own measures, whose caches lie in this folder.
fn process(driver: &str, folder: &Path) -> Outcome<Times> {
    let mut command = Command::new(std::env::current_exe()?);
    // Mesa's cache is the implementation's part, and lies beside ours.
    command.args([ONE, driver]).env("XDG_CACHE_HOME", folder).env("MESA_SHADER_CACHE_DIR", folder);
    let told = command.output()?;
    if !told.status.success() {
        return Err(String::from_utf8_lossy(&told.stderr).trim().into());
    }
    let numbers = |line: &str| -> Outcome<[Span; 2]> {
        let numbers = line.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let [wall, cpu, warm_wall, warm_cpu] = numbers[..] else {
            return Err("a process told no times".into());
        };
        Ok([Span { wall, cpu }, Span { wall: warm_wall, cpu: warm_cpu }])
    };
    let times: Times =
        String::from_utf8(told.stdout)?.lines().map(numbers).collect::<Outcome<_>>()?;
    match times.len() == Work::ALL.len() {
        true => Ok(times),
        false => Err("a process ended early".into()),
    }
}

/// The times of each program in this process.
fn times(driver: &str) -> Outcome<Times> {
    let ours = Ours::open(driver)?;
    let time = |work: Work| -> Outcome<[Span; 2]> {
        let arrays = ours.prepare(&work.inputs(SIDE))?;
        let once = || -> Outcome<Span> {
            let (span, done) = Span::of(|| ours.run(work, SIDE, &arrays));
            done?;
            Ok(span)
        };
        let first = once()?;
        let warm = (0..RUNS).map(|_| once()).collect::<Outcome<Vec<Span>>>()?;
        Ok([first, Span::median(&warm)])
    };
    Work::ALL.into_iter().map(time).collect()
}
