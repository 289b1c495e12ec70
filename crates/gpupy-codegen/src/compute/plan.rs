//! Plans one dispatch: what its kernel must do, and the numbers that it does it with.
//!
//! Owns [`Plan`], [`Request`] and [`Planned`]. Invariant: everything that differs between launches
//! that share a kernel is in the words, everything else in the plan.
//!
//! Not here: the text (`map.rs`, `text.rs`).

use super::device::{Device, Language};
use super::fetch::{self, Fetch};
use super::frame::{self, Asked, Frame, Points};
use super::product::{self, Product};
use super::walks::Walks;
use crate::analysis::kinds;
use crate::analysis::liveness::live_instructions;
use crate::analysis::numbers::{Given, Sum, Words};
use crate::analysis::space::Walk;
use crate::analysis::uses::{Uses, is_hazard};
use crate::dialect::Width;
use gpupy_core::Scalar;
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, Program};

/// One dispatch to be planned.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The code.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// The numbers of the accesses.
    pub accesses: &'a [Access],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The elements in the block of each operand.
    pub lengths: &'a [usize],
    /// The destinations that this dispatch writes, by their number in the program. They are different
    /// blocks in WGSL, where no two bindings may write one.
    pub stores: &'a [u32],
    /// Where each of these is written, and whether all of its block is, in order.
    pub targets: &'a [(&'a Access, bool)],
    /// True to make literals of the parameters, and of what depends on the shape alone.
    pub specialise: bool,
    /// True where results are added to what is there, as those of a product's later [`slices`](super::slices).
    pub adds: bool,
}

impl<'a> Request<'a> {
    /// One dispatch of a launch, whose scalars are the launch's numbers.
    pub fn of(
        launch: &Launch<'a>,
        lengths: &'a [usize],
        stores: &'a [u32],
        targets: &'a [(&'a Access, bool)],
    ) -> Request<'a> {
        let Launch { program, shape, accesses, params, .. } = *launch;
        let (specialise, adds) = (false, false);
        Request { program, shape, accesses, params, lengths, stores, targets, specialise, adds }
    }
}

/// Why a launch cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// Kernels of this form are not made for this device.
    Form,
    /// More points than are counted in 31 bits, or more terms of a product than one dispatch takes.
    Large,
}

/// A plan and its launch's numbers.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What the kernel does.
    pub plan: Plan,
    /// The launch's numbers. As a uniform buffer they are padded to whole 16 bytes.
    pub words: Vec<u32>,
    /// Groups to dispatch along each dimension.
    pub groups: [u32; 3],
}

/// What the kernel of a dispatch does, beyond its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The destinations that it writes, in the order of their blocks.
    pub stores: Vec<u32>,
    /// How many numbers the launch gives.
    pub word_count: usize,
    /// Whether blocks are reached by addresses ([`Language::Glsl`]).
    pub addresses: bool,
    /// True when the numbers, with the addresses, are push constants ([`Language::Glsl`]).
    pub pushed: bool,
    /// Of a map and of what stands before `reduce`.
    pub(super) width: Width,
    pub(super) frame: Frame,
    /// For each access that is loaded (of a reduction, before `reduce`), how.
    pub(super) fetches: Vec<(u32, Fetch)>,
    pub(super) indices: Vec<(u32, Sum)>,
    /// Those after `reduce`.
    pub(super) late_fetches: Vec<(u32, Fetch)>,
    pub(super) late_indices: Vec<(u32, Sum)>,
    pub(super) form: Formed,
    /// How each destination is written, and whether what lies behind its last element may be.
    pub(super) targets: Vec<(Fetch, bool)>,
    /// For each operand and then each destination, whether its binding is of fours.
    pub(super) fours: Vec<bool>,
    /// For each operand that is gathered, the word of its last element's number.
    pub(super) lasts: Vec<Option<u16>>,
    /// True when quotients are too large for one estimate in floats.
    pub(super) large: bool,
    pub(super) params: Vec<Given>,
    /// True when all floats among them are finite.
    pub(super) finite: bool,
    pub(super) constants: Vec<(Scalar, u16)>,
    /// The word that hides results from compilers ([`Wgsl::guards`](crate::Wgsl::guards)).
    pub(super) zero: Option<u16>,
    /// Axes of the iteration space that are left.
    pub(super) rank: u8,
}

/// What a form needs beside its accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formed {
    Map,
    Reduce(Reduction),
    /// The word of the number of points along the last axis.
    Scan(u16),
    Product(Product),
}

/// How a reduction is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reduction {
    /// The word of the number of points along the last axis.
    pub points: u16,
    /// True where fours along the last axis may be short.
    pub ragged: bool,
    /// True where four invocations share an output point.
    pub shared: bool,
}

impl Plan {
    /// True when parameters have become literals.
    pub fn is_specialised(&self) -> bool {
        self.params.iter().any(|p| matches!(p, Given::Literal(_)))
    }
}

/// Plans one dispatch.
///
/// # Errors
/// Why there is no kernel for it.
pub fn plan(device: &Device, request: &Request<'_>) -> Result<Planned, Declined> {
    let program = request.program;
    if !device.supports_form(program.form.kind()) {
        return Err(Declined::Form);
    }
    let live = live_instructions(program, request.stores);
    let uses = Uses::of(program, &live);
    let mut words = Words::default();
    let parts = match program.form {
        Form::MatMul => product::plan(&mut words, request, device),
        _ => Parts::new(&mut words, request, device, &uses),
    };
    let parts = parts.ok_or(Declined::Large)?;

    let mut lasts = vec![None; program.operands.len()];
    for operand in &uses.gathered {
        let length = request.lengths[*operand as usize] as i64;
        lasts[*operand as usize] = Some(words.int(length - 1));
    }
    let params = request.params.iter().zip(&program.params).enumerate();
    let params = params.map(|(slot, (bits, dtype))| {
        let scalar = Scalar::new(*dtype, *bits);
        let literal = request.specialise && !is_hazard(program, slot, scalar);
        if literal { Given::Literal(*bits) } else { Given::Word(words.scalar(scalar)) }
    });
    let params = params.collect();
    let constants = uses.hazards.iter().map(|scalar| (*scalar, words.scalar(*scalar))).collect();
    let zero = (device.guards && device.language == Language::Wgsl).then(|| words.int(0));
    let glsl = device.language == Language::Glsl;
    let addresses = glsl && device.addresses;
    let blocks = program.operands.len() + request.stores.len();
    let pushed_bytes = 4 * words.list.len() + if addresses { 8 * blocks } else { 0 };
    let plan = Plan {
        stores: request.stores.to_vec(),
        word_count: words.list.len(),
        addresses,
        pushed: glsl && pushed_bytes <= device.push_bytes as usize,
        width: parts.width,
        frame: parts.frame,
        fours: fours(
            &uses,
            [&parts.fetches, &parts.late_fetches],
            &parts.targets,
            [program.operands.len(), request.stores.len()],
        ),
        fetches: parts.fetches,
        indices: parts.indices,
        late_fetches: parts.late_fetches,
        late_indices: parts.late_indices,
        form: parts.form,
        targets: parts.targets,
        lasts,
        large: words.divides && parts.places > 1 << 22,
        finite: kinds::are_finite(request.params, program),
        params,
        constants,
        zero,
        rank: parts.rank as u8,
    };
    let words = words.list.into_iter().map(|word| word as u32).collect();
    Ok(Planned { plan, words, groups: parts.groups })
}

/// The parts of a plan that depend on its form.
pub(super) struct Parts {
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
    fn new(
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
            Form::Reduce { .. } => Formed::Reduce(Reduction {
                points: words.int(last),
                ragged: last % 4 != 0,
                shared: device.shares && !across,
            }),
            Form::Scan { .. } => Formed::Scan(words.int(last)),
            _ => Formed::Map,
        };
        let shared = matches!(form, Formed::Reduce(Reduction { shared: true, .. }));
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

/// For each operand and then each destination, whether it is only ever read or written in fours, or
/// in single elements that stand for four.
fn fours(
    uses: &Uses,
    [early, late]: [&[(u32, Fetch)]; 2],
    targets: &[(Fetch, bool)],
    [operands, stores]: [usize; 2],
) -> Vec<bool> {
    type Loads<'a> = &'a [(u32, u32)];
    let of = |operand: u32| {
        let loads = |(loads, fetches): (Loads<'_>, &[(u32, Fetch)])| -> Vec<Fetch> {
            let of_operand = loads.iter().filter(|(o, _)| *o == operand);
            let fetch = |(_, access): &(u32, u32)| fetches.iter().find(|(a, _)| a == access);
            of_operand.filter_map(fetch).map(|(_, fetch)| fetch.clone()).collect()
        };
        let all = [loads((&uses.loads, early)), loads((&uses.late_loads, late))].concat();
        !uses.gathered.contains(&operand)
            && all.iter().any(Fetch::takes_fours)
            && all.iter().all(|fetch| fetch.takes_fours() || fetch.takes_one())
    };
    let target = |store: usize| targets.get(store).is_some_and(|(fetch, _)| fetch.takes_fours());
    (0..operands as u32).map(of).chain((0..stores).map(target)).collect()
}
