//! Plans one dispatch: what its kernel must do, and the numbers that it does it with.
//!
//! Owns [`Plan`] and [`Planned`], the answer to a [`Request`]. A program's loads, indices and stores walk over elements
//! (`walks.rs`); `frame.rs` says how invocations find their points, `fetch.rs` how they find elements; `parts.rs` has
//! what depends on the form, `product.rs` and `tiles.rs` that of matrix products. Invariant: everything that differs
//! between launches that share a kernel is in the words, everything else in the plan.
//!
//! Imports `analysis`, `dialect`, `spell/loops.rs` and `device.rs`. Not here: the text (`text`).

pub(crate) mod fetch;
pub(crate) mod frame;
pub(crate) mod parts;
mod product;
mod request;
pub(crate) mod tiles;
mod walks;

pub use request::{Declined, Request};
pub use tiles::slices;

use crate::analysis::kinds;
use crate::analysis::uses::live_for;
use crate::analysis::numbers::{Given, Sum, Words};
use crate::analysis::uses::{Uses, is_hazard};
use crate::compute::device::{Device, Language};
use crate::dialect::Width;
use fetch::Fetch;
use frame::Frame;
use gpupy_core::Scalar;
use gpupy_core::ir::Form;
use parts::{Formed, Parts};

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
    pub(crate) width: Width,
    pub(crate) frame: Frame,
    /// For each access that is loaded (of a reduction, before `reduce`), how.
    pub(crate) fetches: Vec<(u32, Fetch)>,
    pub(crate) indices: Vec<(u32, Sum)>,
    /// Those after `reduce`.
    pub(crate) late_fetches: Vec<(u32, Fetch)>,
    pub(crate) late_indices: Vec<(u32, Sum)>,
    pub(crate) form: Formed,
    /// How each destination is written, and whether what lies behind its last element may be.
    pub(crate) targets: Vec<(Fetch, bool)>,
    /// For each operand and then each destination, whether its binding is of fours.
    pub(crate) fours: Vec<bool>,
    /// For each operand that is gathered, the word of its last element's number.
    pub(crate) lasts: Vec<Option<u16>>,
    /// True when quotients are too large for one estimate in floats.
    pub(crate) large: bool,
    pub(crate) params: Vec<Given>,
    /// True when all floats among them are finite.
    pub(crate) finite: bool,
    pub(crate) constants: Vec<(Scalar, u16)>,
    /// The word that hides results from compilers ([`Wgsl::guards`](crate::Wgsl::guards)).
    pub(crate) zero: Option<u16>,
    /// Axes of the iteration space that are left.
    pub(crate) rank: u8,
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
    let live = live_for(program, request.stores);
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
