//! Several reductions in one program: each has the bits that it has alone.
//!
//! Runs if the capabilities support it. Expected values come from the suite's interpreter and, besides, from
//! the driver itself with each reduction as a program of its own. So dtypes that the interpreter lacks are
//! tested too, and launches that are too long for it.
//!
//! Not here: single reductions (`reductions.rs`).

use super::Suite;
use super::contract::mistakes::{dead_handles, undisturbed};
use crate::drivers::device::Device;
use crate::drivers::launch::{FEWER_REDUCTIONS, TOO_LARGE};
use crate::expect::compare::{Mismatches, same};
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, ensure, refused, skip};
use gpupy_core::driver::{Access, BlockId};
use gpupy_core::ir::{AccessKind, Builder, Form, FormKind};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "several_reductions";

/// Lengths around the lanes and the chunks of the tree.
const LENGTHS: [usize; 13] = [1, 2, 8, 15, 16, 17, 255, 256, 257, 511, 513, 1000, 4099];

/// Lengths around pieces of work: too long for the interpreter.
const LONG: [usize; 6] = [8191, 16_384, 16_385, 65_536, 100_003, 262_145];

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("of one {dtype}, every length"), |device| {
            // Again, because a program that is launched often may be compiled again.
            for n in LENGTHS.into_iter().chain(LENGTHS) {
                all_of_one(device, dtype, &[n], contiguous(&[n]))?;
            }
            Ok(())
        });
        suite.case(GROUP, &format!("of one {dtype}, rows and columns"), |device| {
            let walks: [(&[usize], Access); 9] = [
                (&[5, 300], contiguous(&[5, 300])),
                (&[3, 2, 20], contiguous(&[3, 2, 20])),
                (&[7, 270], affine(0, &[1, 7])),
                (&[6, 33], affine(6 * 33 - 1, &[-33, -1])),
                (&[300, 4], affine(0, &[1, 300])),
                (&[39, 1], affine(0, &[1, 39])),
                (&[2, 20, 3], affine(0, &[60, 1, 20])),
                (&[4, 260], affine(3, &[0, 2])),
                (&[3, 259], affine(1, &[5, 0])),
            ];
            walks
                .into_iter()
                .try_for_each(|(shape, access)| all_of_one(device, dtype, shape, access))
        });
    }
    for dtype in DType::real() {
        suite.case(GROUP, &format!("of {dtype}, the bits of each by itself"), |device| {
            for (shape, access) in [
                (vec![3, 300], contiguous(&[3, 300])),
                (vec![300, 5], affine(0, &[1, 300])),
                (vec![70, 300], affine(0, &[1, 70])),
                (vec![70_001], contiguous(&[70_001])),
            ] {
                for parts in parts_of(device, dtype) {
                    let loads = vec![(dtype, access.clone())];
                    together_and_alone(device, Several::new(&shape, loads, parts), 3)?;
                }
            }
            Ok(())
        });
    }
    suite.case(GROUP, "of several dtypes", of_several_dtypes);
    suite.case(GROUP, "long rows, the bits of each by itself", long_rows);
    suite.case(GROUP, "in any order", in_any_order);
    suite.case(GROUP, "as many as the driver takes", as_many_as_there_may_be);
    suite.case(GROUP, "the same twice", the_same_twice);
    suite.case(GROUP, "of an index", of_an_index);
    suite.case(GROUP, "with a prologue that they share", with_prologue);
    suite.case(GROUP, "with a loop in their prologue", with_loop);
    suite.case(GROUP, "with an epilogue that joins them", with_epilogue);
    suite.case(GROUP, "into parts of blocks", into_parts);
    dead_handles(suite, GROUP, "last destination:", dead_last_dest);
    dead_handles(suite, GROUP, "operand:", dead_operand);
}

/// A reduction of a load.
#[derive(Clone, Copy)]
struct Part {
    op: Op,
    /// The number of the load.
    load: usize,
}

/// Reductions of loads over one shape.
struct Several {
    shape: Vec<usize>,
    loads: Vec<(DType, Access)>,
    parts: Vec<Part>,
}

impl Several {
    fn new(shape: &[usize], loads: Vec<(DType, Access)>, parts: Vec<Part>) -> Several {
        Several { shape: shape.to_vec(), loads, parts }
    }

    /// Skips unless the driver takes so many reductions of these.
    fn need(&self, device: &Device) -> Outcome {
        need(device, self.parts.len())?;
        let dtypes = self.parts.iter().map(|part| self.loads[part.load].0);
        dtypes.into_iter().try_for_each(|dtype| need_dtype(device, dtype))
    }

    /// A launch of some of the reductions, in this order, each into a destination of its own.
    fn run(&self, parts: &[Part], seed: u64) -> Run {
        let rank = self.shape.len() as u32;
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, rank);
        let kind = |access: &Access| match access.strides == contiguous(&self.shape).strides {
            true => AccessKind::Contiguous,
            false => AccessKind::Affine,
        };
        let mut values = Vec::new();
        for (dtype, access) in &self.loads {
            let (operand, slot) = (b.operand(*dtype), b.access(kind(access)));
            values.push(b.load(operand, slot));
        }
        let results: Vec<u32> =
            parts.iter().map(|part| b.reduce_by(part.op, values[part.load])).collect();
        results.into_iter().for_each(|result| b.store(result));
        let mut run = Run::new(b.finish(), &self.shape);
        for ((dtype, access), load) in self.loads.iter().zip(0..) {
            let mut rng = Rng::new(seed + load);
            // Sums of special floats are all NaN.
            let extreme = self.parts.iter().all(|part| matches!(part.op, Op::Min | Op::Max));
            let any = !dtype.is_float() || extreme && *dtype == DType::F32;
            let number = |rng: &mut Rng| if any { rng.scalar(*dtype) } else { float(*dtype, rng) };
            let data = (0..reach(access, &self.shape)).map(|_| number(&mut rng)).collect();
            run = run.operand(data).access(access.clone());
        }
        run
    }
}

/// A float of ordinary size.
fn float(dtype: DType, rng: &mut Rng) -> Scalar {
    let x = Scalar::f32(rng.float());
    match dtype {
        DType::F32 => x,
        dtype => gpupy_core::op_eval::eval(Op::Cast, dtype, &[x]).unwrap_or(Scalar::zero(dtype)),
    }
}

/// How many elements an access over a shape needs.
fn reach(access: &Access, shape: &[usize]) -> usize {
    let far = |(stride, extent): (&i64, &usize)| (stride * (*extent as i64 - 1)).max(0);
    (access.offset + access.strides.iter().zip(shape).map(far).sum::<i64>() + 1) as usize
}

fn need(device: &Device, reductions: usize) -> Outcome {
    if !device.caps.has(FormKind::Reduce) {
        return skip("no reduce form");
    }
    if device.caps.max_reductions.max(1) < reductions {
        return skip(FEWER_REDUCTIONS);
    }
    if device.caps.max_dests < reductions {
        return skip("fewer destinations at a time");
    }
    Ok(())
}

fn need_dtype(device: &Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    device.need_method(Op::Reduce, dtype).map(|_| ())
}

/// Every reduction of a load of a dtype, as many at a time as the driver takes, and the extremes alone, which are
/// tried with special numbers.
fn parts_of(device: &Device, dtype: DType) -> Vec<Vec<Part>> {
    let ops: Vec<Op> = Op::reducing().filter(|op| op.reduces(dtype)).collect();
    let most = device.caps.max_reductions.min(device.caps.max_dests).max(2);
    let all = ops.chunks(most).chain([&[Op::Min, Op::Max][..]]);
    all.map(|ops| ops.iter().map(|op| Part { op: *op, load: 0 }).collect()).collect()
}

/// Every reduction of a dtype beside the interpreter.
fn all_of_one(device: &mut Device, dtype: DType, shape: &[usize], access: Access) -> Outcome {
    for parts in parts_of(device, dtype) {
        let several = Several::new(shape, vec![(dtype, access.clone())], parts);
        several.need(device)?;
        device.check_one(&several.run(&several.parts, 91), 0.0)?;
    }
    Ok(())
}

/// Reductions together, so many times, and then each alone: the same bits.
fn together_and_alone(device: &mut Device, several: Several, times: usize) -> Outcome {
    several.need(device)?;
    for seed in 0..times as u64 {
        let mut wanted = Vec::new();
        for part in &several.parts {
            wanted.extend(device.outputs(&several.run(std::slice::from_ref(part), seed))?);
        }
        let got = device.outputs(&several.run(&several.parts, seed))?;
        ensure(got.len() == wanted.len(), || format!("{} destinations", got.len()))?;
        for (got, wanted) in got.into_iter().zip(wanted) {
            let mut mismatches = Mismatches::default();
            for (at, (got, wanted)) in got.into_iter().zip(wanted).enumerate() {
                mismatches.compare(at, got, wanted, 0.0, Vec::new);
            }
            mismatches.outcome()?;
        }
    }
    Ok(())
}

/// The sum of floats, the greatest integer, whether any holds, and bits of another.
fn mixed(shape: &[usize], access: &Access) -> Several {
    let of = [(Op::Add, DType::F32), (Op::Max, DType::I32), (Op::Or, DType::Bool)];
    let of = of.into_iter().chain([(Op::Xor, DType::U32)]);
    let (parts, loads) =
        of.zip(0..).map(|((op, dtype), load)| (Part { op, load }, (dtype, access.clone()))).unzip();
    Several::new(shape, loads, parts)
}

fn of_several_dtypes(device: &mut Device) -> Outcome {
    let walks: [(&[usize], Access); 5] = [
        (&[4099], contiguous(&[4099])),
        (&[5, 300], contiguous(&[5, 300])),
        (&[7, 270], affine(0, &[1, 7])),
        (&[300, 16], contiguous(&[300, 16])),
        (&[31, 40], affine(31 * 40 - 1, &[-40, -1])),
    ];
    for (shape, access) in walks.iter().chain(&walks) {
        let several = mixed(shape, access);
        several.need(device)?;
        device.check_one(&several.run(&several.parts, 92), 0.0)?;
    }
    Ok(())
}

fn long_rows(device: &mut Device) -> Outcome {
    for n in LONG {
        together_and_alone(device, mixed(&[n], &contiguous(&[n])), 2)?;
    }
    together_and_alone(device, mixed(&[3, 40_000], &affine(0, &[1, 3])), 2)?;
    together_and_alone(device, mixed(&[40_000, 3], &contiguous(&[40_000, 3])), 2)
}

fn in_any_order(device: &mut Device) -> Outcome {
    let several = mixed(&[3, 700], &contiguous(&[3, 700]));
    several.need(device)?;
    for turn in 0..several.parts.len() {
        let mut parts = several.parts.clone();
        parts.rotate_left(turn);
        device.check_one(&several.run(&parts, 93), 0.0)?;
        parts.reverse();
        device.check_one(&several.run(&parts, 93), 0.0)?;
    }
    Ok(())
}

fn as_many_as_there_may_be(device: &mut Device) -> Outcome {
    need(device, 2)?;
    // For a driver without a limit, some.
    let most = device.caps.max_reductions.min(device.caps.max_dests).min(24);
    let dtypes: Vec<DType> = DTYPES
        .into_iter()
        .filter(|dtype| *dtype != DType::Bool && need_dtype(device, *dtype).is_ok())
        .collect();
    if dtypes.is_empty() {
        return skip("no dtype whose numbers are reduced");
    }
    let by = [Op::Add, Op::Mul, Op::Min, Op::Max];
    let (mut loads, mut parts) = (Vec::new(), Vec::new());
    for k in 0..most {
        // Two of each load, and two loads of a dtype behind each other.
        if k % 2 == 0 {
            let dtype = dtypes[k / by.len() % dtypes.len()];
            loads.push((dtype, contiguous(&[2, 600])));
        }
        parts.push(Part { op: by[k % by.len()], load: loads.len() - 1 });
    }
    let several = Several::new(&[2, 600], loads, parts);
    let run = several.run(&several.parts, 94);
    if !device.check_ir(&run.program)?.fits {
        return skip(TOO_LARGE);
    }
    device.check(&run, 0.0)?;
    together_and_alone(device, several, 2)
}

/// A program may say the same reduction twice; the builder does not.
fn the_same_twice(device: &mut Device) -> Outcome {
    need(device, 2)?;
    need_dtype(device, DType::F32)?;
    let parts = vec![Part { op: Op::Add, load: 0 }, Part { op: Op::Max, load: 0 }];
    let several = Several::new(&[2, 5000], vec![(DType::F32, contiguous(&[2, 5000]))], parts);
    let mut run = several.run(&several.parts, 95);
    for inst in run.program.insts.iter_mut().filter(|inst| inst.op == Op::Reduce) {
        if inst.args[1] != 0 {
            inst.args[1] = Op::Add as u32;
        }
    }
    let got = device.outputs(&run)?;
    same(&got[1], &got[0], "the second sum")?;
    device.check_one(&run, 0.0)
}

fn of_an_index(device: &mut Device) -> Outcome {
    need(device, 3)?;
    need_dtype(device, DType::I32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let slot = b.access(AccessKind::Affine);
    let value = b.index(slot);
    for op in [Op::Add, Op::Min, Op::Xor].map(|op| b.reduce_by(op, value)) {
        b.store(op);
    }
    let run = Run::new(b.finish(), &[4, 600]).access(affine(-3, &[1000, 7]));
    device.check_one(&run, 0.0)
}

/// The sum, the greatest, the sum of squares and the least square: some operands are loads, some computed.
fn with_prologue(device: &mut Device) -> Outcome {
    need(device, 4)?;
    need_dtype(device, DType::F32)?;
    let walks: [(&[usize], Access); 6] = [
        (&[4099], contiguous(&[4099])),
        (&[3, 700], contiguous(&[3, 700])),
        (&[300, 5], contiguous(&[300, 5])),
        (&[9, 300], affine(0, &[1, 9])),
        (&[2, 1500], affine(2 * 1500 - 1, &[-1500, -1])),
        (&[3, 600], affine(5, &[7, 0])),
    ];
    for (shape, access) in walks.iter().chain(&walks) {
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, shape.len() as u32);
        let (operand, slot) = (b.operand(DType::F32), b.access(AccessKind::Affine));
        let x = b.load(operand, slot);
        let square = b.op(Op::Mul, &[x, x]);
        let by = [(Op::Add, x), (Op::Max, x), (Op::Add, square), (Op::Min, square)];
        by.map(|(op, value)| b.reduce_by(op, value)).into_iter().for_each(|result| b.store(result));
        let mut rng = Rng::new(96);
        let data = (0..reach(access, shape)).map(|_| rng.ordinary(DType::F32)).collect();
        let run = Run::new(b.finish(), shape).operand(data).access(access.clone());
        device.check(&run, 0.0)?;
    }
    Ok(())
}

/// The sum, the least and the bits of a loop's results, and the greatest of the loaded elements.
fn with_loop(device: &mut Device) -> Outcome {
    need(device, 4)?;
    need_dtype(device, DType::I32)?;
    for (shape, access) in [([3, 270], contiguous(&[3, 270])), ([5, 300], affine(0, &[1, 5]))] {
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
        let (operand, slot) = (b.operand(DType::I32), b.access(AccessKind::Affine));
        let x = b.load(operand, slot);
        let three = b.constant(Scalar::i32(3));
        let region = b.begin_loop(three, &[x]);
        let carried = b.carry(region, 0);
        let sum = b.op(Op::Add, &[carried, x]);
        b.end(region, &[sum]);
        let four = b.result(region, 0, DType::I32);
        let by = [(Op::Add, four), (Op::Min, four), (Op::Xor, four), (Op::Max, x)];
        by.map(|(op, value)| b.reduce_by(op, value)).into_iter().for_each(|result| b.store(result));
        let mut rng = Rng::new(99);
        let data = (0..reach(&access, &shape)).map(|_| rng.scalar(DType::I32)).collect();
        let run = Run::new(b.finish(), &shape).operand(data).access(access);
        device.check(&run, 0.0)?;
    }
    Ok(())
}

/// The difference of the greatest and the least, and the sum plus an element beside each output point.
fn with_epilogue(device: &mut Device) -> Outcome {
    need(device, 3)?;
    need_dtype(device, DType::I32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Max }, 2);
    let (operand, slot) = (b.operand(DType::I32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let [most, least, sum] = [Op::Max, Op::Min, Op::Add].map(|op| b.reduce_by(op, x));
    let range = b.op(Op::Sub, &[most, least]);
    let (other, slot) = (b.operand(DType::I32), b.access(AccessKind::Affine));
    let other = b.load(other, slot);
    let sum = b.op(Op::Add, &[sum, other]);
    b.store(sum);
    b.store(range);
    let mut rng = Rng::new(97);
    let run = Run::new(b.finish(), &[4, 520])
        .operand((0..4 * 520).map(|_| rng.scalar(DType::I32)).collect())
        .operand((0..40).map(|_| rng.scalar(DType::I32)).collect())
        .access(contiguous(&[4, 520]))
        .access(affine(2, &[9, 3]));
    device.check(&run, 0.0)
}

/// The sum and the greatest of rows, each into elements of a larger block.
fn parted() -> Run {
    let parts = vec![Part { op: Op::Add, load: 0 }, Part { op: Op::Max, load: 0 }];
    let shape = [5, 300];
    let several = Several::new(&shape, vec![(DType::F32, contiguous(&shape))], parts);
    several.run(&several.parts, 98).target(0, 40, affine(31, &[-7, 2])).target(
        1,
        30,
        affine(1, &[2, 11]),
    )
}

fn into_parts(device: &mut Device) -> Outcome {
    need(device, 2)?;
    need_dtype(device, DType::F32)?;
    device.check_one(&parted(), 0.0)
}

/// Nothing is written to the first destination when the last is none.
fn dead_last_dest(device: &mut Device, block: BlockId) -> Outcome {
    spoiled(device, |operand, first| ([operand], [first, block]))
}

/// Nothing is written when there is nothing to read.
fn dead_operand(device: &mut Device, block: BlockId) -> Outcome {
    let last = device.upload(DType::F32, &[Scalar::f32(1.0); 30])?;
    let outcome = spoiled(device, |_, first| ([block], [first, last]));
    device.driver.block_free(last);
    outcome
}

/// A launch with a handle that is none: it is refused, the first destination stays, and the driver works on.
fn spoiled(
    device: &mut Device,
    blocks: impl FnOnce(BlockId, BlockId) -> ([BlockId; 1], [BlockId; 2]),
) -> Outcome {
    need(device, 2)?;
    need_dtype(device, DType::F32)?;
    let (run, before) = (parted(), vec![Scalar::f32(-7.5); 40]);
    let operand = device.upload(DType::F32, &run.operands[0])?;
    let first = device.upload(DType::F32, &before)?;
    let (operands, dests) = blocks(operand, first);
    let answer = device.try_eval(&run, &operands, &dests);
    refused(answer, ErrorKind::Invalid, "eval_ir")?;
    let now = device.read(first, DType::F32, 0, before.len())?;
    same(&now, &before, "the first destination")?;
    [operand, first].into_iter().for_each(|block| device.driver.block_free(block));
    undisturbed(device, |device| device.check_one(&parted(), 0.0))
}
