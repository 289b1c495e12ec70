//! Whether blocks are bound to kernels by descriptors or reached by their addresses, where a device supports
//! both.
//!
//! Owns [`BindingCosts`]: both are measured, with one launch over much memory and many small ones, and the
//! faster one is used. Mesa's lavapipe reads memory behind addresses one lane at a time, five times slower;
//! hardware may save the cost of binding. Invariant: blocks that cannot be bound are reached by address,
//! whichever is faster.
//!
//! Not here: the limits of bindings (`gpu_device.rs`, `eval.rs`).

use super::open::OpenDriver;
use crate::NAME;
use gpupy_codegen::disk_cache::remember;
use gpupy_core::driver::{Access, BlockSpec, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result};
use std::borrow::Cow;
use std::time::Instant;

/// Incremented when the measurement changes.
const EDITION: u32 = 1;

/// Elements of the large launch, and of each small one.
const LARGE: usize = 1 << 20;
const SMALL: usize = 256;

/// Small launches.
const MANY: usize = 64;

/// Repetitions of each, of which the fastest counts.
const TRIES: usize = 5;

/// Nanoseconds of the same work in both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindingCosts {
    /// With bound blocks.
    pub bound: f64,
    /// With addresses.
    pub addressed: f64,
}

impl BindingCosts {
    /// The costs on a device, from an earlier run's cache or measured now.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`, `Refused`: the device does not work at all.
    pub fn find_out(open: &mut OpenDriver) -> Result<BindingCosts> {
        let key = format!("ways {EDITION}\n{}", open.gpu.traits.identity);
        remember(
            NAME,
            &key,
            BindingCosts::from_bytes,
            |binding_costs| binding_costs.to_bytes(),
            || BindingCosts::of(open),
        )
    }

    /// Measures both, alternately.
    fn of(open: &mut OpenDriver) -> Result<BindingCosts> {
        let program = program();
        let spec = BlockSpec::new(DType::F32, LARGE);
        let blocks = [open.alloc(spec)?, open.alloc(spec)?];
        let mut binding_costs = BindingCosts { bound: f64::MAX, addressed: f64::MAX };
        // The first repetition of each compiles.
        for attempt in 0..=TRIES {
            for (binds, least) in
                [(true, &mut binding_costs.bound), (false, &mut binding_costs.addressed)]
            {
                open.binds = binds;
                let begun = Instant::now();
                for len in std::iter::once(LARGE).chain([SMALL; MANY]) {
                    let walk = Access { offset: 0, strides: [1].as_slice().into() };
                    open.eval(&Launch {
                        program: &program,
                        fingerprint: program.fingerprint(),
                        shape: &[len],
                        operands: &blocks[..1],
                        params: &[0],
                        accesses: std::slice::from_ref(&walk),
                        dests: &[Dest {
                            block: blocks[1],
                            access: walk.clone(),
                            whole: len == LARGE,
                        }],
                        memory: &[],
                        lend: None,
                        rest: None,
                    })?;
                }
                open.read(blocks[1], 0, &mut [0; 4])?;
                if attempt > 0 {
                    *least = least.min(begun.elapsed().as_nanos() as f64);
                }
            }
        }
        blocks.into_iter().for_each(|block| open.free(block));
        Ok(binding_costs)
    }

    /// Whether blocks are bound where they can be.
    pub fn binds(self) -> bool {
        self.bound <= self.addressed
    }

    /// The finding in words: its name, and the answer.
    pub fn named(self) -> (Cow<'static, str>, String) {
        let (way, other, ratio) = match self.binds() {
            true => ("bound", "by address", self.addressed / self.bound),
            false => ("by address", "bound", self.bound / self.addressed),
        };
        ("blocks".into(), format!("{way}; {other} takes {ratio:.1} times as long"))
    }

    fn to_bytes(self) -> Vec<u8> {
        [self.bound, self.addressed].into_iter().flat_map(f64::to_le_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<BindingCosts> {
        let (numbers, []) = bytes.as_chunks::<8>() else { return None };
        let [bound, addressed] = <[[u8; 8]; 2]>::try_from(numbers).ok()?.map(f64::from_le_bytes);
        (bound > 0.0 && addressed > 0.0).then_some(BindingCosts { bound, addressed })
    }
}

/// A program that adds a scalar.
fn program() -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let (x, scalar) = (b.load(x, all), b.param(DType::F32));
    let sum = b.op(Op::Add, &[x, scalar]);
    b.store(sum);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_way_is_taken_and_named() {
        let binding_costs = BindingCosts { bound: 1e6, addressed: 5e6 };
        assert!(binding_costs.binds());
        assert_eq!(binding_costs.named().1, "bound; by address takes 5.0 times as long");
        let binding_costs = BindingCosts { bound: 2e6, addressed: 1e6 };
        assert!(!binding_costs.binds());
        assert_eq!(binding_costs.named().1, "by address; bound takes 2.0 times as long");
    }

    #[test]
    fn what_was_found_comes_back_from_bytes_and_nothing_else_does() {
        let binding_costs = BindingCosts { bound: 1.5, addressed: 2.5 };
        let bytes = binding_costs.to_bytes();
        assert_eq!(BindingCosts::from_bytes(&bytes), Some(binding_costs));
        for wrong in [&bytes[1..], &[0; 16], &[0xff; 16], &[]] {
            assert_eq!(BindingCosts::from_bytes(wrong), None);
        }
    }
}
