//! Plans one dispatch: what its kernel must do, and the numbers that it does it with.
//!
//! Owns [`Plan`], [`Request`] and [`Planned`]. Invariant: everything that differs between launches
//! that share a kernel is in the words, everything else in the plan.
//!
//! Not here: the text (`map.rs`, `text.rs`).

use super::device::{Device, Language};
use super::fetch::{self, Fetch};
use super::frame::{self, Asked, Frame, Points};
use crate::dialect::Width;
use crate::numbers::{Given, Sum, Words, is_hazardous};
use crate::space::{Walk, merge};
use crate::uses::Uses;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, Program};
use gpupy_core::{DType, Scalar};

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
    /// True to make literals of the parameters.
    pub specialise: bool,
}

/// Why a launch cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// Kernels of this form are not made for this device.
    Form,
    /// More points than are counted in 31 bits.
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
    /// True when addresses and numbers are push constants ([`Language::Glsl`]).
    pub pushed: bool,
    pub(super) width: Width,
    pub(super) frame: Frame,
    /// For each access that is loaded, how.
    pub(super) fetches: Vec<(u32, Fetch)>,
    pub(super) indices: Vec<(u32, Sum)>,
    /// How each destination is written, and whether what lies behind its last element may be.
    pub(super) targets: Vec<(Fetch, bool)>,
    /// For each operand and then each destination, whether its binding is of fours.
    pub(super) fours: Vec<bool>,
    /// For each operand that is gathered, the word of its last element's number.
    pub(super) lasts: Vec<Option<u16>>,
    /// True when quotients are too large for one estimate in floats.
    pub(super) large: bool,
    pub(super) params: Vec<Given>,
    pub(super) constants: Vec<(Scalar, u16)>,
    /// Axes of the iteration space that are left.
    pub(super) rank: u8,
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
    if program.form != Form::Map {
        return Err(Declined::Form);
    }
    let live = crate::live_instructions(program, request.stores);
    let uses = Uses::of(program, &live);
    let mut space = Space::new(request, &uses);
    space.merge();
    let points: i64 =
        space.shape.iter().try_fold(1i64, |a, n| a.checked_mul(*n)).unwrap_or(i64::MAX);
    if points > i64::from(i32::MAX) {
        return Err(Declined::Large);
    }
    let width = if uses.loops { Width::One } else { Width::Four };
    let mut words = Words::default();

    let points = Points::of(&space.shape, width);
    let flat = fetch::is_flat(&space.shape, points);
    let mut fetch = |walk: &Walk| fetch::plan(&mut words, walk, &space.shape, points, flat);
    let fetches: Vec<(u32, Fetch)> = space.loads.iter().map(|(a, w)| (*a, fetch(w))).collect();
    let targets: Vec<(Fetch, bool)> = space
        .targets
        .iter()
        .zip(request.targets)
        .map(|(w, (_, whole))| (fetch(w), *whole))
        .collect();
    let mut sum = |(access, walk): &(u32, Walk)| {
        (*access, Sum::new(&mut words, walk.offset, &walk.strides, &space.shape))
    };
    let indices: Vec<(u32, Sum)> = space.indices.iter().map(&mut sum).collect();
    let all = || fetches.iter().map(|(_, f)| f).chain(targets.iter().map(|(f, _)| f));
    let each_exists = |f: &Fetch| f.takes_fours() || f.takes_one();
    let asked = Asked {
        coordinates: !indices.is_empty() || all().any(Fetch::needs_coordinates),
        tail: fetches.iter().any(|(_, f)| !each_exists(f))
            || targets.iter().any(|(f, whole)| !(*whole && f.takes_fours())),
    };
    let (frame, groups) = frame::plan(&mut words, &space.shape, points, &asked, device);

    let mut lasts = vec![None; program.operands.len()];
    for operand in &uses.gathered {
        let length = request.lengths[*operand as usize] as i64;
        lasts[*operand as usize] = Some(words.int(length - 1));
    }
    let params = request.params.iter().zip(&program.params);
    let params = params.map(|(bits, dtype)| {
        let scalar = Scalar::new(*dtype, *bits);
        let literal = request.specialise && !is_hazardous(scalar);
        if literal { Given::Literal(*bits) } else { Given::Word(put(&mut words, scalar)) }
    });
    let params = params.collect();
    let constants = uses.hazards.iter().map(|scalar| (*scalar, put(&mut words, *scalar))).collect();
    let blocks = program.operands.len() + request.stores.len();
    let plan = Plan {
        stores: request.stores.to_vec(),
        word_count: words.list.len(),
        pushed: device.language == Language::Glsl
            && 8 * blocks + 4 * words.list.len() <= device.push_bytes as usize,
        width,
        frame,
        fours: fours(&uses, &fetches, &targets, program.operands.len(), flat),
        fetches,
        indices,
        targets,
        lasts,
        large: words.divides && space.shape.iter().product::<i64>() > 1 << 22,
        params,
        constants,
        rank: space.shape.len() as u8,
    };
    let words = words.list.into_iter().map(|word| word as u32).collect();
    Ok(Planned { plan, words, groups })
}

/// Adds a scalar as kernels hold it; gives the number of its first word.
fn put(words: &mut Words, scalar: Scalar) -> u16 {
    let bits = scalar.bits;
    match scalar.dtype {
        DType::I8 => words.int(i64::from(bits as u8 as i8)),
        DType::I16 => words.int(i64::from(bits as u16 as i16)),
        _ if scalar.dtype.size() == 8 => {
            let low = words.bits(bits as i32);
            words.bits((bits >> 32) as i32);
            low
        }
        _ => words.bits(bits as i32),
    }
}

/// For each operand and then each destination, whether it is only ever read or written in fours, or
/// in single elements that stand for four.
fn fours(
    uses: &Uses,
    fetches: &[(u32, Fetch)],
    targets: &[(Fetch, bool)],
    operands: usize,
    _flat: bool,
) -> Vec<bool> {
    let of = |operand: u32| {
        let loads = || {
            let of_operand = uses.loads.iter().filter(move |(o, _)| *o == operand);
            of_operand.filter_map(|(_, access)| fetches.iter().find(|(a, _)| a == access))
        };
        !uses.gathered.contains(&operand)
            && loads().any(|(_, f)| f.takes_fours())
            && loads().all(|(_, f)| f.takes_fours() || f.takes_one())
    };
    let of_targets = targets.iter().map(|(f, _)| f.takes_fours());
    (0..operands as u32).map(of).chain(of_targets).collect()
}

/// The walks of a launch over its space.
struct Space {
    shape: Vec<i64>,
    loads: Vec<(u32, Walk)>,
    indices: Vec<(u32, Walk)>,
    targets: Vec<Walk>,
}

impl Space {
    fn new(request: &Request<'_>, uses: &Uses) -> Space {
        let rank = request.shape.len();
        let walk = |access: &u32| (*access, Walk::of(&request.accesses[*access as usize], rank));
        let mut loaded: Vec<u32> = uses.loads.iter().map(|(_, access)| *access).collect();
        loaded.sort_unstable();
        loaded.dedup();
        Space {
            shape: request.shape.iter().map(|n| *n as i64).collect(),
            loads: loaded.iter().map(walk).collect(),
            indices: uses.indices.iter().map(walk).collect(),
            targets: request.targets.iter().map(|(access, _)| Walk::of(access, rank)).collect(),
        }
    }

    /// Makes as few axes as the walks allow.
    fn merge(&mut self) {
        let named = self.loads.iter_mut().chain(&mut self.indices).map(|(_, walk)| walk);
        let mut all: Vec<&mut Walk> = named.chain(&mut self.targets).collect();
        merge(&mut self.shape, 0, &mut all);
    }
}
