//! Plans one draw: the code of its shader, and the shader's arguments.
//!
//! Owns [`DrawPlan`] and [`PlannedDraw`]. Invariant: facts that differ between launches of one shader are argument
//! words; all others are in the plan.
//!
//! Not here: the text (`map.rs`, `row_reduction.rs`), the choice of destinations for one draw (`driver-gl`).

use super::fetch::{self, Surroundings, TexelFetch, Wrap};
use super::point_mapping::{self, Area, FragmentMapping, WritePredicate};
use super::request::{DrawDeclined, DrawRequest};
use super::texture_layout::TextureLayout;
use super::walks::{DrawWalks, LoadWalk, follows};
use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::float_classes;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords, ParameterSource};
use crate::analysis::uses::live_for;
use crate::analysis::uses::{Uses, is_hazard};
use crate::dialect::Width;
use crate::thresholds::T;
use gpupy_core::ir::Form;
use gpupy_core::{DType, Scalar};
use std::cell::{Cell, RefCell};

/// A plan and the arguments of its launch.
#[derive(Clone, Debug)]
pub struct PlannedDraw {
    /// The plan of the shader.
    pub plan: DrawPlan,
    /// The argument words, for the uniform array `k` of vectors of four.
    pub words: Vec<i32>,
    /// The texels to draw.
    pub area: Area,
}

/// A load of an operand at an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Load {
    pub operand: u32,
    pub access: u32,
    pub fetch: TexelFetch,
}

/// All that determines the shader of a draw besides its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DrawPlan {
    /// The destinations that the shader writes, in the order of its outputs.
    pub stores: Vec<u32>,
    /// The number of argument words.
    pub word_count: usize,
    pub(super) width: Width,
    pub(super) frame: FragmentMapping,
    /// Loads before `reduce`, and all loads of a map. Likewise `indices`.
    pub(super) loads: Vec<Load>,
    pub(super) indices: Vec<(u32, AffineIndex)>,
    /// Loads after `reduce`. Likewise `late_indices`.
    pub(super) late_loads: Vec<Load>,
    pub(super) late_indices: Vec<(u32, AffineIndex)>,
    /// For each operand, its wrap and the word of its last index, if needed.
    pub(super) wraps: Vec<Option<(Wrap, u16)>>,
    /// True if quotients are too large for a single estimate in floats.
    pub(super) large: bool,
    pub(super) params: Vec<ParameterSource>,
    /// True if all float parameters are finite.
    pub(super) finite: bool,
    /// The vectors of argument words with parameters that are read before any fetch; usually none.
    pub(super) held: (u16, u16),
    pub(super) constants: Vec<(Scalar, u16)>,
    /// In a reduction: the word of the number of points along the last axis.
    pub(super) points: u16,
    /// In a reduction: true for a column reduction, which reduces the four elements of a texel side by side.
    pub(super) across: bool,
    /// Axes of the coalesced iteration space.
    pub(super) rank: u8,
}

impl DrawPlan {
    /// True if the shader reads the destination's old contents.
    pub fn reads_old(&self) -> bool {
        self.frame.guard == WritePredicate::Elements
            || (self.frame.guard == WritePredicate::Texels && self.width == Width::One)
    }

    /// True if parameters are literals.
    pub fn is_specialised(&self) -> bool {
        self.params.iter().any(|p| matches!(p, ParameterSource::Literal(_)))
    }
}

/// The vectors of argument words that hold these parameters, if there are many.
///
/// LLVM's instruction selection takes time quadratic in the uniforms that are read after a texture, but not if they are
/// read before.
fn held(params: &[ParameterSource]) -> (u16, u16) {
    let mut words = params.iter().filter_map(|param| match param {
        ParameterSource::Word(word) => Some(word / 4),
        ParameterSource::Literal(_) => None,
    });
    let (count, first) = (words.clone().count(), words.next().unwrap_or(0));
    if count < T.held_params { (0, 0) } else { (first, words.max().unwrap_or(first) + 1) }
}

/// Plans one draw.
///
/// # Errors
/// The reason why one draw cannot do it.
pub fn plan(request: &DrawRequest<'_>) -> Result<PlannedDraw, DrawDeclined> {
    let program = request.program;
    let live = live_for(program, request.stores);
    let uses = Uses::of(program, &live);
    let DrawWalks { shape, out_shape, dest, loads, late_loads, indices, late_indices } =
        DrawWalks::new(request, &uses)?;
    let reduces = program.form != Form::Map;
    let mut words = ArgumentWords::default();
    let target = &request.target;
    let contiguous = follows(&dest, &out_shape);
    let late = if reduces { &late_loads } else { &loads };
    let moving = || late.iter().filter(|load| !load.walk.is_uniform(&out_shape));
    let load_follows = |load: &LoadWalk| {
        let layout = &request.operands[load.operand as usize];
        contiguous && load.follows(layout, &out_shape)
    };
    let by_texel = moving().any(load_follows);
    let by_coordinates = reduces || !indices.is_empty() || moving().any(|load| !load_follows(load));
    let framed = point_mapping::plan(
        &mut words,
        &out_shape,
        &dest,
        &target.layout,
        target.whole,
        uses.loops,
        by_coordinates,
        by_texel,
    )?;

    let last = shape.len() as u8 - 1;
    let across = framed.frame.quad.is_some_and(|(axis, _)| {
        reduces && !uses.loops && axis < last && goes_across(&loads, axis as usize)
    });
    let width = if uses.loops || reduces && !across { Width::One } else { Width::Four };
    let mut wraps: Vec<Option<(Wrap, u16)>> = vec![None; program.operands.len()];
    let mut fetch = |words: &mut ArgumentWords, around: &Surroundings<'_>, load: &LoadWalk| {
        let layout = &request.operands[load.operand as usize];
        let slot = &mut wraps[load.operand as usize];
        let mut wrap = |words: &mut ArgumentWords| set_wrap(words, slot, layout);
        let fetch = fetch::plan(words, around, load, layout, &mut wrap);
        Load { operand: load.operand, access: load.access, fetch }
    };
    let mut around = Surroundings {
        shape: &out_shape,
        linear: framed.linear.map(|first| (target.layout.width, first)),
        quad: if width == Width::Four { framed.frame.quad } else { None },
        bases: RefCell::default(),
        next: Cell::new(0),
    };
    let late_loads = late_loads.iter().map(|l| fetch(&mut words, &around, l)).collect();
    if reduces {
        around = Surroundings {
            shape: &shape,
            linear: None,
            quad: match across {
                true => framed.frame.quad,
                // The points that a lane visits start at a multiple of four.
                false => (!uses.loops).then_some((last, 0)),
            },
            bases: RefCell::default(),
            next: Cell::new(0),
        };
    }
    let loads: Vec<Load> = loads.iter().map(|l| fetch(&mut words, &around, l)).collect();
    for operand in &uses.gathered {
        let layout = &request.operands[*operand as usize];
        set_wrap(&mut words, &mut wraps[*operand as usize], layout);
    }
    let mut sum = |(access, walk): &(u32, AffineWalk), shape: &[i64]| {
        (*access, AffineIndex::new(&mut words, walk.offset, &walk.strides, shape))
    };
    let indices = indices.iter().map(|i| sum(i, &shape)).collect();
    let late_indices = late_indices.iter().map(|i| sum(i, &out_shape)).collect();
    let points = shape.last().copied().unwrap_or(1);
    let points = if reduces { words.int(points) } else { 0 };

    let given = |(slot, (bits, dtype)): (usize, (&u64, &DType))| {
        let scalar = Scalar::new(*dtype, *bits);
        let literal = request.specialise && !is_hazard(program, slot, scalar);
        if literal {
            ParameterSource::Literal(*bits)
        } else {
            ParameterSource::Word(words.scalar(scalar))
        }
    };
    let params = request.params.iter().zip(&program.params).enumerate();
    let params: Vec<ParameterSource> = params.map(given).collect();
    let fetches = !loads.is_empty() || !uses.gathered.is_empty();
    let held = match !reduces && width == Width::Four && fetches {
        true => held(&params),
        false => (0, 0),
    };
    let constants = uses.hazards.iter().map(|c| (*c, words.scalar(*c))).collect();
    let sizes = request.operands.iter().chain([&target.layout]);
    let largest = sizes.map(|l| l.texels() * 4).max().unwrap_or(0);
    let plan = DrawPlan {
        stores: request.stores.to_vec(),
        word_count: words.list.len(),
        width,
        frame: framed.frame,
        loads,
        indices,
        late_loads,
        late_indices,
        wraps,
        large: words.divides && largest > 1 << 22,
        finite: float_classes::are_finite(request.params, program),
        params,
        held,
        constants,
        points,
        across,
        rank: shape.len() as u8,
    };
    words.list.resize(words.list.len().next_multiple_of(4), 0);
    Ok(PlannedDraw { plan, words: words.list, area: framed.area })
}

/// True if four adjacent points of an axis find the elements that they reduce in whole texels.
fn goes_across(loads: &[LoadWalk], axis: usize) -> bool {
    let strides = || loads.iter().filter(|l| !l.numbered).map(|l| l.walk.strides[axis]);
    strides().any(|stride| stride == 1) && strides().all(|stride| stride == 0 || stride == 1)
}

fn set_wrap(words: &mut ArgumentWords, slot: &mut Option<(Wrap, u16)>, layout: &TextureLayout) {
    if slot.is_none() {
        let wrap = Wrap::new(words, layout);
        *slot = Some((wrap, words.int(layout.len as i64 - 1)));
    }
}
