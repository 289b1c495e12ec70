//! Plans one dispatch: the code of its kernel, and the kernel's arguments.
//!
//! Owns [`DispatchPlan`] and [`PlannedDispatch`], the answer to a [`DispatchRequest`]. `walks.rs` has the accesses of
//! loads, indices and stores. `point_mapping.rs` maps invocations to points, `fetch.rs` points to elements,
//! `windows.rs` has what several accesses share.
//! `form_plan.rs` has the parts that depend on the form, `matmul.rs` and `tiles.rs` those of matrix products.
//! Invariant: facts that differ between launches of one kernel are argument words; all others are in the plan.
//!
//! Imports `analysis`, `dialect`, `emit/loop_bounds.rs` and `kernel_features.rs`. Not here: the text (`text`).

pub(crate) mod fetch;
pub(crate) mod form_plan;
mod matmul;
pub(crate) mod point_mapping;
mod request;
pub(crate) mod tiles;
mod walks;
pub(crate) mod windows;

pub use request::{DispatchDeclined, DispatchRequest};
pub use tiles::slices;

use crate::analysis::float_classes;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords, ParameterSource};
use crate::analysis::uses::live_for;
use crate::analysis::uses::{Uses, is_hazard};
use crate::compute::kernel_features::{KernelFeatures, Language};
use crate::dialect::Width;
use fetch::ElementFetch;
use form_plan::{FormDetails, FormPlan};
use gpupy_core::Scalar;
use gpupy_core::ir::Form;
use point_mapping::InvocationMapping;
use windows::ElementWindow;

/// A plan and the arguments of its launch.
#[derive(Clone, Debug)]
pub struct PlannedDispatch {
    /// The plan of the kernel.
    pub plan: DispatchPlan,
    /// The argument words. A uniform buffer of them is padded to a multiple of 16 bytes.
    pub words: Vec<u32>,
    /// Workgroups to dispatch along each dimension.
    pub groups: [u32; 3],
}

/// All that determines the kernel of a dispatch besides its program and device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DispatchPlan {
    /// The destinations that the kernel writes, in the order of their blocks.
    pub stores: Vec<u32>,
    /// The number of argument words.
    pub word_count: usize,
    /// True if the kernel reaches blocks by addresses ([`Language::Glsl`]).
    pub addresses: bool,
    /// True if the argument words, with the addresses, are push constants ([`Language::Glsl`]).
    pub pushed: bool,
    /// The width of a map, or of the code before `reduce`.
    pub(crate) width: Width,
    pub(crate) frame: InvocationMapping,
    /// How each loaded access is fetched (in a reduction, before `reduce`).
    pub(crate) fetches: Vec<(u32, ElementFetch)>,
    /// The loads that share elements; they have no fetch.
    pub(crate) windows: Vec<ElementWindow>,
    pub(crate) indices: Vec<(u32, AffineIndex)>,
    /// The fetches after `reduce`.
    pub(crate) late_fetches: Vec<(u32, ElementFetch)>,
    pub(crate) late_indices: Vec<(u32, AffineIndex)>,
    pub(crate) form: FormDetails,
    /// How each destination is written, and whether its padding may be written.
    pub(crate) targets: Vec<(ElementFetch, bool)>,
    /// For each operand and then each destination, whether its binding is an array of vectors of four.
    pub(crate) fours: Vec<bool>,
    /// For each gathered operand, the word of its last index.
    pub(crate) lasts: Vec<Option<u16>>,
    /// True if quotients are too large for a single estimate in floats.
    pub(crate) large: bool,
    pub(crate) params: Vec<ParameterSource>,
    /// True if all float parameters are finite.
    pub(crate) finite: bool,
    pub(crate) constants: Vec<(Scalar, u16)>,
    /// The word 0 that hides results from compilers ([`Wgsl::guards`](crate::Wgsl::guards)).
    pub(crate) zero: Option<u16>,
    /// Axes of the coalesced iteration space.
    pub(crate) rank: u8,
}

impl DispatchPlan {
    /// True if parameters are literals.
    pub fn is_specialised(&self) -> bool {
        self.params.iter().any(|p| matches!(p, ParameterSource::Literal(_)))
    }
}

/// Plans one dispatch.
///
/// # Errors
/// The reason why no kernel can do it.
pub fn plan(
    device: &KernelFeatures,
    request: &DispatchRequest<'_>,
) -> Result<PlannedDispatch, DispatchDeclined> {
    let program = request.program;
    if !device.supports_form(program.form.kind()) {
        return Err(DispatchDeclined::Form);
    }
    let live = live_for(program, request.stores);
    let uses = Uses::of(program, &live);
    let mut words = ArgumentWords::default();
    let parts = match program.form {
        Form::MatMul => matmul::plan(&mut words, request, device),
        _ => FormPlan::new(&mut words, request, device, &uses),
    };
    let parts = parts.ok_or(DispatchDeclined::Large)?;

    let mut lasts = vec![None; program.operands.len()];
    for operand in &uses.gathered {
        let length = request.lengths[*operand as usize] as i64;
        lasts[*operand as usize] = Some(words.int(length - 1));
    }
    let params = request.params.iter().zip(&program.params).enumerate();
    let params = params.map(|(slot, (bits, dtype))| {
        let scalar = Scalar::new(*dtype, *bits);
        let literal = request.specialise && !is_hazard(program, slot, scalar);
        if literal {
            ParameterSource::Literal(*bits)
        } else {
            ParameterSource::Word(words.scalar(scalar))
        }
    });
    let params = params.collect();
    let constants = uses.hazards.iter().map(|scalar| (*scalar, words.scalar(*scalar))).collect();
    let zero = (device.guards && device.language == Language::Wgsl).then(|| words.int(0));
    let glsl = device.language == Language::Glsl;
    let addresses = glsl && device.addresses;
    let blocks = program.operands.len() + request.stores.len();
    let pushed_bytes = 4 * words.list.len() + if addresses { 8 * blocks } else { 0 };
    let plan = DispatchPlan {
        stores: request.stores.to_vec(),
        word_count: words.list.len(),
        addresses,
        pushed: glsl && pushed_bytes <= device.push_bytes as usize,
        width: parts.width,
        frame: parts.frame,
        fours: fours(
            &uses,
            [&parts.fetches, &parts.late_fetches],
            &parts.windows,
            &parts.targets,
            [program.operands.len(), request.stores.len()],
        ),
        fetches: parts.fetches,
        windows: parts.windows,
        indices: parts.indices,
        late_fetches: parts.late_fetches,
        late_indices: parts.late_indices,
        form: parts.form,
        targets: parts.targets,
        lasts,
        large: words.divides && parts.places > 1 << 22,
        finite: float_classes::are_finite(request.params, program),
        params,
        constants,
        zero,
        rank: parts.rank as u8,
    };
    let words = words.list.into_iter().map(|word| word as u32).collect();
    Ok(PlannedDispatch { plan, words, groups: parts.groups })
}

/// For each operand and then each destination, whether it is accessed only in aligned vectors of four, or in single
/// elements that serve all points of an invocation.
fn fours(
    uses: &Uses,
    [early, late]: [&[(u32, ElementFetch)]; 2],
    windows: &[ElementWindow],
    targets: &[(ElementFetch, bool)],
    [operands, stores]: [usize; 2],
) -> Vec<bool> {
    type Loads<'a> = &'a [(u32, u32)];
    let of = |operand: u32| {
        let loads = |(loads, fetches): (Loads<'_>, &[(u32, ElementFetch)])| -> Vec<ElementFetch> {
            let of_operand = loads.iter().filter(|(o, _)| *o == operand);
            let fetch = |(_, access): &(u32, u32)| fetches.iter().find(|(a, _)| a == access);
            of_operand.filter_map(fetch).map(|(_, fetch)| fetch.clone()).collect()
        };
        let all = [loads((&uses.loads, early)), loads((&uses.late_loads, late))].concat();
        !uses.gathered.contains(&operand)
            && windows.iter().all(|window| window.operand != operand)
            && all.iter().any(ElementFetch::takes_fours)
            && all.iter().all(|fetch| fetch.takes_fours() || fetch.takes_one())
    };
    let target = |store: usize| targets.get(store).is_some_and(|(fetch, _)| fetch.takes_fours());
    (0..operands as u32).map(of).chain((0..stores).map(target)).collect()
}
