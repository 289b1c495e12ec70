//! Every scalar operation, spelled from a dialect's pieces.
//!
//! Owns [`supports`] and `spell`. Invariant: what is spelled here gives the bits that the core's
//! `op_eval` gives, as far as the device keeps subnormal numbers; what cannot be is not spelled.
//!
//! Not here: leaves and control (`body.rs`).

use crate::dialect::{Dialect, Logic, Width};
use crate::glsl::Glsl;
use gpupy_core::DType;
use gpupy_core::op::{OPS, Op};
use rustc_hash::FxHashSet as HashSet;
use std::sync::LazyLock;

/// The dtypes that the languages have.
const DTYPES: [DType; 4] = [DType::Bool, DType::I32, DType::U32, DType::F32];

/// True when the operation is spelled exactly for operands of dtype `from`; `to` matters for casts
/// and bitcasts alone.
pub fn supports(op: Op, from: DType, to: DType) -> bool {
    // Asked for each instruction of each program, so it is found out once.
    static SPELLED: LazyLock<HashSet<(Op, DType, DType)>> = LazyLock::new(|| {
        let mut spelled = HashSet::default();
        let names = ["a", "b", "c"];
        for row in OPS {
            for (from, to) in DTYPES.iter().flat_map(|from| DTYPES.map(|to| (*from, to))) {
                if spell(&Glsl, row.op, from, to, Width::One, &names).is_some() {
                    spelled.insert((row.op, from, to));
                }
            }
        }
        spelled
    });
    SPELLED.contains(&(op, from, to))
}

/// The operation as an expression; `from` is the dtype of the first operand (of a select: of the
/// second), `to` that of the result. Gives `None` where the languages have nothing exact.
pub fn spell(
    d: &dyn Dialect,
    op: Op,
    from: DType,
    to: DType,
    width: Width,
    args: &[&str],
) -> Option<String> {
    let a = args.first().copied().unwrap_or_default();
    let b = args.get(1).copied().unwrap_or_default();
    match op {
        Op::Cast => return cast(d, from, to, width, a),
        Op::Bitcast => {
            let possible = from == to || (from != DType::Bool && to != DType::Bool);
            return possible.then(|| d.bitcast(from, to, width, a));
        }
        Op::Select => {
            let c = args.get(2).copied().unwrap_or_default();
            return Some(d.select(to, width, a, b, c));
        }
        _ => {}
    }
    match from {
        DType::Bool => of_bool(d, op, width, a, b),
        DType::I32 | DType::U32 => of_int(d, op, from, width, a, b),
        DType::F32 => of_float(d, op, width, a, b),
        _ => None,
    }
}

/// Spellings that the operation table itself has.
fn from_table(op: Op, a: &str, b: &str) -> Option<String> {
    let spelling = op.info().spelling;
    (!spelling.is_empty()).then(|| spelling.replace("{0}", a).replace("{1}", b))
}

fn of_bool(d: &dyn Dialect, op: Op, width: Width, a: &str, b: &str) -> Option<String> {
    let not = |x: &str| d.inverse(width, x);
    let logic = |l, x: &str, y: &str| d.logic(l, width, x, y);
    Some(match op {
        Op::Abs => a.to_owned(),
        Op::Not => not(a),
        Op::Add | Op::Max | Op::Or => logic(Logic::Or, a, b),
        Op::Mul | Op::Min | Op::And => logic(Logic::And, a, b),
        Op::Xor | Op::Ne => logic(Logic::Xor, a, b),
        Op::Eq => not(&logic(Logic::Xor, a, b)),
        Op::Lt => logic(Logic::And, &not(a), b),
        Op::Le => logic(Logic::Or, &not(a), b),
        Op::Gt => logic(Logic::And, a, &not(b)),
        Op::Ge => logic(Logic::Or, a, &not(b)),
        _ => return None,
    })
}

fn of_int(d: &dyn Dialect, op: Op, dtype: DType, width: Width, a: &str, b: &str) -> Option<String> {
    let call = |name: &str| format!("{name}({a}, {b})");
    Some(match op {
        Op::Abs if dtype == DType::U32 => a.to_owned(),
        // Not the built-in: its result for the least integer is undefined.
        Op::Abs => format!("max({a}, (-{a}))"),
        Op::Sign if dtype == DType::U32 => {
            format!("min({a}, {})", d.splat(dtype, width, "1u"))
        }
        Op::Sign => format!("{}({a})", d.builtin(op)?),
        Op::Not => format!("(~{a})"),
        Op::FloorDiv => call("floor_div"),
        Op::Mod => call("floor_mod"),
        Op::Min | Op::Max => call(d.builtin(op)?),
        Op::And => format!("({a} & {b})"),
        Op::Or => format!("({a} | {b})"),
        Op::Xor => format!("({a} ^ {b})"),
        Op::Shl => call("shift_left"),
        Op::Shr => call("shift_right"),
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => d.compare(op, width, a, b),
        _ => return from_table(op, a, b),
    })
}

fn of_float(d: &dyn Dialect, op: Op, width: Width, a: &str, b: &str) -> Option<String> {
    let word = |bits: &str| d.splat(DType::U32, width, bits);
    let bits = |x: &str| d.bitcast(DType::F32, DType::U32, width, x);
    let float = |x: &str| d.bitcast(DType::U32, DType::F32, width, x);
    let magnitude = |x: &str| format!("({} & {})", bits(x), word("0x7fffffffu"));
    let sign = |x: &str| format!("({} & {})", bits(x), word("0x80000000u"));
    let infinity = word("0x7f800000u");
    let test = |op| d.compare(op, width, &magnitude(a), &infinity);
    Some(match op {
        Op::Neg => float(&format!("({} ^ {})", bits(a), word("0x80000000u"))),
        Op::Abs => float(&magnitude(a)),
        Op::Sign => format!("sign_of({a})"),
        Op::Sqrt | Op::Floor | Op::Ceil | Op::Trunc | Op::Rint => {
            format!("{}({a})", d.builtin(op)?)
        }
        Op::IsNan => test(Op::Gt),
        Op::IsInf => test(Op::Eq),
        Op::IsFinite => test(Op::Lt),
        Op::SignBit => d.compare(Op::Ne, width, &sign(a), &word("0u")),
        Op::Div => format!("({a} / {b})"),
        Op::Min | Op::Max => {
            // Built-ins drop NaN. A NaN in `b` fails the comparison, and so comes out by itself.
            let before = if op == Op::Min { Op::Lt } else { Op::Gt };
            let nan = format!("isnan({a})");
            let first = d.logic(Logic::Or, width, &d.compare(before, width, a, b), &nan);
            d.select(DType::F32, width, &first, a, b)
        }
        Op::Copysign => float(&format!("({} | {})", magnitude(a), sign(b))),
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => d.compare(op, width, a, b),
        _ => return from_table(op, a, b),
    })
}

fn cast(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> Option<String> {
    let zero = |literal| d.splat(from, width, literal);
    Some(match (from, to) {
        (from, to) if from == to => a.to_owned(),
        (DType::F32, DType::I32) => format!("int_of_float({a})"),
        (DType::F32, DType::U32) => format!("uint_of_float({a})"),
        (DType::F32, DType::Bool) => {
            // By bits, since a device that flushes subnormals compares them equal to zero.
            let bits = d.bitcast(DType::F32, DType::U32, width, a);
            let magnitude = format!("({bits} & {})", d.splat(DType::U32, width, "0x7fffffffu"));
            d.compare(Op::Ne, width, &magnitude, &d.splat(DType::U32, width, "0u"))
        }
        (DType::I32, DType::Bool) => d.compare(Op::Ne, width, a, &zero("0")),
        (DType::U32, DType::Bool) => d.compare(Op::Ne, width, a, &zero("0u")),
        _ => d.convert(to, width, a),
    })
}
