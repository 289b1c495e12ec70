//! Tasks: one operation on host memory as one launch of a driver.
//!
//! Owns [`Task`] and [`Programs`]. A task is an operation whose operands are scalars or elements that
//! lie in host memory; axes over which all of them go alike are merged. Its program depends on what
//! it does and on how its operands are walked over, not on numbers, so few programs serve all tasks.
//! Invariant: a program's instructions are those that a kernel of the same operation has.
//!
//! Not here: which operations become tasks (`at_once.rs`), kernels of many operations (`kernel.rs`).

use crate::access;
use crate::array::{Arg, Array};
use crate::cache::Device;
use crate::driver::{Access, BlockId, BlockSpec, Dest, Evaluated, HostMemory, Launch};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::host::HostBuffer;
use crate::ir::{AccessKind, Builder, Fingerprint, Form, Program, REDUCE_CHUNK};
use crate::kernel::{emit, merge_axes};
use crate::op::Op;
use crate::value::{Input, NodeOp, Operand, Value};
use crate::view::{Shape, contiguous_strides, size_of};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;

/// What a task does at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Work {
    Apply(Op),
    Index,
    Reduce(Op),
}

/// What an operand is to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Leaf {
    Scalar(DType),
    Memory(DType, AccessKind),
    Coordinate(AccessKind),
}

/// What tells programs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    work: Work,
    dtype: DType,
    rank: u32,
    leaves: [Option<Leaf>; 3],
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.code());
    }
}

/// A program that is ready to be launched.
struct Ready {
    program: Program,
    fingerprint: Fingerprint,
}

/// The programs of a device's tasks; `None` for those that it cannot do.
#[derive(Default)]
pub(crate) struct Programs(FxHashMap<Key, Option<Ready>>);

/// One operation, ready to be launched.
pub(crate) struct Task {
    key: Key,
    space: Shape,
    params: SmallVec<[u64; 3]>,
    accesses: SmallVec<[Access; 3]>,
    operands: SmallVec<[BlockSpec; 3]>,
    /// Over the merged space of the results.
    dest: Access,
    /// How many results there are.
    len: usize,
}

impl Task {
    /// The task of a scalar operation on arrays of one shape whose elements lie side by side, and
    /// scalars, as most are; `None` for others. The values behind the arrays have to be kept.
    pub fn plain(
        op: Op,
        to: DType,
        args: &[Arg<'_>],
        shape: &[usize],
        keep: &mut SmallVec<[Value; 3]>,
    ) -> Option<Task> {
        let len = size_of(shape);
        let kind = if len == 1 { AccessKind::Uniform } else { AccessKind::Contiguous };
        let mut dtypes = [DType::Bool; 3];
        let mut leaves = [None; 3];
        let mut task = Task {
            key: Key { work: Work::Apply(op), dtype: to, rank: 1, leaves },
            space: smallvec![len],
            params: SmallVec::new(),
            accesses: SmallVec::new(),
            operands: SmallVec::new(),
            dest: unit(),
            len,
        };
        for ((arg, dtype), leaf) in args.iter().zip(&mut dtypes).zip(&mut leaves) {
            match arg {
                Arg::Scalar(scalar) => {
                    *dtype = scalar.dtype;
                    *leaf = Some(Leaf::Scalar(scalar.dtype));
                    task.params.push(scalar.bits);
                }
                Arg::Array(array) => {
                    if *array.shape() != *shape {
                        return None;
                    }
                    let (memory, value) = side_by_side(array)?;
                    *dtype = array.dtype();
                    *leaf = Some(Leaf::Memory(*dtype, kind));
                    task.operands.push(memory);
                    task.accesses.push(unit());
                    keep.push(value);
                }
            }
        }
        task.key.dtype = op.result_dtype(dtypes.get(..args.len())?, to)?;
        task.key.leaves = leaves;
        Some(task)
    }

    /// The task of one step of the reduction of all elements of an array, where they lie side by side;
    /// `None` for others. The value behind the array has to be kept.
    pub fn whole(op: Op, array: &Array) -> Option<(Task, Value)> {
        let (n, dtype) = (array.size(), array.dtype());
        let kind = if n == 1 { AccessKind::Uniform } else { AccessKind::Contiguous };
        let (memory, value) = side_by_side(array)?;
        let leaves = [Some(Leaf::Memory(dtype, kind)), None, None];
        let task = Task {
            key: Key { work: Work::Reduce(op), dtype, rank: 1, leaves },
            space: smallvec![n],
            params: SmallVec::new(),
            accesses: smallvec![unit()],
            operands: smallvec![memory],
            dest: unit(),
            len: n.div_ceil(REDUCE_CHUNK),
        };
        Some((task, value))
    }

    /// The operation's name.
    pub fn name(&self) -> &'static str {
        match self.key.work {
            Work::Apply(op) => op.info().name,
            Work::Index => "index",
            Work::Reduce(_) => "reduce",
        }
    }

    /// The dtype of the results.
    pub fn dtype(&self) -> DType {
        self.key.dtype
    }

    /// The task of an operation; `None` where an operand is not in host memory.
    pub fn of(dtype: DType, shape: &[usize], op: &NodeOp, operands: &[Operand]) -> Option<Task> {
        let (work, mut space) = match op {
            NodeOp::Apply(op) => (Work::Apply(*op), Shape::from_slice(shape)),
            NodeOp::Index(_) => (Work::Index, Shape::from_slice(shape)),
            NodeOp::Reduce { op, n } => {
                let mut space = Shape::from_slice(shape);
                *space.last_mut()? = *n;
                (Work::Reduce(*op), space)
            }
            _ => return None,
        };
        let mut dest = access::access(0, &contiguous_strides(shape));
        let mut leaves = [None; 3];
        let mut task = Task {
            key: Key { work, dtype, rank: 1, leaves },
            space: Shape::new(),
            params: SmallVec::new(),
            accesses: SmallVec::new(),
            operands: SmallVec::new(),
            dest: Access::default(),
            len: size_of(shape),
        };
        for ((input, value), leaf) in operands.iter().zip(&mut leaves) {
            *leaf = Some(match (input, value) {
                (Input::Scalar(scalar), _) => {
                    task.params.push(scalar.bits);
                    Leaf::Scalar(scalar.dtype)
                }
                (input, Some(value)) => {
                    let mut access = input.access(&space);
                    task.operands.push(memory(value, &mut access, &space)?);
                    task.accesses.push(access);
                    Leaf::Memory(value.dtype(), AccessKind::Affine)
                }
                (_, None) => return None,
            });
        }
        if let NodeOp::Index(axis) = op {
            let mut access = Access { offset: 0, strides: SmallVec::from_elem(0, space.len()) };
            *access.strides.get_mut(*axis as usize)? = 1;
            task.accesses.push(access);
            leaves[0] = Some(Leaf::Coordinate(AccessKind::Affine));
        }
        if space.is_empty() {
            space.push(1);
            task.accesses.iter_mut().chain([&mut dest]).for_each(|access| access.strides.push(0));
        }
        task.merge(space, dest, leaves);
        Some(task)
    }

    /// Takes axes together where everything goes on alike.
    fn merge(&mut self, space: Shape, dest: Access, mut leaves: [Option<Leaf>; 3]) {
        let walks = self.accesses.iter().chain([&dest]);
        let groups = merge_axes(&space, walks, matches!(self.key.work, Work::Reduce(_)));
        let merged = |access: &Access| Access {
            offset: access.offset,
            strides: groups.iter().map(|group| access.strides[group.0]).collect(),
        };
        self.space = groups.iter().map(|group| group.1).collect();
        self.dest = merged(&dest);
        self.accesses.iter_mut().for_each(|access| *access = merged(access));
        let mut kinds = self.accesses.iter().map(|access| access::kind(access, &self.space));
        for leaf in leaves.iter_mut().flatten() {
            match leaf {
                Leaf::Scalar(_) => {}
                Leaf::Memory(_, kind) | Leaf::Coordinate(kind) => {
                    *kind = kinds.next().unwrap_or(AccessKind::Affine);
                }
            }
        }
        self.key.rank = self.space.len() as u32;
        self.key.leaves = leaves;
    }

    /// Evaluates the task on a device into a buffer that nobody else has, as large as the results;
    /// tells what that took, and how many operations the program has.
    ///
    /// # Errors
    /// - `Unsupported`: the device cannot do it in one launch.
    /// - any error of the driver. The device has no block of the task either way.
    pub fn launch(&self, device: &mut Device, buffer: &HostBuffer) -> Result<(Evaluated, u64)> {
        if !device.programs.0.contains_key(&self.key) {
            let ready = self.key.ready(device);
            device.programs.0.insert(self.key, ready);
        }
        let Device { driver, programs, caps, .. } = device;
        let ready = programs.0.get(&self.key).and_then(Option::as_ref);
        let ready = ready.filter(|_| caps.host_memory).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "at_once").says("one launch does not do it")
        })?;
        let memory = NonNull::new(buffer.as_ptr().cast_mut()).map(HostMemory::new);
        let dest = BlockSpec { memory, ..BlockSpec::new(self.key.dtype, self.len) };
        let mut blocks: SmallVec<[BlockId; 4]> = SmallVec::new();
        let mut done = Ok(());
        for spec in self.operands.iter().chain([&dest]) {
            match driver.block_alloc(*spec) {
                Ok(block) => blocks.push(block),
                Err(error) => {
                    done = Err(error);
                    break;
                }
            }
        }
        let done = done.and_then(|()| {
            let (operands, dest) = blocks.split_at(self.operands.len());
            let dest = Dest { block: dest[0], access: self.dest.clone(), whole: true };
            driver.eval_ir(&Launch {
                program: &ready.program,
                fingerprint: ready.fingerprint,
                shape: &self.space,
                operands,
                params: &self.params,
                accesses: &self.accesses,
                dests: &[dest],
            })
        });
        blocks.into_iter().for_each(|block| driver.block_free(block));
        Ok((done?, ready.program.operation_count() as u64))
    }
}

/// The memory of an array's elements, which was there from the beginning, and the value whose it is;
/// `None` where they do not lie side by side.
fn side_by_side(array: &Array) -> Option<(BlockSpec, Value)> {
    if !array.is_contiguous() {
        return None;
    }
    let (value, dtype) = (array.value().ok()?, array.dtype());
    let offset = array.offset() as usize * dtype.size();
    let start = value.0.memory?.as_ptr().wrapping_add(offset);
    let memory = NonNull::new(start).map(HostMemory::new);
    Some((BlockSpec { memory, ..BlockSpec::new(dtype, array.size()) }, value))
}

/// The access to elements side by side.
fn unit() -> Access {
    Access { offset: 0, strides: smallvec![1] }
}

/// The host memory that an access reads, of which it counts from then on; `None` where it is not
/// all there.
fn memory(value: &Value, access: &mut Access, space: &[usize]) -> Option<BlockSpec> {
    if !value.is_computed() {
        return None;
    }
    let reach = access::reach(access, space);
    access.offset -= reach.start as i64;
    let state = value.state();
    if !state.on_host.covers(reach.clone()) {
        return None;
    }
    let start = state.host.as_ref()?.as_ptr().wrapping_add(reach.start * value.dtype().size());
    let memory = NonNull::new(start.cast_mut()).map(HostMemory::new)?;
    Some(BlockSpec { memory: Some(memory), ..BlockSpec::new(value.dtype(), reach.len()) })
}

impl Key {
    /// All of it in one number.
    fn code(&self) -> u64 {
        let (form, op) = match self.work {
            Work::Apply(op) => (0, op as u64),
            Work::Index => (1, 0),
            Work::Reduce(op) => (2, op as u64),
        };
        let leaf = |leaf: &Option<Leaf>| match leaf {
            None => 0,
            Some(Leaf::Scalar(dtype)) => 1 | (*dtype as u64) << 2,
            Some(Leaf::Memory(dtype, kind)) => 2 | (*dtype as u64) << 2 | (*kind as u64) << 6,
            Some(Leaf::Coordinate(kind)) => 3 | (*kind as u64) << 6,
        };
        let head = form | op << 2 | (self.dtype as u64) << 18 | u64::from(self.rank) << 22;
        self.leaves.iter().zip([32, 40, 48]).fold(head, |code, (l, at)| code | leaf(l) << at)
    }

    /// The program for tasks like this, if the device can do it in one launch.
    fn ready(&self, device: &mut Device) -> Option<Ready> {
        let form = match self.work {
            Work::Reduce(op) => Form::Reduce { op },
            Work::Apply(_) | Work::Index => Form::Map,
        };
        let mut builder = Builder::new(form, self.rank);
        let mut values: SmallVec<[u32; 3]> = SmallVec::new();
        for leaf in self.leaves.iter().flatten() {
            values.push(match *leaf {
                Leaf::Scalar(dtype) => builder.param(dtype),
                Leaf::Memory(dtype, kind) => {
                    let (operand, access) = (builder.operand(dtype), builder.access(kind));
                    builder.load(operand, access)
                }
                Leaf::Coordinate(kind) => {
                    let access = builder.access(kind);
                    builder.index(access)
                }
            });
        }
        let result = match self.work {
            Work::Apply(op) => emit(device, &mut builder, op, self.dtype, &values),
            Work::Index => values[0],
            Work::Reduce(_) => builder.reduce(values[0]),
        };
        builder.store(result);
        let program = builder.finish();
        debug_assert!(program.verify().is_ok(), "{program}: {:?}", program.verify().err());
        let check = device.driver.check_ir(&program).ok()?;
        let fingerprint = program.fingerprint();
        check.fits.then_some(Ready { program, fingerprint })
    }
}
