//! Evaluation: tiles of values, one after another, on a device.
//!
//! Owns [`Engine`]: the open devices and the counts. What a tile needs first goes on a stack, so
//! graphs of any depth take a loop. Invariants: a value is marked as computed only after its block
//! is in the cache; a failed launch leaves every value as it was.
//!
//! Not here: choosing a driver (`context.rs`), partitioning (`partition.rs`), writing into existing
//! blocks (`assign.rs`), transfers (`transfer.rs`).

use crate::access;
use crate::cache::{Device, Part};
use crate::driver::{Access, BlockId, BlockSpec, Dest, Launch};
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{Form, REDUCE_CHUNK};
use crate::kernel::{self, Target};
use crate::op::Op;
use crate::partition::{Evaluation, Flow};
use crate::stats::Stats;
use crate::tiling::{Tile, Tiling};
use crate::value::{Input, Kind, NodeOp, Value};
use crate::view::{Shape, contiguous_strides, size_of};
use crate::walk::{Child, Start, Walk};
use std::ops::Range;

/// The open devices, by position in the registry, and what they did.
pub(crate) struct Engine {
    pub devices: Vec<Option<Device>>,
    pub stats: Stats,
}

/// Where the last piece of a walk goes.
pub(crate) enum Destination {
    /// A new block, which becomes this tile of the value.
    Tile { value: Value, tile: Tile },
    /// Part of a block that the caller holds.
    Block { block: BlockId, access: Access, whole: bool },
}

impl Engine {
    pub fn device(&mut self, position: usize) -> Result<&mut Device> {
        self.devices.get_mut(position).and_then(Option::as_mut).ok_or_else(|| {
            Error::new(ErrorKind::DeviceLost, "evaluate").says("the device is no longer open")
        })
    }

    /// Evaluates the tiles of `value` that meet `range`. `order` are the devices to use: the next
    /// one evaluates what the one before cannot.
    pub fn evaluate(&mut self, value: &Value, range: Range<usize>, order: &[usize]) -> Result<()> {
        let mut stack: Vec<(Value, Range<usize>, usize)> = vec![(value.clone(), range, 0)];
        while let Some((value, range, rank)) = stack.last().cloned() {
            let Some(tile) = self.next_pending(&value, range.clone(), order[rank])? else {
                stack.pop();
                continue;
            };
            match self.attempt(&value, &tile, order[rank]) {
                Ok(Flow::Done) => self.stats.blocks_evaluated += 1,
                Ok(Flow::Needs(needs)) => {
                    stack.extend(needs.into_iter().map(|(value, range)| (value, range, rank)));
                }
                Err(error) => {
                    if error.kind() == ErrorKind::DeviceLost
                        && let Some(mut device) =
                            self.devices.get_mut(order[rank]).and_then(Option::take)
                    {
                        device.lose_all();
                    }
                    let other_may = matches!(
                        error.kind(),
                        ErrorKind::Unsupported
                            | ErrorKind::Refused
                            | ErrorKind::OutOfMemory
                            | ErrorKind::DeviceLost
                    );
                    if !other_may || rank + 1 >= order.len() {
                        return Err(error);
                    }
                    self.stats.driver_fallbacks += 1;
                    stack.push((value, tile.range, rank + 1));
                }
            }
        }
        Ok(())
    }

    /// The first tile of a device that meets `range` and is not computed.
    fn next_pending(
        &mut self,
        value: &Value,
        range: Range<usize>,
        device: usize,
    ) -> Result<Option<Tile>> {
        if matches!(value.0.kind, Kind::Host | Kind::Constant(_)) || range.is_empty() {
            return Ok(None);
        }
        let state = value.state();
        if state.computed.covers(range.clone()) {
            return Ok(None);
        }
        let tiling = self.device(device)?.tiling(value.shape());
        let mut tiles = tiling.numbers(range).map(|number| tiling.tile(number));
        Ok(tiles.find(|tile| !state.computed.covers(tile.range.clone())))
    }

    /// Evaluates one tile, or tells what it needs first.
    fn attempt(&mut self, value: &Value, tile: &Tile, device: usize) -> Result<Flow> {
        let Kind::Expr { op, inputs } = &value.0.kind else {
            return Ok(Flow::Done);
        };
        if let NodeOp::Assign(_) = op {
            return self.assign(value, tile, device);
        }
        let held = value.state().operands.first().cloned().flatten();
        let (start, at, space, form) = match op {
            NodeOp::Reduce { op, n } => {
                let (at, space) = reduced_tile(&inputs[0], value.shape(), tile, *n);
                if size_of(&space) > self.device(device)?.caps.max_block_len {
                    let start = Start::input(&inputs[0], held.as_ref())?;
                    return self.reduce_in_pieces(value, (*op, *n), start, tile, device);
                }
                (Start::input(&inputs[0], held.as_ref())?, at, space, Form::Reduce { op: *op })
            }
            _ => {
                let mut at = access::of_tile(value.shape(), tile);
                let mut space = tile.shape.clone();
                if space.is_empty() {
                    space.push(1);
                    at.strides.push(0);
                }
                (Start::Value(value), at, space, Form::Map)
            }
        };
        let walk = match Walk::new(start, at, space)? {
            Ok(walk) => walk,
            Err(needs) => return Ok(Flow::Needs(needs)),
        };
        let dest = Destination::Tile { value: value.clone(), tile: tile.clone() };
        self.run(walk, form, dest, device)
    }

    /// Evaluates a tile of a reduction step piece by piece, so that what a piece reads is no more
    /// than a block, should it have to be gathered.
    fn reduce_in_pieces(
        &mut self,
        value: &Value,
        (op, n): (Op, usize),
        start: Start<'_>,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        let Kind::Expr { inputs, .. } = &value.0.kind else { return Ok(Flow::Done) };
        let Engine { devices, stats } = self;
        let Some(open) = devices.get_mut(device).and_then(Option::as_mut) else {
            return Err(Error::new(ErrorKind::DeviceLost, "evaluate"));
        };
        let pieces = Tiling::new(&tile.shape, open.caps.max_block_len / REDUCE_CHUNK);
        let spec = BlockSpec { dtype: value.dtype(), len: tile.range.len() };
        let block = open.alloc(spec, stats)?;
        let mut piece_at = 0;
        let done = loop {
            if piece_at == tile.range.len() {
                break Ok(Flow::Done);
            }
            let mut piece = pieces.tile(pieces.number_at(piece_at));
            let whole = piece.range.len() == tile.range.len();
            let dest = access::of_tile(&tile.shape, &piece);
            piece_at = piece.range.end;
            // The piece's coordinates in the value, not in the tile.
            piece.origin.iter_mut().zip(&tile.origin).for_each(|(o, first)| *o += first);
            let (at, space) = reduced_tile(&inputs[0], value.shape(), &piece, n);
            let done = match Walk::new(start, at, space) {
                Ok(Ok(walk)) => {
                    let dest = Destination::Block { block, access: dest, whole };
                    self.run(walk, Form::Reduce { op }, dest, device)
                }
                Ok(Err(needs)) => Ok(Flow::Needs(needs)),
                Err(error) => Err(error),
            };
            if !matches!(done, Ok(Flow::Done)) {
                break done;
            }
        };
        let open = self.device(device)?;
        if let Ok(Flow::Done) = done {
            open.insert(value, Part::Tile(tile.number), block, tile.range.clone());
            value.mark_computed(tile.range.clone());
        } else {
            open.driver.block_free(block);
        }
        done
    }

    /// Takes a walk through a device into its destination.
    pub fn run(
        &mut self,
        walk: Walk,
        form: Form,
        dest: Destination,
        device: usize,
    ) -> Result<Flow> {
        let root = walk.root;
        let mut evaluation = Evaluation::new(self, device, walk);
        if let Flow::Needs(needs) = evaluation.partition()? {
            return Ok(Flow::Needs(needs));
        }
        evaluation.launch(root, &dest, form)
    }
}

/// The input space of a tile of a reduction step of this shape, and the operand's access over it.
fn reduced_tile(input: &Input, shape: &[usize], tile: &Tile, n: usize) -> (Access, Shape) {
    let mut space = tile.shape.clone();
    let mut first = tile.origin.clone();
    if let (Some(extent), Some(start)) = (space.last_mut(), first.last_mut()) {
        *start *= REDUCE_CHUNK;
        *extent = (*extent * REDUCE_CHUNK).min(n - *start);
    }
    let operand: Shape = shape.iter().rev().skip(1).rev().copied().chain([n]).collect();
    let mut at = input.access(&operand);
    for (stride, start) in at.strides.iter().zip(&first) {
        at.offset += stride * *start as i64;
    }
    (at, space)
}

impl Evaluation<'_> {
    /// The tile of the node's own value that the walk's space is, if it is one.
    pub fn own_tile(&mut self, node: u32) -> Result<Option<Tile>> {
        let node = &self.walk.nodes[node as usize];
        let tiling = self.engine.device(self.device)?.tiling(node.value.shape());
        let tile = tiling.tile(tiling.number_at(node.access.offset.max(0) as usize));
        let points = size_of(&self.walk.space);
        let contiguous = points == 1
            || access::kind(&node.access, &self.walk.space) == crate::ir::AccessKind::Contiguous;
        let own = contiguous
            && node.access.offset == tile.range.start as i64
            && points == tile.range.len();
        Ok(own.then_some(tile))
    }

    /// Launches the piece below `root`. A piece that the device refuses is cut at its last waypoint
    /// and tried again, until it is accepted or a single operation is refused.
    pub fn launch(&mut self, root: Child, dest: &Destination, form: Form) -> Result<Flow> {
        loop {
            match self.launch_once(root, dest, form) {
                Err(error) if error.kind() == ErrorKind::Refused => {
                    let Child::Node(node) = root else {
                        return Err(error);
                    };
                    let cut = match form {
                        // A reduction's map is the first thing to take out of it.
                        Form::Reduce { .. } if !self.is_leaf(node) => Some(node),
                        Form::Reduce { .. } => None,
                        Form::Map => self.waypoint(node),
                    };
                    let Some(cut) = cut else {
                        return Err(error.with("operation", self.describe(node)));
                    };
                    if let Flow::Needs(needs) = self.collapse(cut)? {
                        return Ok(Flow::Needs(needs));
                    }
                }
                other => return other.map(|()| Flow::Done),
            }
        }
    }

    fn launch_once(&mut self, root: Child, dest: &Destination, form: Form) -> Result<()> {
        let dest_access = match dest {
            Destination::Block { access, .. } => access.clone(),
            Destination::Tile { .. } => {
                let mut out = self.walk.space.clone();
                if let (Form::Reduce { .. }, Some(last)) = (form, out.last_mut()) {
                    *last = last.div_ceil(REDUCE_CHUNK);
                }
                access::access(0, &contiguous_strides(&out))
            }
        };
        let target = Target { form, dest: &dest_access };
        let device = self.engine.device(self.device)?;
        let (collapsed, size, marks) = (&self.collapsed, &self.size, &mut self.marks);
        let kernel = kernel::build(device, &self.walk, root, collapsed, size, marks, &target);
        if let Form::Reduce { .. } = form {
            let check = self.engine.device(self.device)?.driver.check_ir(&kernel.program)?;
            if !check.fits {
                return Err(Error::new(ErrorKind::Refused, "check_ir")
                    .says("the reduction and its map are more than one kernel"));
            }
        }
        let mut pinned: Vec<(u64, Part)> = Vec::new();
        let result = self.engine.launch_kernel(self.device, &kernel, dest, &mut pinned);
        if let Ok(device) = self.engine.device(self.device) {
            for (value, part) in pinned {
                device.unpin(value, &part);
            }
        }
        result
    }
}

impl Engine {
    fn launch_kernel(
        &mut self,
        position: usize,
        kernel: &kernel::Kernel,
        dest: &Destination,
        pinned: &mut Vec<(u64, Part)>,
    ) -> Result<()> {
        let mut operands = Vec::new();
        for (value, part) in &kernel.operands {
            operands.push(self.operand_block(position, value, part)?);
            self.device(position)?.pin(value.id(), part);
            pinned.push((value.id(), part.clone()));
        }
        let Engine { devices, stats } = self;
        let Some(device) = devices.get_mut(position).and_then(Option::as_mut) else {
            return Err(Error::new(ErrorKind::DeviceLost, "evaluate"));
        };
        let (block, whole) = match dest {
            Destination::Block { block, whole, .. } => (*block, *whole),
            Destination::Tile { value, tile } => {
                let spec = BlockSpec { dtype: value.dtype(), len: tile.range.len() };
                (device.alloc(spec, stats)?, true)
            }
        };
        let dests = [Dest { block, access: kernel.dest.clone(), whole }];
        let launch = Launch {
            program: &kernel.program,
            fingerprint: kernel.program.fingerprint(),
            shape: &kernel.space,
            operands: &operands,
            params: &kernel.params,
            accesses: &kernel.accesses,
            dests: &dests,
        };
        let evaluated = loop {
            match device.driver.eval_ir(&launch) {
                Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                    match device.evict_one(stats) {
                        Ok(true) => continue,
                        Ok(false) => break Err(error),
                        Err(lost) => break Err(lost),
                    }
                }
                other => break other,
            }
        };
        let evaluated = match evaluated {
            Ok(evaluated) => evaluated,
            Err(error) => {
                if let Destination::Tile { .. } = dest {
                    device.driver.block_free(block);
                }
                return Err(error.with("driver", device.name).with("device", &device.caps.device));
            }
        };
        stats.kernels_compiled += u64::from(evaluated.compiled);
        stats.kernels_specialised += u64::from(evaluated.specialised);
        stats.launches += u64::from(evaluated.launches);
        stats.instructions += kernel.program.operation_count() as u64;
        if let Destination::Tile { value, tile } = dest {
            device.insert(value, Part::Tile(tile.number), block, tile.range.clone());
            value.mark_computed(tile.range.clone());
        }
        Ok(())
    }
}
