//! Drivers written in C, from the header and the documents alone, pass the suite: today's, and those that were
//! written for earlier headers, which use what their versions had.
//!
//! Not here: the frozen headers and drivers (`tests/data/abi`).

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use gpupy_core::DType;
use gpupy_core::driver::{
    Access, BlockSpec, Config, Dest, Driver, Evaluated, Launch, Lend, LendKind,
};
use gpupy_core::driver::{BlockId, Lent};
use gpupy_core::ir::{Builder, Form};

/// Compiles a driver against the header of a folder, both from the root.
fn build(name: &str, header: &str, driver: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = format!("lib{name}{}", std::env::consts::DLL_SUFFIX);
    let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .current_dir(&root)
        .args(["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", header])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", driver, "-o"])
        .arg(&library)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

/// Runs the suite on a driver that is compiled against the header of a folder.
fn check(name: &str, header: &str, driver: &str) {
    let make = gpupy_engine::plugin::driver(&build(name, header, driver));
    gpupy_conformance::check(move || make());
}

#[test]
fn the_c_driver_passes_the_suite() {
    check("gpupy_c", "include", "examples/c-driver/driver.c");
}

#[test]
fn a_driver_that_was_written_for_the_first_header_passes_the_suite() {
    check("gpupy_c_1_0", "tests/data/abi/1.0", "tests/data/abi/1.0/driver.c");
}

#[test]
fn a_driver_that_was_written_for_version_1_3_passes_the_suite() {
    check("gpupy_c_1_3", "tests/data/abi/1.3", "tests/data/abi/1.3/driver.c");
}

#[test]
fn a_driver_that_was_written_for_version_1_3_has_what_later_versions_than_the_first_added() {
    let first = build("gpupy_c_1_0_found", "tests/data/abi/1.0", "tests/data/abi/1.0/driver.c");
    let first = gpupy_engine::plugin::driver(&first)().init(&Config::default()).unwrap();
    assert_eq!((first.max_reductions, first.memory_launches, first.lends), (0, false, 0));

    let later = build("gpupy_c_1_3_found", "tests/data/abi/1.3", "tests/data/abi/1.3/driver.c");
    let later = gpupy_engine::plugin::driver(&later)().init(&Config::default()).unwrap();
    assert_eq!((later.max_reductions, later.memory_launches, later.lends), (4, true, 0));
}

#[test]
fn a_driver_that_was_written_for_version_1_3_lends_its_blocks() {
    let library = build("gpupy_c_1_3_lends", "tests/data/abi/1.3", "tests/data/abi/1.3/driver.c");
    let mut driver = gpupy_engine::plugin::driver(&library)();
    let found = driver.init(&Config { share: true, ..Config::default() }).unwrap();
    assert_eq!(found.lends, 1 << LendKind::Buffer as u32);
    let block = driver.block_alloc(BlockSpec::new(DType::F32, 3)).unwrap();
    driver.block_write(block, 0, &elements([1.0, 2.0, 3.0])).unwrap();

    for writes in [false, true] {
        let lend = Lend { kind: LendKind::Buffer, writes, back: None };
        let lent = eval(&mut *driver, block, lend).unwrap().lent.unwrap();
        assert_eq!(lent, Lent { name: lent.name, row: 3, ..Lent::default() });
        // The name is the address of a copy.
        let copy = std::ptr::with_exposed_provenance_mut::<[u8; 12]>(lent.name as usize);
        // SAFETY: the driver lends three elements of four bytes there, and uses them only when they are back.
        let before = unsafe { copy.replace(elements([4.0, 5.0, 6.0])) };
        assert_eq!(before, elements([1.0, 2.0, 3.0]));
        eval(&mut *driver, block, Lend { back: Some(lent.name), ..lend }).unwrap();
        let mut now = [0; 12];
        driver.block_read(block, 0, &mut now).unwrap();
        let wanted = if writes { [4.0, 5.0, 6.0] } else { [1.0, 2.0, 3.0] };
        assert_eq!(now, elements(wanted), "writes: {writes}");
    }
    let texture = Lend { kind: LendKind::Texture, writes: false, back: None };
    assert!(eval(&mut *driver, block, texture).is_err());
    driver.cleanup();
}

/// The bytes of three elements.
fn elements(values: [f32; 3]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (into, value) in bytes.chunks_exact_mut(4).zip(values) {
        into.copy_from_slice(&value.to_ne_bytes());
    }
    bytes
}

/// Lends a block of three elements or takes it back, with the program of such launches.
fn eval(
    driver: &mut dyn Driver,
    block: BlockId,
    lend: Lend,
) -> Result<Evaluated, gpupy_core::Error> {
    let mut builder = Builder::new(Form::Map, 1);
    let parameter = builder.param(DType::F32);
    builder.store(parameter);
    let program = builder.finish();
    let access = Access { offset: 0, strides: [1].into_iter().collect() };
    driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[3],
        operands: &[],
        params: &[0],
        accesses: &[],
        dests: &[Dest { block, access, whole: false }],
        memory: &[],
        lend: Some(lend),
        rest: None,
    })
}
