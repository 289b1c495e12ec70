//! Vector instructions stand in the code that uses them. Code for any processor, such as a closure's, cannot take them
//! in: it calls a function for each, by way of memory, and takes ten times as long.

use object::{File, Object, ObjectSymbol};

/// Functions that ask what the processor has.
const ASKING: [&str; 2] = ["cpuid", "xgetbv"];

#[test]
fn no_vector_instruction_is_a_call() {
    if cfg!(debug_assertions) {
        return gpupy_conformance::skipped("without optimisation every instruction is a call");
    }
    // So that the driver's code is part of this program.
    let mut driver = driver_cpu::new();
    driver.cleanup();
    let program = std::env::current_exe().and_then(std::fs::read).expect("this program is a file");
    let program = File::parse(&*program).expect("it has a format of this system");
    let names: Vec<&str> = program.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    if !names.iter().any(|name| name.contains("driver_cpu")) {
        return gpupy_conformance::skipped("the names of this program are in another file");
    }
    let is_called = |name: &&&str| {
        name.contains("core_arch") && !ASKING.iter().any(|asking| name.contains(asking))
    };
    let called: Vec<_> = names.iter().filter(is_called).collect();
    assert!(called.is_empty(), "{called:#?}");
}
