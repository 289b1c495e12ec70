//! Files of recorded functions: a file that is read can be called, and a damaged one is an error.
//!
//! An input is the head of a file, which is JSON; the elements after it are those of the seeds.

use crate::Reached;
use gpupy_engine::registry::Registry;
use gpupy_engine::saved::extent::Extent;
use gpupy_engine::saved::file::{MAGIC, Saved, VERSION};
use gpupy_engine::saved::look::Look;
use gpupy_engine::{Array, Context, Settings};

/// Files that Python wrote (`crates/gpupy-py/tests/test_saved_files.py`).
const FILES: [&[u8]; 3] = [
    include_bytes!("../../tests/data/functions/heat.gpupy"),
    include_bytes!("../../tests/data/functions/decides.gpupy"),
    include_bytes!("../../tests/data/functions/operations.gpupy"),
];
/// Elements behind the head, for those that a head names.
const ELEMENTS: usize = 1 << 12;
/// The most points of a step and of a call that is done.
const MOST: i64 = 1 << 12;

/// The heads of the files.
pub fn seeds() -> Vec<Vec<u8>> {
    let head = |file: &&[u8]| {
        let len = file.get(12..20)?.iter().rev().fold(0, |len, byte| len << 8 | usize::from(*byte));
        Some(file.get(20..20 + len)?.to_vec())
    };
    FILES.iter().filter_map(head).collect()
}

/// Reads a file with this head, and calls it by arrays of ones if it is little work.
pub fn run(head: &[u8]) -> Reached {
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend((head.len() as u64).to_le_bytes());
    file.extend(head);
    file.resize(file.len().next_multiple_of(64), 0);
    file.extend([1; ELEMENTS]);
    let saved = match Saved::read(&file) {
        Ok(saved) => saved,
        Err(error) => return Reached::words(&error.to_string()),
    };
    let again = saved.to_bytes().and_then(|bytes| Saved::read(&bytes));
    assert!(again.is_ok_and(|again| again.looks() == saved.looks()), "what was read is written");
    let mut reached = Vec::new();
    for look in saved.looks().iter().filter(|look| is_little(look)) {
        let open: Vec<i64> = look.open.iter().map(|symbol| symbol.least).collect();
        reached
            .push(call(&saved, look, &open).unwrap_or_else(|error| format!("{:?}", error.kind())));
    }
    Reached::value((saved.looks().len(), reached))
}

/// Calls it by arrays of ones.
fn call(saved: &Saved, look: &Look, open: &[i64]) -> gpupy_core::Result<String> {
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, Settings::default());
    let given = look.arrays().into_iter().map(|object| {
        let wanted = look.wanted.iter().find(|wanted| wanted.object as usize == object);
        let Some(wanted) = wanted else {
            return Array::from_bytes(gpupy_core::DType::U8, &[], &[1]);
        };
        let shape = wanted.view.at(open)?.shape;
        let size: usize = shape.iter().product();
        Array::from_bytes(wanted.dtype, &shape, &vec![1; size * wanted.dtype.size()])
    });
    let given = given.collect::<gpupy_core::Result<Vec<Array>>>()?;
    let results = saved.run(&context, &given)?;
    let mut bytes = 0;
    for result in results.iter().filter(|result| result.size() < MOST as usize) {
        bytes += context.read(result)?.to_vec()?.len();
    }
    Ok(bytes.to_string())
}

/// Whether all steps together have few points.
fn is_little(look: &Look) -> bool {
    let open: Vec<i64> = look.open.iter().map(|symbol| symbol.least).collect();
    let points = |shape: &[Extent]| {
        let extents = shape.iter().map(|extent| extent.at(&open).unwrap_or(i64::MAX));
        extents.fold(1i64, |points, extent| points.saturating_mul(extent.max(1)))
    };
    let steps = look.segments.iter().flat_map(|segment| &segment.steps);
    let bases = look.wanted.iter().map(|wanted| points(&wanted.base));
    let leaves = look.leaves.iter().map(|leaf| points(&leaf.shape));
    let all = steps.map(|step| points(&step.shape)).chain(bases).chain(leaves);
    look.segments.iter().map(|segment| segment.steps.len()).sum::<usize>() < 200
        && all.fold(0i64, i64::saturating_add) < MOST
}
