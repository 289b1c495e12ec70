//! Kernels of library operations (scans, sorts, matrix products, routines). They are no walks: operands are read where
//! they lie.

use crate::blocks::cache::BlockPart;
use crate::graph::value::Value;
use crate::memory::access;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::program::kernel::{Kernel, KernelCode, ParamPlace};
use crate::schedule::steps::LibraryStep;
use gpupy_core::ir::Builder;
use gpupy_core::shape::contiguous_strides;
use smallvec::SmallVec;
use std::sync::Arc;

impl LibraryStep {
    /// The kernel that computes a tile of a form's value.
    pub(super) fn kernel(&self, device: &OpenDevice, value: &Value) -> Kernel {
        let LibraryStep { whole, extents, reads, .. } = self;
        let (form, space) = (whole.form(), whole.space(extents));
        let mut builder = Builder::new(form, space.len() as u32);
        let mut operands: Vec<(Value, BlockPart)> = Vec::new();
        let mut accesses = Vec::new();
        let mut values: SmallVec<[u32; 2]> = SmallVec::new();
        for read in reads {
            // Gathered, axes that the operand repeats along take no room.
            let mut placed = device.place(&read.value, &read.access, &read.still(), || 1);
            for (within, stride) in placed.access.strides.iter_mut().zip(&read.access.strides) {
                *within = if *stride == 0 { 0 } else { *within };
            }
            let wanted = (read.value.clone(), placed.part);
            let same =
                |(value, part): &(Value, _)| value.id() == wanted.0.id() && *part == wanted.1;
            let operand = operands.iter().position(same).unwrap_or_else(|| {
                operands.push(wanted);
                builder.operand(read.value.dtype()) as usize
            });
            let slot = builder.access(access::kind(&placed.access, &read.space));
            values.push(builder.load(operand as u32, slot));
            accesses.push(placed.access);
        }
        let result = whole.emit(&mut builder, &values, value.dtype());
        builder.store(result);
        let dests = vec![access::access(0, &contiguous_strides(&form.out_shape(&space)))];
        let mut code = KernelCode::new(builder.finish(), space, accesses, dests);
        let params = whole.params().to_vec();
        code.places = params.iter().map(|bits| ParamPlace::Bits(*bits)).collect();
        debug_assert_eq!(code.program.dests[0], value.dtype());
        Kernel { code: Arc::new(code), operands, params }
    }
}
