//! Segments: a program's array operations between two decisions, recorded once and replayed on other arrays.
//!
//! Owns [`Segment`]. A replay records the steps on the new values without the program, so that the result is as if the
//! program had run. A segment of little work is planned once ([`PlannedSegment`]), by an evaluation of the structure
//! whose commands are kept. From then on its kernels are launched on the caller's thread, into memory of the results.
//! Invariants: the bits are those of the recorded steps; a segment that cannot be launched here and now is recorded.
//!
//! Not here: the steps (`record/recorded.rs`), when a program may be left out (the front end).

use crate::array::base::Array;
use crate::array::contents::{Contents, Current};
use crate::blocks::cache::BlockPart;
use crate::eager::policy::WorkSize;
use crate::execute::evaluate::Engine;
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{NodeOp, Origin, Value, ValueId, ValueKind};
use crate::record::recorded::{Recorded, RecordedOperand, RecordedStep};
use crate::schedule::compiled::command::{BufferId, Command, KernelCommand, LaunchTarget, Param};
use crate::schedule::compiled::compiled_flush::CompiledFlush;
use crate::schedule::compiled::flush_key;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::DeviceOrder;
use crate::schedule::program::kernel::KernelCode;
use gpupy_core::driver::{BlockId, Dest, HostBlock, HostMemory, Launch};
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Result};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;
use std::sync::{Arc, MutexGuard, OnceLock};

/// Expressions of some arrays that can be made of others.
pub struct Segment {
    /// As it was recorded.
    pub(crate) outline: Recorded,
    /// By the steps for these extents.
    pub(crate) recorded: Recorded,
    is_little: bool,
    planned: OnceLock<Option<PlannedSegment>>,
}

/// The launches of a segment on the host driver, with the places of their operands and results.
#[derive(Default)]
pub(crate) struct PlannedSegment {
    launches: Vec<Planning>,
    /// The stored steps.
    stored: Vec<u32>,
    /// Where each result comes from.
    results: Vec<LaunchSource>,
}

/// The source of a launch's operand, or of a result.
#[derive(Clone, Copy)]
enum LaunchSource {
    Argument(u32),
    Leaf(u32),
    /// A stored value, by its number.
    Stored(u32),
}

impl LaunchSource {
    /// Whether both are the same stored value.
    fn is_stored_as(&self, other: &LaunchSource) -> bool {
        matches!((self, other), (LaunchSource::Stored(one), LaunchSource::Stored(two)) if one == two)
    }
}

struct Planning {
    code: Arc<KernelCode>,
    operands: SmallVec<[LaunchSource; 4]>,
    params: SmallVec<[u64; 4]>,
    /// The numbers of the values that it writes, each with whether it writes all of it.
    dests: SmallVec<[(u32, bool); 2]>,
}

impl Segment {
    /// How the bases of these results came from those of the arguments; and the numbers of the arguments that they
    /// came from, which alone it takes.
    ///
    /// # Errors
    /// - `Open`: a result reads an argument of another recording. `Disposed`: an array has no elements any more.
    pub fn of(arguments: &[Array], results: &[Array]) -> Result<(Segment, Vec<usize>)> {
        let (outline, used) = Recorded::of(arguments, results)?;
        Ok((Segment::of_outline(outline)?, used))
    }

    /// The segment of a recorded outline, with the steps for its extents.
    ///
    /// # Errors
    /// Those of its operations.
    pub(crate) fn of_outline(outline: Recorded) -> Result<Segment> {
        let recorded = outline.lowered()?;
        let is_little = recorded.steps().iter().all(|step| work(step).is_little());
        Ok(Segment { outline, recorded, is_little, planned: OnceLock::new() })
    }

    /// The dtype and the shape of each argument's base.
    pub fn arguments(&self) -> &[(DType, Shape)] {
        self.recorded.arguments()
    }

    /// The dtype of each base that it gives, and how many elements that has.
    pub(crate) fn results(&self) -> Vec<(DType, usize)> {
        let results = self.recorded.results().iter();
        results.map(|(place, shape)| (self.recorded.dtype(*place), size_of(shape))).collect()
    }

    /// How many operations there are.
    pub fn operations(&self) -> usize {
        self.recorded.steps().len()
    }

    /// The programs that are launched, as text, where it was planned.
    pub fn programs(&self) -> Vec<String> {
        let launches = self.planned().map_or(&[][..], |planned| &planned.launches[..]);
        launches.iter().map(|planning| planning.code.program.to_string()).collect()
    }

    pub(crate) fn planned(&self) -> Option<&PlannedSegment> {
        self.planned.get()?.as_ref()
    }

    /// Whether it is little work.
    pub(crate) fn is_little(&self) -> bool {
        self.is_little
    }

    /// Whether planning it was tried.
    pub(crate) fn was_planned(&self) -> bool {
        self.planned.get().is_some()
    }
}

impl PartialEq for Segment {
    fn eq(&self, other: &Segment) -> bool {
        self.recorded == other.recorded
    }
}

impl Eq for Segment {}

impl Hash for Segment {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.recorded.hash(state);
    }
}

/// How much work a step is.
fn work(step: &RecordedStep) -> WorkSize {
    let points = size_of(&step.shape);
    match &step.op {
        NodeOp::Reduce { n, .. } => {
            let rows = points / step.shape.last().copied().unwrap_or(1).max(1);
            WorkSize::Elements(rows.saturating_mul(*n))
        }
        NodeOp::Whole(LibraryOp::MatMul(n)) => WorkSize::Products(points.saturating_mul(*n)),
        NodeOp::Whole(LibraryOp::Sort | LibraryOp::ArgSort) => WorkSize::Sorted(points),
        NodeOp::Whole(LibraryOp::Routine(call)) => WorkSize::of_routine(call, points),
        _ => WorkSize::Elements(points),
    }
}

impl Engine {
    /// Plans a segment on the host driver, by evaluating its results for these values, all of which are in host memory.
    pub(crate) fn plan(
        &mut self,
        segment: &Segment,
        given: &[Value],
        made: Vec<Value>,
        host: usize,
    ) {
        let planned = self.planned(&segment.recorded, given, made, host);
        // Another thread may have been here first, with the same.
        let _ = segment.planned.set(planned);
    }

    fn planned(
        &mut self,
        recorded: &Recorded,
        given: &[Value],
        made: Vec<Value>,
        host: usize,
    ) -> Option<PlannedSegment> {
        let mut known: FxHashMap<ValueId, LaunchSource> = FxHashMap::default();
        known.extend(recorded.leaves().iter().map(Value::id).zip((0..).map(LaunchSource::Leaf)));
        known.extend(given.iter().map(Value::id).zip((0..).map(LaunchSource::Argument)));
        let steps: FxHashMap<ValueId, u32> = made.iter().map(Value::id).zip(0..).collect();
        let results = results(recorded, given, &made);
        // Values that are held besides the results would be stored.
        drop(made);
        let pending = results.iter().filter(|value| !value.is_computed());
        let pending: Vec<Value> = pending.cloned().collect();
        let mut plan =
            SegmentPlan { recorded, steps, known, planned: PlannedSegment::default(), open: None };
        let order = DeviceOrder { devices: [host].into_iter().collect(), ..DeviceOrder::default() };
        for number in 0..pending.len() {
            let demand = Demand::first_of(&pending[number..])?;
            if demand.is_met() {
                continue;
            }
            let below = PendingGraph::of(&demand);
            let device = self.device(host).ok().filter(|device| device.caps.memory_launches)?;
            flush_key::structure(&demand, &below, device).ok()?;
            let ids = below.leaves.iter().chain(&below.values).map(Value::id);
            let ids: Vec<ValueId> = ids.collect();
            drop(below);
            self.slice.begin(false);
            let flush = self.evaluate_exactly(&demand, &order).ok()??;
            plan.of(&flush, &ids)?;
        }
        let taken = results.iter().map(|value| plan.known.get(&value.id()).copied());
        let taken = taken.collect::<Option<_>>()?;
        Some(PlannedSegment { results: taken, ..plan.planned })
    }

    /// Launches a planned segment; `None` where it cannot be done here and now.
    pub(crate) fn launch_planned(
        &mut self,
        segment: &Segment,
        planned: &PlannedSegment,
        given: &[&Array],
        host: usize,
    ) -> Option<Vec<Array>> {
        let mut locks: SmallVec<[MutexGuard<'_, Current>; 8]> = SmallVec::new();
        let mut firsts: SmallVec<[HostBlock; 8]> = SmallVec::new();
        if given.len() != segment.arguments().len() {
            return None;
        }
        for (array, (dtype, shape)) in given.iter().zip(segment.arguments()) {
            let current = array.current_now()?;
            firsts.push(HostBlock { memory: first(&current, *dtype, shape)?, len: size_of(shape) });
            locks.push(current);
        }
        let mut stored: SmallVec<[(Array, HostBlock); 4]> = SmallVec::new();
        for step in &planned.stored {
            let step = segment.recorded.steps().get(*step as usize)?;
            let mut memory = None;
            let array = Array::made(step.dtype, &step.shape, Origin::Eager, 0, |room| {
                memory = Some(HostMemory::new(NonNull::from(room).cast()));
                memory.map(|_| ())
            })?;
            stored.push((array, HostBlock { memory: memory?, len: size_of(&step.shape) }));
        }
        let (device, stats) = self.device_and_stats(host).ok()?;
        for planning in &planned.launches {
            let mut memory: SmallVec<[HostBlock; 8]> = SmallVec::new();
            for operand in &planning.operands {
                memory.push(match operand {
                    LaunchSource::Argument(number) => firsts[*number as usize],
                    LaunchSource::Stored(number) => stored[*number as usize].1,
                    LaunchSource::Leaf(number) => {
                        let leaf = &segment.recorded.leaves()[*number as usize];
                        let start = leaf.host_start(0..leaf.len())?;
                        HostBlock { memory: HostMemory::new(start), len: leaf.len() }
                    }
                });
            }
            let names: SmallVec<[BlockId; 8]> = (0..memory.len() as u64).map(BlockId).collect();
            let code = &*planning.code;
            let mut dests: SmallVec<[Dest; 2]> = SmallVec::new();
            for ((number, whole), access) in planning.dests.iter().zip(&code.dests) {
                let block = BlockId(memory.len() as u64);
                dests.push(Dest { block, access: access.clone(), whole: *whole });
                memory.push(stored[*number as usize].1);
            }
            let launch = Launch {
                program: &code.program,
                fingerprint: code.fingerprint(),
                shape: &code.space,
                operands: &names,
                params: &planning.params,
                accesses: &code.accesses,
                dests: &dests,
                memory: &memory,
                lend: None,
                rest: None,
            };
            let done = device.driver.eval_ir(&launch).ok()?;
            stats.kernels_compiled += u64::from(done.compiled);
            stats.kernels_specialised += u64::from(done.specialised);
            stats.launches += u64::from(done.launches);
            stats.instructions += code.program.operation_count() as u64;
        }
        stats.computed_at_once += 1;
        drop(locks);
        let result = |taken: &LaunchSource| match taken {
            LaunchSource::Argument(number) => given[*number as usize].snapshot().ok(),
            LaunchSource::Leaf(number) => {
                Some(Array::from_value(segment.recorded.leaves()[*number as usize].clone()))
            }
            LaunchSource::Stored(number) => Some(stored[*number as usize].0.clone()),
        };
        let shown = planned.results.iter().zip(segment.recorded.results()).enumerate();
        let shown = shown.map(|(place, (taken, (_, shape)))| {
            let array = result(taken)?;
            // Results that turned out to be one have a base each.
            let is_again = planned.results[..place].iter().any(|other| taken.is_stored_as(other));
            in_shape(if is_again { array.snapshot().ok()? } else { array }, shape)
        });
        shown.collect()
    }
}

/// Where the elements of a base lie in host memory, if it has them there and is of this dtype and of as many elements.
fn first(current: &Current, dtype: DType, shape: &[usize]) -> Option<HostMemory> {
    let start: NonNull<u8> = match current.held() {
        Contents::Own(own) if own.dtype == dtype && own.len() == size_of(shape) => own.start(),
        Contents::Value(value) if value.dtype() == dtype && value.len() == size_of(shape) => {
            value.host_start(0..value.len())?
        }
        _ => return None,
    };
    Some(HostMemory::new(start))
}

/// A plan on its way from compiled flushes.
struct SegmentPlan<'r> {
    recorded: &'r Recorded,
    /// The step that each value is.
    steps: FxHashMap<ValueId, u32>,
    /// Where each value is that is there.
    known: FxHashMap<ValueId, LaunchSource>,
    planned: PlannedSegment,
    /// The values whose block several launches are filling.
    open: Option<SmallVec<[u32; 2]>>,
}

impl SegmentPlan<'_> {
    /// All launches of a flush of these values, by their numbers; `None` where it has more than launches of whole
    /// values.
    fn of(&mut self, flush: &CompiledFlush, values: &[ValueId]) -> Option<()> {
        for command in &flush.commands {
            match command {
                Command::Kernel(kernel) => self.launch(kernel, flush, values)?,
                Command::Open(buffers) if self.open.is_none() => {
                    let stored = buffers.iter().map(|buffer| self.store(flush, values, *buffer));
                    self.open = Some(stored.collect::<Option<_>>()?);
                }
                Command::OpenOld { buffer, old, .. } if self.open.is_none() => {
                    let value = |buffer: BufferId| {
                        values.get(flush.buffers[buffer as usize].value as usize)
                    };
                    let taken = *self.known.get(value(*old)?)?;
                    let LaunchSource::Stored(stored) = taken else { return None };
                    self.known.insert(*value(*buffer)?, taken);
                    self.open = Some(SmallVec::from_slice(&[stored]));
                }
                Command::Close => self.open = None,
                Command::Step(_) | Command::Done { .. } | Command::Free(_) => {}
                Command::Open(_)
                | Command::OpenOld { .. }
                | Command::Repeat(..)
                | Command::OnHost(_) => return None,
            }
        }
        Some(())
    }

    fn launch(
        &mut self,
        kernel: &KernelCommand,
        flush: &CompiledFlush,
        values: &[ValueId],
    ) -> Option<()> {
        let operand = |buffer: &BufferId| {
            let buffer = &flush.buffers[*buffer as usize];
            let taken = self.known.get(values.get(buffer.value as usize)?).copied();
            taken.filter(|_| matches!(buffer.part, BlockPart::Tile(0)))
        };
        let operands = kernel.operands.iter().map(operand).collect::<Option<_>>()?;
        let params = kernel.params.iter().map(|param| self.param(param, values));
        let params = params.collect::<Option<_>>()?;
        let dests = match &kernel.goes {
            LaunchTarget::Tiles(tiles) => {
                let stored = tiles.iter().map(|buffer| self.store(flush, values, *buffer));
                stored.map(|stored| Some((stored?, true))).collect::<Option<_>>()?
            }
            LaunchTarget::Open(places) => {
                let open = self.open.as_ref()?;
                let dest = |(place, whole): &(usize, bool)| Some((*open.get(*place)?, *whole));
                places.iter().map(dest).collect::<Option<_>>()?
            }
        };
        let code = kernel.code.clone();
        self.planned.launches.push(Planning { code, operands, params, dests });
        Some(())
    }

    /// The number under which a value is stored from now on, all of which is one tile.
    fn store(
        &mut self,
        flush: &CompiledFlush,
        values: &[ValueId],
        buffer: BufferId,
    ) -> Option<u32> {
        let buffer = &flush.buffers[buffer as usize];
        let (id, tile) = (values.get(buffer.value as usize)?, buffer.tile.as_ref()?);
        let step = *self.steps.get(id)?;
        let shape = &self.recorded.steps().get(step as usize)?.shape;
        let stored = self.planned.stored.len() as u32;
        let is_new = self.known.insert(*id, LaunchSource::Stored(stored)).is_none();
        self.planned.stored.push(step);
        (is_new && tile.range == (0..size_of(shape))).then_some(stored)
    }

    fn param(&self, param: &Param, values: &[ValueId]) -> Option<u64> {
        match param {
            Param::Bits(bits) => Some(*bits),
            Param::Of(number, place) => {
                let step = *self.steps.get(values.get(*number as usize)?)?;
                let step = self.recorded.steps().get(step as usize)?;
                match step.operands.get(*place as usize)? {
                    RecordedOperand::Scalar(scalar) => Some(scalar.bits),
                    RecordedOperand::Whole(_) | RecordedOperand::View(..) => None,
                }
            }
        }
    }
}

/// The results, as values recorded anew.
pub(crate) fn results(recorded: &Recorded, given: &[Value], made: &[Value]) -> Vec<Value> {
    let places = recorded.results().iter();
    places.map(|(place, _)| recorded.value(*place, given, made).clone()).collect()
}

/// A base whose elements are seen in a shape.
pub(crate) fn in_shape(array: Array, shape: &[usize]) -> Option<Array> {
    if array.shape() == shape { Some(array) } else { array.reshape(shape) }
}

/// Whether all elements of these values are in host memory, so that a kernel can read them there.
pub(crate) fn are_in_memory(values: &[Value]) -> bool {
    values.iter().all(|value| match value.0.kind {
        ValueKind::Constant(_) | ValueKind::External(_) => false,
        _ => value.is_computed() && value.host_start(0..value.len()).is_some(),
    })
}
