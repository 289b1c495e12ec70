//! Random programs that are valid by construction.
//!
//! Owns [`program`]. Invariant: every instruction of the IR can occur.

use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::routines::Routine;
use gpupy_core::{DType, Scalar};

const DTYPES: [DType; 6] =
    [DType::Bool, DType::I32, DType::U32, DType::F32, DType::I64, DType::F64];

/// The random program of this seed.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let reducing = rng.below(3) == 0;
    let by = reduction(&mut rng);
    if rng.below(8) == 0 {
        return whole(rng, by);
    }
    let form = if reducing { Form::Reduce { op: by } } else { Form::Map };
    let mut g = Generator { builder: Builder::new(form, 1 + rng.below(4) as u32), rng };
    let mut values = g.leaves();
    g.grow(&mut values, 2);
    if reducing {
        let others = values.clone();
        values.retain(|v| by.reduces(g.builder.dtype(*v)));
        let value = match values.last() {
            Some(value) => *value,
            None => g.constant(DType::I32),
        };
        values = vec![g.builder.reduce(value)];
        for _ in 0..[0, 0, 1, 3][g.rng.below(4)] {
            let (value, by) = (others[g.rng.below(others.len())], reduction(&mut g.rng));
            if by.reduces(g.builder.dtype(value)) {
                values.push(g.builder.reduce_by(by, value));
            }
        }
        values.extend(g.leaves());
        g.grow(&mut values, 1);
    }
    for _ in 0..1 + g.rng.below(3) {
        let value = values[g.rng.below(values.len())];
        g.builder.store(value);
    }
    g.builder.finish()
}

/// An operation that reduces.
fn reduction(rng: &mut Rng) -> Op {
    let all: Vec<Op> = Op::reducing().collect();
    all[rng.below(all.len())]
}

/// A program of a whole-program form.
fn whole(mut rng: Rng, by: Op) -> Program {
    if rng.below(4) == 0 {
        return routine(rng);
    }
    let op = [Op::Scan, Op::Sort, Op::ArgSort, Op::MatMul][rng.below(4)];
    let form = match op {
        Op::Scan => Form::Scan { op: by },
        Op::MatMul => Form::MatMul,
        _ => Form::Sort,
    };
    let mut g = Generator { builder: Builder::new(form, 3 + rng.below(2) as u32), rng };
    let dtype = loop {
        let dtype = g.dtype();
        if op != Op::Scan || by.reduces(dtype) {
            break dtype;
        }
    };
    let loads: Vec<_> = (0..op.info().arity)
        .map(|_| {
            let (operand, access) = (g.builder.operand(dtype), g.access());
            g.builder.load(operand, access)
        })
        .collect();
    let value = g.builder.library_op(op, &loads);
    g.builder.store(value);
    g.builder.finish()
}

/// A program of a routine.
fn routine(mut rng: Rng) -> Program {
    let all: Vec<Routine> = Routine::all().collect();
    let routine = all[rng.below(all.len())];
    let (from, to) = routine.info().dtypes[rng.below(routine.info().dtypes.len())];
    let builder = Builder::new(Form::Routine { routine }, 1 + rng.below(4) as u32);
    let mut g = Generator { builder, rng };
    let (operand, access) = (g.builder.operand(from), g.access());
    let load = g.builder.load(operand, access);
    let result = g.builder.routine(routine, load, to);
    g.builder.store(result);
    g.builder.finish()
}

/// xorshift64*.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}

struct Generator {
    builder: Builder,
    rng: Rng,
}

impl Generator {
    fn dtype(&mut self) -> DType {
        DTYPES[self.rng.below(DTYPES.len())]
    }

    fn constant(&mut self, dtype: DType) -> u32 {
        // Complex numbers have no literals.
        if let DType::C64 | DType::C128 = dtype {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            let parts = [self.constant(part), self.constant(part)];
            return self.builder.op(Op::Complex, &parts);
        }
        let bits = if dtype == DType::Bool { self.rng.next() & 1 } else { self.rng.next() };
        self.builder.constant(Scalar::new(dtype, bits))
    }

    fn access(&mut self) -> u32 {
        let kinds = [AccessKind::Contiguous, AccessKind::Uniform, AccessKind::Affine];
        let kind = kinds[self.rng.below(3)];
        self.builder.access(kind)
    }

    fn leaves(&mut self) -> Vec<u32> {
        let mut values = vec![self.constant(DType::I32), self.constant(DType::Bool)];
        for _ in 0..1 + self.rng.below(5) {
            let dtype = self.dtype();
            values.push(match self.rng.below(4) {
                0 => self.constant(dtype),
                1 => self.builder.param(dtype),
                2 => {
                    let access = self.access();
                    self.builder.index(access)
                }
                _ => {
                    let (operand, access) = (self.builder.operand(dtype), self.access());
                    self.builder.load(operand, access)
                }
            });
        }
        values
    }

    /// A value of this dtype among those given, or a new constant.
    fn pick(&mut self, values: &[u32], dtype: DType) -> u32 {
        let fit: Vec<_> =
            values.iter().copied().filter(|v| self.builder.dtype(*v) == dtype).collect();
        if fit.is_empty() { self.constant(dtype) } else { fit[self.rng.below(fit.len())] }
    }

    fn some(&mut self, values: &[u32]) -> Vec<u32> {
        (0..self.rng.below(4)).map(|_| values[self.rng.below(values.len())]).collect()
    }

    fn grow(&mut self, values: &mut Vec<u32>, depth: usize) {
        for _ in 0..self.rng.below(12) {
            match self.rng.below(11) {
                10 => {
                    let number = self.pick(values, DType::I32);
                    let ends: Vec<u32> =
                        (0..1 + self.rng.below(3)).map(|_| self.pick(values, DType::I32)).collect();
                    let (piece, dtype) = (self.builder.piece(number, &ends), self.dtype());
                    let chosen: Vec<u32> =
                        (0..1 + self.rng.below(4)).map(|_| self.pick(values, dtype)).collect();
                    values.extend([piece, self.builder.choose(piece, &chosen)]);
                }
                0 if depth > 0 => self.a_loop(values, depth),
                1 if depth > 0 => self.a_choice(values, depth),
                2 => {
                    let (dtype, index) = (self.dtype(), self.pick(values, DType::I32));
                    let operand = self.builder.operand(dtype);
                    values.push(self.builder.gather(operand, index));
                }
                _ => self.an_operation(values),
            }
        }
    }

    fn an_operation(&mut self, values: &mut Vec<u32>) {
        let row = &OPS[self.rng.below(OPS.len())];
        if row.rule == Rule::Part {
            // No operand of an operation below is complex.
            let (operand, access) = (self.builder.operand(DType::C64), self.access());
            let number = self.builder.load(operand, access);
            return values.push(self.builder.op(row.op, &[number]));
        }
        let dtype = self.dtype();
        let args: Vec<u32> = (0..row.arity)
            .map(|k| {
                let of = if row.rule == Rule::Select && k == 0 { DType::Bool } else { dtype };
                self.pick(values, of)
            })
            .collect();
        let dtypes: Vec<_> = args.iter().map(|v| self.builder.dtype(*v)).collect();
        let to = self.dtype();
        if row.op.result_dtype(&dtypes, to).is_none() {
            return;
        }
        values.push(match row.rule {
            Rule::Cast | Rule::Bitcast => self.builder.convert(row.op, args[0], to),
            _ => self.builder.op(row.op, &args),
        });
    }

    fn a_loop(&mut self, values: &mut Vec<u32>, depth: usize) {
        let count = self.pick(values, DType::I32);
        let starts = self.some(values);
        let dtypes: Vec<_> = starts.iter().map(|v| self.builder.dtype(*v)).collect();
        let region = self.builder.begin_loop(count, &starts);
        let mut inner = values.clone();
        inner.push(self.builder.iter(region));
        for k in 0..starts.len() {
            inner.push(self.builder.carry(region, k as u32));
        }
        self.grow(&mut inner, depth - 1);
        let ends: Vec<_> = dtypes.iter().map(|dtype| self.pick(&inner, *dtype)).collect();
        self.builder.end(region, &ends);
        self.results(region, &dtypes, values);
    }

    fn a_choice(&mut self, values: &mut Vec<u32>, depth: usize) {
        let condition = self.pick(values, DType::Bool);
        let region = self.builder.begin_if(condition);
        let mut inner = values.clone();
        self.grow(&mut inner, depth - 1);
        let ends = self.some(&inner);
        let dtypes: Vec<_> = ends.iter().map(|v| self.builder.dtype(*v)).collect();
        self.builder.begin_else(region, &ends);
        let mut inner = values.clone();
        self.grow(&mut inner, depth - 1);
        let ends: Vec<_> = dtypes.iter().map(|dtype| self.pick(&inner, *dtype)).collect();
        self.builder.end(region, &ends);
        self.results(region, &dtypes, values);
    }

    fn results(&mut self, region: u32, dtypes: &[DType], values: &mut Vec<u32>) {
        for (k, dtype) in dtypes.iter().enumerate() {
            values.push(self.builder.result(region, k as u32, *dtype));
        }
    }
}
