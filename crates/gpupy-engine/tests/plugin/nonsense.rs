//! What the other side gets wrong is an error in words, or left out.

use super::{TABLE, said};
use gpupy_core::driver::{BlockSpec, Config, Driver, Launch, Method};
use gpupy_core::ir::{Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::plugin::driver_table::{
    GPUPY_INVALID, GPUPY_LOWERED, GPUPY_NATIVE, GPUPY_OK, GPUPY_UNSUPPORTED, RawCapabilities,
    RawConfig, RawError, RawLaunch, RawProgram, Table,
};
use gpupy_core::plugin::fixed_strings::put;
use gpupy_core::plugin::{
    Growing, ProgramCache, read_launch, read_program, with_launch, with_program,
};
use gpupy_core::{DType, ErrorKind};
use gpupy_engine::plugin::{Imported, checked};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

/// Opens a driver with this table.
fn open(table: Table) -> Result<Imported, (ErrorKind, String)> {
    // SAFETY: the functions of the tables here keep the contract's pointers.
    let mut driver = unsafe { Imported::new(move || checked(&table)) };
    said(driver.init(&Config::default()).map(|_| ()))?;
    Ok(driver)
}

#[track_caller]
fn refused(table: Table, words: &str) {
    let (kind, told) = open(table).map(|_| ()).unwrap_err();
    assert_eq!(kind, ErrorKind::Unavailable);
    assert!(told.contains(words), "{told}");
}

#[test]
fn tables_that_we_cannot_use_are_refused_in_words() {
    let major = Table { abi_major: 2, ..TABLE };
    refused(major, "for version 2.6 of the driver table, and this gpupy has 1.6");
    refused(Table { size: 48, ..TABLE }, "too small: plugin: a struct has 48 bytes, of at least");
    refused(Table { check_ir: None, ..TABLE }, "the driver `tiny` has no function `check_ir`");
    // SAFETY: null is allowed.
    let missing = unsafe { checked(ptr::null()) }.map(|_| ());
    assert_eq!(said(missing).unwrap_err().1, "load: the driver has no table");
}

#[test]
fn a_newer_minor_version_with_a_longer_table_is_taken() {
    #[repr(C)]
    struct Newer {
        table: Table,
        more: usize,
    }
    let table = Table { size: size_of::<Newer>(), abi_minor: 7, ..TABLE };
    let newer = Newer { table, more: usize::MAX };
    // SAFETY: it is a whole table with something behind.
    let read = unsafe { checked((&raw const newer).cast()) }.unwrap();
    assert_eq!((read.abi_minor, read.size), (7, size_of::<Table>()));
    assert!(newer.more == usize::MAX && open(read).is_ok());
}

/// Gives capabilities that the test has put in place of the configuration's numbers.
unsafe extern "C" fn strange_init(
    _state: *mut *mut c_void,
    _config: *const RawConfig,
    capabilities: *mut RawCapabilities,
    _error: *mut RawError,
) -> i32 {
    // SAFETY: the host gives room for capabilities.
    let found = unsafe { &mut *capabilities };
    found.dtype_count = 2;
    found.dtypes[..2].copy_from_slice(&[77, DType::F32 as u32]);
    found.max_block_len = u64::MAX;
    found.max_dests = 1;
    STRANGE.with(|strange| strange.get()(found));
    GPUPY_OK
}

unsafe extern "C" fn nothing_to_clean(_state: *mut c_void) {}

unsafe extern "C" fn strange_method(
    _state: *mut c_void,
    op: u32,
    _dtype: u32,
    lowered: *mut *const RawProgram,
) -> i32 {
    if op == Op::Neg as u32 {
        // SAFETY: the host gives room for a pointer.
        unsafe { *lowered = ptr::without_provenance(1) };
    }
    if op == Op::Add as u32 { GPUPY_NATIVE } else { GPUPY_LOWERED + i32::from(op == 33) }
}

type Spoil = fn(&mut RawCapabilities);

thread_local! {
    static STRANGE: std::cell::Cell<Spoil> = const { std::cell::Cell::new(|_| ()) };
}

/// A driver whose `init` tells this.
fn strange(spoil: Spoil) -> Table {
    STRANGE.with(|strange| strange.set(spoil));
    Table {
        init: Some(strange_init),
        cleanup: Some(nothing_to_clean),
        get_method: Some(strange_method),
        ..TABLE
    }
}

#[test]
fn capabilities_that_make_no_sense_are_refused_in_words() {
    refused(strange(|found| found.max_block_len = 255), "the largest block has `255` elements");
    refused(strange(|found| found.dtype_count = 1), "no dtype that gpupy knows");
    refused(strange(|found| found.dtype_count = 33), "`33` dtypes, of at most 32");
    refused(strange(|found| found.dtypes[0] = 10), "`float32` stands there twice");
    refused(strange(|found| found.max_dests = 0), "a program may have no destination");
    refused(strange(|found| found.resource_count = 9), "`9` counts of resources, of at most 8");
}

#[test]
fn routines_that_nobody_knows_or_that_the_driver_denies_are_left_out() {
    let table = strange(|found| {
        found.routine_count = u32::MAX;
        found.routine_names.iter_mut().for_each(|name| name.fill(b'y' as _));
        for (name, number) in [("rfft", 7), ("fft", u32::MAX), ("irfft", 0)].into_iter().zip(3..) {
            put(name.0, &mut found.routine_names[number]);
            found.routine_numbers[number] = name.1;
        }
    });
    // SAFETY: the functions of the table keep the contract's pointers.
    let mut driver = unsafe { Imported::new(move || checked(&table)) };
    // The answer about a routine of these numbers is none, and complex numbers are no dtype of the driver.
    assert!(driver.init(&Config::default()).unwrap().routines.is_empty());
}

#[test]
fn dtypes_and_methods_that_nobody_knows_are_left_out() {
    let table = strange(|found| found.device.fill(b'x' as _));
    // SAFETY: the functions of the table keep the contract's pointers.
    let mut driver = unsafe { Imported::new(move || checked(&table)) };
    let found = driver.init(&Config::default()).unwrap();
    assert_eq!(found.dtypes, [DType::F32]);
    assert!(found.max_block_len.checked_mul(16).is_some());
    assert_eq!(found.device.len(), 256);
    assert_eq!(driver.get_method(Op::Add, DType::F32), Method::Native);
    // Lowered by null, by a pointer that is askew, and an answer that is none.
    assert_eq!(driver.get_method(Op::Sqrt, DType::F32), Method::Absent);
    assert_eq!(driver.get_method(Op::Neg, DType::F32), Method::Absent);
    assert_eq!(driver.get_method(Op::Abs, DType::F32), Method::Absent);
}

#[test]
fn the_driver_s_side_takes_no_null_and_nothing_too_short() {
    let mut error = RawError::cleared();
    // SAFETY: null is allowed everywhere, and answered.
    unsafe {
        let init = TABLE.init.unwrap();
        let mut state = ptr::null_mut();
        let config = RawConfig::cleared();
        let mut found = RawCapabilities::cleared();
        assert_eq!(init(&mut state, ptr::null(), &mut found, &mut error), GPUPY_INVALID);
        assert_eq!(init(ptr::null_mut(), &config, &mut found, &mut error), GPUPY_INVALID);
        assert_eq!(init(&mut state, &config, ptr::null_mut(), ptr::null_mut()), GPUPY_INVALID);
        found.size = 8;
        assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_INVALID);
        assert!(state.is_null());
        found.size = size_of::<RawCapabilities>();
        assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_OK);
        let e = &raw mut error;
        let alloc = TABLE.block_alloc.unwrap();
        assert_eq!(alloc(state, ptr::null(), ptr::null_mut(), e), GPUPY_INVALID);
        assert_eq!(alloc(ptr::null_mut(), ptr::null(), ptr::null_mut(), e), GPUPY_INVALID);
        assert_eq!(TABLE.block_read.unwrap()(state, 0, 0, ptr::null_mut(), 4, e), GPUPY_INVALID);
        assert_eq!(TABLE.block_write.unwrap()(state, 0, 0, ptr::null(), 4, e), GPUPY_INVALID);
        assert_eq!(TABLE.check_ir.unwrap()(state, ptr::null(), ptr::null_mut(), e), GPUPY_INVALID);
        assert_eq!(TABLE.eval_ir.unwrap()(state, ptr::null(), ptr::null_mut(), e), GPUPY_INVALID);
        TABLE.resource_get.unwrap()(state, ptr::null(), ptr::null_mut());
        TABLE.resource_add.unwrap()(state, ptr::null_mut(), ptr::null());
        TABLE.resource_zero.unwrap()(state, ptr::null_mut());
        TABLE.cleanup.unwrap()(state);
        TABLE.cleanup.unwrap()(ptr::null_mut());
    }
}

#[test]
fn a_host_of_the_first_version_is_given_the_capabilities_that_it_knows() {
    let (config, mut found) = (RawConfig::cleared(), RawCapabilities::cleared());
    let (mut state, mut error) = (ptr::null_mut(), RawError::cleared());
    let known = offset_of!(RawCapabilities, max_reductions);
    (found.size, found.max_reductions, found.memory_launches) = (known, 77, 78);
    // SAFETY: the structs are whole ones, of which the capabilities say to be shorter.
    unsafe {
        let (init, cleanup) = (TABLE.init.unwrap(), TABLE.cleanup.unwrap());
        assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_OK);
        assert_eq!((found.size, found.max_dests), (known, 3));
        assert_eq!((found.max_reductions, found.memory_launches), (77, 78));
        cleanup(state);
        found.size = known - 1;
        assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_INVALID);
        found.size = size_of::<RawCapabilities>();
        assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_OK);
        assert_eq!((found.max_reductions, found.memory_launches), (6, 1));
        cleanup(state);
    }
}

#[test]
fn a_launch_of_a_host_of_the_first_version_brings_no_memory() {
    let program = super::program(Form::Map, 1);
    super::launch(&program, 1, |launch| {
        let launch = Launch { memory: &[], lend: None, ..*launch };
        let read = |raw: &RawLaunch| {
            // SAFETY: what was written as C reads it is whole, and shorter than it says nowhere.
            unsafe {
                read_launch(raw, &mut ProgramCache::default(), |read| Ok(format!("{read:?}")))
            }
        };
        let told = with_launch(&launch, |raw| {
            let mut old = RawLaunch { memory_count: 1, memory: ptr::null(), ..*raw };
            assert_eq!(read(&old).unwrap_err().kind(), ErrorKind::Invalid);
            let nothing = [ptr::null_mut()];
            old.memory = nothing.as_ptr();
            old.memory_lens = [1].as_ptr();
            assert_eq!(read(&old).unwrap_err().kind(), ErrorKind::Invalid);
            old.size = offset_of!(RawLaunch, memory_count);
            read(&old).unwrap()
        });
        assert_eq!(told.unwrap(), format!("{launch:?}"));
    });
}

#[test]
fn a_host_of_the_second_version_lends_nothing_and_is_lent_nothing() {
    let program = super::program(Form::Map, 1);
    super::launch(&program, 1, |launch| {
        let read = |raw: &RawLaunch| {
            // SAFETY: the struct that was written as C reads it is whole, and nowhere shorter than it says.
            unsafe { read_launch(raw, &mut ProgramCache::default(), |read| Ok(read.lend)) }
        };
        let told = with_launch(launch, |raw| {
            assert_eq!(read(raw).unwrap(), launch.lend);
            assert_eq!(
                read(&RawLaunch { lend: 3, ..*raw }).unwrap_err().kind(),
                ErrorKind::Invalid
            );
            let newer = RawLaunch { lend_kind: 9, ..*raw };
            assert_eq!(read(&newer).unwrap_err().kind(), ErrorKind::Unsupported);
            read(&RawLaunch { size: offset_of!(RawLaunch, lend), ..*raw }).unwrap()
        });
        assert_eq!(told.unwrap(), None);
    });
    let config = RawConfig { share: 1, ..RawConfig::cleared() };
    let (mut state, mut error) = (ptr::null_mut(), RawError::cleared());
    for (size, lends) in [(size_of::<RawConfig>(), 3), (offset_of!(RawConfig, share), 0)] {
        let config = RawConfig { size, ..config };
        let mut found = RawCapabilities::cleared();
        // SAFETY: the structs are whole ones, of which the configuration says to be shorter.
        unsafe {
            let (init, cleanup) = (TABLE.init.unwrap(), TABLE.cleanup.unwrap());
            assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_OK);
            assert_eq!(found.lends, lends);
            found.size = offset_of!(RawCapabilities, lends);
            cleanup(state);
            found.lends = 77;
            assert_eq!(init(&mut state, &config, &mut found, &mut error), GPUPY_OK);
            assert_eq!(found.lends, 77);
            cleanup(state);
        }
    }
}

#[test]
fn a_fingerprint_that_comes_with_another_program_names_that_one() {
    let programs =
        [(Form::Map, 1), (Form::Map, 2), (Form::Reduce { op: Op::Add }, 2), (Form::Map, 1)];
    let mut known = ProgramCache::default();
    for (form, rank) in programs {
        let program = super::program(form, rank);
        super::launch(&program, 1, |launch| {
            let launch = Launch { fingerprint: Fingerprint(7), ..*launch };
            let twice = with_launch(&launch, |raw| {
                [(); 2].map(|()| {
                    // SAFETY: what was written as C reads it is whole.
                    unsafe { read_launch(raw, &mut known, |launch| Ok(format!("{launch:?}"))) }
                })
            });
            for read in twice.unwrap() {
                assert_eq!(read.unwrap(), format!("{launch:?}"));
            }
        });
    }
}

#[test]
fn programs_with_numbers_that_nobody_knows_are_not_supported() {
    let plain = super::program(Form::Reduce { op: Op::Add }, 2);
    type Change<'a> = &'a dyn Fn(&mut RawProgram);
    let check = |change: Change, want: Result<&Program, ErrorKind>| {
        let got = with_program(&plain, |raw| {
            let mut raw = RawProgram { ..*raw };
            change(&mut raw);
            // SAFETY: only counts become smaller, and pointers null.
            unsafe { read_program(&raw) }
        });
        assert_eq!(got.as_ref().map_err(|error| error.kind()), want);
    };
    check(&|_| (), Ok(&plain));
    check(&|raw| raw.form = 99, Err(ErrorKind::Unsupported));
    check(&|raw| raw.form_op = 999, Err(ErrorKind::Unsupported));
    check(&|raw| raw.form_op = 0x1_0060, Err(ErrorKind::Unsupported));
    check(&|raw| raw.operands = [99u8].as_ptr(), Err(ErrorKind::Unsupported));
    check(&|raw| raw.accesses = [3u8; 2].as_ptr(), Err(ErrorKind::Unsupported));
    check(&|raw| raw.rank = 0, Err(ErrorKind::Invalid));
    check(&|raw| raw.rank = 65, Err(ErrorKind::Invalid));
    check(&|raw| raw.size = 40, Err(ErrorKind::Invalid));
    check(&|raw| raw.insts = ptr::null(), Err(ErrorKind::Invalid));
    check(&|raw| raw.inst_count = u32::MAX, Err(ErrorKind::Invalid));
}

#[test]
fn what_a_newer_host_asks_is_unsupported() {
    let (mut state, mut error) = (ptr::null_mut(), RawError::cleared());
    // SAFETY: all pointers are to whole structs.
    unsafe {
        let (config, mut found) = (RawConfig::cleared(), RawCapabilities::cleared());
        assert_eq!(TABLE.init.unwrap()(&mut state, &config, &mut found, &mut error), GPUPY_OK);
        let get_method = TABLE.get_method.unwrap();
        assert_eq!(get_method(state, 60000, 10, ptr::null_mut()), 0);
        let newer = DType::ALL.len() as u32;
        assert_eq!(get_method(state, Op::Neg as u32, newer, ptr::null_mut()), 0);
        let spec = gpupy_core::plugin::driver_table::RawBlockSpec {
            dtype: newer,
            len: 1,
            ..Growing::cleared()
        };
        let mut block = 0;
        let code = TABLE.block_alloc.unwrap()(state, &spec, &mut block, &mut error);
        assert_eq!(code, GPUPY_UNSUPPORTED);
        TABLE.cleanup.unwrap()(state);
    }
}

#[test]
fn a_launch_without_its_numbers_does_not_cross() {
    let mut driver = open(TABLE).unwrap();
    let program = super::program(Form::Map, 2);
    super::launch(&program, 1, |launch| {
        assert!(driver.eval_ir(launch).is_ok());
        let short = Launch { accesses: &launch.accesses[1..], ..launch.clone() };
        assert_eq!(driver.eval_ir(&short).unwrap_err().kind(), ErrorKind::Invalid);
    });
    assert!(driver.block_alloc(BlockSpec::new(DType::F32, 1)).is_ok());
}
