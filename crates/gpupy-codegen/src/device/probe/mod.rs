//! Probes of a device: tries operations that its API leaves loosely specified.
//!
//! Owns [`Findings`]. Operations are tried on pairs of numbers through the driver's own functions, so the whole stack
//! down to the device is judged. Results are compared with the operation table's meaning (`op_eval`). Invariant: a
//! wrong operation is corrected if there is a program for it, and otherwise left to another driver.
//!
//! [`find_out`] keeps the findings on disk.
//!
//! Not here: sample numbers and verdicts (`samples.rs`), launches and their costs (`launches.rs`), reports of the API
//! (drivers), corrections (`exact.rs`), the folder on disk (`disk_cache.rs`).

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

/// The version of the probes. It grows when programs or verdicts change, so that old findings are not used.
const EDITION: u32 = 3;

/// Operations that GPU languages specify loosely, by dtype. The first four show whether subnormal numbers are kept.
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
    // Mesa 22 keeps the fraction of float64 from 2^24 on, on processors without AVX-512.
    Op::Trunc,
    Op::Floor,
    Op::Ceil,
];

/// The findings about a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// True if arithmetic flushes subnormal numbers to zero.
    pub flushes_subnormals: bool,
    /// True if a product and its sum may be fused, with one rounding instead of two.
    pub fuses: bool,
    /// Operations with results other than the table's, apart from subnormal numbers.
    pub wrong: Vec<(Op, DType)>,
}

impl Findings {
    /// Probes an open driver.
    ///
    /// # Errors
    /// The errors of the driver's functions: it does not work on this machine.
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
        // On a device that flushes subnormal numbers, quotients and roots may flush them too.
        if !findings.flushes_subnormals {
            findings.wrong.extend(flushing);
        }
        findings.fuses = fuses(driver)?;
        Ok(findings)
    }

    /// Tries operations. Returns those that have a correction and are wrong for subnormal numbers alone.
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

    /// The method of an operation that the device gets wrong; `None` for others. float16 is computed in float32 and
    /// rounded, so float32's findings count.
    pub fn method(&self, op: Op, dtype: DType) -> Option<Method> {
        let tried = if dtype == DType::F16 { DType::F32 } else { dtype };
        self.wrong.contains(&(op, tried)).then(|| match op {
            Op::Div if dtype == DType::F32 => Method::Lowered(exact::division()),
            Op::Sqrt if dtype == DType::F32 => Method::Lowered(exact::square_root()),
            Op::Trunc if self.corrects(op, tried) => Method::Lowered(exact::truncation(dtype)),
            _ => Method::Absent,
        })
    }

    /// Whether a program corrects an operation that the device gets wrong.
    fn corrects(&self, op: Op, dtype: DType) -> bool {
        corrected(op, dtype) || op == Op::Trunc && !self.wrong.contains(&(Op::Floor, dtype))
    }

    /// The findings as pairs of question and answer, for display.
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

/// The findings and costs of a device: those of an earlier probe, in this process or on disk, or of a new one on an
/// open driver. `identity` names the device and every compiler for it.
///
/// # Errors
/// The errors of the driver's functions: it does not work on this machine.
pub fn find_out(
    driver: &mut dyn Driver,
    known: &Capabilities,
    name: &str,
    identity: &str,
) -> Result<(Findings, Costs)> {
    // Only the driver's dtypes are tried.
    let dtypes = known.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" ");
    let key = format!("findings {EDITION}\n{dtypes}\n{identity}");
    let encode = |(findings, costs): &(Findings, Costs)| to_bytes(findings, costs);
    disk_cache::remember(name, &key, from_bytes, encode, || {
        Ok((Findings::of(driver, known)?, costs(driver, known)?))
    })
}

/// Encodes findings and costs for the disk.
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

/// Decodes findings and costs; `None` for other bytes.
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

/// True for operations that `exact.rs` always corrects.
fn corrected(op: Op, dtype: DType) -> bool {
    dtype == DType::F32 && matches!(op, Op::Div | Op::Sqrt)
}

/// Whether the device contracts a product and a sum, which then are rounded once.
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
