//! Splits and joins consecutive complex numbers in registers, with AVX-512, so that memory is accessed in whole
//! vectors.
//!
//! Not here: strided numbers, which are copied (`compiled_kernel.rs`).

use crate::code::encode::Rm;
use crate::code::opcodes::{self, LaneWidth};
use crate::function_writer::FunctionWriter;
use gpupy_core::DType;
use gpupy_core::ir::Inst;

impl FunctionWriter<'_> {
    /// `load` of the real or the imaginary parts.
    pub(super) fn load_part(&mut self, dtype: DType, is_imaginary: bool) -> Option<()> {
        let (width, odd) = (LaneWidth::of(dtype)?, usize::from(is_imaginary));
        let bits = self.bits(width);
        let [lower, upper] = self.complex_elements(self.walk() - odd, dtype.size());
        let first = self.temporary();
        self.asm.vector(opcodes::move_load(width), bits, first, 0, Rm::Mem(lower));
        let lanes = self.plan.lanes;
        let places = self.places(width, (0..lanes).map(|k| (2 * k + odd) as u64));
        let to = self.result();
        self.asm.vector(opcodes::move_load(width), bits, to, 0, places);
        self.asm.vector(opcodes::choose_lanes(width), bits, to, first, Rm::Mem(upper));
        Some(())
    }

    /// `store` of both parts, at the store of the imaginary ones.
    pub(super) fn store_parts(&mut self, inst: &Inst) -> Option<()> {
        let (number, width) =
            (self.accesses() + inst.args[0] as usize - 1, LaneWidth::of(inst.dtype)?);
        let (re, im, bits) = (self.reg(0), self.reg(1), self.bits(width));
        let halves = self.complex_elements(number, inst.dtype.size());
        let lanes = self.plan.lanes;
        for (to, half) in halves.into_iter().zip([0, lanes / 2]) {
            // The first operand has the real parts, the second the imaginary ones.
            let places = (0..lanes).map(|k| (half + k / 2 + k % 2 * lanes) as u64);
            let (places, numbers) = (self.places(width, places), self.temporary());
            self.asm.vector(opcodes::move_load(width), bits, numbers, 0, places);
            self.asm.vector(opcodes::choose_lanes(width), bits, numbers, re, Rm::Reg(im));
            self.asm.vector(opcodes::move_store(width), bits, numbers, 0, Rm::Mem(to));
        }
        Some(())
    }
}
