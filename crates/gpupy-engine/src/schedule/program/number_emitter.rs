//! Numbers in pieces in a kernel: the instructions that compute them.
//!
//! Owns [`NumberEmitter`]. A number is an index value, plus for each of its terms the line of the piece that a
//! coordinate lies in. Ends and lines are parameters, so that all sizes share a program. Invariant: what several
//! numbers of a kernel have in common is computed once.
//!
//! Not here: which numbers there are (`graph/piecewise_number.rs`), other instructions (`emit.rs`).

use super::kernel::ParamPlace;
use crate::graph::piecewise_number::{AffinePieces, InPieces, PiecewiseCoordinate};
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::ir::Builder;
use gpupy_core::op::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The parameters of a kernel that is being built, and where they come from.
#[derive(Default)]
pub(super) struct KernelParams {
    pub bits: Vec<u64>,
    pub places: Vec<ParamPlace>,
}

impl KernelParams {
    /// A new parameter.
    pub fn add(&mut self, builder: &mut Builder, scalar: Scalar, place: ParamPlace) -> u32 {
        self.bits.push(scalar.bits);
        self.places.push(place);
        builder.param(scalar.dtype)
    }

    /// A number that the structure of a walk determines.
    fn number(&mut self, builder: &mut Builder, number: i64) -> u32 {
        let scalar = Scalar::i32(number as i32);
        self.add(builder, scalar, ParamPlace::Bits(scalar.bits))
    }
}

/// The numbers in pieces of a kernel.
#[derive(Default)]
pub(super) struct NumberEmitter {
    /// The values of numbers, of the pieces that they lie in, and of terms, as they are found.
    numbers: FxHashMap<PiecewiseCoordinate, u32>,
    pieces: FxHashMap<(PiecewiseCoordinate, SmallVec<[i64; 2]>), u32>,
    terms: FxHashMap<(i64, i64, Arc<AffinePieces>), u32>,
}

/// What it is emitted with: the program, its parameters, and the slot of an access.
pub(super) struct EmittedWith<'b, S: FnMut(&mut Builder, &Access) -> u32> {
    pub builder: &'b mut Builder,
    pub params: &'b mut KernelParams,
    pub slot: S,
}

impl NumberEmitter {
    /// The value of a leaf.
    pub fn leaf<S: FnMut(&mut Builder, &Access) -> u32>(
        &mut self,
        leaf: &InPieces,
        with: &mut EmittedWith<'_, S>,
    ) -> u32 {
        match leaf {
            InPieces::Number(number) => self.number(number, with),
            InPieces::Piece { of, ends } => self.piece(of, ends, with),
        }
    }

    fn number<S: FnMut(&mut Builder, &Access) -> u32>(
        &mut self,
        number: &PiecewiseCoordinate,
        with: &mut EmittedWith<'_, S>,
    ) -> u32 {
        if let Some(known) = self.numbers.get(number) {
            return *known;
        }
        let is_constant = number.affine.strides.iter().all(|step| *step == 0);
        let mut rest = number.affine.offset;
        let mut sum = (!is_constant).then(|| {
            rest = 0;
            let slot = (with.slot)(with.builder, &number.affine);
            with.builder.index(slot)
        });
        for (factor, pieces) in &number.terms {
            // A constant that is added to all pieces is added to their lines.
            let extra = if pieces.are_flat() { std::mem::take(&mut rest) } else { 0 };
            let term = self.term(*factor, extra, pieces, with);
            sum = Some(match sum {
                Some(sum) => with.builder.op(Op::Add, &[sum, term]),
                None => term,
            });
        }
        let value = match sum {
            Some(sum) if rest == 0 => sum,
            Some(sum) => {
                let rest = with.params.number(with.builder, rest);
                with.builder.op(Op::Add, &[sum, rest])
            }
            None => with.params.number(with.builder, rest),
        };
        self.numbers.insert(number.clone(), value);
        value
    }

    /// A multiple of a number that is another line in each piece, plus a constant.
    fn term<S: FnMut(&mut Builder, &Access) -> u32>(
        &mut self,
        factor: i64,
        extra: i64,
        pieces: &Arc<AffinePieces>,
        with: &mut EmittedWith<'_, S>,
    ) -> u32 {
        let key = (factor, extra, pieces.clone());
        if let Some(known) = self.terms.get(&key) {
            return *known;
        }
        let piece = self.piece(&pieces.of, &pieces.ends, with);
        let mut lines: SmallVec<[u32; 4]> = SmallVec::new();
        for line in &pieces.lines {
            let start = line.start * factor + extra;
            lines.push(match line.step * factor {
                0 => with.params.number(with.builder, start),
                step => {
                    let own = pieces.of.times(step, start);
                    self.number(&own, with)
                }
            });
        }
        let term = with.builder.choose(piece, &lines);
        self.terms.insert(key, term);
        term
    }

    /// The piece that a number lies in.
    fn piece<S: FnMut(&mut Builder, &Access) -> u32>(
        &mut self,
        of: &PiecewiseCoordinate,
        ends: &SmallVec<[i64; 2]>,
        with: &mut EmittedWith<'_, S>,
    ) -> u32 {
        let key = (of.clone(), ends.clone());
        if let Some(known) = self.pieces.get(&key) {
            return *known;
        }
        let number = self.number(of, with);
        let ends: SmallVec<[u32; 4]> =
            ends.iter().map(|end| with.params.number(with.builder, *end)).collect();
        let piece = with.builder.piece(number, &ends);
        self.pieces.insert(key, piece);
        piece
    }
}
