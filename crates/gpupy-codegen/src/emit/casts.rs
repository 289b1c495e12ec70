//! Emits casts and bitcasts between any two dtypes.
//!
//! Owns `cast`, `bitcast` and `narrowed`. Invariant: the language's own conversion is used where every value has
//! one defined result, and where it rounds to nearest: between floats, and from integers to floats.
//!
//! Not here: the other operations (`operations.rs`).

use crate::dialect::{Dialect, Logic, Width, held, literal};
use crate::emit::library_calls::call;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// Wraps an integer that is held in more bits to its dtype's range: keeps its low bits.
pub fn narrowed(d: &dyn Dialect, dtype: DType, width: Width, a: &str) -> String {
    let bits = 8 * dtype.size() as u64;
    match dtype {
        DType::I8 | DType::I16 => {
            let up = literal(d, DType::U32, width, 32 - bits);
            format!("(({a} << {up}) >> {up})")
        }
        DType::U8 | DType::U16 => {
            format!("({a} & {})", literal(d, DType::U32, width, (1 << bits) - 1))
        }
        _ => a.to_owned(),
    }
}

/// A bitcast: the same bits as another dtype.
pub fn bitcast(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> Option<String> {
    Some(match (from, to) {
        (from, to) if from == to => a.to_owned(),
        (from, to) if from.size() != to.size() || from == DType::Bool || to == DType::Bool => {
            return None;
        }
        (DType::F16, DType::U16) => call("half_bits", DType::F32, width, &[a]),
        (DType::U16, DType::F16) => call("half_of_bits", DType::F32, width, &[a]),
        (DType::F16, to) => {
            let bits = call("half_bits", DType::F32, width, &[a]);
            bitcast(d, DType::U16, to, width, &bits)?
        }
        (from, DType::F16) => {
            let bits = bitcast(d, from, DType::U16, width, a)?;
            call("half_of_bits", DType::F32, width, &[&bits])
        }
        (from, to) => narrowed(d, to, width, &d.bitcast(held(from), held(to), width, a)),
    })
}

/// A cast: the value converted to another dtype.
pub fn cast(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> String {
    match (from, to) {
        (from, to) if from == to => a.to_owned(),
        (from, DType::Bool) => is_not_zero(d, from, width, a),
        (DType::Bool, to) if to.size() == 8 => {
            let one = if to == DType::F64 { 1f64.to_bits() } else { 1 };
            d.select(to, width, a, &literal(d, to, width, one), &literal(d, to, width, 0))
        }
        (DType::Bool, to) => d.convert(held(to), width, a),
        (from, to) if from.is_float() && to.is_float() => between_floats(d, from, to, width, a),
        (from, to) if from.is_float() => int_of_float(d, held(from), to, width, a),
        (from, to) if to.is_float() => float_of_int(d, held(from), to, width, a),
        (from, to) => {
            let wider = to.size() > from.size()
                || to.size() == from.size() && to.is_signed_int() == from.is_signed_int();
            // A signed value may not fit an unsigned dtype of any width.
            let fits = wider && (to.is_signed_int() || !from.is_signed_int());
            let value = resized(d, held(from), held(to), width, a);
            if fits { value } else { narrowed(d, to, width, &value) }
        }
    }
}

/// The low bits of an integer in a register of another size, extended by the source's sign.
fn resized(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> String {
    if from.size() == to.size() {
        return d.bitcast(from, to, width, a);
    }
    if from.is_signed_int() && to.size() == 8 {
        // Not the language's own conversion: Mesa 22 compares its result with constants wrongly.
        let low = d.convert(DType::U64, width, &d.bitcast(from, DType::U32, width, a));
        let high = literal(d, DType::U64, width, u64::MAX << 32);
        let negative = d.compare(Op::Lt, from, width, a, &literal(d, from, width, 0));
        let extended = d.select(DType::U64, width, &negative, &format!("({low} | {high})"), &low);
        return d.bitcast(DType::U64, to, width, &extended);
    }
    let same_sign = match (from.is_signed_int(), to.size()) {
        (true, _) => DType::I32,
        (false, 8) => DType::U64,
        (false, _) => DType::U32,
    };
    d.bitcast(same_sign, to, width, &d.convert(same_sign, width, a))
}

fn is_not_zero(d: &dyn Dialect, from: DType, width: Width, a: &str) -> String {
    let register = held(from);
    if !from.is_float() {
        return d.compare(Op::Ne, register, width, a, &literal(d, register, width, 0));
    }
    // The bits are compared: a device that flushes subnormals compares them equal to zero.
    let (bits, magnitude) = match register {
        DType::F64 => (DType::U64, u64::MAX >> 1),
        _ => (DType::U32, 0x7fff_ffff),
    };
    let magnitude = literal(d, bits, width, magnitude);
    let magnitude = format!("({} & {magnitude})", d.bitcast(register, bits, width, a));
    d.compare(Op::Ne, bits, width, &magnitude, &literal(d, bits, width, 0))
}

fn between_floats(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> String {
    match (from, to) {
        (DType::F64, DType::F16) => call("half_of_double", DType::F64, width, &[a]),
        (DType::F32, DType::F16) => call("half_round", DType::F32, width, &[a]),
        (DType::F16, DType::F32) => a.to_owned(),
        (_, to) => d.exact(to, width, d.convert(to, width, a)),
    }
}

/// Converts a float to an integer. `from` is a register's dtype.
fn int_of_float(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> String {
    let truncated = |to: DType| {
        // Values that fit lie strictly between these limits: one beyond the dtype's range where the float has it.
        let (low, high) = match (from, to) {
            (DType::F64, DType::I32) => ((-2_147_483_649f64).to_bits(), 2_147_483_648f64.to_bits()),
            (DType::F64, _) => ((-9.223_372_036_854_778e18f64).to_bits(), 2f64.powi(63).to_bits()),
            _ => ((-2_147_483_904f32).to_bits().into(), 2_147_483_648f32.to_bits().into()),
        };
        let bound = |op, bits| d.compare(op, from, width, a, &literal(d, from, width, bits));
        let fits = d.logic(Logic::And, width, &bound(Op::Gt, low), &bound(Op::Lt, high));
        let least = Scalar::new(to, if to == DType::I32 { 1 << 31 } else { 1 << 63 }).bits;
        d.select(to, width, &fits, &d.convert(to, width, a), &literal(d, to, width, least))
    };
    match (from, to) {
        (DType::F64, DType::I64) => truncated(to),
        (DType::F32, DType::I64) => call("long_of", from, width, &[a]),
        (_, DType::U64) => call("ulong_of", from, width, &[a]),
        (DType::F32, DType::U32) => call("uint_of", from, width, &[a]),
        (_, DType::U32) => resized(d, DType::I64, to, width, &truncated(DType::I64)),
        (_, to) => {
            narrowed(d, to, width, &resized(d, DType::I32, held(to), width, &truncated(DType::I32)))
        }
    }
}

/// Converts an integer to a float. `from` is a register's dtype.
fn float_of_int(d: &dyn Dialect, from: DType, to: DType, width: Width, a: &str) -> String {
    match (from.size(), to) {
        (8, DType::F32) => call("float_of", from, width, &[a]),
        (8, DType::F16) => call("half_of", from, width, &[a]),
        (_, DType::F16) => {
            let float = d.exact(DType::F32, width, d.convert(DType::F32, width, a));
            call("half_round", DType::F32, width, &[&float])
        }
        (_, to) => d.exact(to, width, d.convert(to, width, a)),
    }
}
