//! The driver's promises beyond the contract: devices, kernels, queued work.
#![allow(clippy::unwrap_used)]

use driver_vulkan::{BindingCosts, Trial};
use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Capabilities, Config, Dest, Driver, Evaluated, Launch,
};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

/// An open driver, or `None` (a skip, with the reason) where there is no device.
fn open(config: &Config) -> Option<(Box<dyn Driver>, Capabilities)> {
    open_trial(Trial::default(), config)
}

/// Open drivers with each compiler of this build; none where there is no device.
fn open_each() -> Vec<Box<dyn Driver>> {
    let open = |naga| open_trial(Trial { naga, ..Trial::default() }, &Config::default());
    let compilers = if cfg!(feature = "shaderc") { &[false, true][..] } else { &[true] };
    compilers.iter().filter_map(|naga| Some(open(*naga)?.0)).collect()
}

fn open_trial(trial: Trial, config: &Config) -> Option<(Box<dyn Driver>, Capabilities)> {
    let mut driver = driver_vulkan::new_trial(trial);
    match driver.init(config) {
        Ok(capabilities) => Some((driver, capabilities)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            gpupy_conformance::skipped(error);
            None
        }
    }
}

fn alloc(driver: &mut dyn Driver, len: usize) -> BlockId {
    driver.block_alloc(BlockSpec::new(DType::F32, len)).unwrap()
}

fn write(driver: &mut dyn Driver, block: BlockId, values: &[f32]) {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    driver.block_write(block, 0, &bytes).unwrap();
}

fn read(driver: &mut dyn Driver, block: BlockId, len: usize) -> Vec<f32> {
    let mut bytes = vec![0; len * 4];
    driver.block_read(block, 0, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// A polynomial of one operand with `count` scalars.
fn polynomial(count: usize) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let x = b.load(x, all);
    let mut value = x;
    for _ in 0..count {
        let p = b.param(DType::F32);
        value = b.op(Op::Mul, &[value, x]);
        value = b.op(Op::Add, &[value, p]);
    }
    b.store(value);
    b.finish()
}

fn launch(
    driver: &mut dyn Driver,
    program: &Program,
    (operand, dest): (BlockId, BlockId),
    len: usize,
    params: &[f32],
) -> Evaluated {
    let params: Vec<u64> = params.iter().map(|p| Scalar::f32(*p).bits).collect();
    let walk = Access { offset: 0, strides: [1].as_slice().into() };
    let evaluated = driver.eval_ir(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[len],
        operands: &[operand],
        params: &params,
        accesses: std::slice::from_ref(&walk),
        dests: &[Dest { block: dest, access: walk.clone(), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    });
    evaluated.unwrap()
}

#[test]
fn a_device_is_found_by_its_position_and_by_part_of_its_name() {
    let Some((_, found)) = open(&Config::default()) else { return };
    assert_eq!(found.device, found.devices[0]);
    let part = found.device.split(' ').next().unwrap().to_uppercase();
    for wanted in ["0", " 0 ", &part] {
        let config = Config { device: wanted.to_owned(), ..Config::default() };
        assert_eq!(open(&config).unwrap().1.device, found.device, "{wanted}");
    }
    for wanted in ["1000", "no such device"] {
        let config = Config { device: wanted.to_owned(), ..Config::default() };
        let error = driver_vulkan::new().init(&config).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.fact("devices").unwrap().contains(&found.device), "{error}");
    }
}

#[test]
fn the_compiler_of_kernels_is_said_and_its_language_is_theirs() {
    let mut languages = Vec::new();
    for naga in [false, true] {
        let trial = Trial { naga, ..Trial::default() };
        let Some((mut driver, capabilities)) = open_trial(trial, &Config::default()) else {
            return;
        };
        let driver = &mut *driver;
        let (x, y) = (alloc(driver, 8), alloc(driver, 8));
        let code = launch(driver, &polynomial(1), (x, y), 8, &[1.0]).code.unwrap();
        let compiler = capabilities.findings.into_iter().find(|(what, _)| what == "compiler");
        languages.push((compiler.unwrap().1, code.starts_with("#version 450")));
    }
    let usual = if cfg!(feature = "shaderc") { ("shaderc", true) } else { ("naga", false) };
    assert_eq!(languages, [usual, ("naga", false)].map(|(name, is)| (name.to_owned(), is)));
}

/// WGSL has no device addresses.
#[cfg(feature = "shaderc")]
#[test]
fn how_blocks_are_reached_best_is_found_where_there_is_a_choice() {
    if open(&Config::default()).is_none() {
        return;
    }
    let found = |addressed| {
        let trial = Trial { addressed, ..Trial::default() };
        let capabilities = driver_vulkan::new_trial(trial).init(&Config::default()).unwrap();
        capabilities.findings.into_iter().find(|(what, _)| what == "blocks")
    };
    println!("{:?}", found(false));
    assert_eq!(found(true), None);
}

#[test]
fn blocks_are_reached_in_the_way_that_was_found_to_be_faster() {
    let by_address = |bound, addressed| {
        let trial =
            Trial { binding_costs: Some(BindingCosts { bound, addressed }), ..Trial::default() };
        let mut driver = driver_vulkan::new_trial(trial);
        let found = driver.init(&Config::default()).ok()?.findings;
        let there_is_a_choice = found.iter().any(|(what, _)| what == "blocks");
        let [x, y] = [(); 2].map(|()| alloc(&mut *driver, 8));
        write(&mut *driver, x, &[2.0; 8]);
        let evaluated = launch(&mut *driver, &polynomial(1), (x, y), 8, &[1.0]);
        assert_eq!(read(&mut *driver, y, 8), [5.0; 8]);
        there_is_a_choice.then(|| evaluated.code.unwrap().contains("buffer_reference"))
    };
    let Some(of_slower_addresses) = by_address(1e6, 5e6) else {
        return gpupy_conformance::skipped("no device, or one without a choice");
    };
    assert!(!of_slower_addresses);
    assert_eq!(by_address(5e6, 1e6), Some(true));
}

#[test]
fn a_program_is_compiled_once_for_all_lengths_and_scalars() {
    for mut driver in open_each() {
        let driver = &mut *driver;
        let program = polynomial(2);
        let mut compiled = 0;
        for (len, scalar) in [(1000, 0.5), (5, 1.0), (40_000, f32::NAN), (1000, 0.0)] {
            let (x, y) = (alloc(driver, len), alloc(driver, len));
            write(driver, x, &vec![2.0; len]);
            let evaluated = launch(driver, &program, (x, y), len, &[scalar, 3.0]);
            assert!(evaluated.code.unwrap().contains("main("));
            compiled += evaluated.compiled;
            let wanted = (2.0f32 * 2.0 + scalar) * 2.0 + 3.0;
            let same = |y: f32| y.to_bits() == wanted.to_bits() || y.is_nan() && wanted.is_nan();
            assert!(read(driver, y, len).into_iter().all(same));
            driver.block_free(x);
            driver.block_free(y);
        }
        assert_eq!(compiled, 1);
    }
}

#[test]
fn scalars_that_come_again_become_literals_with_equal_results() {
    for mut driver in open_each() {
        let driver = &mut *driver;
        let program = polynomial(8);
        let len = 1 << 22;
        let (x, y) = (alloc(driver, len), alloc(driver, len));
        let values: Vec<f32> = (0..len).map(|i| (i % 1024) as f32 / 512.0 - 1.0).collect();
        write(driver, x, &values);
        let params = [0.1, 0.0, -1.0, 7.25, 1e-3, 1.0, 0.3, -0.7];
        assert_eq!(launch(driver, &program, (x, y), len, &params).specialised, 0);
        let general = read(driver, y, 1024);
        let specialised: u32 =
            (0..14).map(|_| launch(driver, &program, (x, y), len, &params).specialised).sum();
        assert_eq!(specialised, 1);
        assert_eq!(read(driver, y, 1024), general);
    }
}

#[test]
fn queued_launches_see_the_elements_of_their_time() {
    for mut driver in open_each() {
        let driver = &mut *driver;
        let program = polynomial(1);
        let len = 1000;
        let x = alloc(driver, len);
        let results: Vec<BlockId> = (0..200)
            .map(|k| {
                let result = alloc(driver, len);
                // Overwrites elements that launches read which are not finished yet.
                write(driver, x, &vec![k as f32; len]);
                launch(driver, &program, (x, result), len, &[0.5]);
                // A block that is still in use may be freed.
                let freed = alloc(driver, len);
                launch(driver, &program, (result, freed), len, &[0.0]);
                driver.block_free(freed);
                result
            })
            .collect();
        for (k, result) in results.into_iter().enumerate() {
            let wanted = (k * k) as f32 + 0.5;
            assert!(read(driver, result, len).iter().all(|y| *y == wanted), "launch {k}");
        }
    }
}

#[test]
fn launches_take_more_numbers_than_can_be_pushed() {
    for mut driver in open_each() {
        let driver = &mut *driver;
        let program = polynomial(100);
        let (x, y) = (alloc(driver, 100), alloc(driver, 100));
        write(driver, x, &[1.0; 100]);
        // More launches than one argument buffer has room for.
        for k in 0..1000 {
            let mut params = vec![0.0; 100];
            params[k % 100] = k as f32;
            launch(driver, &program, (x, y), 100, &params);
            if k % 97 == 0 {
                assert_eq!(read(driver, y, 100), vec![1.0 + k as f32; 100]);
            }
        }
    }
}
