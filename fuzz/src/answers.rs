//! Plug-ins with nonsensical answers: whatever their tables and answers are, the host returns an error or
//! continues.
//!
//! An input is the damage to the table, the path of the host, then the answers in the order of the calls.

use crate::bytes::Bytes;
use crate::{Reached, memory_form, programs, table};
use gpupy_core::driver::{BlockSpec, Config, Driver, Method, Part, Resources};
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::OPS;
use gpupy_core::plugin::driver_table::Table;
use gpupy_core::{DType, Error, Op};
use gpupy_engine::plugin::{Imported, checked};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

/// Answers without sense or order, and some with lowered programs first.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = (0..32).map(|way| vec![0, way]).collect();
    let lowered = memory_form::seeds().into_iter().step_by(7);
    seeds.extend(lowered.map(|program| [vec![0, 0, 3], program].concat()));
    seeds.extend(programs::all().iter().map(|program| program.to_string().into_bytes()));
    seeds
}

/// Loads a table, opens its driver, and asks it for everything.
pub fn run(input: &[u8]) -> Reached {
    let mut bytes = Bytes::new(input);
    let table = spoiled(&mut bytes);
    let way = bytes.u8();
    table::answer_with(bytes);
    let outcome = if way.is_multiple_of(2) { every_function(table) } else { arrays(table, way) };
    match outcome {
        Ok(reached) => reached,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.contains(char::is_control), "{said:?}");
            // Most words are the driver's.
            Reached::value((error.kind(), table::calls(), way % 2))
        }
    }
}

/// The table, mostly as it is, sometimes with something wrong.
fn spoiled(bytes: &mut Bytes) -> Table {
    let mut table = table::TABLE;
    match bytes.u8() {
        200 => table.size = bytes.u8().into(),
        201 => table.abi_major = bytes.u32(),
        202 => table.abi_minor = bytes.u32(),
        203 => table.init = None,
        204 => table.cleanup = None,
        205 => table.get_method = None,
        206 => table.eval_ir = None,
        207 => table.resource_check = None,
        _ => {}
    }
    table.name.iter_mut().take(bytes.below(2) * 8).for_each(|to| *to = bytes.u8() as _);
    table
}

fn imported(table: Table) -> Imported {
    // SAFETY: the functions of the table keep the contract's pointers; if a table claims to be longer
    // than ours, only our part of it is read.
    unsafe { Imported::new(move || checked(&table)) }
}

/// Calls all functions once or more.
fn every_function(table: Table) -> Result<Reached, Error> {
    let mut driver = imported(table);
    let found = driver.init(&Config::default())?;
    assert!(found.max_block_len >= REDUCE_CHUNK && found.max_dests > 0 && !found.dtypes.is_empty());
    let mut ways = 0_u64;
    for row in OPS.iter().step_by(5) {
        if let Method::Lowered(program) = driver.get_method(row.op, DType::F32) {
            assert!(program.verify().is_ok(), "{program}");
            ways += 1;
        }
    }
    let mut total = driver.resource_zero();
    driver.resource_add(&mut total, &driver.resource_get(Part::Op(Op::Add, DType::F32)));
    driver.resource_sub(&mut total, &Resources::default());
    let fits = driver.resource_check(&total);
    let Some(program) = programs::all().first() else { return Ok(Reached::value(0)) };
    let check = driver.check_ir(program)?;
    let block = driver.block_alloc(BlockSpec::new(DType::F32, 4))?;
    driver.block_write(block, 0, &[0; 16])?;
    driver.block_read(block, 0, &mut [1; 16])?;
    driver.block_free(block);
    driver.cleanup();
    Ok(Reached::value((ways, fits, check.fits, found.dtypes.len())))
}

/// Computes arrays by such a driver.
fn arrays(table: Table, way: u8) -> Result<Reached, Error> {
    let registry = Registry::new().register("strange", move || Box::new(imported(table)));
    let settings = Settings { block_bytes: u64::from(way) * 4, ..Settings::default() };
    let context = Context::new(registry, settings);
    let numbers: Vec<u8> = (0..24_u16).flat_map(|k| f32::from(k).to_ne_bytes()).collect();
    let a = Array::from_bytes(DType::F32, &[3, 8], &numbers)?;
    let b = context.apply(Op::Mul, &[ArrayOrScalar::Array(&a), ArrayOrScalar::Array(&a)])?;
    let c = context.apply(Op::Sqrt, &[ArrayOrScalar::Array(&b.transpose(&[1, 0]))])?;
    let less = context
        .apply(Op::Lt, &[ArrayOrScalar::Array(&c), ArrayOrScalar::Array(&a.transpose(&[1, 0]))])?;
    let sum = context.reduce(Op::Add, &c, &[1], false)?;
    let outcomes =
        [&sum, &less].map(|array| context.read(array).and_then(|read| Ok(read.to_vec()?.len())));
    // Whatever went wrong, older arrays are intact.
    let kept = context.read(&a)?.to_vec()?;
    assert!(kept == numbers);
    let [summed, compared] = outcomes;
    assert!(summed? == 32 && compared? == 24);
    Ok(Reached::value(table::calls()))
}
