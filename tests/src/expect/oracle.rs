//! An interpreter of IR programs: one point at a time, as the specification reads.
//!
//! Owns [`Run`] and [`expected`]. Invariant: written from the specification alone, without speed in
//! mind; no code of a driver or of the core's evaluator is used.
//!
//! Not here: scalar operations (`arithmetic.rs`), comparison (`compare.rs`).

use crate::expect::arithmetic;
use crate::expect::compare::may_flush;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

const TRUE: Scalar = Scalar { dtype: DType::Bool, bits: 1 };

/// A launch and everything that it touches.
#[derive(Clone)]
pub struct Run {
    pub program: Program,
    pub shape: Vec<usize>,
    /// The contents of the operand blocks.
    pub operands: Vec<Vec<Scalar>>,
    pub params: Vec<Scalar>,
    pub accesses: Vec<Access>,
    pub targets: Vec<Target>,
}

/// A destination block, and where the launch writes in it.
#[derive(Clone)]
pub struct Target {
    pub len: usize,
    pub access: Access,
    pub whole: bool,
}

/// The value that one point of the output space stores into one destination.
pub struct Element {
    /// The element's place in the block.
    pub at: usize,
    pub value: Scalar,
    /// Other permitted values on a device that flushes subnormals; empty when no subnormal was involved.
    pub flushed: Vec<Scalar>,
    /// Whether flushing makes the value unpredictable, because it may happen at each of several operations.
    pub open: bool,
    /// True when the suite does not define the value.
    pub undefined: bool,
    /// The elements that were loaded and the parameters, for people to read.
    pub inputs: Vec<Scalar>,
}

/// An access with the strides of a C-contiguous array.
pub fn contiguous(shape: &[usize]) -> Access {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    Access { offset: 0, strides: strides.into_iter().collect() }
}

/// An access with these numbers.
pub fn affine(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.iter().copied().collect() }
}

impl Run {
    /// A launch over `shape` without operands, parameters and accesses, whose destinations are
    /// blocks of just the output space.
    pub fn new(program: Program, shape: &[usize]) -> Run {
        let mut run = Run {
            program,
            shape: shape.to_vec(),
            operands: Vec::new(),
            params: Vec::new(),
            accesses: Vec::new(),
            targets: Vec::new(),
        };
        let out = run.out_shape();
        let target = Target { len: out.iter().product(), access: contiguous(&out), whole: true };
        run.targets = vec![target; run.program.dests.len()];
        run
    }

    pub fn operand(mut self, data: Vec<Scalar>) -> Run {
        self.operands.push(data);
        self
    }

    pub fn param(mut self, param: Scalar) -> Run {
        self.params.push(param);
        self
    }

    pub fn access(mut self, access: Access) -> Run {
        self.accesses.push(access);
        self
    }

    pub fn target(mut self, slot: usize, len: usize, access: Access) -> Run {
        self.targets[slot] = Target { len, access, whole: false };
        self
    }

    /// The shape of the output space.
    pub fn out_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        match (self.program.form, shape.last_mut()) {
            (Form::Reduce { .. }, Some(n)) => *n = n.div_ceil(256),
            (Form::MatMul, Some(n)) => *n = 1,
            _ => {}
        }
        shape
    }
}

/// The expected elements of each destination, where the launch writes.
pub fn expected(run: &Run) -> Vec<Vec<Element>> {
    let mut all: Vec<Vec<Element>> = run.program.dests.iter().map(|_| Vec::new()).collect();
    // With one operation, the results of a flushing device are known; with more, each operation may or may
    // not flush, and nothing is guaranteed.
    let one = run.program.operation_count() <= 1 && run.program.form == Form::Map;
    for point in points(&run.out_shape()) {
        let mut exact = Machine::new(run, None);
        let written = exact.point(&point);
        let mut others = Vec::new();
        if one && exact.met_subnormal {
            let modes = [(true, false), (false, true), (true, true)];
            for (inputs, outputs) in modes {
                for (positive, chooses) in [(false, false), (true, false), (false, true)] {
                    let flush = Flush { inputs, outputs, positive, chooses };
                    others.push(Machine::new(run, Some(flush)).point(&point));
                }
            }
        }
        for (k, (slot, value)) in written.iter().enumerate() {
            all[*slot].push(Element {
                at: place(&run.targets[*slot].access, &point) as usize,
                value: *value,
                flushed: others.iter().map(|other| other[k].1).collect(),
                open: exact.met_subnormal && !one,
                undefined: exact.undefined,
                inputs: exact.inputs.clone(),
            });
        }
    }
    all
}

/// All points of a shape, in C order.
pub fn points(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    (0..shape.iter().product::<usize>()).map(move |mut number| {
        let mut point = vec![0; shape.len()];
        for k in (0..shape.len()).rev() {
            point[k] = number % shape[k];
            number /= shape[k];
        }
        point
    })
}

fn place(access: &Access, point: &[usize]) -> i64 {
    let steps = access.strides.iter().zip(point);
    access.offset + steps.map(|(stride, i)| stride * *i as i64).sum::<i64>()
}

/// The behaviour of a device that flushes subnormals.
#[derive(Clone, Copy)]
struct Flush {
    inputs: bool,
    outputs: bool,
    /// To 0.0, not to the zero of the same sign.
    positive: bool,
    /// Minimum and maximum compare flushed operands, but give one of them as it is.
    chooses: bool,
}

impl Flush {
    fn zero(self, x: Scalar) -> Scalar {
        Scalar::f32(if self.positive { 0.0 } else { 0f32.copysign(x.as_f32()) })
    }

    fn input(self, x: Scalar) -> Scalar {
        if self.inputs && x.dtype == DType::F32 && x.as_f32().is_subnormal() {
            return self.zero(x);
        }
        x
    }

    /// The least normal number may be a subnormal one that was rounded up after it was flushed.
    fn output(self, x: Scalar) -> Scalar {
        if self.outputs && may_flush(x) { self.zero(x) } else { x }
    }
}

struct Machine<'a> {
    run: &'a Run,
    flush: Option<Flush>,
    values: Vec<Scalar>,
    /// Carried values of open loops and results of finished regions, by the opening instruction.
    lists: Vec<Vec<Scalar>>,
    iterations: Vec<i32>,
    written: Vec<(usize, Scalar)>,
    inputs: Vec<Scalar>,
    met_subnormal: bool,
    undefined: bool,
    /// True when the program has no more than one operation.
    one: bool,
}

impl<'a> Machine<'a> {
    fn new(run: &'a Run, flush: Option<Flush>) -> Machine<'a> {
        let n = run.program.insts.len();
        Machine {
            run,
            flush,
            values: vec![Scalar::zero(DType::Bool); n],
            lists: vec![Vec::new(); n],
            iterations: vec![0; n],
            written: Vec::new(),
            inputs: Vec::new(),
            met_subnormal: false,
            undefined: false,
            one: run.program.operation_count() <= 1,
        }
    }

    fn insts(&self) -> &'a [Inst] {
        &self.run.program.insts
    }

    /// Runs everything for one point of the output space; returns the stored values.
    fn point(&mut self, point: &[usize]) -> Vec<(usize, Scalar)> {
        let end = self.insts().len();
        match self.run.program.form {
            Form::Map => self.exec(0, end, point),
            Form::Reduce { op } => {
                let is_reduce = |inst: &Inst| inst.op == Op::Reduce;
                let first = self.insts().iter().position(is_reduce).unwrap_or(0);
                let count = self.insts()[first..].iter().take_while(|i| is_reduce(i)).count();
                let results = self.reduce(op, first, count, point);
                self.values[first..first + count].copy_from_slice(&results);
                self.exec(first + count, end, point);
            }
            Form::Scan { op } => self.values[2] = self.scan(op, point),
            Form::Sort => self.values[1] = self.sorted(point),
            Form::MatMul => self.values[2] = self.product(point),
            // Their cases compare whole rows (`cases/routines.rs`).
            Form::Routine { .. } => {}
        }
        if self.run.program.form.is_library_op() {
            self.exec(end - 1, end, point);
        }
        std::mem::take(&mut self.written)
    }

    /// The canonical tree over the input points of one output point, for each of the reductions from `first` on.
    fn reduce(&mut self, op: Op, first: usize, count: usize, point: &[usize]) -> Vec<Scalar> {
        let axis = point.len() - 1;
        let total = self.run.shape[axis];
        let insts = &self.insts()[first..first + count];
        // Each further reduction names its operation.
        let own = |inst: &Inst| match inst.args[1] {
            0 => op,
            code => u16::try_from(code).ok().and_then(Op::from_code).unwrap_or(op),
        };
        let mut all: Vec<[Option<Scalar>; 16]> = vec![[None; 16]; count];
        for k in 0..256 {
            let mut input = point.to_vec();
            input[axis] = 256 * point[axis] + k;
            if input[axis] >= total {
                break;
            }
            self.exec(0, first, &input);
            for (inst, lanes) in insts.iter().zip(&mut all) {
                let value = self.values[inst.args[0] as usize];
                lanes[k % 16] = self.combine(own(inst), lanes[k % 16], Some(value));
            }
        }
        let mut results = Vec::new();
        for (inst, mut lanes) in insts.iter().zip(all) {
            for half in [8, 4, 2, 1] {
                for lane in 0..half {
                    lanes[lane] = self.combine(own(inst), lanes[lane], lanes[lane + half]);
                }
            }
            results.push(lanes[0].unwrap_or(Scalar::zero(DType::Bool)));
        }
        results
    }

    /// A load of a whole-program form at a point of its space.
    fn load(&mut self, which: usize, point: &[usize]) -> Scalar {
        self.exec(which, which + 1, point);
        self.values[which]
    }

    /// The chunk's start, and the elements from the chunk's first to this one.
    fn scan(&mut self, op: Op, point: &[usize]) -> Scalar {
        let axis = point.len() - 1;
        let mut at = point.to_vec();
        at[axis] = point[axis] / 256;
        let mut now = self.load(1, &at);
        for k in 256 * at[axis]..=point[axis] {
            at[axis] = k;
            let element = self.load(0, &at);
            now = self.apply(op, now.dtype, &[now, element]);
        }
        now
    }

    /// The element, or its position, with as many before it as the point says.
    fn sorted(&mut self, point: &[usize]) -> Scalar {
        let axis = point.len() - 1;
        let at = |k| [&point[..axis], &[k]].concat();
        let row: Vec<_> = (0..self.run.shape[axis]).map(|k| self.load(0, &at(k))).collect();
        let before = |(i, x): (usize, Scalar), (j, y): (usize, Scalar)| {
            let less = |x, y| arithmetic::apply(Op::Lt, DType::Bool, &[x, y]) == Some(TRUE);
            let nan = |x: Scalar| x.dtype.is_float() && x.as_f32().is_nan();
            match (nan(x), nan(y)) {
                (false, false) => less(x, y) || !less(y, x) && i < j,
                (x, y) if x == y => i < j,
                (x, _) => !x,
            }
        };
        let rank = |i| (0..row.len()).filter(|j| before((*j, row[*j]), (i, row[i]))).count();
        let found = (0..row.len()).find(|i| rank(*i) == point[axis]).unwrap_or(0);
        match self.insts()[1].op {
            Op::ArgSort => Scalar::i32(found as i32),
            _ => row[found],
        }
    }

    /// The sum over the last axis, from left to right.
    fn product(&mut self, point: &[usize]) -> Scalar {
        let axis = point.len() - 1;
        let mut sum = None;
        for k in 0..self.run.shape[axis] {
            let at = [&point[..axis], &[k]].concat();
            let pair = [self.load(0, &at), self.load(1, &at)];
            let product = self.apply(Op::Mul, pair[0].dtype, &pair);
            sum = self.combine(Op::Add, sum, Some(product));
        }
        sum.unwrap_or(Scalar::zero(DType::Bool))
    }

    fn combine(&mut self, op: Op, left: Option<Scalar>, right: Option<Scalar>) -> Option<Scalar> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.apply(op, left.dtype, &[left, right])),
            (some, None) | (None, some) => some,
        }
    }

    fn list(&self, inst: &Inst) -> Vec<Scalar> {
        let (from, len) = (inst.args[1] as usize, inst.args[2] as usize);
        let values = &self.run.program.extra[from..from + len];
        values.iter().map(|value| self.values[*value as usize]).collect()
    }

    /// Where the branch of region `region` that starts after `at` ends: its `else` or `end`.
    fn branch_end(&self, region: usize, at: usize) -> usize {
        let rest = &self.insts()[at + 1..];
        let ends = |i: &Inst| matches!(i.op, Op::Else | Op::End) && i.args[0] as usize == region;
        at + 1 + rest.iter().position(ends).unwrap_or(0)
    }

    fn exec(&mut self, from: usize, to: usize, point: &[usize]) {
        let mut at = from;
        while at < to {
            let inst = &self.insts()[at];
            let [a, b, _] = inst.args.map(|arg| arg as usize);
            match inst.op {
                Op::Loop => {
                    let end = self.branch_end(at, at);
                    let count = self.values[a].as_i32();
                    let mut carried = self.list(inst);
                    for iteration in 0..count.max(0) {
                        self.iterations[at] = iteration;
                        self.lists[at] = carried;
                        self.exec(at + 1, end, point);
                        carried = self.list(&self.insts()[end]);
                    }
                    self.lists[at] = carried;
                    at = end;
                }
                Op::If => {
                    let second = self.branch_end(at, at);
                    let end = self.branch_end(at, second);
                    let (from, to) =
                        if self.values[a].as_bool() { (at + 1, second) } else { (second + 1, end) };
                    self.exec(from, to, point);
                    self.lists[at] = self.list(&self.insts()[to]);
                    at = end;
                }
                Op::Store => self.written.push((a, self.values[b])),
                _ => self.values[at] = self.value(inst, point),
            }
            at += 1;
        }
    }

    fn value(&mut self, inst: &Inst, point: &[usize]) -> Scalar {
        let [a, b, _] = inst.args.map(|arg| arg as usize);
        let run = self.run;
        match inst.op {
            Op::Const => Scalar::new(inst.dtype, a as u64 | (b as u64) << 32),
            Op::Param => run.params[a],
            Op::Index => Scalar::i32(place(&run.accesses[a], point) as i32),
            Op::Load => {
                let element = run.operands[a][place(&run.accesses[b], point) as usize];
                self.inputs.push(element);
                element
            }
            Op::Gather => {
                let operand = &run.operands[a];
                let last = operand.len() as i64 - 1;
                let index = i64::from(self.values[b].as_i32()).clamp(0, last);
                self.inputs.push(operand[index as usize]);
                operand[index as usize]
            }
            Op::Piece => {
                let number = self.values[a].as_i32();
                let ends = self.list(inst);
                let is_below = |end: &Scalar| number < end.as_i32();
                Scalar::i32(ends.iter().position(is_below).unwrap_or(ends.len()) as i32)
            }
            Op::Choose => {
                let values = self.list(inst);
                let last = values.len() as i64 - 1;
                values[i64::from(self.values[a].as_i32()).clamp(0, last) as usize]
            }
            Op::Carry | Op::Result => self.lists[a][b],
            Op::Iter => Scalar::i32(self.iterations[a]),
            op => {
                let arity = op.info().arity as usize;
                let args: Vec<_> =
                    inst.args[..arity].iter().map(|v| self.values[*v as usize]).collect();
                self.apply(op, inst.dtype, &args)
            }
        }
    }

    fn apply(&mut self, op: Op, to: DType, args: &[Scalar]) -> Scalar {
        // These move bits and compute nothing.
        let moves = matches!(op, Op::Select | Op::Bitcast);
        let flush = self.flush.filter(|_| !moves);
        let mut args = args.to_vec();
        self.met_subnormal |= !moves && args.iter().any(|x| may_flush(*x));
        // The sign of a computed NaN is not defined; that of a given one is.
        let signs = matches!(op, Op::SignBit | Op::Copysign);
        let is_nan = |x: &Scalar| x.dtype == DType::F32 && x.as_f32().is_nan();
        self.undefined |= signs && !self.one && args.last().is_some_and(is_nan);
        let given = args.clone();
        if let Some(flush) = flush {
            args = args.into_iter().map(|x| flush.input(x)).collect();
        }
        let Some(value) = arithmetic::apply(op, to, &args) else {
            self.undefined = true;
            return Scalar::zero(to);
        };
        self.met_subnormal |= !moves && may_flush(value);
        match flush {
            Some(flush) if flush.chooses && matches!(op, Op::Min | Op::Max) => {
                // Of operands that are equal once flushed, the second.
                let second = value.bits == args[1].bits;
                given[usize::from(second)]
            }
            Some(flush) => flush.output(value),
            None => value,
        }
    }
}
