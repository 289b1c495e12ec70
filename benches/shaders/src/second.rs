//! `gpupy-shaders second`: how long a program takes the first time, in a process that is the first to
//! compile its kernels, and in the ones after it, beside a warm run; and the same of shaders by hand, which
//! have what the API's implementation keeps on disk.
//!
//! Owns the processes: each is this program again, with one side on one API, and with a folder for caches
//! that begins empty. Opening the device is not counted. Programs are small, so that what is timed is finding
//! or compiling their kernels. Invariant: it judges nothing.
//!
//! Not here: the programs (`work.rs`, `ours.rs`, a file an API).

use crate::clock::Span;
use crate::ours::Ours;
use crate::work::Work;
use crate::{Api, Outcome};
use std::path::Path;
use std::process::Command;

/// The side of the pictures that are computed.
const SIDE: usize = 256;

/// Runs of a program in one process, after its first; the median is shown.
const RUNS: usize = 21;

/// Processes after the first one; the medians of each program's times are shown.
const PROCESSES: usize = 7;

/// The words by which a process knows that it is one of those that are timed, and which side it is.
const OURS: &str = "second-ours";
const BY_HAND: &str = "second-by-hand";

/// The times of each program in a process: of the first run, and of a warm one.
type Times = Vec<[Span; 2]>;

/// Prints the table, or what one process measures, as the words after the program's name say; `false`
/// where they ask for something else.
pub fn run(words: &[String], apis: &[Api]) -> Outcome<bool> {
    let times = match words {
        [word] if word == "second" => {
            apis.iter().try_for_each(|api| compare(api.name))?;
            return Ok(true);
        }
        [word, driver] => {
            let Some(api) = apis.iter().find(|api| api.name == driver) else { return Ok(false) };
            match word.as_str() {
                OURS => of_ours(api)?,
                BY_HAND => by_hand(api)?,
                _ => return Ok(false),
            }
        }
        _ => return Ok(false),
    };
    for [first, warm] in times {
        println!("{} {} {} {}", first.wall, first.cpu, warm.wall, warm.cpu);
    }
    Ok(true)
}

/// Prints a driver's table. Its last columns are what a second process takes over a warm run: by the wall's
/// clock, of processors, and of processors by hand.
fn compare(driver: &str) -> Outcome<()> {
    let compared = processes(OURS, driver).and_then(|ours| Ok((ours, processes(BY_HAND, driver)?)));
    let ((first, others), (_, by_hand)) = match compared {
        Ok(all) => all,
        Err(error) => {
            println!("{driver}: cannot be timed: {error}\n");
            return Ok(());
        }
    };
    println!("{driver}, milliseconds");
    println!(
        "{:32}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "", "first", "second", "warm", "over", "of CPU", "by hand"
    );
    for (at, work) in Work::ALL.into_iter().enumerate() {
        let median = |of: &[Times], which: usize| {
            let spans: Vec<Span> = of.iter().map(|times| times[at][which]).collect();
            Span::median(&spans)
        };
        let (second, warm) = (median(&others, 0), median(&others, 1));
        let times = [
            first[at][0].wall,
            second.wall,
            warm.wall,
            second.wall - warm.wall,
            second.cpu - warm.cpu,
            median(&by_hand, 0).cpu - median(&by_hand, 1).cpu,
        ];
        let times: String = times.iter().map(|time| format!("{:>12.2}", time * 1e3)).collect();
        println!("{:32}{times}", work.name());
    }
    println!();
    Ok(())
}

/// The times of a side's first process, and of those after it.
fn processes(side: &str, driver: &str) -> Outcome<(Times, Vec<Times>)> {
    let folder = std::env::temp_dir().join(format!("gpupy-second-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let all: Outcome<Vec<Times>> =
        (0..=PROCESSES).map(|_| process(side, driver, &folder)).collect();
    std::fs::remove_dir_all(&folder)?;
    let mut all = all?;
    Ok((all.remove(0), all))
}

/// The times that a process of its own measures, whose caches lie in this folder.
fn process(side: &str, driver: &str, folder: &Path) -> Outcome<Times> {
    let mut command = Command::new(std::env::current_exe()?);
    // Mesa's cache is the implementation's part, and lies beside ours.
    command.args([side, driver]).env("XDG_CACHE_HOME", folder).env("MESA_SHADER_CACHE_DIR", folder);
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

/// The times of each program by gpupy, in this process.
fn of_ours(api: &Api) -> Outcome<Times> {
    let ours = Ours::open(api)?;
    let time = |work: Work| -> Outcome<[Span; 2]> {
        let arrays = ours.prepare(&work.inputs(SIDE))?;
        let once = || Ok(ours.run(work, SIDE, &arrays)?);
        Ok([timed(once)?, warm(once)?])
    };
    Work::ALL.into_iter().map(time).collect()
}

/// The times of each program by hand, in this process.
fn by_hand(api: &Api) -> Outcome<Times> {
    let mut by_hand = (api.open)()?;
    let mut time = |work: Work| -> Outcome<[Span; 2]> {
        let inputs = work.inputs(SIDE);
        let first = timed(|| {
            by_hand.prepare(work, SIDE, &inputs)?;
            by_hand.run().map(|_| ())
        })?;
        Ok([first, warm(|| by_hand.run().map(|_| ()))?])
    };
    Work::ALL.into_iter().map(&mut time).collect()
}

/// The time of a warm run.
fn warm(mut run: impl FnMut() -> Outcome<()>) -> Outcome<Span> {
    let spans = (0..RUNS).map(|_| timed(&mut run)).collect::<Outcome<Vec<Span>>>()?;
    Ok(Span::median(&spans))
}

fn timed(run: impl FnOnce() -> Outcome<()>) -> Outcome<Span> {
    let (span, done) = Span::of(run);
    done.map(|()| span)
}
