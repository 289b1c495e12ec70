//! Device features as operations: which operations and programs a driver supports.
//!
//! Owns [`OperationSupport`]. Invariant: a program passes if each of its operations has the method `Native`.
//!
//! Not here: how much fits in one evaluation (`resources.rs` of the drivers, `compute/resources.rs`), how an operation
//! is emitted (`emit/operations.rs`).

use crate::device::probe::Findings;
use crate::emit::operations::supports;
use crate::emulation64::word_pairs::is_pair;
use gpupy_core::driver::Method;
use gpupy_core::ir::{Form, FormKind, Program};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result};

/// The dtypes, forms and operations that a driver supports on an open device, with kernels of this crate.
#[derive(Clone, Debug, Default)]
pub struct OperationSupport {
    /// The dtypes of blocks and values.
    pub dtypes: Vec<DType>,
    /// The supported forms other than maps.
    pub forms: Vec<FormKind>,
    /// True if 64-bit integers are emulated as word pairs, which only maps support.
    pub pairs: bool,
    /// The operations that the device gets wrong.
    pub findings: Findings,
}

impl OperationSupport {
    /// The method of an operation with results, or operands, of this dtype.
    pub fn method(&self, op: Op, dtype: DType) -> Method {
        if let Some(method) = self.findings.method(op, dtype) {
            return method;
        }
        let native = match op {
            _ if op.form().is_some() => self.combines(op, dtype),
            // The core sends comparisons and selects in their place.
            Op::Piece | Op::Choose => false,
            _ if op.info().rule == Rule::Special => true,
            // For a cast, `dtype` is the result's. The operand may have any supported dtype.
            Op::Cast => self.dtypes.iter().all(|from| supports(op, *from, dtype)),
            _ => supports(op, dtype, dtype),
        };
        if native && self.dtypes.contains(&dtype) { Method::Native } else { Method::Absent }
    }

    /// Checks that every operation of a program is supported.
    ///
    /// # Errors
    /// - `Unsupported`: an operation is not supported; the error names it.
    pub fn check(&self, program: &Program, driver: &'static str) -> Result<()> {
        let mut reductions = program.reductions().peekable();
        for (at, inst) in program.insts.iter().enumerate() {
            let operand = usize::from(inst.op == Op::Select);
            let first = program.uses(inst).nth(operand).map(|v| program.insts[v as usize].dtype);
            let from = first.unwrap_or(inst.dtype);
            let known = self.dtypes.contains(&inst.dtype) && self.dtypes.contains(&from);
            let emitted =
                inst.op.info().rule == Rule::Special || supports(inst.op, from, inst.dtype);
            let by = match program.form {
                Form::Scan { op } => Some(op),
                _ => reductions.next_if(|reduction| reduction.at == at).map(|it| it.op),
            };
            let formed = inst.op.form().is_none()
                || self.combines(inst.op, inst.dtype)
                    && self.combines(inst.op, from)
                    && by.is_none_or(|op| supports(op, inst.dtype, inst.dtype));
            let right = self.findings.method(inst.op, from).is_none();
            if !(known && emitted && formed && right) {
                return Err(Error::new(ErrorKind::Unsupported, "check_ir")
                    .with("driver", driver)
                    .with("operation", inst.op.info().name)
                    .with("dtype", from));
            }
        }
        Ok(())
    }

    /// Whether the form of operation `op` supports elements of this dtype.
    fn combines(&self, op: Op, dtype: DType) -> bool {
        let offered = op.form().is_none_or(|form| self.forms.contains(&form));
        offered && !(self.pairs && is_pair(dtype))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::ir::{AccessKind, Builder};

    fn sum(dtype: DType) -> Program {
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
        let (access, operand) = (b.access(AccessKind::Contiguous), b.operand(dtype));
        let value = b.load(operand, access);
        let value = b.reduce(value);
        b.store(value);
        b.finish()
    }

    #[test]
    fn pairs_are_mapped_and_not_combined() {
        let mut abilities = OperationSupport {
            dtypes: vec![DType::I32, DType::I64],
            forms: vec![FormKind::Reduce],
            ..OperationSupport::default()
        };
        for (pairs, method) in [(false, Method::Native), (true, Method::Absent)] {
            abilities.pairs = pairs;
            assert_eq!(abilities.method(Op::Add, DType::I64), Method::Native);
            assert_eq!(abilities.method(Op::Reduce, DType::I64), method);
            assert_eq!(abilities.check(&sum(DType::I64), "test").is_err(), pairs);
            assert!(abilities.check(&sum(DType::I32), "test").is_ok());
        }
    }

    #[test]
    fn what_is_lacking_or_wrong_is_named() {
        let findings = Findings { wrong: vec![(Op::Add, DType::I32)], ..Findings::default() };
        let lacking = [
            OperationSupport { forms: vec![FormKind::Reduce], ..OperationSupport::default() },
            OperationSupport { dtypes: vec![DType::I32], ..OperationSupport::default() },
        ];
        for abilities in lacking {
            let error = abilities.check(&sum(DType::I32), "test").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
        let mut b = Builder::new(Form::Map, 1);
        let x = b.param(DType::I32);
        let x = b.op(Op::Add, &[x, x]);
        b.store(x);
        let abilities =
            OperationSupport { dtypes: vec![DType::I32], findings, ..OperationSupport::default() };
        let error = abilities.check(&b.finish(), "test").unwrap_err();
        assert_eq!(error.fact("operation"), Some("add"));
    }
}
