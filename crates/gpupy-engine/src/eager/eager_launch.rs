//! Eager launches: one operation on host memory as one launch of a driver (short: a *task*).
//!
//! Owns [`EagerLaunch`]. Its operands are scalars or elements in host memory. Axes over which all operands are walked
//! alike are merged (axis coalescing). Most tasks have contiguous operands and results, so that their only launch
//! argument is the number of elements.
//!
//! Not here: which operations become tasks (`eager_evaluator.rs`), their programs (`eager_programs.rs`), kernels of
//! many operations (`kernel.rs`).

use crate::array::base::Array;
use crate::eager::borrow::BorrowedOperand;
use crate::eager::policy::ProductExtents;
use crate::graph::library_op::LibraryOp;
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::tree_lanes::{FEW, Products};
use crate::graph::value::{Input, NodeOp, Operand, Value};
use crate::memory::access;
use crate::memory::view::View;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::program::eager_programs::{
    EagerProgramKey, LaunchBody, MOST_CALLED, ProgramLeaf, unit,
};
use crate::schedule::program::kernel::merge_axes;
use crate::schedule::program::single_operation;
use gpupy_core::driver::{Access, BlockId, Dest, Evaluated, HostBlock, HostMemory, Launch};
use gpupy_core::ir::{AccessKind, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::{SmallVec, smallvec};
use std::iter::repeat;
use std::ptr::NonNull;
use std::sync::Arc;

/// The most operands of a task.
const MOST_OPERANDS: usize = 3;

/// The names of a task's operands in the memory of its launch.
const NAMES: [BlockId; MOST_OPERANDS] = [BlockId(0), BlockId(1), BlockId(2)];

/// One operation, ready to be launched.
pub(crate) struct EagerLaunch {
    key: EagerProgramKey,
    /// The function of a call.
    called: Option<Arc<ScalarFunction>>,
    params: SmallVec<[u64; MOST_OPERANDS]>,
    operands: SmallVec<[HostBlock; MOST_OPERANDS]>,
    /// How many points there are.
    points: usize,
    /// How many results there are.
    len: usize,
    /// How the points are walked over, where elements do not lie side by side.
    walks: Option<Box<LaunchWalks>>,
    /// Where the results go, if not to memory of their own.
    written: Option<WrittenTo>,
}

/// Elements that results are written to, and the walk over all of them.
struct WrittenTo {
    memory: HostBlock,
    /// Nothing where they lie side by side.
    access: Option<Access>,
}

/// A space of points with its walks.
struct LaunchWalks {
    space: Shape,
    accesses: SmallVec<[Access; 3]>,
    /// Over the merged space of the results.
    dest: Access,
}

impl EagerLaunch {
    /// A task whose elements lie side by side, so far without operands.
    #[inline(always)]
    fn new(work: LaunchBody, dtype: DType, points: usize, len: usize) -> EagerLaunch {
        EagerLaunch {
            key: EagerProgramKey { work, dtype, rank: 1, leaves: [None; 3] },
            called: None,
            params: SmallVec::new(),
            operands: SmallVec::new(),
            points,
            len,
            walks: None,
            written: None,
        }
    }

    /// Has the results written to the elements that an array shows, of a base whose first element lies there. It is
    /// said before the task is given its operands.
    pub fn write_to(&mut self, array: &Array, first: NonNull<u8>) {
        self.written = Some(match array.is_contiguous() {
            true => {
                let memory = lying(first, array.dtype(), array.offset() as usize, array.size());
                WrittenTo { memory, access: None }
            }
            false => {
                let (access, memory) = seen(array.layout(), array.dtype(), first);
                WrittenTo { memory, access: Some(access) }
            }
        });
    }

    /// Whether what results are written to is no operand, or the same elements in the same order.
    pub fn may_write(&self) -> bool {
        let Some(written) = &self.written else { return true };
        let dtypes = self.key.leaves.iter().flatten().filter_map(|leaf| match leaf {
            ProgramLeaf::Memory(dtype, _) => Some(*dtype),
            _ => None,
        });
        let bytes = |block: &HostBlock, dtype: DType| {
            let start = block.memory.as_ptr() as usize;
            start..start + block.len * dtype.size()
        };
        let to = bytes(&written.memory, self.dtype());
        let accesses = self.walks.iter().flat_map(|walks| &walks.accesses).map(Some);
        let mut operands = self.operands.iter().zip(dtypes).zip(accesses.chain(repeat(None)));
        operands.all(|((block, dtype), access)| {
            let from = bytes(block, dtype);
            let is_apart = from.end <= to.start || to.end <= from.start;
            let is_same = from == to
                && dtype == self.dtype()
                && self.walks.as_ref().is_none_or(|walks| access == Some(&walks.dest));
            is_apart || is_same
        })
    }

    /// The task of a scalar operation that gives so many results, so far without operands.
    #[inline(always)]
    pub fn of_op(op: Op, len: usize) -> EagerLaunch {
        EagerLaunch::new(LaunchBody::Apply(op), DType::Bool, len, len)
    }

    /// The task of a call that gives so many results, so far without operands; `None` where one launch does not do it.
    pub fn of_call(function: &Arc<ScalarFunction>, len: usize) -> Option<EagerLaunch> {
        let is_straight = function.turns() == 0 && function.results().len() == 1;
        if !is_straight || function.number() >= MOST_CALLED {
            return None;
        }
        let mut task = EagerLaunch::new(LaunchBody::Call(function.number()), DType::Bool, len, len);
        task.called = Some(function.clone());
        Some(task)
    }

    /// The task of a scalar operation on real numbers whose bits lie there; `None` where it does not take them. It is
    /// that of arrays of one element.
    pub fn of_numbers(op: Op, numbers: &[Scalar]) -> Option<EagerLaunch> {
        let mut task = EagerLaunch::of_op(op, 1);
        let mut dtypes = SmallVec::<[DType; MOST_OPERANDS]>::new();
        for (number, leaf) in numbers.iter().zip(&mut task.key.leaves) {
            dtypes.push(number.dtype);
            *leaf = Some(ProgramLeaf::Memory(number.dtype, AccessKind::Contiguous));
            let first = NonNull::from(&number.bits).cast();
            task.operands.push(HostBlock { memory: HostMemory::new(first), len: 1 });
        }
        let are_real = !dtypes.iter().any(|dtype| dtype.is_complex());
        task.key.dtype = op.result_dtype(&dtypes, DType::Bool).filter(|_| are_real)?;
        (numbers.len() <= MOST_OPERANDS && !task.key.dtype.is_complex()).then_some(task)
    }

    /// Gives the task of a scalar operation, or of a call, its operands, which broadcast to a shape, or have it already
    /// (`alike`); `None` where it does not take them, or none of them lies in memory. `to` is the dtype
    /// that a cast gives.
    #[inline(always)]
    pub fn take(
        &mut self,
        to: DType,
        operands: &[BorrowedOperand<'_>],
        shape: &[usize],
        alike: bool,
    ) -> Option<()> {
        if operands.len() > MOST_OPERANDS {
            return None;
        }
        let mut dtypes = [DType::Bool; 3];
        let mut side_by_side = true;
        let places = dtypes.iter_mut().zip(&mut self.key.leaves);
        for (operand, (dtype, leaf)) in operands.iter().zip(places) {
            match operand {
                BorrowedOperand::Scalar(scalar) => {
                    *dtype = scalar.dtype;
                    *leaf = Some(ProgramLeaf::Scalar(scalar.dtype));
                    self.params.push(scalar.bits);
                }
                BorrowedOperand::Memory(array, first) => {
                    *dtype = array.dtype();
                    let len = if alike { self.len } else { array.size() };
                    // A single result takes the program of many.
                    let kind = match len == 1 && self.len > 1 {
                        true => AccessKind::Uniform,
                        false => AccessKind::Contiguous,
                    };
                    *leaf = Some(ProgramLeaf::Memory(*dtype, kind));
                    self.operands.push(lying(*first, *dtype, array.offset() as usize, len));
                    // Others broadcast to the shape, so that those of its size go along it.
                    side_by_side &= len == 1 || len == self.len && array.is_contiguous();
                }
            }
        }
        let dtypes = dtypes.get(..operands.len())?;
        self.key.dtype = match (self.key.work, &self.called) {
            (LaunchBody::Apply(op), _) => op.result_dtype(dtypes, to)?,
            (_, Some(function)) if function.arguments() == dtypes => *function.results().first()?,
            _ => return None,
        };
        if self.operands.is_empty() {
            return None;
        }
        side_by_side &= self.written.as_ref().is_none_or(|written| written.access.is_none());
        if side_by_side { Some(()) } else { self.walk_over(operands, shape, alike) }
    }

    /// Takes operands anew, some of which are not contiguous.
    #[cold]
    fn walk_over(
        &mut self,
        operands: &[BorrowedOperand<'_>],
        shape: &[usize],
        alike: bool,
    ) -> Option<()> {
        self.operands.clear();
        if let ([n], true) = (shape, alike) {
            return self.walk_along(operands, *n);
        }
        let mut accesses = SmallVec::new();
        for operand in operands {
            let BorrowedOperand::Memory(array, first) = operand else { continue };
            let (access, memory) = match alike {
                true => seen(array.layout(), array.dtype(), *first),
                false => seen(&array.layout().broadcast_to(shape).ok()?, array.dtype(), *first),
            };
            self.operands.push(memory);
            accesses.push(access);
        }
        let dest = self.written.as_ref().and_then(|written| written.access.clone());
        let dest = dest.unwrap_or_else(|| access::access(0, &contiguous_strides(shape)));
        self.walk(shape.into(), accesses, dest);
        Some(())
    }

    /// Takes operands of one axis of `n` elements, whose walks are a stride each; as `walk_over`.
    fn walk_along(&mut self, operands: &[BorrowedOperand<'_>], n: usize) -> Option<()> {
        let (last, mut accesses) = (n.checked_sub(1)? as isize, SmallVec::new());
        for (operand, leaf) in operands.iter().zip(&mut self.key.leaves) {
            let BorrowedOperand::Memory(array, first) = operand else { continue };
            let (dtype, step) = (array.dtype(), *array.strides().first()?);
            let (step, reach) = if n == 1 { (0, 0) } else { (step, last * step) };
            let kind = match step {
                0 => AccessKind::Uniform,
                1 => AccessKind::Contiguous,
                _ => AccessKind::Affine,
            };
            *leaf = Some(ProgramLeaf::Memory(dtype, kind));
            let lowest = array.offset() + reach.min(0);
            self.operands.push(lying(*first, dtype, lowest as usize, reach.unsigned_abs() + 1));
            let offset = -reach.min(0) as i64;
            accesses.push(Access { offset, strides: smallvec![step as i64] });
        }
        let dest = self.written.as_ref().and_then(|written| written.access.clone());
        let dest = dest.unwrap_or_else(|| Access { offset: 0, strides: smallvec![1] });
        self.walks = Some(Box::new(LaunchWalks { space: smallvec![n], accesses, dest }));
        Some(())
    }

    /// The task of one step of the reduction of all elements of an array, where they lie side by side or along one
    /// axis; `None` for others.
    pub fn whole(op: Op, array: &Array, operand: &BorrowedOperand<'_>) -> Option<EagerLaunch> {
        let (n, dtype) = (array.size(), array.dtype());
        let BorrowedOperand::Memory(array, first) = operand else { return None };
        let mut task = EagerLaunch::new(LaunchBody::Reduce(op), dtype, n, n.div_ceil(REDUCE_CHUNK));
        if array.is_contiguous() {
            let kind = if n == 1 { AccessKind::Uniform } else { AccessKind::Contiguous };
            task.key.leaves[0] = Some(ProgramLeaf::Memory(dtype, kind));
            task.operands.push(lying(*first, dtype, array.offset() as usize, n));
            return Some(task);
        }
        if array.ndim() != 1 {
            return None;
        }
        task.walk_along(std::slice::from_ref(operand), n)?;
        Some(task)
    }

    /// The task of a product of matrices or vectors of one dtype; `None` where an operand is not in host memory.
    pub fn product(
        extents: &ProductExtents,
        dtype: DType,
        operands: &[BorrowedOperand<'_>],
    ) -> Option<EagerLaunch> {
        let ProductExtents { stack, rows, columns, terms } = extents;
        let (mut space, work) = (stack.clone(), LaunchBody::Whole(LibraryOp::MatMul(*terms)));
        space.extend([*rows, *columns, *terms]);
        let len = size_of(stack) * rows * columns;
        let mut task = EagerLaunch::new(work, dtype, len * terms, len);
        let mut accesses: SmallVec<[Access; 3]> = SmallVec::new();
        let lines = operands.iter().zip(&mut task.key.leaves);
        for ((operand, leaf), is_left) in lines.zip([true, false]) {
            let BorrowedOperand::Memory(array, first) = operand else { return None };
            let (seen, memory) = seen(array.layout(), dtype, *first);
            let (line, term, own) = match (&seen.strides[..], is_left) {
                ([own @ .., line, term], true) | ([own @ .., term, line], false) => {
                    (*line, *term, own)
                }
                ([term], _) => (0, *term, &[][..]),
                ([], _) => return None,
            };
            let mut access = Access { offset: seen.offset, strides: SmallVec::new() };
            access.strides.resize(stack.len() - own.len(), 0);
            let steps = own.iter().zip(array.shape());
            access.strides.extend(steps.map(|(step, extent)| if *extent == 1 { 0 } else { *step }));
            access.strides.extend(if is_left { [line, 0, term] } else { [0, line, term] });
            *leaf = Some(ProgramLeaf::Memory(dtype, access::kind(&access, &space)));
            task.operands.push(memory);
            accesses.push(access);
        }
        let mut dest = access::access(0, &contiguous_strides(&space[..space.len() - 1]));
        dest.strides.push(1);
        task.key.rank = space.len() as u32;
        task.walks = Some(Box::new(LaunchWalks { space, accesses, dest }));
        Some(task)
    }

    /// The task of an operation; `None` where an operand is not in host memory.
    pub fn of(
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[Operand],
    ) -> Option<EagerLaunch> {
        let (work, mut space) = match op {
            NodeOp::Apply(op) => (LaunchBody::Apply(*op), Shape::from_slice(shape)),
            NodeOp::Index(_) => (LaunchBody::Index, Shape::from_slice(shape)),
            _ => return None,
        };
        let mut dest = access::access(0, &contiguous_strides(shape));
        let mut task = EagerLaunch::new(work, dtype, size_of(&space), size_of(shape));
        let mut accesses: SmallVec<[Access; 3]> = SmallVec::new();
        for ((input, value), leaf) in operands.iter().zip(&mut task.key.leaves) {
            *leaf = Some(match (input, value) {
                (Input::Scalar(scalar), _) => {
                    task.params.push(scalar.bits);
                    ProgramLeaf::Scalar(scalar.dtype)
                }
                (input, Some(value)) => {
                    let mut access = input.access(&space);
                    task.operands.push(memory(value, &mut access, &space)?);
                    accesses.push(access);
                    ProgramLeaf::Memory(value.dtype(), AccessKind::Affine)
                }
                (_, None) => return None,
            });
        }
        if let NodeOp::Index(axis) = op {
            let mut access = Access { offset: 0, strides: SmallVec::from_elem(0, space.len()) };
            *access.strides.get_mut(*axis as usize)? = 1;
            accesses.push(access);
            task.key.leaves[0] = Some(ProgramLeaf::Coordinate(AccessKind::Affine));
        }
        if space.is_empty() {
            space.push(1);
            accesses.iter_mut().chain([&mut dest]).for_each(|access| access.strides.push(0));
        }
        task.walk(space, accesses, dest);
        Some(task)
    }

    /// The task of a step of a reduction, a scan, a sort or a matrix product, whose operands are arrays as
    /// they are seen; `None` for other operations.
    pub fn of_axes(
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[BorrowedOperand<'_>],
    ) -> Option<EagerLaunch> {
        let mut space = Shape::from_slice(shape);
        let work = match op {
            NodeOp::Reduce { op, n } if *n <= FEW => {
                let [results @ .., _] = shape else { return None };
                return EagerLaunch::of_few(
                    LaunchBody::ReduceFew(*op, *n as u8),
                    dtype,
                    results,
                    operands,
                );
            }
            NodeOp::Reduce { op, n } => {
                *space.last_mut()? = *n;
                LaunchBody::Reduce(*op)
            }
            NodeOp::Whole(LibraryOp::MatMul(k)) if Products::are_few(shape, *k) => {
                return EagerLaunch::of_few(LaunchBody::Products(*k as u8), dtype, shape, operands);
            }
            NodeOp::Whole(whole) => {
                space = whole.space(shape);
                LaunchBody::Whole(*whole)
            }
            _ => return None,
        };
        let mut task = EagerLaunch::new(work, dtype, size_of(&space), size_of(shape));
        let mut accesses: SmallVec<[Access; 3]> = SmallVec::new();
        for (operand, leaf) in operands.iter().zip(&mut task.key.leaves) {
            let BorrowedOperand::Memory(array, first) = operand else { return None };
            let (access, memory) = seen(array.layout(), array.dtype(), *first);
            *leaf = Some(ProgramLeaf::Memory(array.dtype(), access::kind(&access, array.shape())));
            task.operands.push(memory);
            accesses.push(access);
        }
        match work {
            LaunchBody::Whole(whole) => {
                task.params.extend_from_slice(whole.params());
                // Library operations walk by axes, so these are not merged.
                let out = whole.form().out_shape(&space);
                let dest = access::access(0, &contiguous_strides(&out));
                task.key.rank = space.len() as u32;
                task.walks = Some(Box::new(LaunchWalks { space, accesses, dest }));
            }
            _ => task.walk(space, accesses, access::access(0, &contiguous_strides(shape))),
        }
        Some(task)
    }

    /// The task of a reduction of few points, which are those of each operand's axes behind the ones of the results, in
    /// C order.
    fn of_few(
        work: LaunchBody,
        dtype: DType,
        results: &[usize],
        operands: &[BorrowedOperand<'_>],
    ) -> Option<EagerLaunch> {
        let mut task = EagerLaunch::new(work, dtype, size_of(results), size_of(results));
        let mut accesses = SmallVec::new();
        for (operand, leaf) in operands.iter().zip(&mut task.key.leaves) {
            let BorrowedOperand::Memory(array, first) = operand else { return None };
            let (mut access, memory) = seen(array.layout(), array.dtype(), *first);
            let steps: SmallVec<[i64; 4]> = access.strides.drain(results.len()..).collect();
            let mut starts: SmallVec<[i64; FEW]> = smallvec![access.offset];
            for (step, extent) in steps.into_iter().zip(&array.shape()[results.len()..]) {
                let along = |start: i64| (0..*extent as i64).map(move |k| start + k * step);
                starts = starts.into_iter().flat_map(along).collect();
            }
            if results.is_empty() {
                access.strides.push(0);
            }
            *leaf = Some(ProgramLeaf::Memory(array.dtype(), AccessKind::Affine));
            task.operands.push(memory);
            accesses.extend(starts.into_iter().map(|offset| Access { offset, ..access.clone() }));
        }
        let mut space = Shape::from(results);
        let mut dest = access::access(0, &contiguous_strides(results));
        if results.is_empty() {
            space.push(1);
            dest.strides.push(0);
        }
        task.walk(space, accesses, dest);
        Some(task)
    }

    /// Takes the walks over a space, with axes together where everything goes on alike.
    fn walk(&mut self, mut space: Shape, mut accesses: SmallVec<[Access; 3]>, mut dest: Access) {
        if space.len() > 1 {
            let walks = accesses.iter().chain([&dest]);
            let groups = merge_axes(&space, walks, matches!(self.key.work, LaunchBody::Reduce(_)));
            let merged = |access: &Access| Access {
                offset: access.offset,
                strides: groups.iter().map(|group| access.strides[group.0]).collect(),
            };
            space = groups.iter().map(|group| group.1).collect();
            dest = merged(&dest);
            accesses.iter_mut().for_each(|access| *access = merged(access));
        }
        // Those of one operand differ in where they begin.
        let each = match self.key.work {
            LaunchBody::ReduceFew(_, points) | LaunchBody::Products(points) => points.into(),
            _ => 1,
        };
        let mut kinds = accesses.iter().step_by(each).map(|access| access::kind(access, &space));
        for leaf in self.key.leaves.iter_mut().flatten() {
            match leaf {
                ProgramLeaf::Scalar(_) => {}
                ProgramLeaf::Memory(_, kind) | ProgramLeaf::Coordinate(kind) => {
                    *kind = kinds.next().unwrap_or(AccessKind::Affine);
                }
            }
        }
        self.key.rank = space.len() as u32;
        self.walks = Some(Box::new(LaunchWalks { space, accesses, dest }));
    }

    /// The operation's name.
    pub fn name(&self) -> &'static str {
        match self.key.work {
            LaunchBody::Apply(op) => op.info().name,
            LaunchBody::Call(_) => "call",
            LaunchBody::Index => "index",
            LaunchBody::Reduce(_) | LaunchBody::ReduceFew(..) => "reduce",
            LaunchBody::Products(_) => Op::MatMul.info().name,
            LaunchBody::Whole(whole) => whole.name(),
        }
    }

    /// The dtype of the results.
    pub fn dtype(&self) -> DType {
        self.key.dtype
    }

    /// How many results there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Evaluates the task on a device into room for the results, or none where they are written to an array; gives the
    /// time that it took, and the number of the program's operations.
    ///
    /// # Errors
    /// - `Unsupported`: the device cannot do it in one launch that brings its memory.
    /// - any error of the driver.
    pub fn launch(&self, device: &mut OpenDevice, room: &mut [u8]) -> Result<(Evaluated, u64)> {
        let code = single_operation::prepared(device, &self.key, self.called.as_deref());
        let OpenDevice { blocks, programs, .. } = device;
        let mut memory: SmallVec<[HostBlock; MOST_OPERANDS + 1]> = SmallVec::new();
        memory.extend_from_slice(&self.operands);
        let room = match &self.written {
            Some(written) => written.memory,
            None => {
                debug_assert!(room.len() >= self.len * self.dtype().size(), "all have room");
                HostBlock { memory: HostMemory::new(NonNull::from(room).cast()), len: self.len }
            }
        };
        memory.push(room);
        let mut names = NAMES;
        let mut block = BlockId(self.operands.len() as u64);
        if self.written.is_some() {
            // One piece of memory has one name.
            let is_same = |one: &HostBlock, other: &HostBlock| {
                one.memory.as_ptr() == other.memory.as_ptr() && one.len == other.len
            };
            let first = |piece| memory.iter().position(|other| is_same(other, piece));
            for (name, operand) in names.iter_mut().zip(&self.operands) {
                *name = first(operand).map_or(*name, |at| BlockId(at as u64));
            }
            block = first(&room).map_or(block, |at| BlockId(at as u64));
        }
        let operands = &names[..self.operands.len()];
        let caps = &blocks.caps;
        let taken = caps.memory_launches
            && memory.iter().all(|piece| piece.len <= caps.max_block_len)
            && (caps.in_place || !operands.contains(&block));
        let ready = programs.get(code).filter(|_| taken).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "at_once").says("one launch does not do it")
        })?;
        let (shape, accesses, access) = match &self.walks {
            None => (std::slice::from_ref(&self.points), &ready.units, unit()),
            Some(walks) => (&walks.space[..], &walks.accesses, walks.dest.clone()),
        };
        let done = blocks.driver.eval_ir(&Launch {
            program: &ready.program,
            fingerprint: ready.fingerprint,
            shape,
            operands,
            params: &self.params,
            accesses,
            // An error leaves what is not written whole as it was.
            dests: &[Dest { block, access, whole: self.written.is_none() }],
            memory: &memory,
            lend: None,
            rest: None,
        })?;
        Ok((done, ready.operations))
    }
}

/// Elements from one on, of memory whose first element lies there.
fn lying(first: NonNull<u8>, dtype: DType, from: usize, len: usize) -> HostBlock {
    let start = first.as_ptr().wrapping_add(from * dtype.size());
    // A pointer into the memory is never null.
    HostBlock { memory: HostMemory::new(NonNull::new(start).unwrap_or(first)), len }
}

/// The walk over a view of a base whose first element lies there, and the memory that it counts from.
fn seen(view: &View, dtype: DType, first: NonNull<u8>) -> (Access, HostBlock) {
    let mut access = access::access(view.offset, &view.strides);
    let reach = access::reach(&access, &view.shape);
    access.offset -= reach.start as i64;
    let memory = lying(first, dtype, reach.start, reach.len());
    (access, memory)
}

/// The host memory that an access reads; the access is made relative to it. `None` where not all elements are there.
fn memory(value: &Value, access: &mut Access, space: &[usize]) -> Option<HostBlock> {
    if !value.is_computed() {
        return None;
    }
    let reach = access::reach(access, space);
    access.offset -= reach.start as i64;
    let first = value.host_start(reach.clone())?;
    Some(lying(first, value.dtype(), reach.start, reach.len()))
}
