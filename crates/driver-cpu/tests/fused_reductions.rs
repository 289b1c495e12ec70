//! Several reductions in one program have the bits that each has alone, in every loop order, interpreted and as
//! machine code, on one thread and on several; and failed allocations lose nothing.
//!
//! Not here: dtypes and accesses compared with the suite's interpreter (the conformance suite).
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, memory};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Allocations fail in the whole process, so tests wait for each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of an operand that is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// Its elements.
    Plain,
    /// Their squares.
    Square,
    /// Their sums with themselves.
    Twice,
    /// Whether the elements equal those of the other operand.
    Equal,
}

/// A reduction of the first operand.
type Part = (Op, Value);

fn value(b: &mut Builder, loads: [u32; 2], value: Value) -> u32 {
    match value {
        Value::Plain => loads[0],
        Value::Square => b.op(Op::Mul, &[loads[0], loads[0]]),
        Value::Twice => b.op(Op::Add, &[loads[0], loads[0]]),
        Value::Equal => b.op(Op::Eq, &loads),
    }
}

/// A program of two operands of a dtype, of which some values are reduced.
fn program(dtype: DType, rank: usize, parts: &[Part]) -> Program {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, rank as u32);
    let slots = [(); 2].map(|()| b.access(AccessKind::Affine));
    let loads = slots.map(|slot| {
        let operand = b.operand(dtype);
        b.load(operand, slot)
    });
    let values: Vec<u32> = parts.iter().map(|(_, of)| value(&mut b, loads, *of)).collect();
    let results: Vec<u32> =
        parts.iter().zip(values).map(|((op, _), value)| b.reduce_by(*op, value)).collect();
    results.into_iter().for_each(|result| b.store(result));
    let program = b.finish();
    program.verify().unwrap();
    program
}

/// Elements of ordinary size, none of them 0: small integers, and floats with all their digits.
fn elements(dtype: DType, len: usize, seed: usize) -> Vec<u8> {
    let number = |k: usize| 0.5 + ((k * 7919 + seed * 31) % 4001) as f64 / 3001.0;
    let half = |x: f64| {
        let bits = (x as f32).to_bits();
        // Of numbers from 0.5 to 2: the exponent again, and the upper digits.
        ((((bits >> 23) as i32 - 127 + 15) as u16) << 10) | (bits >> 13 & 0x3ff) as u16
    };
    let one = |k: usize| -> Vec<u8> {
        let x = number(k) * if k.is_multiple_of(3) { -1.0 } else { 1.0 };
        match dtype {
            DType::F16 => half(number(k)).to_le_bytes().to_vec(),
            DType::BF16 => (x as f32).to_le_bytes()[2..].to_vec(),
            DType::F32 => (x as f32).to_le_bytes().to_vec(),
            DType::F64 => x.to_le_bytes().to_vec(),
            DType::C64 => [x as f32, number(k + 1) as f32].map(f32::to_le_bytes).concat(),
            DType::C128 => [x, number(k + 1)].map(f64::to_le_bytes).concat(),
            DType::Bool => vec![u8::from(k % 5 < 2)],
            _ => ((k * 7 + seed) as i64 - 50).to_le_bytes()[..dtype.size()].to_vec(),
        }
    };
    (0..len).flat_map(one).collect()
}

/// A launch's numbers.
struct Way {
    shape: Vec<usize>,
    strides: [Vec<i64>; 2],
}

impl Way {
    fn new(shape: &[usize], first: &[i64], second: &[i64]) -> Way {
        Way { shape: shape.to_vec(), strides: [first.to_vec(), second.to_vec()] }
    }
}

/// Elements of each operand.
const LEN: usize = 100_000;

/// The elements of the operands, by dtype.
fn operands(dtype: DType) -> [Vec<u8>; 2] {
    static KNOWN: Mutex<Vec<(DType, [Vec<u8>; 2])>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, elements)) = known.iter().find(|(known, _)| *known == dtype) {
        return elements.clone();
    }
    let all = [0, 1].map(|seed| elements(dtype, LEN, seed));
    known.push((dtype, all.clone()));
    all
}

struct Blocks {
    operands: [BlockId; 2],
    dests: Vec<Dest>,
    bytes: Vec<usize>,
}

fn blocks(driver: &mut dyn Driver, program: &Program, way: &Way) -> Blocks {
    let dtype = program.operands[0];
    let operands = operands(dtype).map(|elements| {
        let block = driver.block_alloc(BlockSpec::new(dtype, LEN)).unwrap();
        driver.block_write(block, 0, &elements).unwrap();
        block
    });
    let shape = program.form.out_shape(&way.shape);
    let len: usize = shape.iter().product();
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    let access = Access { offset: 0, strides: strides.into() };
    let dests = program.dests.iter().map(|dtype| {
        let block = driver.block_alloc(BlockSpec::new(*dtype, len)).unwrap();
        Dest { block, access: access.clone(), whole: true }
    });
    let dests = dests.collect();
    let bytes = program.dests.iter().map(|dtype| len * dtype.size()).collect();
    Blocks { operands, dests, bytes }
}

impl Blocks {
    fn eval(
        &self,
        driver: &mut dyn Driver,
        program: &Program,
        way: &Way,
    ) -> gpupy_core::Result<()> {
        let accesses = way.strides.each_ref().map(|strides| Access {
            offset: -strides
                .iter()
                .zip(&way.shape)
                .map(|(s, n)| s.min(&0) * (*n as i64 - 1))
                .sum::<i64>(),
            strides: strides[..].into(),
        });
        let launch = Launch {
            program,
            fingerprint: program.fingerprint(),
            shape: &way.shape,
            operands: &self.operands,
            params: &[],
            accesses: &accesses,
            dests: &self.dests,
            memory: &[],
            lend: None,
            rest: None,
        };
        driver.eval_ir(&launch).map(|_| ())
    }

    fn read(&self, driver: &mut dyn Driver) -> Vec<Vec<u8>> {
        let read = |(dest, bytes): (&Dest, &usize)| {
            let mut out = vec![0; *bytes];
            driver.block_read(dest.block, 0, &mut out).unwrap();
            out
        };
        self.dests.iter().zip(&self.bytes).map(read).collect()
    }

    fn free(self, driver: &mut dyn Driver) {
        let dests = self.dests.iter().map(|dest| dest.block);
        self.operands.into_iter().chain(dests).for_each(|block| driver.block_free(block));
    }
}

/// The destinations after several launches of a program.
fn run(driver: &mut dyn Driver, program: &Program, way: &Way, times: usize) -> Vec<Vec<u8>> {
    let blocks = blocks(driver, program, way);
    (0..times).for_each(|_| blocks.eval(driver, program, way).unwrap());
    let left = blocks.read(driver);
    blocks.free(driver);
    left
}

fn open(threads: u32) -> Box<dyn Driver> {
    let mut driver = driver_cpu::new();
    driver.init(&Config { threads, ..Config::default() }).unwrap();
    driver
}

/// Rows along and across, short and long, backwards, again and again, and beside each other.
fn ways() -> Vec<Way> {
    vec![
        Way::new(&[1], &[1], &[1]),
        Way::new(&[300], &[1], &[2]),
        Way::new(&[100_000], &[1], &[1]),
        Way::new(&[33_000], &[3], &[-1]),
        Way::new(&[40_960], &[1], &[0]),
        Way::new(&[3, 700], &[700, 1], &[1, 3]),
        Way::new(&[700, 3], &[1, 700], &[1, 700]),
        Way::new(&[900, 16], &[16, 1], &[16, 1]),
        Way::new(&[900, 8], &[8, 1], &[8, 1]),
        Way::new(&[90, 256], &[1, 90], &[1, 90]),
        Way::new(&[90, 300], &[1, 90], &[1, 90]),
        Way::new(&[2500, 40], &[1, 2500], &[0, 1]),
        Way::new(&[5, 20, 30], &[600, 1, 20], &[600, 30, 1]),
        Way::new(&[20, 1100], &[0, 1], &[1, 0]),
        Way::new(&[7, 9, 260], &[-2340, -260, -1], &[2340, 260, 1]),
    ]
}

/// The reductions of a dtype: six or eight for numbers, including reductions of bools.
fn parts(dtype: DType) -> Vec<Part> {
    let all = [
        (Op::Add, Value::Plain),
        (Op::Add, Value::Square),
        (Op::Max, Value::Plain),
        (Op::Min, Value::Square),
        (Op::Mul, Value::Plain),
        (Op::Xor, Value::Twice),
        (Op::Add, Value::Twice),
        (Op::Or, Value::Equal),
    ];
    let of = |value: Value| if value == Value::Equal { DType::Bool } else { dtype };
    all.into_iter().filter(|(op, value)| op.reduces(of(*value))).collect()
}

fn check(driver: &mut dyn Driver, dtype: DType, parts: &[Part], way: &Way) {
    let together = program(dtype, way.shape.len(), parts);
    // Interpreted at first, as machine code later.
    for times in [1, 3] {
        let got = run(driver, &together, way, times);
        for (part, got) in parts.iter().zip(got) {
            let alone = program(dtype, way.shape.len(), std::slice::from_ref(part));
            let want = run(driver, &alone, way, times);
            let differs = got.iter().zip(&want[0]).position(|(got, want)| got != want);
            assert_eq!(
                differs, None,
                "{part:?} of {dtype}, byte: {:?} {:?}\n{together}",
                way.shape, way.strides
            );
        }
    }
}

#[test]
fn together_and_alone_they_have_the_same_bits() {
    let _alone = alone();
    let mut cpu = open(2);
    for dtype in DType::ALL {
        for way in ways() {
            check(&mut *cpu, dtype, &parts(dtype), &way);
        }
    }
    // As on one thread.
    for way in ways() {
        let program = program(DType::F64, way.shape.len(), &parts(DType::F64));
        let want = run(&mut *open(1), &program, &way, 3);
        assert!(run(&mut *cpu, &program, &way, 1) == want, "{:?}", way.shape);
    }
}

#[test]
fn plain_elements_alone_and_computed_ones_alone_too() {
    let _alone = alone();
    let mut cpu = open(2);
    let plain = [(Op::Add, Value::Plain), (Op::Max, Value::Plain), (Op::Min, Value::Plain)];
    let sums = [(Op::Add, Value::Square), (Op::Add, Value::Twice), (Op::Add, Value::Plain)];
    let of_one = [(Op::Max, Value::Square), (Op::Min, Value::Square), (Op::Add, Value::Square)];
    for dtype in [DType::F32, DType::F64, DType::I32, DType::F16] {
        for parts in [plain, sums, of_one] {
            ways().iter().for_each(|way| check(&mut *cpu, dtype, &parts, way));
        }
    }
}

#[test]
fn they_have_the_reference_s_bits() {
    let _alone = alone();
    let (mut cpu, mut soft) = (open(2), driver_soft::new());
    soft.init(&Config::default()).unwrap();
    for dtype in [DType::F32, DType::I32, DType::U32] {
        let by = [Op::Add, Op::Max, Op::Mul, Op::Min].map(|op| (op, Value::Plain));
        for way in ways() {
            let program = program(dtype, way.shape.len(), &by);
            let want = run(&mut *soft, &program, &way, 1);
            for times in [1, 3] {
                let got = run(&mut *cpu, &program, &way, times);
                assert!(got == want, "{dtype} {:?} {:?}", way.shape, way.strides);
            }
        }
    }
}

#[test]
fn whichever_allocation_is_refused_the_driver_works_on() {
    let _alone = alone();
    let way = Way::new(&[300, 90], &[1, 300], &[90, 1]);
    let program = program(DType::F64, 2, &parts(DType::F64));
    let want = run(&mut *open(1), &program, &way, 1);
    let mut refused = 0;
    for n in 1.. {
        // On a new thread, which has no memory from an earlier evaluation.
        let (done, left, again) = std::thread::scope(|scope| {
            let launched = scope.spawn(|| {
                let mut cpu = open(1);
                let blocks = blocks(&mut *cpu, &program, &way);
                memory::fail_at(n);
                let done = blocks.eval(&mut *cpu, &program, &way);
                let left = memory::fail_at(0);
                blocks.eval(&mut *cpu, &program, &way).unwrap();
                (done, left, blocks.read(&mut *cpu))
            });
            launched.join().unwrap()
        });
        assert!(again == want, "after allocation {n}");
        match done {
            Ok(()) if left > 0 => break,
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "no allocation was refused");
}
