//! Evaluation of one launch, row by row.
//!
//! Owns [`launch`]. Elements travel as bits in rows of `u64`, so that dtypes matter only where rows
//! are read and written. Invariant: nothing but the launch's points changes in a destination.
//!
//! Not here: whether the program is one that we evaluate (`resources.rs`).

use crate::blocks::{Block, Blocks};
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::op_eval::{Function, function};
use gpupy_core::{Error, ErrorKind, Result, Scalar};

/// Points that are in work at a time, all of one row: few enough for the nearest cache.
const ROW: usize = 1024;

/// Evaluates a launch whose program has at most one operation.
pub fn launch(blocks: &mut Blocks, launch: &Launch<'_>) -> Result<()> {
    let mut shape = launch.shape.to_vec();
    if let (Form::Reduce { .. }, Some(n)) = (launch.program.form, shape.last_mut()) {
        *n = n.div_ceil(REDUCE_CHUNK);
    }
    for inst in launch.program.insts.iter().filter(|inst| inst.op == Op::Store) {
        let dest = &launch.dests[inst.args[0] as usize];
        // Taken out while the operands are read: no destination is also an operand.
        let block = blocks.get_mut(dest.block)?;
        let mut bytes = std::mem::take(&mut block.bytes);
        let width = block.dtype.size();
        let work = Work::of(blocks, launch, inst.args[1]);
        let stored = work.map(|mut work| store(&mut work, &shape, &dest.access, width, &mut bytes));
        blocks.get_mut(dest.block)?.bytes = bytes;
        stored?;
    }
    Ok(())
}

/// What gives a value without computing.
enum Leaf<'a> {
    Fixed(u64),
    Index(&'a Access),
    Load(&'a Block, &'a Access),
}

/// The value of a store: a leaf, or one operation on leaves.
enum Work<'a> {
    Copy(Leaf<'a>),
    Gather(&'a Block, Leaf<'a>),
    Apply(Function, Vec<(Leaf<'a>, Vec<u64>)>),
    Reduce(Function, Leaf<'a>, usize),
}

impl<'a> Leaf<'a> {
    fn of(blocks: &'a Blocks, launch: &Launch<'a>, value: u32) -> Result<Leaf<'a>> {
        let inst = &launch.program.insts[value as usize];
        let [a, b, _] = inst.args.map(|arg| arg as usize);
        Ok(match inst.op {
            Op::Const => Leaf::Fixed(a as u64 | (b as u64) << 32),
            Op::Param => Leaf::Fixed(launch.params[a]),
            Op::Index => Leaf::Index(&launch.accesses[a]),
            _ => Leaf::Load(blocks.get(launch.operands[a])?, &launch.accesses[b]),
        })
    }

    /// The values at `point` and its followers along the last axis.
    fn fill(&self, point: &[usize], row: &mut [u64]) {
        match self {
            Leaf::Fixed(bits) => row.fill(*bits),
            Leaf::Index(access) => {
                let place = places(access, point);
                (0..).zip(row).for_each(|(k, bits)| *bits = Scalar::i32(place(k) as i32).bits);
            }
            Leaf::Load(block, access) => {
                let place = places(access, point);
                read(block, row, |k, _| place(k));
            }
        }
    }
}

impl<'a> Work<'a> {
    fn of(blocks: &'a Blocks, launch: &Launch<'a>, value: u32) -> Result<Work<'a>> {
        let program = launch.program;
        let inst = &program.insts[value as usize];
        let leaf = |value| Leaf::of(blocks, launch, value);
        let args: Vec<u32> = program.uses(inst).collect();
        let function = |op: Op| {
            // Of a select, the dtype that counts is not the condition's.
            let operand = if op == Op::Select { args[1] } else { args[0] };
            function(op, program.insts[operand as usize].dtype, inst.dtype).ok_or_else(|| {
                Error::new(ErrorKind::Unsupported, "eval_ir").with("operation", op.info().name)
            })
        };
        Ok(match (inst.op, program.form) {
            _ if args.is_empty() => Work::Copy(leaf(value)?),
            (Op::Gather, _) => {
                Work::Gather(blocks.get(launch.operands[inst.args[0] as usize])?, leaf(args[0])?)
            }
            (Op::Reduce, Form::Reduce { op }) => {
                Work::Reduce(function(op)?, leaf(args[0])?, launch.shape[launch.shape.len() - 1])
            }
            (op, _) => {
                let mut leaves = Vec::with_capacity(3);
                for k in 0..3 {
                    let operand = args.get(k).map_or(Ok(Leaf::Fixed(0)), |arg| leaf(*arg));
                    leaves.push((operand?, vec![0; ROW]));
                }
                Work::Apply(function(op)?, leaves)
            }
        })
    }

    fn fill(&mut self, point: &[usize], row: &mut [u64]) {
        match self {
            Work::Copy(leaf) => leaf.fill(point, row),
            Work::Gather(block, index) => {
                index.fill(point, row);
                let last = block.len() as i32 - 1;
                read(block, row, |_, index| (index as i32).clamp(0, last) as usize);
            }
            Work::Apply(apply, operands) => {
                let rows = operands.iter_mut().map(|(leaf, values)| {
                    leaf.fill(point, &mut values[..row.len()]);
                    &values[..]
                });
                if let [a, b, c] = rows.collect::<Vec<_>>()[..] {
                    let operands = a.iter().zip(b).zip(c);
                    row.iter_mut()
                        .zip(operands)
                        .for_each(|(r, ((a, b), c))| *r = apply(*a, *b, *c));
                }
            }
            Work::Reduce(combine, leaf, total) => {
                let mut from = point.to_vec();
                let mut chunk = [0; REDUCE_CHUNK];
                let axis = point.len() - 1;
                for (k, bits) in row.iter_mut().enumerate() {
                    from[axis] = (point[axis] + k) * REDUCE_CHUNK;
                    let present = REDUCE_CHUNK.min(*total - from[axis]);
                    leaf.fill(&from, &mut chunk[..present]);
                    *bits = tree(*combine, &mut chunk[..present]);
                }
            }
        }
    }
}

/// Combines one chunk by the canonical tree (see `Form::Reduce`).
fn tree(combine: Function, chunk: &mut [u64]) -> u64 {
    for k in REDUCE_LANES..chunk.len() {
        chunk[k % REDUCE_LANES] = combine(chunk[k % REDUCE_LANES], chunk[k], 0);
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half.min(chunk.len().saturating_sub(half)) {
            chunk[lane] = combine(chunk[lane], chunk[lane + half], 0);
        }
    }
    chunk[0]
}

/// The places of `point` and its followers along the last axis.
fn places(access: &Access, point: &[usize]) -> impl Fn(usize) -> usize + use<> {
    let steps = access.strides.iter().zip(point);
    let at = steps.fold(access.offset, |at, (stride, i)| at + stride * *i as i64);
    let step = access.strides.last().copied().unwrap_or(0);
    move |k| (at + step * k as i64) as usize
}

/// Reads element `place(k, bits)` into the `k`-th of `row`, which holds `bits`.
fn read(block: &Block, row: &mut [u64], place: impl Fn(usize, u64) -> usize) {
    let row = row.iter_mut().enumerate();
    if block.dtype.size() == 1 {
        row.for_each(|(k, bits)| *bits = u64::from(block.bytes[place(k, *bits)]));
    } else {
        let (words, _) = block.bytes.as_chunks::<4>();
        row.for_each(|(k, bits)| *bits = u64::from(u32::from_ne_bytes(words[place(k, *bits)])));
    }
}

/// Evaluates a value at every point of `shape` into a destination.
fn store(work: &mut Work<'_>, shape: &[usize], dest: &Access, width: usize, bytes: &mut [u8]) {
    let axis = shape.len() - 1;
    let mut point = vec![0; shape.len()];
    let mut row = vec![0; ROW];
    while point[0] < shape[0] {
        let row = &mut row[..ROW.min(shape[axis] - point[axis])];
        work.fill(&point, row);
        let place = places(dest, &point);
        let values = row.iter().enumerate();
        if width == 1 {
            values.for_each(|(k, bits)| bytes[place(k)] = *bits as u8);
        } else {
            let (words, _) = bytes.as_chunks_mut::<4>();
            values.for_each(|(k, bits)| words[place(k)] = (*bits as u32).to_ne_bytes());
        }
        // On to the next piece of this row, or the next row.
        point[axis] += row.len();
        let mut k = axis;
        while k > 0 && point[k] == shape[k] {
            point[k] = 0;
            point[k - 1] += 1;
            k -= 1;
        }
    }
}
