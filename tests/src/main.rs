//! The command: runs the suite on our drivers and prints a table.
//!
//! `gpupy-conformance [NAME]…` takes names of drivers and of groups of cases; without any of a kind,
//! all of it.
//!
//! Exit codes: 0 when every case passed, 1 when one failed, 2 for a wrong name, 3 when the driver
//! cannot start here.
//!
//! Not here: the cases (the library, which names no driver).

use gpupy_core::registry::Registry;
use std::process::ExitCode;

/// The drivers of this build, by their Cargo features.
fn registry() -> Registry {
    let registry = Registry::new();
    #[cfg(feature = "gl")]
    let registry = registry.register(driver_gl::NAME, driver_gl::new);
    #[cfg(feature = "soft")]
    let registry = registry.register(driver_soft::NAME, driver_soft::new);
    registry
}

fn main() -> ExitCode {
    let registry = registry();
    let (mut drivers, mut groups) = (Vec::new(), Vec::new());
    for word in std::env::args().skip(1) {
        if let Some(at) = registry.names().position(|name| name == word) {
            drivers.push(at);
        } else if gpupy_conformance::groups().any(|group| group == word) {
            groups.push(word);
        } else {
            let known = registry.names().chain(gpupy_conformance::groups());
            let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            let known = known.join(", ");
            eprintln!("there is no driver and no group `{word}`; choose of {known}");
            return ExitCode::from(2);
        }
    }
    if drivers.is_empty() {
        drivers.extend(0..registry.len());
    }
    let mut worst = 0;
    for (name, new) in drivers.into_iter().filter_map(|at| registry.get(at)) {
        let wanted = |group: &str| groups.is_empty() || groups.iter().any(|name| name == group);
        println!("driver: {name}");
        match gpupy_conformance::run_only(move || new(), wanted) {
            Ok(report) => {
                println!("{report}\n");
                worst = worst.max(u8::from(!report.failures.is_empty()));
            }
            Err(error) => {
                println!("the driver does not start: {error}\n");
                worst = worst.max(3);
            }
        }
    }
    ExitCode::from(worst)
}
