//! Nonzero in host memory: the positions of a mask's true elements.
//!
//! The positions of a large mask are an expression, which is evaluated here when they are needed. Invariant: positions
//! are int32 numbers, rising, inside the mask.
//!
//! Not here: how they are recorded (`context/indexing/nonzero.rs`), small masks (`small_boolean_mask.rs`).

use crate::execute::evaluate::Engine;
use crate::execute::host_ops::mask_bytes::each_eight;
use crate::explain::tracer::Doing;
use crate::graph::value::{Input, Value, ValueKind};
use crate::schedule::walk::lost;
use gpupy_core::{DType, Result};

/// Bytes of a position.
pub(crate) const NUMBER: usize = DType::I32.size();

impl Engine {
    /// Evaluates all positions of a mask that is computed.
    pub fn where_true(&mut self, value: &Value) -> Result<()> {
        let operands = value.state().operands.clone();
        let (ValueKind::Expr { inputs, .. }, [Some(mask)]) = (&value.0.kind, operands.as_slice())
        else {
            return Err(lost(value.id()));
        };
        debug_assert!(matches!(inputs.as_slice(), [Input::Whole(_)]), "masks are seen whole");
        let all = 0..mask.len();
        let from = self.brought(mask, all.clone())?;
        let len = value.len();
        let began = self.tracer.clock();
        value.write_host(0..len, |to| {
            find(&from, to);
            Ok(())
        })?;
        value.mark_computed(0..len);
        self.tracer.step(|| {
            let doing = Doing::on_host("positions").reads(mask, all).writes(value, 0..len);
            doing.operations(mask.len() as u64).since(began)
        });
        Ok(())
    }
}

/// Writes the positions of the bytes that are not 0, as many as there is room for.
pub(crate) fn find(mask: &[u8], to: &mut [u8]) {
    let (places, _) = to.as_chunks_mut::<NUMBER>();
    let mut found = 0;
    each_eight(mask, |first, within, n| {
        // Eight are written, of which those behind the first n are overwritten: no branch depends on the mask.
        let room = match places.get_mut(found..found + within.len()) {
            Some(eight) => eight,
            None => places.get_mut(found..).unwrap_or_default(),
        };
        for (place, at) in room.iter_mut().zip(within) {
            *place = (first as i32 + i32::from(*at)).to_ne_bytes();
        }
        found += n;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::host_ops::mask_bytes::count;

    #[test]
    fn positions_of_any_share_are_found_as_far_as_there_is_room() {
        for share in [1, 16, 64, 128, 240, 255] {
            for len in (0..40).chain([255, 256, 257, 3001]) {
                // Numbers without an order, of which so large a share is true.
                let is_true = |k: usize| (k.wrapping_mul(2_654_435_761) >> 7) % 256 < share;
                let mask: Vec<u8> = (0..len).map(|k| u8::from(is_true(k)) * 255).collect();
                let wanted: Vec<u8> = (0..len)
                    .filter(|k| is_true(*k))
                    .flat_map(|k| (k as i32).to_ne_bytes())
                    .collect();
                for less in [0, 1, 3, 8, 9] {
                    let room = wanted.len().saturating_sub(less * NUMBER);
                    let mut found = vec![0; room];
                    find(&mask, &mut found);
                    assert_eq!(found, wanted[..room], "{share} of 256, {len}, {less} fewer");
                }
            }
        }
    }

    #[test]
    fn positions_are_those_of_the_bytes_that_are_not_zero() {
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            for step in [1, 2, 63, 64, 65, 200, 2000] {
                for first in [0, 1, 62, 63, 64, 130] {
                    let is_true = |k: usize| k >= first && (k - first).is_multiple_of(step);
                    let mask: Vec<u8> = (0..len).map(|k| if is_true(k) { 2 } else { 0 }).collect();
                    let wanted: Vec<u8> = (0..len)
                        .filter(|k| is_true(*k))
                        .flat_map(|k| (k as i32).to_ne_bytes())
                        .collect();
                    assert_eq!(count(&mask) * NUMBER, wanted.len());
                    let mut found = vec![0; wanted.len()];
                    find(&mask, &mut found);
                    assert_eq!(found, wanted, "{len} {step} {first}");
                }
            }
        }
    }
}
