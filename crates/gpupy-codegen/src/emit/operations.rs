//! Emits every scalar operation as an expression.
//!
//! Owns [`supports`] and `emit`. Values of narrow dtypes are held in 32 bits (`held`), and wrapped by each operation
//! that may leave their range. Invariant: an emitted expression gives the bits of `op_eval`, provided that the device
//! keeps subnormal numbers and rounds correctly. An operation without such an expression is not emitted.
//!
//! Not here: casts (`casts.rs`), operations that need a function (`library/`), leaves and control flow (`body.rs`).

use crate::dialect::glsl::Glsl;
use crate::dialect::{Dialect, Logic, Width, held, literal};
use crate::emit::casts::{bitcast, cast, narrowed};
use crate::emit::library_calls::call;
use gpupy_core::op::{OPS, Op};
use gpupy_core::{DType, Scalar};
use rustc_hash::FxHashSet as HashSet;
use std::sync::LazyLock;

/// True when the operation is emitted exactly for operands of dtype `from`, on devices that have both dtypes. `to`
/// matters for casts and bitcasts alone.
pub fn supports(op: Op, from: DType, to: DType) -> bool {
    // The set is computed once, because it is asked for each instruction of each program. Both languages have
    // the same operations.
    static EMITTED: LazyLock<HashSet<(Op, DType, DType)>> = LazyLock::new(|| {
        let mut emitted = HashSet::default();
        let names = ["a", "b", "c"];
        for row in OPS {
            for (from, to) in
                emitted_dtypes().flat_map(|from| emitted_dtypes().map(move |to| (from, to)))
            {
                if emit(&Glsl, row.op, from, to, Width::One, &names).is_some() {
                    emitted.insert((row.op, from, to));
                }
            }
        }
        emitted
    });
    EMITTED.contains(&(op, from, to))
}

/// Whether kernels may have a dtype: the languages have no complex numbers, and programs with bfloat16 are lowered
/// before they come here (`gpupy_core::ir::bfloat16_lowering`).
pub fn is_emitted(dtype: DType) -> bool {
    !dtype.is_complex() && dtype != DType::BF16
}

/// The dtypes that kernels may have.
pub fn emitted_dtypes() -> impl Iterator<Item = DType> + Clone {
    DType::ALL.into_iter().filter(|dtype| is_emitted(*dtype))
}

/// Instructions of an operation on a dtype of at most 32 bits, roughly, as GPU compilers count them.
pub fn instructions(op: Op, dtype: DType) -> u32 {
    match op {
        // The result is rounded once more, by its bits.
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt | Op::Cast if dtype == DType::F16 => 20,
        Op::Bitcast if dtype.size() == 2 => 20,
        // NaN needs comparisons of its own.
        Op::Min | Op::Max if dtype == DType::F32 => 3,
        _ => op.info().cost,
    }
}

/// The operation as an expression. `from` is the dtype of the first operand (of the second for a select), `to` that
/// of the result. `None` when the languages have no exact expression.
pub fn emit(
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
        Op::Cast => return Some(cast(d, from, to, width, a)),
        Op::Bitcast => return bitcast(d, from, to, width, a),
        Op::Select => {
            let c = args.get(2).copied().unwrap_or_default();
            // Some compilers make a built-in of a select between the operands of its own comparison.
            let c =
                if to.is_float() { d.exact(held(to), width, c.to_owned()) } else { c.to_owned() };
            return Some(d.select(to, width, a, b, &c));
        }
        _ => {}
    }
    match from {
        DType::Bool => of_bool(d, op, width, a, b),
        from if from.is_int() => of_int(d, op, from, width, a, b),
        from if from.is_float() => of_float(d, op, from, width, a, b),
        _ => None,
    }
}

/// The smaller or the larger of two floats. Neither is NaN, and they are not zeros of different sign, so that every
/// transformation by a compiler is right. The built-in is not used: compilers for CPUs add tests for NaN to it.
pub(crate) fn extreme_in_order(
    d: &dyn Dialect,
    op: Op,
    dtype: DType,
    width: Width,
    a: &str,
    b: &str,
) -> String {
    let register = held(dtype);
    let before = if op == Op::Min { Op::Lt } else { Op::Gt };
    d.select(register, width, &d.compare(before, register, width, a, b), a, b)
}

/// A select between the operands of its own comparison, where compilers may drop a NaN that is the second, `otherwise`:
/// the test of its bits is beyond them.
pub(crate) fn keeping_nan(
    d: &dyn Dialect,
    dtype: DType,
    width: Width,
    selected: String,
    otherwise: &str,
) -> String {
    if !d.drops_nan() {
        return selected;
    }
    let register = held(dtype);
    d.select(register, width, &d.is_nan(register, width, otherwise), otherwise, &selected)
}

/// An expression from the operation table's own template.
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
    let register = held(dtype);
    let signed = dtype.is_signed_int();
    let value = |bits: i64| literal(d, register, width, Scalar::new(register, bits as u64).bits);
    let extreme = |op: Op, x: &str, y: &str| {
        if register.size() < 8 {
            return Some(format!("{}({x}, {y})", d.builtin(op)?));
        }
        // Mesa 22 crashes on 64-bit built-ins that clamp to a range of constants.
        let before = if op == Op::Min { Op::Lt } else { Op::Gt };
        Some(d.select(register, width, &d.compare(before, register, width, x, y), x, y))
    };
    let exists = |divisor: &str| d.compare(Op::Ne, register, width, divisor, &value(0));
    let text = match op {
        Op::Abs if !signed => a.to_owned(),
        // The built-in is undefined for the least integer.
        Op::Abs => extreme(Op::Max, a, &format!("(-{a})"))?,
        Op::Sign if !signed => extreme(Op::Min, a, &value(1))?,
        Op::Sign => extreme(Op::Max, &extreme(Op::Min, a, &value(1))?, &value(-1))?,
        Op::Neg if !signed => format!("({} - {a})", value(0)),
        Op::Not => format!("(~{a})"),
        Op::FloorDiv if signed => call("floor_div", register, width, &[a, b]),
        Op::Mod if signed => call("floor_mod", register, width, &[a, b]),
        Op::FloorDiv | Op::Mod => {
            let operator = if op == Op::Mod { '%' } else { '/' };
            let divided = format!("({a} {operator} {})", extreme(Op::Max, b, &value(1))?);
            d.select(register, width, &exists(b), &divided, &value(0))
        }
        Op::Min | Op::Max => extreme(op, a, b)?,
        Op::And => format!("({a} & {b})"),
        Op::Or => format!("({a} | {b})"),
        Op::Xor => format!("({a} ^ {b})"),
        Op::Shl | Op::Shr => shift(d, op, dtype, width, a, b)?,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
            return Some(d.compare(op, register, width, a, b));
        }
        _ => from_table(op, a, b)?,
    };
    let may_leave = match op {
        Op::Neg | Op::Add | Op::Sub | Op::Mul | Op::Shl => true,
        // These overflow for the least integer.
        Op::Abs | Op::FloorDiv => signed,
        Op::Not => !signed,
        _ => false,
    };
    Some(if may_leave { narrowed(d, dtype, width, &text) } else { text })
}

/// Shifts by any count. A negative count is huge when read as unsigned.
fn shift(d: &dyn Dialect, op: Op, dtype: DType, width: Width, a: &str, b: &str) -> Option<String> {
    let (register, bits) = (held(dtype), 8 * dtype.size() as u64);
    let unsigned = if register.size() == 8 { DType::U64 } else { DType::U32 };
    let count = d.bitcast(register, unsigned, width, b);
    let word = |value| literal(d, unsigned, width, value);
    let most = word(8 * register.size() as u64 - 1);
    let least = format!("{}({count}, {most})", d.builtin(Op::Min)?);
    let small = if unsigned == DType::U64 { d.convert(DType::U32, width, &least) } else { least };
    let operator = if op == Op::Shl { "<<" } else { ">>" };
    let shifted = format!("({a} {operator} {small})");
    if op == Op::Shr && dtype.is_signed_int() {
        return Some(shifted);
    }
    let fits = d.compare(Op::Lt, unsigned, width, &count, &word(bits));
    Some(d.select(register, width, &fits, &shifted, &literal(d, register, width, 0)))
}

fn of_float(
    d: &dyn Dialect,
    op: Op,
    dtype: DType,
    width: Width,
    a: &str,
    b: &str,
) -> Option<String> {
    let register = held(dtype);
    let (unsigned, infinity) = match register {
        DType::F64 => (DType::U64, f64::INFINITY.to_bits()),
        _ => (DType::U32, u64::from(f32::INFINITY.to_bits())),
    };
    let top = 1u64 << (8 * register.size() - 1);
    let word = |bits| literal(d, unsigned, width, bits);
    let bits = |x: &str| d.bitcast(register, unsigned, width, x);
    let float = |x: &str| d.bitcast(unsigned, register, width, x);
    let magnitude = |x: &str| format!("({} & {})", bits(x), word(top - 1));
    let sign = |x: &str| format!("({} & {})", bits(x), word(top));
    let test = |op| d.compare(op, unsigned, width, &magnitude(a), &word(infinity));
    let rounded = |text: String| {
        let exact = d.exact(register, width, text);
        if dtype == DType::F16 { call("half_round", DType::F32, width, &[&exact]) } else { exact }
    };
    // Compilers fold `x - x` and `x / x` as if x were finite.
    let other = if a == b { d.exact(register, width, b.to_owned()) } else { b.to_owned() };
    Some(match op {
        Op::Neg => float(&format!("({} ^ {})", bits(a), word(top))),
        Op::Abs => float(&magnitude(a)),
        Op::Sign => call("sign_of", register, width, &[a]),
        Op::Floor | Op::Ceil | Op::Trunc | Op::Rint => {
            let value = format!("{}({a})", d.builtin(op)?);
            match register {
                // Mesa 22 loses the sign of zeros.
                DType::F64 => float(&format!("({} | {})", magnitude(&value), sign(a))),
                _ => d.exact(register, width, value),
            }
        }
        Op::Sqrt => rounded(format!("{}({a})", d.builtin(op)?)),
        Op::IsNan => test(Op::Gt),
        Op::IsInf => test(Op::Eq),
        Op::IsFinite => test(Op::Lt),
        Op::SignBit => d.compare(Op::Ne, unsigned, width, &sign(a), &word(0)),
        Op::Div => rounded(format!("({a} / {other})")),
        Op::Min | Op::Max => {
            // Built-ins drop NaN. A NaN in `b` fails the comparison, so that `b` is selected.
            let before = if op == Op::Min { Op::Lt } else { Op::Gt };
            let less = d.compare(before, register, width, a, b);
            let first = d.logic(Logic::Or, width, &less, &d.is_nan(register, width, a));
            let chosen =
                d.select(register, width, &first, a, &d.exact(register, width, b.to_owned()));
            keeping_nan(d, dtype, width, chosen, b)
        }
        Op::Copysign => float(&format!("({} | {})", magnitude(a), sign(b))),
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => d.compare(op, register, width, a, b),
        _ => rounded(from_table(op, a, &other)?),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dialect::wgsl::Wgsl;
    use crate::emit::definitions::definitions;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    /// A function for each operation on operands of a dtype.
    fn every_operation(d: &dyn Dialect, from: DType, width: Width) -> String {
        let mut text = String::new();
        for (row, to) in OPS.iter().flat_map(|row| emitted_dtypes().map(move |to| (row, to))) {
            let (first, result) = match row.op {
                Op::Select if to == from => (DType::Bool, from),
                Op::Cast | Op::Bitcast if supports(row.op, from, to) => (from, to),
                op if to == from && supports(op, from, to) => {
                    let operands = vec![from; row.arity as usize];
                    let Some(result) = op.result_dtype(&operands, to) else { continue };
                    (from, result)
                }
                _ => continue,
            };
            let name = format!("{}_{from}_{to}", row.name);
            let params = [("a", first), ("b", from), ("c", from)];
            text += &d.function(&name, &params, result, width);
            let value = emit(d, row.op, from, to, width, &["a", "b", "c"]).unwrap();
            text += &format!(" return {value}; }}\n");
        }
        definitions(d, &text) + &text
    }

    #[test]
    fn every_operation_is_wgsl() {
        for (from, guards) in emitted_dtypes().flat_map(|from| [(from, false), (from, true)]) {
            for width in [Width::One, Width::Four] {
                let text = every_operation(&Wgsl { guards }, from, width);
                let text = format!("var<private> zero: u32;\n{text}");
                let module = naga::front::wgsl::parse_str(&text)
                    .unwrap_or_else(|error| panic!("{}\n{text}", error.emit_to_string(&text)));
                let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
                let valid = validator.validate(&module);
                assert!(valid.is_ok(), "{}\n{text}", valid.unwrap_err().emit_to_string(&text));
            }
        }
    }
}
