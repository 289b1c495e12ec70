//! The command: runs the suite on gpupy's drivers and prints a table.
//!
//! Exit codes: 0 when every case passed, 1 when one failed, 2 for a wrong argument, 3 when a driver cannot
//! start here.
//!
//! Not here: the arguments (`arguments.rs`), the cases (the library, which names no driver).

mod arguments;

use arguments::{Command, Wanted};
use gpupy_conformance::{Case, Options, Report, Verdict};
use gpupy_core::Error;
use gpupy_engine::registry::Registry;
use gpupy_engine::{Constructor, Sharing};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// The drivers of this build, by their Cargo features.
fn registry() -> Registry {
    let registry = Registry::new().sharing(Sharing::Always);
    #[cfg(feature = "cpu")]
    let registry = registry.register(driver_cpu::NAME, driver_cpu::new);
    #[cfg(feature = "vulkan")]
    let registry = registry.register(driver_vulkan::NAME, driver_vulkan::new);
    #[cfg(feature = "wgpu")]
    let registry = registry.register(driver_wgpu::NAME, || {
        driver_wgpu::new_on(&std::env::var("GPUPY_DEVICE").unwrap_or_default())
    });
    // Apple's systems have no EGL.
    #[cfg(all(feature = "gl", not(target_vendor = "apple")))]
    let registry = registry.register(driver_gl::NAME, driver_gl::new);
    #[cfg(feature = "soft")]
    let registry = registry.register(driver_soft::NAME, driver_soft::new);
    registry
}

fn main() -> ExitCode {
    let registry = registry();
    match Command::parse(std::env::args_os().skip(1), &registry) {
        Ok(Command::Help) => say(arguments::help(&registry)),
        Ok(Command::List) => say(gpupy_conformance::list().join("\n")),
        Ok(Command::Run(wanted)) => return run(&wanted),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Runs the wanted cases on each driver, and prints and writes the reports.
fn run(wanted: &Wanted) -> ExitCode {
    let mut reports = Vec::new();
    let mut worst = 0;
    for (name, new) in &wanted.drivers {
        for _ in 0..wanted.times {
            say(format_args!("driver: {name}"));
            match run_on(new.clone(), wanted) {
                Ok(report) => {
                    say(format_args!("{report}\n"));
                    worst = worst.max(u8::from(report.count(Verdict::Failed) > 0));
                    let mut json = report.to_json();
                    json["driver"] = json!(name);
                    reports.push(json);
                }
                Err(error) => {
                    say(format_args!("the driver does not start: {error}\n"));
                    worst = worst.max(3);
                    reports.push(json!({ "driver": name, "error": error.to_string() }));
                }
            }
        }
    }
    if let Some(path) = &wanted.json
        && let Err(error) = std::fs::write(path, format!("{:#}\n", json!({ "reports": reports })))
    {
        eprintln!("`{}` is not written: {error}", path.display());
        worst = worst.max(2);
    }
    ExitCode::from(worst)
}

fn run_on(new: Constructor, wanted: &Wanted) -> Result<Report, Error> {
    let wants = |group: &str, case: &str| match &wanted.repeat {
        Some(name) => {
            name.strip_prefix(group).and_then(|rest| rest.strip_prefix('/')) == Some(case)
        }
        None => wanted.groups.is_empty() || wanted.groups.iter().any(|name| name == group),
    };
    let mut done = 0;
    let mut heard = |case: &Case| {
        done += 1;
        // Over the line before; cleared to its end.
        eprint!("\r{done} {:.60}\x1b[K", case.full_name());
        let _ = std::io::stderr().flush();
    };
    let terminal = std::io::stderr().is_terminal() && wanted.repeat.is_none();
    let heard: Option<&mut dyn FnMut(&Case)> = if terminal { Some(&mut heard) } else { None };
    let tell = wanted.repeat.is_some();
    let options = Options { wanted: Some(&wants), heard, tell, ..Options::default() };
    let report = gpupy_conformance::run(move || new(), options);
    if terminal {
        eprint!("\r\x1b[K");
    }
    report
}

/// Prints a line; a closed pipe, as with `head`, is not an error.
fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
