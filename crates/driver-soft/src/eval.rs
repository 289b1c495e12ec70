//! Evaluation of one launch, row by row.
//!
//! Owns [`launch`]. Elements travel as bits in rows of `u64`, so that dtypes matter only where rows
//! are read and written. Invariant: nothing but the launch's points changes in a destination.
//!
//! Not here: whether the program is one that we evaluate (`resources.rs`).

use crate::blocks::{Block, Blocks};
use gpupy_core::driver::{Access, Dest, Launch};
use gpupy_core::ir::{Form, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::op_eval::{Function, function};
use gpupy_core::{Error, ErrorKind, Result, Scalar};

/// Elements of a row that are in work at a time: few enough for the nearest cache.
const ROW: usize = 1024;

/// Evaluates a launch whose program has at most one operation.
pub fn launch(blocks: &mut Blocks, launch: &Launch<'_>) -> Result<()> {
    let mut shape = launch.shape.to_vec();
    if let (Form::Reduce { .. }, Some(n)) = (launch.program.form, shape.last_mut()) {
        *n = n.div_ceil(REDUCE_CHUNK);
    }
    for inst in launch
        .program
        .insts
        .iter()
        .filter(|inst| inst.op == Op::Store)
    {
        let [slot, value, _] = inst.args;
        let dest = &launch.dests[slot as usize];
        let mut target = blocks.take(dest.block)?;
        let stored =
            value_of(blocks, launch, value).map(|mut v| store(&mut v, &shape, dest, &mut target));
        blocks.put_back(target);
        stored?;
    }
    Ok(())
}

/// Where the bits of an instruction's value come from.
enum Value<'a> {
    Fixed(u64),
    Index(&'a Access),
    Load(&'a Block, &'a Access),
    Gather(&'a Block, Box<Value<'a>>),
    Apply(Function, Vec<(Value<'a>, Vec<u64>)>),
    Reduce(Function, Box<Value<'a>>, usize),
}

fn value_of<'a>(blocks: &'a Blocks, launch: &Launch<'a>, number: u32) -> Result<Value<'a>> {
    let program = launch.program;
    let inst = &program.insts[number as usize];
    let [a, b, _] = inst.args.map(|arg| arg as usize);
    let operand = |slot: usize| blocks.get(launch.operands[slot]);
    Ok(match inst.op {
        Op::Const => Value::Fixed(a as u64 | (b as u64) << 32),
        Op::Param => Value::Fixed(launch.params[a]),
        Op::Index => Value::Index(&launch.accesses[a]),
        Op::Load => Value::Load(operand(a)?, &launch.accesses[b]),
        Op::Gather => Value::Gather(operand(a)?, Box::new(value_of(blocks, launch, b as u32)?)),
        op => {
            let args: Vec<u32> = program.uses(inst).collect();
            let from = program.insts[args[if op == Op::Select { 1 } else { 0 }] as usize].dtype;
            let (op, reduces) = match program.form {
                Form::Reduce { op: by } if op == Op::Reduce => (by, true),
                _ => (op, false),
            };
            let apply = function(op, from, inst.dtype).ok_or_else(|| {
                Error::new(ErrorKind::Unsupported, "eval_ir").with("operation", op.info().name)
            })?;
            let mut values = Vec::with_capacity(3);
            for arg in args {
                values.push((value_of(blocks, launch, arg)?, vec![0; ROW]));
            }
            match (reduces, values.pop()) {
                (true, Some((value, _))) => {
                    Value::Reduce(apply, Box::new(value), *launch.shape.last().unwrap_or(&1))
                }
                (_, last) => {
                    values.extend(last);
                    Value::Apply(apply, values)
                }
            }
        }
    })
}

/// The place of a point, and the step to the next one along the last axis.
fn place(access: &Access, point: &[usize]) -> (i64, i64) {
    let steps = access.strides.iter().zip(point);
    let at = steps.fold(access.offset, |at, (stride, i)| at + stride * *i as i64);
    (at, access.strides.last().copied().unwrap_or(0))
}

impl Value<'_> {
    /// Computes the values at `point` and its followers along the last axis.
    fn fill(&mut self, point: &[usize], row: &mut [u64]) {
        match self {
            Value::Fixed(bits) => row.fill(*bits),
            Value::Index(access) => {
                let (at, step) = place(access, point);
                for (k, bits) in row.iter_mut().enumerate() {
                    *bits = Scalar::i32((at + step * k as i64) as i32).bits;
                }
            }
            Value::Load(block, access) => {
                let (at, step) = place(access, point);
                read(block, row, |k, _| (at + step * k as i64) as usize);
            }
            Value::Gather(block, index) => {
                index.fill(point, row);
                let last = (block.bytes.len() / block.dtype.size()).saturating_sub(1) as i32;
                read(block, row, |_, bits| {
                    (bits as u32 as i32).clamp(0, last) as usize
                });
            }
            Value::Apply(apply, args) => {
                for (arg, buffer) in args.iter_mut() {
                    arg.fill(point, &mut buffer[..row.len()]);
                }
                let n = row.len();
                match &args[..] {
                    [(_, a)] => row
                        .iter_mut()
                        .zip(a)
                        .for_each(|(r, a)| *r = apply(*a, 0, 0)),
                    [(_, a), (_, b)] => {
                        for (r, (a, b)) in row.iter_mut().zip(a.iter().zip(b)) {
                            *r = apply(*a, *b, 0);
                        }
                    }
                    [(_, a), (_, b), (_, c), ..] => {
                        (0..n).for_each(|k| row[k] = apply(a[k], b[k], c[k]))
                    }
                    [] => {}
                }
            }
            Value::Reduce(combine, value, total) => {
                let mut from = point.to_vec();
                let mut chunk = [0; REDUCE_CHUNK];
                let axis = from.len() - 1;
                for (k, bits) in row.iter_mut().enumerate() {
                    from[axis] = (point[axis] + k) * REDUCE_CHUNK;
                    let present = REDUCE_CHUNK.min(*total - from[axis]);
                    value.fill(&from, &mut chunk[..present]);
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
    let mut half = REDUCE_LANES / 2;
    while half > 0 {
        for lane in 0..half.min(chunk.len().saturating_sub(half)) {
            chunk[lane] = combine(chunk[lane], chunk[lane + half], 0);
        }
        half /= 2;
    }
    chunk[0]
}

/// Reads element `place(k, bits)` into the `k`-th of `row`, which holds `bits`.
fn read(block: &Block, row: &mut [u64], place: impl Fn(usize, u64) -> usize) {
    let bytes = &block.bytes[..];
    let row = row.iter_mut().enumerate();
    match block.dtype.size() {
        1 => row.for_each(|(k, bits)| *bits = u64::from(bytes[place(k, *bits)])),
        _ => {
            let (words, _) = bytes.as_chunks::<4>();
            row.for_each(|(k, bits)| *bits = u64::from(u32::from_ne_bytes(words[place(k, *bits)])));
        }
    }
}

/// Evaluates a value at every point of `shape` into a destination.
fn store(value: &mut Value<'_>, shape: &[usize], dest: &Dest, target: &mut Block) {
    let axis = shape.len() - 1;
    let mut point = vec![0; shape.len()];
    let mut row = vec![0; ROW];
    loop {
        let row = &mut row[..ROW.min(shape[axis] - point[axis])];
        value.fill(&point, row);
        let (at, step) = place(&dest.access, &point);
        let place = |k: usize| (at + step * k as i64) as usize;
        match target.dtype.size() {
            1 => row
                .iter()
                .enumerate()
                .for_each(|(k, bits)| target.bytes[place(k)] = *bits as u8),
            _ => {
                let (words, _) = target.bytes.as_chunks_mut::<4>();
                let row = row.iter().enumerate();
                row.for_each(|(k, bits)| words[place(k)] = (*bits as u32).to_ne_bytes());
            }
        }
        // The next piece of this row, or the next row: the last axis that still has one steps on.
        point[axis] += row.len();
        let mut k = axis;
        while point[k] >= shape[k] {
            if k == 0 {
                return;
            }
            point[k] = 0;
            k -= 1;
            point[k] += 1;
        }
    }
}
