//! What a device does where its API leaves it open, found by trying.
//!
//! Owns [`Findings`]. Operations are tried on pairs of numbers through the driver's own
//! functions, so what is judged is the device and all that stands before it, and compared with the
//! operation table's meaning (`op_eval`). Invariant: an operation that is found wrong is corrected
//! where there is a program for it, and else left to another driver.
//!
//! What was found is kept: [`find_out`].
//!
//! Not here: what an API reports (drivers), the corrections (`exact.rs`), the folder (`disk.rs`).

use crate::{disk, exact};
use gpupy_core::driver::{Access, BlockId, BlockSpec, Capabilities, Costs};
use gpupy_core::driver::{Dest, Driver, Launch, Method};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar, op_eval};
use std::borrow::Cow;
use std::time::Instant;

/// Counted up when programs or judgement change, so that what was found before is tried again.
const EDITION: u32 = 2;

/// Pairs of numbers that are tried.
const PAIRS: usize = 1024;

/// Bytes of the block whose transfer is timed.
const TIMED_BYTES: usize = 8 << 20;

/// Operations that languages for GPUs leave open, with the dtypes for which they do. The first four
/// tell whether subnormal numbers are kept.
const TRIED: [(DType, &[Op]); 4] = [
    (DType::F32, &FLOATS),
    (DType::F64, &FLOATS),
    (DType::I32, &[Op::FloorDiv, Op::Mod, Op::Shl, Op::Shr]),
    (DType::U32, &[Op::FloorDiv, Op::Mod, Op::Shl, Op::Shr]),
];

const FLOATS: [Op; 10] =
    [Op::Add, Op::Mul, Op::Min, Op::Lt, Op::Sub, Op::Div, Op::Sqrt, Op::Max, Op::Eq, Op::Rint];

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// True when arithmetic does not keep subnormal numbers.
    pub flushes_subnormals: bool,
    /// True when a product and a sum of it may be rounded once instead of twice.
    pub fuses: bool,
    /// Operations whose results are not those of the table, beyond subnormal numbers.
    pub wrong: Vec<(Op, DType)>,
}

impl Findings {
    /// Tries, on a driver that is open.
    ///
    /// # Errors
    /// Those of the driver's functions: it does not work here at all.
    pub fn of(driver: &mut dyn Driver, known: &Capabilities) -> Result<Findings> {
        let mut findings = Findings::default();
        let mut flushing = Vec::new();
        for (dtype, ops) in TRIED.iter().filter(|(dtype, _)| known.dtypes.contains(dtype)) {
            let native = |op: &&Op| driver.get_method(**op, *dtype) == Method::Native;
            let ops: Vec<Op> = ops.iter().filter(native).copied().collect();
            for ops in ops.chunks(known.max_dests.max(1)) {
                flushing.extend(findings.try_some(driver, *dtype, ops)?);
            }
        }
        // Where nothing keeps subnormal numbers, quotients and roots need not, either.
        if !findings.flushes_subnormals {
            findings.wrong.extend(flushing);
        }
        findings.fuses = fuses(driver)?;
        Ok(findings)
    }

    /// Tries operations; gives those that have a correction and are wrong of subnormal numbers alone.
    fn try_some(
        &mut self,
        driver: &mut dyn Driver,
        dtype: DType,
        ops: &[Op],
    ) -> Result<Vec<(Op, DType)>> {
        let mut b = Builder::new(Form::Map, 1);
        let all = b.access(AccessKind::Contiguous);
        let args = [0, 1].map(|_| {
            let operand = b.operand(dtype);
            b.load(operand, all)
        });
        for op in ops {
            let value = b.op(*op, &args[..usize::from(op.info().arity)]);
            b.store(value);
        }
        let (xs, ys): (Vec<u64>, Vec<u64>) = pairs(dtype).unzip();
        let got = run(driver, &b.finish(), &[&xs, &ys])?;
        let mut flushing = Vec::new();
        for (op, got) in ops.iter().zip(got) {
            match judge(*op, dtype, &xs, &ys, &got) {
                Verdict::Right => {}
                Verdict::Flushes if corrected(*op, dtype) => flushing.push((*op, dtype)),
                Verdict::Flushes => self.flushes_subnormals = true,
                Verdict::Wrong => self.wrong.push((*op, dtype)),
            }
        }
        Ok(flushing)
    }

    /// How an operation is done that the device gets wrong; `None` for all others. Of float16 it is
    /// that of float32, rounded.
    pub fn method(&self, op: Op, dtype: DType) -> Option<Method> {
        let tried = if dtype == DType::F16 { DType::F32 } else { dtype };
        self.wrong.contains(&(op, tried)).then(|| match op {
            Op::Div if dtype == DType::F32 => Method::Lowered(exact::division()),
            Op::Sqrt if dtype == DType::F32 => Method::Lowered(exact::square_root()),
            _ => Method::Absent,
        })
    }

    /// For people to read: what, and the answer.
    pub fn named(&self) -> Vec<(Cow<'static, str>, String)> {
        let wrong = |(op, dtype): &(Op, DType)| {
            let done = if corrected(*op, *dtype) { "corrected" } else { "left out" };
            (format!("{} of {}", op.info().name, dtype.name()).into(), format!("wrong, {done}"))
        };
        let subnormals = if self.flushes_subnormals { "flushed" } else { "kept" };
        let products = if self.fuses { "fused" } else { "kept apart" };
        let mut named = vec![
            ("subnormal numbers".into(), subnormals.into()),
            ("products and sums".into(), products.into()),
        ];
        named.extend(self.wrong.iter().map(wrong));
        named
    }
}

/// What a device does and what it costs: as it was found before, in this process or an earlier one, or by
/// trying it on a driver that is open. The device is given with all that compiles for it.
///
/// # Errors
/// Those of the driver's functions: it does not work here at all.
pub fn find_out(
    driver: &mut dyn Driver,
    known: &Capabilities,
    name: &str,
    identity: &str,
) -> Result<(Findings, Costs)> {
    // Only dtypes that the driver has were tried.
    let dtypes = known.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" ");
    let key = format!("findings {EDITION}\n{dtypes}\n{identity}");
    let encode = |(findings, costs): &(Findings, Costs)| to_bytes(findings, costs);
    disk::remember(name, &key, from_bytes, encode, || {
        Ok((Findings::of(driver, known)?, costs(driver, known)?))
    })
}

/// Findings and costs as bytes, for the disk.
fn to_bytes(findings: &Findings, costs: &Costs) -> Vec<u8> {
    let numbers = [costs.round_trip, costs.upload, costs.download];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([u8::from(findings.flushes_subnormals), u8::from(findings.fuses)]);
    for (op, dtype) in &findings.wrong {
        bytes.extend((*op as u16).to_le_bytes());
        bytes.push(*dtype as u8);
    }
    bytes
}

/// Back from bytes; `None` where they are something else.
fn from_bytes(bytes: &[u8]) -> Option<(Findings, Costs)> {
    let (numbers, rest) = bytes.split_first_chunk::<24>()?;
    let number = |k: usize| {
        let bytes = numbers[8 * k..].first_chunk()?;
        Some(f64::from_le_bytes(*bytes)).filter(|x| x.is_finite() && *x >= 0.0)
    };
    let costs = Costs { round_trip: number(0)?, upload: number(1)?, download: number(2)? };
    let (flags, rest) = rest.split_first_chunk::<2>()?;
    let entry = |entry: &[u8]| {
        let [low, high, dtype] = *entry else { return None };
        Some((Op::from_code(u16::from_le_bytes([low, high]))?, DType::from_code(dtype)?))
    };
    let wrong = rest.chunks(3).map(entry).collect::<Option<Vec<_>>>()?;
    Some((Findings { flushes_subnormals: flags[0] != 0, fuses: flags[1] != 0, wrong }, costs))
}

/// What launches and transfers cost: the least of several tries.
///
/// # Errors
/// Those of the driver's functions.
fn costs(driver: &mut dyn Driver, known: &Capabilities) -> Result<Costs> {
    let mut b = Builder::new(Form::Map, 1);
    let x = b.param(DType::F32);
    let x = b.op(Op::Neg, &[x]);
    b.store(x);
    let program = b.finish();
    let small = driver.block_alloc(BlockSpec::new(DType::F32, 1))?;
    let mut out = [0; 4];
    let mut round_trip = f64::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        launch(driver, &program, 1, &[], &[0], &[small])?;
        driver.block_read(small, 0, &mut out)?;
        round_trip = round_trip.min(begun.elapsed().as_nanos() as f64);
    }
    driver.block_free(small);
    let len = (TIMED_BYTES / 4).min(known.max_block_len);
    let mut bytes = vec![0; len * 4];
    let large = driver.block_alloc(BlockSpec::new(DType::F32, len))?;
    let (mut upload, mut download) = (f64::MAX, f64::MAX);
    for _ in 0..4 {
        let begun = Instant::now();
        driver.block_write(large, 0, &bytes)?;
        let written = begun.elapsed();
        driver.block_read(large, 0, &mut bytes)?;
        let read = begun.elapsed() - written;
        upload = upload.min(written.as_nanos() as f64 / bytes.len() as f64);
        download = download.min(read.as_nanos() as f64 / bytes.len() as f64);
    }
    driver.block_free(large);
    Ok(Costs { round_trip, upload, download })
}

/// True for operations that have a program in `exact.rs`.
fn corrected(op: Op, dtype: DType) -> bool {
    dtype == DType::F32 && matches!(op, Op::Div | Op::Sqrt)
}

/// How an operation's results compare with the table.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    /// Only where a subnormal number goes in or should come out.
    Flushes,
    Wrong,
}

fn judge(op: Op, dtype: DType, xs: &[u64], ys: &[u64], got: &[u64]) -> Verdict {
    let mut verdict = Verdict::Right;
    for ((x, y), got) in xs.iter().zip(ys).zip(got) {
        let args = [Scalar::new(dtype, *x), Scalar::new(dtype, *y)];
        let args = &args[..usize::from(op.info().arity)];
        let Some(wanted) = op_eval::eval(op, dtype, args) else { continue };
        let both_nan = is_nan(wanted) && is_nan(Scalar::new(wanted.dtype, *got));
        if *got == wanted.bits || both_nan {
            continue;
        }
        // A result that is rounded up to the least normal number is flushed by some, too.
        if !args.iter().chain([&wanted]).any(|s| is_small(*s)) {
            return Verdict::Wrong;
        }
        verdict = Verdict::Flushes;
    }
    verdict
}

/// Whether a product that is rounded before it is added to is rounded only with the sum.
fn fuses(driver: &mut dyn Driver) -> Result<bool> {
    let mut b = Builder::new(Form::Map, 1);
    let all = b.access(AccessKind::Contiguous);
    let [x, y] = [0, 1].map(|_| {
        let operand = b.operand(DType::F32);
        b.load(operand, all)
    });
    let product = b.op(Op::Mul, &[x, x]);
    let sum = b.op(Op::Sub, &[product, y]);
    b.store(sum);
    let xs: Vec<f32> = (0..PAIRS).map(|k| 1.0 + k as f32 / 8192.1).collect();
    let bits = |x: f32| u64::from(x.to_bits());
    let squares: Vec<u64> = xs.iter().map(|x| bits(x * x)).collect();
    let xs: Vec<u64> = xs.into_iter().map(bits).collect();
    let got = run(driver, &b.finish(), &[&xs, &squares])?;
    Ok(got[0].iter().any(|difference| *difference != 0))
}

/// Runs a map over as many elements as the operands have; gives the bits of each destination.
fn run(driver: &mut dyn Driver, program: &Program, operands: &[&[u64]]) -> Result<Vec<Vec<u64>>> {
    let len = operands[0].len();
    let mut blocks = Vec::new();
    for dtype in program.operands.iter().chain(&program.dests) {
        blocks.push(driver.block_alloc(BlockSpec::new(*dtype, len))?);
    }
    let (inputs, outputs) = blocks.split_at(operands.len());
    for ((block, dtype), elements) in inputs.iter().zip(&program.operands).zip(operands) {
        let bytes = |bits: &u64| Scalar::new(*dtype, *bits).bytes().into_iter().take(dtype.size());
        let bytes: Vec<u8> = elements.iter().flat_map(bytes).collect();
        driver.block_write(*block, 0, &bytes)?;
    }
    launch(driver, program, len, inputs, &[], outputs)?;
    let mut results = Vec::new();
    for (block, dtype) in outputs.iter().zip(&program.dests) {
        let mut bytes = vec![0; len * dtype.size()];
        driver.block_read(*block, 0, &mut bytes)?;
        let elements = bytes.chunks_exact(dtype.size());
        results.push(elements.map(|e| Scalar::read(*dtype, e).map_or(0, |s| s.bits)).collect());
    }
    blocks.into_iter().for_each(|block| driver.block_free(block));
    Ok(results)
}

fn launch(
    driver: &mut dyn Driver,
    program: &Program,
    len: usize,
    operands: &[BlockId],
    params: &[u64],
    dests: &[BlockId],
) -> Result<()> {
    let walk = Access { offset: 0, strides: [1].as_slice().into() };
    let dest = |block: &BlockId| Dest { block: *block, access: walk.clone(), whole: true };
    let dests: Vec<Dest> = dests.iter().map(dest).collect();
    driver.eval_ir(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[len],
        operands,
        params,
        accesses: &vec![walk.clone(); program.accesses.len()],
        dests: &dests,
    })?;
    Ok(())
}

/// Pairs of special numbers, each with each, then others in no order.
fn pairs(dtype: DType) -> impl Iterator<Item = (u64, u64)> {
    let special = special(dtype);
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let bits = state >> 16;
        match dtype {
            // Between 2^-16 and 2^16.
            DType::F32 => (111 + (bits & 31)) << 23 | bits >> 8 & 0x7f_ffff,
            DType::F64 => (1007 + (bits & 31)) << 52 | (state ^ bits << 24) >> 12,
            _ => bits >> (bits & 15) & 0xffff_ffff,
        }
    };
    let squares: Vec<(u64, u64)> =
        special.iter().flat_map(|x| special.iter().map(|y| (*x, *y))).collect();
    squares.into_iter().chain(std::iter::from_fn(move || Some((next(), next())))).take(PAIRS)
}

fn special(dtype: DType) -> Vec<u64> {
    const FLOATS: [f64; 10] =
        [0.0, -0.0, 1.0, -1.5, 3.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30];
    match dtype {
        DType::F32 => {
            let tiny = [1e-45, 1e-40, f32::MIN_POSITIVE / 2.0, f32::MIN_POSITIVE];
            let all = FLOATS.into_iter().map(|x| x as f32).chain(tiny);
            all.map(|x| u64::from(x.to_bits())).collect()
        }
        DType::F64 => {
            let tiny = [5e-324, 1e-310, f64::MIN_POSITIVE / 2.0, f64::MIN_POSITIVE];
            FLOATS.into_iter().chain(tiny).map(f64::to_bits).collect()
        }
        _ => [0, 1, 2, 3, 7, 31, 32, 33, 40, i32::MAX, i32::MIN, -1, -2, -7, -32]
            .map(|x: i32| u64::from(x as u32))
            .to_vec(),
    }
}

fn is_nan(x: Scalar) -> bool {
    match x.dtype {
        DType::F32 => x.as_f32().is_nan(),
        DType::F64 => f64::from_bits(x.bits).is_nan(),
        _ => false,
    }
}

/// True for what is subnormal, or at the border.
fn is_small(x: Scalar) -> bool {
    match x.dtype {
        DType::F32 => x.as_f32() != 0.0 && x.as_f32().abs() <= f32::MIN_POSITIVE,
        DType::F64 => {
            let x = f64::from_bits(x.bits);
            x != 0.0 && x.abs() <= f64::MIN_POSITIVE
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Judges an operation whose results are those of the table, changed by `change`.
    fn judged(op: Op, dtype: DType, change: impl Fn(u64) -> u64) -> Verdict {
        let (xs, ys): (Vec<u64>, Vec<u64>) = pairs(dtype).unzip();
        let of = |(x, y): (&u64, &u64)| {
            let args = [Scalar::new(dtype, *x), Scalar::new(dtype, *y)];
            let args = &args[..usize::from(op.info().arity)];
            change(op_eval::eval(op, dtype, args).unwrap().bits)
        };
        let got: Vec<u64> = xs.iter().zip(&ys).map(of).collect();
        judge(op, dtype, &xs, &ys, &got)
    }

    #[test]
    fn what_is_right_is_found_right_and_the_least_mistake_is_found() {
        for (dtype, ops) in TRIED {
            for op in ops {
                assert_eq!(judged(*op, dtype, |bits| bits), Verdict::Right, "{op:?} {dtype}");
                assert_eq!(judged(*op, dtype, |bits| bits ^ 1), Verdict::Wrong, "{op:?} {dtype}");
            }
        }
    }

    #[test]
    fn flushing_is_no_mistake() {
        let flush = |bits: u64| if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
        assert_eq!(judged(Op::Add, DType::F32, flush), Verdict::Flushes);
        assert_eq!(judged(Op::Div, DType::F32, flush), Verdict::Flushes);
    }

    #[test]
    fn findings_and_costs_come_back_from_bytes() {
        let wrong = vec![(Op::Div, DType::F32), (Op::Shl, DType::U32)];
        let findings = Findings { flushes_subnormals: true, fuses: false, wrong };
        let costs = Costs { round_trip: 2e4, upload: 0.1, download: 0.05 };
        let bytes = to_bytes(&findings, &costs);
        assert_eq!(from_bytes(&bytes), Some((findings, costs)));
        for len in [0, 1, 23, 25, bytes.len() - 1] {
            assert_eq!(from_bytes(&bytes[..len]), None);
        }
        assert_eq!(from_bytes(&[255; 64]), None);
    }

    #[test]
    fn a_wrong_quotient_is_corrected_and_a_wrong_shift_is_left_out() {
        let wrong = vec![(Op::Div, DType::F32), (Op::Shl, DType::U32)];
        let findings = Findings { wrong, ..Findings::default() };
        assert!(matches!(findings.method(Op::Div, DType::F32), Some(Method::Lowered(_))));
        assert_eq!(findings.method(Op::Shl, DType::U32), Some(Method::Absent));
        assert_eq!(findings.method(Op::Div, DType::F64), None);
    }
}
