//! The walks of a program's loads, indices and stores in a dispatch.
//!
//! Owns `DispatchWalks`. Invariant: early walks are over the iteration space, late walks over the space of its chunks;
//! the axes of both are coalesced. The targets of a reduction are late.
//!
//! Not here: how walks become shader text (`fetch.rs`, `element_reader.rs`).

use crate::analysis::axis_coalescing::{AffineWalk, coalesce_axes};
use crate::analysis::uses::Uses;
use crate::compute::plan::request::DispatchRequest;
use gpupy_core::ir::{Form, REDUCE_CHUNK};

/// The walks of a launch, with the indices of their accesses.
pub(crate) struct DispatchWalks {
    /// The iteration space.
    pub shape: Vec<i64>,
    /// The space of a reduction's destinations and of a scan's starts. For a map it equals `shape`.
    pub late_shape: Vec<i64>,
    /// Loads before `reduce`, of a scan's elements, and all loads of a map.
    pub loads: Vec<(u32, AffineWalk)>,
    pub indices: Vec<(u32, AffineWalk)>,
    /// Loads after `reduce`, and of a scan's starts.
    pub late_loads: Vec<(u32, AffineWalk)>,
    pub late_indices: Vec<(u32, AffineWalk)>,
    pub targets: Vec<AffineWalk>,
}

impl DispatchWalks {
    /// The walks of a request. The last axis of a reduction is not coalesced.
    pub fn new(request: &DispatchRequest<'_>, uses: &Uses) -> DispatchWalks {
        let rank = request.shape.len();
        let walk =
            |access: &u32| (*access, AffineWalk::of(&request.accesses[*access as usize], rank));
        let loads = |list: &[(u32, u32)]| {
            let mut loaded: Vec<u32> = list.iter().map(|(_, access)| *access).collect();
            loaded.sort_unstable();
            loaded.dedup();
            loaded.iter().map(walk).collect::<Vec<_>>()
        };
        let form = request.program.form;
        let scans = matches!(form, Form::Scan { .. });
        let (early, late) = match &uses.loads[..] {
            [element, start] if scans => {
                (std::slice::from_ref(element), std::slice::from_ref(start))
            }
            all => (all, &uses.late_loads[..]),
        };
        let mut walks = DispatchWalks {
            shape: request.shape.iter().map(|n| *n as i64).collect(),
            late_shape: Vec::new(),
            loads: loads(early),
            indices: uses.indices.iter().map(walk).collect(),
            late_loads: loads(late),
            late_indices: uses.late_indices.iter().map(walk).collect(),
            targets: request
                .targets
                .iter()
                .map(|(access, _)| AffineWalk::of(access, rank))
                .collect(),
        };
        let named = walks.loads.iter_mut().chain(&mut walks.indices);
        let named = named.chain(&mut walks.late_loads).chain(&mut walks.late_indices);
        let mut all: Vec<&mut AffineWalk> =
            named.map(|(_, walk)| walk).chain(&mut walks.targets).collect();
        coalesce_axes(&mut walks.shape, usize::from(form != Form::Map), &mut all);
        walks.late_shape = walks.shape.clone();
        if let (true, Some(last)) = (form != Form::Map, walks.late_shape.last_mut()) {
            *last = (*last as usize).div_ceil(REDUCE_CHUNK) as i64;
        }
        walks
    }

    /// Column reduction: true if points that are adjacent along another axis than the last are adjacent in memory, and
    /// points adjacent along the last axis are not.
    pub fn go_across(&self) -> bool {
        let last = self.shape.len() - 1;
        let step =
            |walk: &AffineWalk, axis: usize| self.shape[axis] > 1 && walk.strides[axis].abs() == 1;
        let mut others = self.loads.iter().flat_map(|(_, walk)| (0..last).map(move |a| (walk, a)));
        others.any(|(walk, axis)| step(walk, axis))
            && !self.loads.iter().any(|(_, walk)| step(walk, last))
    }
}
