//! The parts of a plan that depend on its form.
//!
//! Owns `Parts`, `Formed` and `Reducing`. Not here: those of a matrix product (`product.rs`).

use crate::analysis::numbers::{Sum, Words};
use crate::analysis::space::Walk;
use crate::analysis::uses::Uses;
use crate::compute::device::Device;
use crate::compute::plan::fetch::{self, Fetch};
use crate::compute::plan::frame::{self, Asked, Frame, Points};
use crate::compute::plan::request::Request;
use crate::compute::plan::tiles::Product;
use crate::compute::plan::walks::Walks;
use crate::dialect::Width;
use gpupy_core::ir::Form;

/// What a form needs beside its accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formed {
    Map,
    Reduce(Reducing),
    /// The word of the number of points along the last axis.
    Scan(u16),
    Product(Product),
}

/// How reductions are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reducing {
    /// The word of the number of points along the last axis.
    pub points: u16,
    /// True where fours along the last axis may be short.
    pub ragged: bool,
    /// True where four invocations share an output point: where the group's memory has no room for the
    /// lanes of all reductions, one takes it alone.
    pub shared: bool,
}

/// The parts of a plan that depend on its form.
pub(crate) struct Parts {
    pub width: Width,
    pub frame: Frame,
    pub groups: [u32; 3],
    pub fetches: Vec<(u32, Fetch)>,
    pub indices: Vec<(u32, Sum)>,
    pub late_fetches: Vec<(u32, Fetch)>,
    pub late_indices: Vec<(u32, Sum)>,
    pub targets: Vec<(Fetch, bool)>,
    pub form: Formed,
    /// Axes that are left.
    pub rank: usize,
    /// Points for which places are reckoned.
    pub places: i64,
}

impl Parts {
    /// Those of every form but the matrix product; `None` for more points than can be counted.
    pub fn new(
        words: &mut Words,
        request: &Request<'_>,
        device: &Device,
        uses: &Uses,
    ) -> Option<Parts> {
        let form = request.program.form;
        let walks = Walks::new(request, uses);
        let Walks { shape, late_shape, .. } = &walks;
        let places = late_shape.iter().try_fold(1i64, |all, n| all.checked_mul(*n))?;
        let last = shape.last().copied()?;
        if places.max(last) > i64::from(i32::MAX) {
            return None;
        }
        // The invocations of a map have the points of its space, those of other forms chunks.
        let map = form == Form::Map;
        let fours = !uses.loops && !matches!(form, Form::Scan { .. });
        let width = if fours { Width::Four } else { Width::One };
        let points = if map { Points::of(shape, width) } else { Points::One };
        let across = !map && walks.go_across();
        let flat = !across && fetch::is_flat(shape, points);
        let early_points = match width {
            _ if map => points,
            Width::Four => Points::Run,
            Width::One => Points::One,
        };
        let mut early = |walk: &Walk| fetch::plan(words, walk, shape, early_points, flat && map);
        let of = |list: &[(u32, Walk)], plan: &mut dyn FnMut(&Walk) -> Fetch| {
            list.iter().map(|(access, walk)| (*access, plan(walk))).collect::<Vec<_>>()
        };
        let fetches = of(&walks.loads, &mut early);
        let early_targets = !matches!(form, Form::Reduce { .. });
        let written: Vec<Fetch> = match early_targets {
            true => walks.targets.iter().map(&mut early).collect(),
            false => Vec::new(),
        };
        let mut late = |walk: &Walk| fetch::plan(words, walk, late_shape, points, flat);
        let late_fetches = of(&walks.late_loads, &mut late);
        let written = match early_targets {
            true => written,
            false => walks.targets.iter().map(&mut late).collect(),
        };
        let whole = request.targets.iter().map(|(_, whole)| *whole);
        let targets: Vec<(Fetch, bool)> = written.into_iter().zip(whole).collect();
        let mut sums = |list: &[(u32, Walk)], shape: &[i64]| -> Vec<(u32, Sum)> {
            let sum = |(access, walk): &(u32, Walk)| {
                (*access, Sum::new(words, walk.offset, &walk.strides, shape))
            };
            list.iter().map(sum).collect()
        };
        let indices = sums(&walks.indices, shape);
        let late_indices = sums(&walks.late_indices, late_shape);
        let form = match form {
            Form::Reduce { .. } => Formed::Reduce(Reducing {
                points: words.int(last),
                ragged: last % 4 != 0,
                shared: device.shares && !across && device.has_room(request.program),
            }),
            Form::Scan { .. } => Formed::Scan(words.int(last)),
            _ => Formed::Map,
        };
        let shared = matches!(form, Formed::Reduce(Reducing { shared: true, .. }));
        let loads = || fetches.iter().chain(&late_fetches).map(|(_, fetch)| fetch);
        let mut all = loads().chain(targets.iter().map(|(fetch, _)| fetch));
        let asked = Asked {
            coordinates: !map || !indices.is_empty() || all.any(Fetch::needs_coordinates),
            tail: loads().any(|f| !(f.takes_fours() || f.takes_one()))
                || targets.iter().any(|(f, whole)| !(*whole && f.takes_fours())),
            last_is_slowest: across,
            invocations: if shared { 4 } else { 1 },
            specialise: request.specialise,
        };
        let (frame, groups) = frame::plan(words, late_shape, points, &asked, device);
        let rank = shape.len();
        Some(Parts {
            width,
            frame,
            groups,
            fetches,
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
