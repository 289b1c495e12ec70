//! What a device does where its API leaves it open, found by trying.
//!
//! Owns [`Findings`]. Operations are tried on pairs of numbers through the driver's own
//! functions, so what is judged is the device and all that stands before it, and compared with the
//! operation table's meaning (`op_eval`). Invariant: an operation that is found wrong is corrected
//! where there is a program for it, and else left to another driver.
//!
//! What was found is kept: [`find_out`].
//!
//! Not here: the numbers and how results are judged (`samples.rs`), launches and what they cost (`launches.rs`), what
//! an API reports (drivers), the corrections (`exact.rs`), the folder (`disk_cache.rs`).

mod launches;
mod samples;

use crate::device::exact;
use crate::kernels::disk_cache;
use gpupy_core::driver::{Capabilities, Costs, Driver, Method};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result};
use launches::{costs, run};
use samples::{PAIRS, Verdict, judge, pairs};
use std::borrow::Cow;

/// Counted up when programs or judgement change, so that what was found before is tried again.
const EDITION: u32 = 3;

/// Operations that languages for GPUs leave open, with the dtypes for which they do. The first four
/// tell whether subnormal numbers are kept.
const TRIED: [(DType, &[Op]); 4] = [
    (DType::F32, &FLOATS),
    (DType::F64, &FLOATS),
    (DType::I32, &[Op::FloorDiv, Op::Mod, Op::Shl, Op::Shr]),
    (DType::U32, &[Op::FloorDiv, Op::Mod, Op::Shl, Op::Shr]),
];

const FLOATS: [Op; 13] = [
    Op::Add,
    Op::Mul,
    Op::Min,
    Op::Lt,
    Op::Sub,
    Op::Div,
    Op::Sqrt,
    Op::Max,
    Op::Eq,
    Op::Rint,
    // Mesa 22 lets go of no digits behind the point of float64 from 2^24 on, on processors without AVX-512.
    Op::Trunc,
    Op::Floor,
    Op::Ceil,
];

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
            Op::Trunc if self.corrects(op, tried) => Method::Lowered(exact::truncation(dtype)),
            _ => Method::Absent,
        })
    }

    /// Whether there is a program for an operation that the device gets wrong.
    fn corrects(&self, op: Op, dtype: DType) -> bool {
        corrected(op, dtype) || op == Op::Trunc && !self.wrong.contains(&(Op::Floor, dtype))
    }

    /// For people to read: what, and the answer.
    pub fn named(&self) -> Vec<(Cow<'static, str>, String)> {
        let wrong = |(op, dtype): &(Op, DType)| {
            let done = if self.corrects(*op, *dtype) { "corrected" } else { "left out" };
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
    disk_cache::remember(name, &key, from_bytes, encode, || {
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

/// True for operations that have a program in `exact.rs` wherever they are wrong.
fn corrected(op: Op, dtype: DType) -> bool {
    dtype == DType::F32 && matches!(op, Op::Div | Op::Sqrt)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
