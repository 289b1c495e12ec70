//! Launches with names, and the functions that make most of them.
//!
//! Owns [`Named`]. Not here: the launches (`make.rs`, the files beside).

use crate::expect::oracle::{Run, contiguous};
use crate::expect::samples::Rng;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::{DType, Scalar};

/// A launch with a name, and the distance that is allowed.
pub struct Named {
    pub name: String,
    pub run: Run,
    pub ulp: f32,
}

pub fn named(name: impl Into<String>, run: Run) -> Named {
    Named { name: name.into(), run, ulp: 0.0 }
}

pub fn random(dtype: DType, len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.scalar(dtype)).collect()
}

pub fn ordinary(dtype: DType, len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.ordinary(dtype)).collect()
}

/// The most precise kind of an access that walks over all points of a shape.
pub fn kind(shape: &[usize], access: &Access) -> AccessKind {
    if access.strides == contiguous(shape).strides {
        AccessKind::Contiguous
    } else if access.strides.iter().all(|stride| *stride == 0) {
        AccessKind::Uniform
    } else {
        AccessKind::Affine
    }
}

/// A map over a shape of one value, computed from loads.
pub fn map(
    shape: &[usize],
    loads: Vec<(Vec<Scalar>, Access)>,
    compute: impl FnOnce(&mut Builder, &[u32]) -> u32,
) -> Run {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let values: Vec<_> = loads
        .iter()
        .map(|(data, access)| {
            let (operand, slot) = (b.operand(data[0].dtype), b.access(kind(shape, access)));
            b.load(operand, slot)
        })
        .collect();
    let value = compute(&mut b, &values);
    b.store(value);
    let run = Run::new(b.finish(), shape);
    loads.into_iter().fold(run, |run, (data, access)| run.operand(data).access(access))
}
