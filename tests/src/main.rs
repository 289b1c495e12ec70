//! The command: runs the suite on one of our drivers, or on all, and prints a table.
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
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = registry.names().map(str::to_string).collect();
    }
    let mut worst = 0;
    for name in &names {
        let known: Vec<_> = registry.names().map(|known| format!("`{known}`")).collect();
        let found = registry.names().position(|known| known == name);
        let Some((name, new)) = found.and_then(|at| registry.get(at)) else {
            eprintln!("there is no driver `{name}`; choose of {}", known.join(", "));
            return ExitCode::from(2);
        };
        println!("driver: {name}");
        match gpupy_conformance::run(move || new()) {
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
