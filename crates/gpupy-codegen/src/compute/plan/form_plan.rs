//! The parts of a plan that depend on the program's form.
//!
//! Owns `FormPlan`, `FormDetails` and `ReductionPlan`. Not here: matrix products (`matmul.rs`).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords};
use crate::analysis::uses::Uses;
use crate::compute::kernel_features::KernelFeatures;
use crate::compute::plan::fetch::{self, ElementFetch};
use crate::compute::plan::point_mapping::{self, InvocationMapping, MappingNeeds, Points};
use crate::compute::plan::request::DispatchRequest;
use crate::compute::plan::tiles::TiledMatmul;
use crate::compute::plan::walks::DispatchWalks;
use crate::compute::plan::windows::{self, ElementWindow};
use crate::dialect::Width;
use crate::thresholds::T;
use gpupy_core::ir::Form;

/// The needs of a form besides its accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FormDetails {
    Map,
    Reduce(ReductionPlan),
    /// The word of the number of points along the last axis.
    Scan(u16),
    Product(TiledMatmul),
}

/// How a kernel computes reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReductionPlan {
    /// The word of the number of points along the last axis.
    pub points: u16,
    /// True if a vector of four along the last axis may be incomplete.
    pub ragged: bool,
    /// True if four invocations share an output point. If workgroup memory has no room for the lanes of all
    /// reductions, one invocation computes it alone.
    pub shared: bool,
}

/// The parts of a plan that depend on its form.
pub(crate) struct FormPlan {
    pub width: Width,
    pub frame: InvocationMapping,
    pub groups: [u32; 3],
    pub fetches: Vec<(u32, ElementFetch)>,
    pub windows: Vec<ElementWindow>,
    pub indices: Vec<(u32, AffineIndex)>,
    pub late_fetches: Vec<(u32, ElementFetch)>,
    pub late_indices: Vec<(u32, AffineIndex)>,
    pub targets: Vec<(ElementFetch, bool)>,
    pub form: FormDetails,
    /// Axes left after coalescing.
    pub rank: usize,
    /// Points in the index arithmetic.
    pub places: i64,
}

impl FormPlan {
    /// Plans every form but the matrix product. `None` if there are too many points to count.
    pub fn new(
        words: &mut ArgumentWords,
        request: &DispatchRequest<'_>,
        device: &KernelFeatures,
        uses: &Uses,
    ) -> Option<FormPlan> {
        let form = request.program.form;
        let walks = DispatchWalks::new(request, uses);
        let DispatchWalks { shape, late_shape, .. } = &walks;
        let places = late_shape.iter().try_fold(1i64, |all, n| all.checked_mul(*n))?;
        let last = shape.last().copied()?;
        if places.max(last) > i64::from(i32::MAX) {
            return None;
        }
        // An invocation of a map has points of its space; an invocation of another form has a chunk.
        let map = form == Form::Map;
        // Compilers take four times as long for four elements at computed places.
        let fours =
            !uses.loops && uses.gathers < T.gathers_by_points && !matches!(form, Form::Scan { .. });
        let width = if fours { Width::Four } else { Width::One };
        let points = if map { Points::of(shape, width) } else { Points::One };
        let across = !map && walks.go_across();
        let flat = !across && fetch::is_flat(shape, points);
        let early_points = match width {
            _ if map => points,
            Width::Four => Points::Run,
            Width::One => Points::One,
        };
        // Reductions of shifts read all of them from one array, and are one kernel whatever their distances.
        let windows = match early_points {
            Points::Run if map => windows::find(words, &uses.loads, &walks.loads, shape),
            _ => Vec::new(),
        };
        let in_window = |(operand, access): &(u32, u32)| {
            windows.iter().any(|window| window.place_of(*operand, *access).is_some())
        };
        let apart: Vec<u32> =
            uses.loads.iter().filter(|load| !in_window(load)).map(|load| load.1).collect();
        let mut early =
            |walk: &AffineWalk| fetch::plan(words, walk, shape, early_points, flat && map);
        let alone = walks.loads.iter().filter(|(access, _)| apart.contains(access));
        let alone: Vec<(u32, AffineWalk)> = alone.cloned().collect();
        let of = |list: &[(u32, AffineWalk)], plan: &mut dyn FnMut(&AffineWalk) -> ElementFetch| {
            list.iter().map(|(access, walk)| (*access, plan(walk))).collect::<Vec<_>>()
        };
        let fetches = of(&alone, &mut early);
        let early_targets = !matches!(form, Form::Reduce { .. });
        let written: Vec<ElementFetch> = match early_targets {
            true => walks.targets.iter().map(&mut early).collect(),
            false => Vec::new(),
        };
        let mut late = |walk: &AffineWalk| fetch::plan(words, walk, late_shape, points, flat);
        let late_fetches = of(&walks.late_loads, &mut late);
        let written = match early_targets {
            true => written,
            false => walks.targets.iter().map(&mut late).collect(),
        };
        let whole = request.targets.iter().map(|(_, whole)| *whole);
        let targets: Vec<(ElementFetch, bool)> = written.into_iter().zip(whole).collect();
        let mut sums = |list: &[(u32, AffineWalk)], shape: &[i64]| -> Vec<(u32, AffineIndex)> {
            let sum = |(access, walk): &(u32, AffineWalk)| {
                (*access, AffineIndex::new(words, walk.offset, &walk.strides, shape))
            };
            list.iter().map(sum).collect()
        };
        let indices = sums(&walks.indices, shape);
        let late_indices = sums(&walks.late_indices, late_shape);
        let form = match form {
            Form::Reduce { .. } => FormDetails::Reduce(ReductionPlan {
                points: words.int(last),
                ragged: last % 4 != 0,
                shared: device.shares && !across && device.has_room(request.program),
            }),
            Form::Scan { .. } => FormDetails::Scan(words.int(last)),
            _ => FormDetails::Map,
        };
        let shared = matches!(form, FormDetails::Reduce(ReductionPlan { shared: true, .. }));
        let loads = || fetches.iter().chain(&late_fetches).map(|(_, fetch)| fetch);
        let mut all = loads().chain(targets.iter().map(|(fetch, _)| fetch));
        let asked = MappingNeeds {
            coordinates: !map
                || !indices.is_empty()
                || all.any(ElementFetch::needs_coordinates)
                || !windows.is_empty(),
            tail: !windows.is_empty()
                || loads().any(|f| !(f.takes_fours() || f.takes_one()))
                || targets.iter().any(|(f, whole)| !(*whole && f.takes_fours())),
            last_is_slowest: across,
            invocations: if shared { 4 } else { 1 },
            specialise: request.specialise,
        };
        let (frame, groups) = point_mapping::plan(words, late_shape, points, &asked, device);
        let rank = shape.len();
        Some(FormPlan {
            width,
            frame,
            groups,
            fetches,
            windows,
            indices,
            late_fetches,
            late_indices,
            targets,
            form,
            rank,
            places,
        })
    }
}
