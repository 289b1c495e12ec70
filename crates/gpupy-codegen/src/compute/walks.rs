//! What a program's loads, indices and stores walk over.
//!
//! Owns `Walks`. Invariant: early walks are over the iteration space, late ones and targets over the
//! space of the destinations; both have as few axes as all walks allow.
//!
//! Not here: how walks become shader text (`fetch.rs`, `reader.rs`).

use super::plan::Request;
use crate::space::{Walk, merge};
use crate::uses::Uses;
use gpupy_core::ir::Form;

/// The walks of a launch, with the numbers of their accesses.
pub(super) struct Walks {
    /// The iteration space.
    pub shape: Vec<i64>,
    /// The space of the destinations.
    pub out_shape: Vec<i64>,
    /// Loads before `reduce`, and all of a map's.
    pub loads: Vec<(u32, Walk)>,
    pub indices: Vec<(u32, Walk)>,
    /// Those after `reduce`.
    pub late_loads: Vec<(u32, Walk)>,
    pub late_indices: Vec<(u32, Walk)>,
    pub targets: Vec<Walk>,
}

impl Walks {
    /// The walks of a request. A reduction's last axis stays by itself.
    pub fn new(request: &Request<'_>, uses: &Uses) -> Walks {
        let rank = request.shape.len();
        let walk = |access: &u32| (*access, Walk::of(&request.accesses[*access as usize], rank));
        let loads = |list: &[(u32, u32)]| {
            let mut loaded: Vec<u32> = list.iter().map(|(_, access)| *access).collect();
            loaded.sort_unstable();
            loaded.dedup();
            loaded.iter().map(walk).collect::<Vec<_>>()
        };
        let mut walks = Walks {
            shape: request.shape.iter().map(|n| *n as i64).collect(),
            out_shape: Vec::new(),
            loads: loads(&uses.loads),
            indices: uses.indices.iter().map(walk).collect(),
            late_loads: loads(&uses.late_loads),
            late_indices: uses.late_indices.iter().map(walk).collect(),
            targets: request.targets.iter().map(|(access, _)| Walk::of(access, rank)).collect(),
        };
        let named = walks.loads.iter_mut().chain(&mut walks.indices);
        let named = named.chain(&mut walks.late_loads).chain(&mut walks.late_indices);
        let mut all: Vec<&mut Walk> =
            named.map(|(_, walk)| walk).chain(&mut walks.targets).collect();
        let form = request.program.form;
        merge(&mut walks.shape, usize::from(form != Form::Map), &mut all);
        let shape: Vec<usize> = walks.shape.iter().map(|n| *n as usize).collect();
        walks.out_shape = form.out_shape(&shape).iter().map(|n| *n as i64).collect();
        walks
    }

    /// True when neighbours in the iteration space along another axis than the last are neighbours in
    /// memory, and those along the last are not.
    pub fn go_across(&self) -> bool {
        let last = self.shape.len() - 1;
        let step = |walk: &Walk, axis: usize| self.shape[axis] > 1 && walk.strides[axis].abs() == 1;
        let mut others = self.loads.iter().flat_map(|(_, walk)| (0..last).map(move |a| (walk, a)));
        others.any(|(walk, axis)| step(walk, axis))
            && !self.loads.iter().any(|(_, walk)| step(walk, last))
    }
}
