//! Plans one draw: what its shader must do, and the numbers that it does it with.
//!
//! Owns [`Plan`], [`Request`], [`Planned`] and `Words`. Invariant: everything that differs between
//! launches that share a shader is in the words, everything else in the plan.
//!
//! Not here: the text (`map.rs`, `reduce.rs`), who decides which destinations go together
//! (`driver-gl`).

use super::fetch::{self, Fetch, Sum, Surroundings, Wrap};
use super::frame::{self, Area, Frame, Guard};
use super::layout::Layout;
use super::space::{Walk, merge};
use crate::dialect::Width;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, Program, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// Where one draw writes.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The texture; with several destinations they all have this layout.
    pub layout: Layout,
    /// The elements.
    pub access: &'a Access,
    /// True when the launch writes all of the block, in order.
    pub whole: bool,
}

/// One draw to be planned.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The code.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// The numbers of the accesses.
    pub accesses: &'a [Access],
    /// The textures of the operands.
    pub operands: &'a [Layout],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The destinations that this draw writes; several only when all are written whole.
    pub stores: &'a [u32],
    /// Where it writes them.
    pub target: Target<'a>,
    /// True to make literals of the parameters.
    pub specialise: bool,
}

/// Why a draw cannot be planned as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The destination's strides interleave, so that places do not tell coordinates. Launches for
    /// each point of one axis have fewer of them.
    Tangled,
}

/// A plan and its launch's numbers.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What the shader does.
    pub plan: Plan,
    /// The launch's numbers, to be given to the array `k`, four a vector.
    pub words: Vec<i32>,
    /// The texels to draw.
    pub area: Area,
}

/// A load of an operand at an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Load {
    pub operand: u32,
    pub access: u32,
    pub fetch: Fetch,
}

/// What the shader of a draw does, beyond its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The destinations that it writes, in the order of its outputs.
    pub stores: Vec<u32>,
    /// How many numbers the launch gives.
    pub word_count: usize,
    pub(super) width: Width,
    pub(super) frame: Frame,
    /// Loads and indices before `reduce`, and all of a map's.
    pub(super) loads: Vec<Load>,
    pub(super) indices: Vec<(u32, Sum)>,
    /// Those after `reduce`.
    pub(super) late_loads: Vec<Load>,
    pub(super) late_indices: Vec<(u32, Sum)>,
    /// For each operand, its wrap and the word of its last element's number, where asked for.
    pub(super) wraps: Vec<Option<(Wrap, u16)>>,
    /// True when quotients are too large for one estimate in floats.
    pub(super) large: bool,
    pub(super) params: Vec<Given>,
    pub(super) constants: Vec<(u32, u16)>,
    /// Of a reduce form: the word of the number of points along the last axis.
    pub(super) points: u16,
    /// Axes of the iteration space that are left.
    pub(super) rank: u8,
}

/// How a parameter reaches the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// As a word.
    Word(u16),
    /// As a literal of these bits.
    Literal(u64),
}

impl Plan {
    /// True when the shader reads the destination's old contents.
    pub fn reads_old(&self) -> bool {
        self.frame.guard == Guard::Elements
            || (self.frame.guard == Guard::Texels && self.width == Width::One)
    }

    /// True when parameters have become literals.
    pub fn is_specialised(&self) -> bool {
        self.params.iter().any(|p| matches!(p, Given::Literal(_)))
    }
}

/// The numbers of a launch.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub list: Vec<i32>,
    /// True when some quotient is computed.
    pub divides: bool,
}

impl Words {
    pub fn int(&mut self, value: i64) -> u16 {
        self.bits(value as i32)
    }

    pub fn float(&mut self, value: f32) -> u16 {
        self.bits(value.to_bits() as i32)
    }

    fn bits(&mut self, bits: i32) -> u16 {
        self.list.push(bits);
        (self.list.len() - 1) as u16
    }
}

/// True for operands that compilers fold even in arithmetic that is to be done as written.
fn is_hazardous(value: Scalar) -> bool {
    let x = value.as_f32();
    value.dtype == DType::F32 && (x == 0.0 || x.abs() == 1.0 || !x.is_finite())
}

/// Plans one draw.
///
/// # Errors
/// The reason why it must be several draws.
pub fn plan(request: &Request<'_>) -> Result<Planned, Declined> {
    let program = request.program;
    let live = crate::live_instructions(program, request.stores);
    let uses = Uses::of(program, &live);
    let rank = request.shape.len();
    let mut shape: Vec<i64> = request.shape.iter().map(|n| *n as i64).collect();
    let mut walks: Vec<Walk> = request.accesses.iter().map(|a| Walk::of(a, rank)).collect();
    let mut dest = Walk::of(request.target.access, rank);
    let reduces = program.form != Form::Map;
    let relevant = walks.iter_mut().enumerate().filter(|(k, _)| uses.accesses[*k]).map(|(_, w)| w);
    let mut merged: Vec<&mut Walk> = relevant.chain([&mut dest]).collect();
    merge(&mut shape, usize::from(reduces), &mut merged);
    for (k, walk) in walks.iter_mut().enumerate() {
        if !uses.accesses[k] {
            walk.strides = vec![0; shape.len()];
        }
    }
    let points = shape.last().copied().unwrap_or(1);
    let mut out_shape = shape.clone();
    if reduces && let Some(last) = out_shape.last_mut() {
        *last = (points as usize).div_ceil(REDUCE_CHUNK) as i64;
    }

    let width = if reduces || uses.regions { Width::One } else { Width::Four };
    let mut words = Words::default();
    let contiguous = fetch::follows(&dest, &out_shape);
    let follows = |access: u32| contiguous && fetch::follows(&walks[access as usize], &out_shape);
    let uniform = |access: u32| walks[access as usize].is_uniform(&out_shape);
    let late = if reduces { &uses.late_loads } else { &uses.loads };
    let by_texel = late.iter().any(|(_, a)| follows(*a) && !uniform(*a));
    let by_coordinates = reduces
        || !uses.indices.is_empty()
        || late.iter().any(|(_, a)| !follows(*a) && !uniform(*a));
    let target = &request.target;
    let framed = frame::plan(
        &mut words,
        &out_shape,
        &dest,
        &target.layout,
        target.whole,
        by_coordinates,
        by_texel,
    )?;

    let mut wraps: Vec<Option<(Wrap, u16)>> = vec![None; program.operands.len()];
    let mut load = |words: &mut Words, around: &Surroundings<'_>, (operand, access): (u32, u32)| {
        let layout = &request.operands[operand as usize];
        let slot = &mut wraps[operand as usize];
        let mut wrap = |words: &mut Words| set_wrap(words, slot, layout);
        let fetch = fetch::plan(words, around, &walks[access as usize], layout, &mut wrap);
        Load { operand, access, fetch }
    };
    let mut outer = Surroundings {
        shape: &out_shape,
        linear: framed.linear.map(|first| (target.layout.width, first)),
        quad: if width == Width::Four { framed.frame.quad } else { None },
    };
    let late_loads = uses.late_loads.iter().map(|l| load(&mut words, &outer, *l)).collect();
    if reduces {
        outer.shape = &shape;
        outer.linear = None;
        // The points that a lane visits start at a multiple of four.
        outer.quad = (!uses.regions).then_some((shape.len() as u8 - 1, 0));
    }
    let loads = uses.loads.iter().map(|l| load(&mut words, &outer, *l)).collect();
    for operand in &uses.gathered {
        let layout = &request.operands[*operand as usize];
        set_wrap(&mut words, &mut wraps[*operand as usize], layout);
    }
    let mut sum = |access: &u32, shape: &[i64]| {
        let walk = &walks[*access as usize];
        (*access, Sum::new(&mut words, walk.offset, &walk.strides, shape))
    };
    let indices = uses.indices.iter().map(|a| sum(a, &shape)).collect();
    let late_indices = uses.late_indices.iter().map(|a| sum(a, &out_shape)).collect();
    let points = if reduces { words.int(points) } else { 0 };

    let given = |(bits, dtype): (&u64, &DType)| {
        let literal = request.specialise && !is_hazardous(Scalar::new(*dtype, *bits));
        if literal { Given::Literal(*bits) } else { Given::Word(words.int(*bits as i64)) }
    };
    let params = request.params.iter().zip(&program.params).map(given).collect();
    let constants = uses.hazards.iter().map(|bits| (*bits, words.bits(*bits as i32))).collect();
    let sizes = request.operands.iter().chain([&target.layout]);
    let largest = sizes.map(|l| l.texels() * 4).max().unwrap_or(0);
    let plan = Plan {
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
        params,
        constants,
        points,
        rank: shape.len() as u8,
    };
    words.list.resize(words.list.len().next_multiple_of(4), 0);
    Ok(Planned { plan, words: words.list, area: framed.area })
}

fn set_wrap(words: &mut Words, slot: &mut Option<(Wrap, u16)>, layout: &Layout) {
    if slot.is_none() {
        let wrap = Wrap::new(words, layout);
        *slot = Some((wrap, words.int(layout.len as i64 - 1)));
    }
}

/// What the live instructions of a program ask for.
#[derive(Default)]
struct Uses {
    accesses: Vec<bool>,
    loads: Vec<(u32, u32)>,
    indices: Vec<u32>,
    late_loads: Vec<(u32, u32)>,
    late_indices: Vec<u32>,
    gathered: Vec<u32>,
    hazards: Vec<u32>,
    regions: bool,
}

impl Uses {
    fn of(program: &Program, live: &[bool]) -> Uses {
        let mut uses = Uses { accesses: vec![false; program.accesses.len()], ..Uses::default() };
        let mut late = false;
        for (inst, live) in program.insts.iter().zip(live) {
            let [a, b, _] = inst.args;
            match inst.op {
                _ if !live => {}
                Op::Load => {
                    let list = if late { &mut uses.late_loads } else { &mut uses.loads };
                    add(list, (a, b));
                    uses.accesses[b as usize] = true;
                }
                Op::Index => {
                    add(if late { &mut uses.late_indices } else { &mut uses.indices }, a);
                    uses.accesses[a as usize] = true;
                }
                Op::Gather => add(&mut uses.gathered, a),
                Op::Const if is_hazardous(Scalar::new(inst.dtype, a.into())) => {
                    add(&mut uses.hazards, a);
                }
                Op::Loop | Op::If => uses.regions = true,
                Op::Reduce => late = true,
                _ => {}
            }
        }
        uses
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
