//! Walks into part of an open block: pieces of reductions, copies around a written region.
//!
//! Owns [`OpenWalk`], which stands for its kernels until it is their turn. Not here: walks whose kernels were found
//! with their step (`schedule/steps/`).

use crate::graph::value::Value;
use crate::schedule::destination::{Destination, RootDestinations};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::{Partition, Possible};
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::walk::{FusionWalk, Needs, Start};
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::shape::Shape;
use gpupy_core::{Result, Scalar};
use smallvec::{SmallVec, smallvec};

/// A walk from a value, or a scalar, into part of an open block.
pub(super) struct OpenWalk {
    pub from: WalkSource,
    pub at: Access,
    pub space: Shape,
    pub form: Form,
    /// The block's number among those that were opened together.
    pub number: usize,
    pub access: Access,
    pub whole: bool,
}

/// Where a walk starts.
#[derive(Clone)]
pub(super) enum WalkSource {
    Value(Value),
    Scalar(Scalar),
}

impl WalkSource {
    /// The start of a walk, with the value held.
    pub fn of(start: &Start<'_>) -> WalkSource {
        match *start {
            Start::Itself(value) | Start::Value(value) => WalkSource::Value(value.clone()),
            Start::Scalar(scalar) => WalkSource::Scalar(scalar),
        }
    }

    /// The start for a walk.
    pub fn start(&self) -> Start<'_> {
        match self {
            WalkSource::Value(value) => Start::Value(value),
            WalkSource::Scalar(scalar) => Start::Scalar(*scalar),
        }
    }
}

impl OpenWalk {
    fn walk(&self, device: &OpenDevice) -> Result<Possible<FusionWalk>> {
        let (at, space) = (self.at.clone(), self.space.clone());
        Ok(FusionWalk::new(device, &[self.from.start()], at, space)?.complete())
    }

    /// Its kernels, or the tiles that have to be computed before it.
    ///
    /// # Errors
    /// As of a walk and of kernels.
    pub fn kernels(&self, device: &mut OpenDevice) -> Result<Possible<Box<WalkKernels>>> {
        let ends = RootDestinations::place(self.form, self.access.clone());
        match self.walk(device)? {
            Ok(walk) => Ok(WalkKernels::of(device, walk, ends)?.map(Box::new)),
            Err(needs) => Ok(Err(needs)),
        }
    }

    /// Where its last kernel goes.
    pub fn dests(&self) -> SmallVec<[Destination; 1]> {
        smallvec![Destination::Open { number: self.number, whole: self.whole }]
    }

    /// The tiles that have to be computed before it.
    ///
    /// # Errors
    /// As of a walk.
    pub fn needs(&self, device: &mut OpenDevice) -> Result<Needs> {
        let walk = match self.walk(device)? {
            Ok(walk) => walk,
            Err(needs) => return Ok(needs),
        };
        // A refusal is handled where the kernel is launched.
        let cut = Partition::new(walk, None).cut(device, self.form);
        Ok(cut.ok().and_then(std::result::Result::err).unwrap_or_default())
    }
}
