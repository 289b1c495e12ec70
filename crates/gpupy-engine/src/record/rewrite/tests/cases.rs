//! Rules for operands of certain dtypes, and values for these.
//!
//! Owns [`Case`].
//!
//! Not here: what is asserted of them (`mod.rs`).

use super::super::conditions::Dtypes;
use super::super::rewrite_rules::{OPERANDS, ROWS, RewriteRule, RewriteTerm};
use super::meaning::{CompiledTerm, code, digits};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// A bool that chooses, in `rewrite_rules.rs`.
pub(super) const C: usize = 2;

/// All dtypes but the complex ones.
pub(super) fn real_dtypes() -> impl Iterator<Item = DType> + Clone {
    DType::real()
}

/// A row for operands of certain dtypes.
pub(super) struct Case {
    pub(super) row: &'static RewriteRule,
    pub(super) of: Dtypes,
}

/// Every row for all real dtypes for which it stands.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in ROWS {
        let all: Vec<Dtypes> = match row.op {
            Op::Cast => real_dtypes()
                .flat_map(|x| real_dtypes().map(move |inner| (x, inner)))
                .flat_map(|(x, inner)| real_dtypes().map(move |result| (x, inner, result)))
                .map(|(x, inner, result)| Dtypes { x, inner, result })
                .collect(),
            _ => real_dtypes().filter_map(|x| dtypes(row, x)).collect(),
        };
        cases.extend(all.into_iter().filter(|of| (row.when)(*of)).map(|of| Case { row, of }));
    }
    cases
}

/// The dtypes of a row that is not a cast, or `None` where its operations do not take `x`.
pub(super) fn dtypes(row: &RewriteRule, x: DType) -> Option<Dtypes> {
    let operands: Option<Vec<DType>> = row.from.iter().map(|term| dtype_of(term, x)).collect();
    let operands = operands?;
    Some(Dtypes { x, inner: operands[0], result: row.op.result_dtype(&operands, x)? })
}

pub(super) fn dtype_of(term: &RewriteTerm, x: DType) -> Option<DType> {
    match term {
        RewriteTerm::Operand(C) => Some(DType::Bool),
        RewriteTerm::Of(op, args) => {
            let args: Option<Vec<DType>> = args.iter().map(|arg| dtype_of(arg, x)).collect();
            op.result_dtype(&args?, x)
        }
        _ => Some(x),
    }
}

impl Case {
    pub(super) fn named(&self) -> String {
        let Dtypes { x, inner, result } = self.of;
        let RewriteRule { op, from, to, why, .. } = self.row;
        format!("{op:?}{from:?} => {to:?} of {x}, {inner}, {result} ({why})")
    }

    /// The pattern and the replacement, for each scalar that the rule takes.
    pub(super) fn sides(&self) -> Vec<(CompiledTerm, CompiledTerm)> {
        let making = self.row.from.iter().find_map(|term| match term {
            RewriteTerm::Making(make) => Some(*make),
            _ => None,
        });
        let side = |scalars: Option<(Scalar, Scalar)>| {
            (
                code(
                    &RewriteTerm::Of(self.row.op, self.row.from),
                    self.of,
                    self.of.result,
                    scalars,
                ),
                code(&self.row.to, self.of, self.of.result, scalars),
            )
        };
        match making {
            None => vec![side(None)],
            Some(make) => values(self.of.x)
                .into_iter()
                .map(|bits| Scalar::new(self.of.x, bits))
                .filter_map(|scalar| Some(side(Some((scalar, make(scalar)?)))))
                .collect(),
        }
    }

    pub(super) fn names(&self, which: usize) -> bool {
        fn within(terms: &[RewriteTerm], which: usize) -> bool {
            terms.iter().any(|term| match term {
                RewriteTerm::Operand(name) => *name == which,
                RewriteTerm::Of(_, args) => within(args, which),
                _ => false,
            })
        }
        within(self.row.from, which)
    }
}

/// Values of a dtype with every exponent (of a float), near every power of two, and random ones.
pub(super) fn values(dtype: DType) -> Vec<u64> {
    let width = dtype.size() as u32 * 8;
    let all = Scalar::new(dtype, u64::MAX).bits;
    if dtype == DType::Bool {
        return vec![0, 1];
    }
    if width == 8 {
        return (0..=all).collect();
    }
    let mut values = vec![0, all];
    if dtype.is_float() {
        let mantissas = [0, 1, 0x155 << digits(dtype) >> 10, (1 << digits(dtype)) - 1];
        for high in 0..1u64 << (width - digits(dtype)) {
            values.extend(mantissas.map(|low| high << digits(dtype) | low));
        }
    } else {
        for power in (0..width).map(|i| 1u64 << i) {
            values.extend([power - 1, power, power + 1, power.wrapping_neg() & all]);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..100 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values.push((state >> 17 ^ state << 40) & all);
    }
    values
}

/// Values for one operand, or for the first of two.
pub(super) fn many_values(dtype: DType) -> Vec<u64> {
    if dtype.size() == 2 { (0..=0xffff).collect() } else { values(dtype) }
}

/// Calls `f` with operands of a case; `second` are the values of a second operand.
pub(super) fn for_operands(case: &Case, second: &[u64], mut f: impl FnMut([u64; OPERANDS])) {
    let chooses = if case.names(C) { 0..2 } else { 0..1 };
    let second = if case.names(1) { second } else { &[0] };
    let first = if case.names(0) { many_values(case.of.x) } else { vec![0] };
    for c in chooses {
        for x in &first {
            second.iter().for_each(|y| f([*x, *y, c]));
        }
    }
}
