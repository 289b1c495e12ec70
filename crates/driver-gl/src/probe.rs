//! What the device does where OpenGL leaves it open, found by trying.
//!
//! Owns [`flushes_subnormals`]. Not here: what the context reports (`context.rs`).

use crate::Gl;
use gpupy_core::driver::{Access, BlockSpec, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar};
use smallvec::smallvec;

/// True when arithmetic does not keep subnormal numbers. This is a driver's first draw.
///
/// # Errors
/// Those of the driver's functions: it does not work here at all.
pub fn flushes_subnormals(gl: &mut Gl) -> Result<bool> {
    let mut builder = Builder::new(Form::Map, 1);
    let access = builder.access(AccessKind::Contiguous);
    let operand = builder.operand(DType::F32);
    let x = builder.load(operand, access);
    let half = builder.param(DType::F32);
    let product = builder.op(Op::Mul, &[x, half]);
    let sum = builder.op(Op::Add, &[x, product]);
    builder.store(sum);
    let program = builder.finish();

    let inputs = [f32::MIN_POSITIVE, f32::MIN_POSITIVE / 2.0, 1e-40, 3.0];
    let data: Vec<u8> = inputs.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let spec = BlockSpec { dtype: DType::F32, len: inputs.len() };
    let source = gl.block_alloc(spec)?;
    let target = gl.block_alloc(spec)?;
    gl.block_write(source, 0, &data)?;
    let walk = Access { offset: 0, strides: smallvec![1] };
    gl.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[inputs.len()],
        operands: &[source],
        params: &[Scalar::f32(0.5).bits],
        accesses: std::slice::from_ref(&walk),
        dests: &[Dest { block: target, access: walk.clone(), whole: true }],
    })?;
    let mut out = [0; 16];
    gl.block_read(target, 0, &mut out)?;
    gl.block_free(source);
    gl.block_free(target);
    let wanted = inputs.map(|x| x + x * 0.5);
    Ok(wanted.iter().zip(out.chunks_exact(4)).any(|(wanted, got)| wanted.to_ne_bytes() != got))
}
