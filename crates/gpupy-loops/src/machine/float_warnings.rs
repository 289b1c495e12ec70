//! Instructions that leave where NumPy might warn of a floating-point number.
//!
//! Not here: which results are looked at together (`versions`), other instructions (`emission.rs`).

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::emission::Emitter;
use crate::code::Slot;
use crate::kinds::SlotClass;

impl Emitter<'_> {
    /// Leaves where a result is not finite, and one of those that made it is not to blame.
    pub(super) fn quiet(&mut self, root: Slot, all: &[(Slot, [Slot; 2])]) {
        let is_single = self.class(root) == SlotClass::Single;
        let (cold, next, exit) =
            (self.builder.create_block(), self.builder.create_block(), self.exit());
        self.builder.set_cold_block(cold);
        let value = self.get(root);
        let is_finite = self.finite(value);
        self.builder.ins().brif(is_finite, next, &[], cold, &[]);
        self.only(cold);
        for &(result, from) in all {
            let mut is_quiet = self.is_quiet(result, from, is_single);
            if result != root {
                // The root is not finite here.
                let is_finite = self.is_finite(result, is_single);
                is_quiet = self.builder.ins().bor(is_quiet, is_finite);
            }
            let then = self.builder.create_block();
            self.builder.set_cold_block(then);
            self.builder.ins().brif(is_quiet, then, &[], exit, &[]);
            self.only(then);
        }
        self.builder.ins().jump(next, &[]);
        self.only(next);
    }

    /// Whether a number is finite.
    pub(super) fn finite(&mut self, value: Value) -> Value {
        // A number from itself is 0, but NaN if it is not finite: a test without constants.
        let rest = self.builder.ins().fsub(value, value);
        self.builder.ins().fcmp(FloatCC::Ordered, rest, rest)
    }

    fn is_finite(&mut self, slot: Slot, is_single: bool) -> Value {
        let value = self.get(slot);
        let size = self.builder.ins().fabs(value);
        let infinite = self.infinite(is_single);
        self.builder.ins().fcmp(FloatCC::LessThan, size, infinite)
    }

    fn infinite(&mut self, is_single: bool) -> Value {
        if is_single {
            self.builder.ins().f32const(f32::INFINITY)
        } else {
            self.builder.ins().f64const(f64::INFINITY)
        }
    }

    fn is_quiet(&mut self, result: Slot, from: [Slot; 2], is_single: bool) -> Value {
        let [result, a, b] = [result, from[0], from[1]].map(|slot| self.get(slot));
        let infinite = self.infinite(is_single);
        let [of_nan, of_infinite] = [false, true].map(|asks_infinite| {
            let [a, b] = [a, b].map(|one| {
                if asks_infinite {
                    let size = self.builder.ins().fabs(one);
                    self.builder.ins().fcmp(FloatCC::Equal, size, infinite)
                } else {
                    self.builder.ins().fcmp(FloatCC::Unordered, one, one)
                }
            });
            self.builder.ins().bor(a, b)
        });
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, result, result);
        self.builder.ins().select(is_nan, of_nan, of_infinite)
    }
}
