//! What the device does where OpenGL leaves it open, found by trying.
//!
//! Owns [`Findings`]. Not here: what the context reports (`context.rs`).

use crate::Gl;
use gpupy_core::driver::{Access, BlockId, BlockSpec, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result};
use smallvec::smallvec;

/// Pairs of numbers that are tried.
const PAIRS: usize = 2048;

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// True when arithmetic does not keep subnormal numbers.
    pub flushes_subnormals: bool,
    /// True when some quotient of ordinary numbers is not the nearest.
    pub rounds_division: bool,
    /// True when some square root is not the nearest.
    pub rounds_root: bool,
}

impl Findings {
    /// Tries. This is a driver's first draw.
    ///
    /// # Errors
    /// Those of the driver's functions: it does not work here at all.
    pub fn of(gl: &mut Gl) -> Result<Findings> {
        let mut builder = Builder::new(Form::Map, 1);
        let access = builder.access(AccessKind::Contiguous);
        let [x, y] = [0, 1].map(|_| {
            let operand = builder.operand(DType::F32);
            builder.load(operand, access)
        });
        for value in
            [builder.op(Op::Add, &[x, y]), builder.op(Op::Div, &[x, y]), builder.op(Op::Sqrt, &[x])]
        {
            builder.store(value);
        }
        let program = builder.finish();

        let (xs, ys): (Vec<f32>, Vec<f32>) = pairs().unzip();
        let spec = BlockSpec::new(DType::F32, PAIRS);
        let mut blocks = Vec::new();
        for _ in 0..2 + program.dests.len() {
            blocks.push(gl.block_alloc(spec)?);
        }
        gl.block_write(blocks[0], 0, &bytes(&xs))?;
        gl.block_write(blocks[1], 0, &bytes(&ys))?;
        let walk = Access { offset: 0, strides: smallvec![1] };
        let dest = |block: &BlockId| Dest { block: *block, access: walk.clone(), whole: true };
        let dests: Vec<Dest> = blocks[2..].iter().map(dest).collect();
        gl.eval_ir(&Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &[PAIRS],
            operands: &blocks[..2],
            params: &[],
            accesses: std::slice::from_ref(&walk),
            dests: &dests,
        })?;
        let mut differs = [false; 3];
        for (k, differs) in differs.iter_mut().enumerate() {
            let mut got = vec![0; PAIRS * 4];
            gl.block_read(blocks[2 + k], 0, &mut got)?;
            let wanted = xs.iter().zip(&ys).map(|(x, y)| match k {
                0 => x + y,
                1 => x / y,
                _ => x.sqrt(),
            });
            *differs = got.chunks_exact(4).zip(&xs).zip(wanted).any(|((got, x), wanted)| {
                // Subnormal numbers tell of sums, all others of quotients and roots.
                let looked_at = k == 0 || x.is_normal();
                looked_at && got != wanted.to_ne_bytes()
            });
        }
        blocks.into_iter().for_each(|block| gl.block_free(block));
        let [flushes_subnormals, rounds_division, rounds_root] = differs;
        Ok(Findings { flushes_subnormals, rounds_division, rounds_root })
    }
}

/// Some subnormal numbers with zeros, then ordinary numbers in no order.
fn pairs() -> impl Iterator<Item = (f32, f32)> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Between 2^-16 and 2^16.
        f32::from_bits((111 + (state >> 27)) << 23 | state << 5 >> 9)
    };
    (0..PAIRS).map(move |k| match k {
        0 => (1e-40, 0.0),
        1 => (f32::MIN_POSITIVE / 2.0, f32::MIN_POSITIVE / 4.0),
        _ => (next(), next()),
    })
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
}
