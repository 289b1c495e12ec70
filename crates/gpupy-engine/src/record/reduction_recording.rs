//! Recording reductions: the steps of the canonical tree, over any axes.
//!
//! The reduced axes are one axis in the tree, merged in C order behind the kept ones. If it has few points, they are
//! operands of scalar operations, which fuse with their operands and with readers of the result. Otherwise a view
//! usually says which elements are combined. Where no view does, as for the blocks of an image, the tree begins on rows
//! of the innermost reduced axis, which are views: rows of a chunk or more are reduced by themselves; rows of few
//! elements are the tree's lanes, and are combined element by element. Rows of any other length are combined point by
//! point, where the points of neighbouring results lie side by side, as those of windows do. Invariant: whichever way
//! is taken, each element goes through the tree as `docs/ir.md` says.
//!
//! Not here: library operations (`library_recording.rs`), how steps are evaluated (`evaluate.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::Contents;
use crate::graph::deferred::WholeAxisOp;
use crate::graph::pending_map::PendingMap;
use crate::graph::tree_lanes::{FEW, folded};
use crate::graph::value::{Input, NodeOp, Operand, ValueKind};
use crate::memory::view::View;
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::op_eval::whole;
use gpupy_core::shape::{Shape, contiguous_strides};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;

/// Axes by their numbers, rising.
type ReducedAxes = SmallVec<[usize; 4]>;

impl Recorder {
    /// The reduction over `axes` (distinct, inside the rank) by the canonical tree.
    ///
    /// # Errors
    /// - `Shape`: there is nothing to reduce along the axes, and something to give.
    /// - `DType`: the operation does not reduce this dtype.
    pub fn reduce(&self, op: Op, array: &Array, axes: &[usize], keepdims: bool) -> Result<Array> {
        if !op.reduces(array.dtype()) {
            return Err(Error::new(ErrorKind::DType, "reduce")
                .says("the operation does not reduce this dtype")
                .with("operation", op.info().name)
                .with("dtype", array.dtype()));
        }
        let kept: ReducedAxes = (0..array.ndim()).filter(|a| !axes.contains(a)).collect();
        let gone: ReducedAxes = (0..array.ndim()).filter(|a| axes.contains(a)).collect();
        let out: Shape = kept.iter().map(|a| array.shape()[*a]).collect();
        let n: usize = gone.iter().map(|a| array.shape()[*a]).product();
        if n == 0 && !out.contains(&0) {
            return Err(Error::new(ErrorKind::Shape, "reduce")
                .says("nothing to reduce")
                .with("operation", op.info().name));
        }
        if let Some(part) = self.shown_apart(array)? {
            return self.reduce(op, &part, axes, keepdims);
        }
        let over = || WholeAxisOp::Reduce { op, axes: axes.into(), keepdims };
        let given = || if keepdims { kept_dims(array.shape(), axes) } else { out.clone() };
        if let Some(deferred) = self.deferred(over, (array.dtype(), given), &[array]) {
            return deferred;
        }
        // However many equal elements there are, they are combined in few steps.
        if n > 0
            && let Some(scalar) = array.constant()
            && let Some(reduced) = of_equals(op, scalar, n)
        {
            let shape = if keepdims { kept_dims(array.shape(), axes) } else { out };
            return Array::full(&shape, reduced);
        }
        if let Some(longest) = reduced_apart(array, &gone) {
            let first = self.reduce(op, array, &[longest], true)?;
            let rest: ReducedAxes = gone.iter().copied().filter(|axis| *axis != longest).collect();
            let reduced = self.reduce(op, &first, &rest, true)?;
            let shape = if keepdims { kept_dims(array.shape(), axes) } else { out };
            return Ok(reduced.reshape(&shape).unwrap_or(reduced));
        }
        // Kept axes first, reduced axes merged into one last axis.
        let behind = |gone: &ReducedAxes| -> Array {
            let order: ReducedAxes = kept.iter().chain(gone).copied().collect();
            array.transpose(&order)
        };
        let moved = behind(&gone);
        let shape = if keepdims { kept_dims(array.shape(), axes) } else { out.clone() };
        if n <= FEW && array.size() > 0 {
            let reduced = self.reduce_few(op, &moved, &out, n)?;
            return Ok(reduced.reshape(&shape).unwrap_or(reduced));
        }
        let mut flat: Shape = out.clone();
        flat.push(n.max(1));
        let merged = moved.reshape(&flat).or_else(|| {
            // Exact results may be combined as the elements lie.
            let mut as_they_lie = gone.clone();
            as_they_lie.sort_by_key(|axis| Reverse(array.strides()[*axis].unsigned_abs()));
            behind(&as_they_lie).reshape(&flat).filter(|_| is_exact(array.dtype()))
        });
        let reduced = match merged {
            Some(view) if is_by_points(array, &gone, true) => {
                let step = NodeOp::Reduce { op, n };
                let (mut one, operands) = (out, [ArrayOrScalar::Array(&view)]);
                one.push(1);
                // Little work is one launch, whatever its points.
                match self.computed(array.dtype(), &one, &step, &operands) {
                    Some(reduced) => reduced,
                    None => self.by_points(op, array, &gone)?,
                }
            }
            Some(view) => self.steps(op, view)?,
            None if n == 0 => self.steps(op, Array::full(&flat, Scalar::zero(array.dtype()))?)?,
            None => match self.by_rows(op, array, &moved, &gone)? {
                Some(reduced) => reduced,
                None => {
                    let copied = self.copy(&moved)?;
                    self.steps(op, copied.reshape(&flat).unwrap_or(copied))?
                }
            },
        };
        Ok(reduced.reshape(&shape).unwrap_or(reduced))
    }

    /// The reduction of `n` points, which are few: those of the axes behind the ones of the results, in C order, are
    /// lanes of the tree.
    fn reduce_few(&self, op: Op, moved: &Array, out: &[usize], n: usize) -> Result<Array> {
        let (mut shape, kept) = (Shape::from(out), out.len());
        shape.push(1);
        let step = NodeOp::Reduce { op, n };
        if let Some(reduced) =
            self.computed(moved.dtype(), &shape, &step, &[ArrayOrScalar::Array(moved)])
        {
            return Ok(reduced);
        }
        let mut lanes = vec![moved.clone()];
        for extent in &moved.shape()[kept..] {
            let parts =
                |lane: &Array| (0..*extent).map(|i| lane.index_axis(kept, i)).collect::<Vec<_>>();
            lanes = lanes.iter().flat_map(parts).collect();
        }
        if let [lane] = &lanes[..] {
            return self.copy(lane);
        }
        let apply = |lane, with| {
            self.apply(op, &[ArrayOrScalar::Array(&lane), ArrayOrScalar::Array(&with)])
        };
        Ok(folded(lanes, apply)?.unwrap_or_else(|| moved.clone()))
    }

    /// Steps along the last axis until one point is left there.
    fn steps(&self, op: Op, mut rows: Array) -> Result<Array> {
        loop {
            rows = self.step(op, &rows)?;
            if rows.shape().last().is_none_or(|points| *points <= 1) {
                return Ok(rows);
            }
        }
    }

    /// One step along the last axis.
    fn step(&self, op: Op, rows: &Array) -> Result<Array> {
        let mut shape = Shape::from(rows.shape());
        let n = shape.pop().unwrap_or(1);
        shape.push(n.div_ceil(REDUCE_CHUNK));
        let step = NodeOp::Reduce { op, n };
        self.array(rows.dtype(), &shape, step, &[ArrayOrScalar::Array(rows)])
    }

    /// A reduction over axes that no view merges, begun on rows of the innermost of them; `moved` is the array
    /// with these axes, `gone`, behind the others. `None` where rows are no lanes of the tree.
    fn by_rows(
        &self,
        op: Op,
        array: &Array,
        moved: &Array,
        gone: &[usize],
    ) -> Result<Option<Array>> {
        if array.size() == 0 {
            return Ok(None);
        }
        let extents = array.shape();
        let Some(inner) = gone.iter().rev().copied().find(|axis| extents[*axis] > 1) else {
            return Ok(None);
        };
        let width = extents[inner];
        let n: usize = gone.iter().map(|axis| extents[*axis]).product();
        if width.is_multiple_of(REDUCE_CHUNK) && gone.last() == Some(&inner) {
            let first = self.step(op, moved)?;
            let kept = moved.ndim() - gone.len();
            let flat: Shape =
                moved.shape()[..kept].iter().copied().chain([n / REDUCE_CHUNK]).collect();
            return match first.reshape(&flat) {
                Some(rows) if n > REDUCE_CHUNK => self.steps(op, rows).map(Some),
                rows => Ok(rows),
            };
        }
        let is_lanes = if width < REDUCE_LANES {
            REDUCE_LANES.is_multiple_of(width)
        } else {
            width.is_multiple_of(REDUCE_LANES)
        };
        let outer: ReducedAxes = gone.iter().copied().filter(|axis| *axis != inner).collect();
        if n <= REDUCE_CHUNK && array.constant().is_none() {
            let width = match is_lanes {
                _ if is_by_points(array, gone, false) => 1,
                true => width.min(REDUCE_LANES),
                false => return Ok(None),
            };
            return self.lanes_by_rows(op, array, &outer, (inner, width)).map(Some);
        }
        if !is_lanes {
            return Ok(None);
        }
        // Chunks of whole rows: first each of them, then their results.
        let last = outer.iter().rev().copied().find(|axis| extents[*axis] > 1);
        let Some(last) = last.filter(|_| REDUCE_CHUNK.is_multiple_of(width)) else {
            return Ok(None);
        };
        let rows = REDUCE_CHUNK / width;
        if !extents[last].is_multiple_of(rows) {
            return Ok(None);
        }
        let mut shape = Shape::from(extents);
        shape[last] /= rows;
        shape.insert(last + 1, rows);
        let Some(chunks) = array.reshape(&shape) else { return Ok(None) };
        let first = self.reduce(op, &chunks, &[last + 1, inner + 1], false)?;
        let rest: ReducedAxes =
            outer.iter().map(|axis| axis - usize::from(*axis > inner)).collect();
        self.reduce(op, &first, &rest, false).map(Some)
    }

    /// A reduction of one chunk, whose points are combined one by one.
    fn by_points(&self, op: Op, array: &Array, gone: &[usize]) -> Result<Array> {
        let Some((inner, outer)) = gone.split_last() else { return Ok(array.clone()) };
        self.lanes_by_rows(op, array, outer, (*inner, 1))
    }

    /// A reduction of one chunk: the rows of an axis, or pieces of them of a width that divides the tree's lanes, are
    /// combined as its lanes are, and then their results along that axis.
    fn lanes_by_rows(
        &self,
        op: Op,
        array: &Array,
        outer: &[usize],
        (inner, width): (usize, usize),
    ) -> Result<Array> {
        let mut pieces = vec![array.clone()];
        for (removed, axis) in outer.iter().enumerate() {
            let parts = |piece: &Array| -> Vec<Array> {
                let axis = axis - removed;
                (0..piece.shape()[axis]).map(|i| piece.index_axis(axis, i)).collect()
            };
            pieces = pieces.iter().flat_map(parts).collect();
        }
        let along = inner - outer.iter().filter(|axis| **axis < inner).count();
        let parts = |piece: &Array| -> Vec<Array> {
            let starts = (0..piece.shape()[along]).step_by(width);
            starts.map(|start| piece.slice_axis(along, start, width, 1)).collect()
        };
        pieces = pieces.iter().flat_map(parts).collect();
        // Neighbouring axes as one, where a view says it, so that rows are long.
        let shape = Shape::from(pieces[0].shape());
        let merged = pieces[0].reshape(&pieces[0].layout().merged());
        let layout = merged.as_ref().unwrap_or(&pieces[0]).layout().clone();
        // Pieces differ in where they begin.
        let value = array.value()?;
        let read = |piece: &Array| -> Operand {
            let view = View { offset: piece.layout().offset, ..layout.clone() };
            (Input::new(value.id(), &view), Some(value.clone()))
        };
        let side_by_side = REDUCE_LANES / width;
        let mut lanes: Vec<Operand> = pieces.iter().take(side_by_side).map(read).collect();
        let combine = |lane: Operand, with: Operand| -> Operand {
            let (shape, operands) = (layout.shape.clone(), smallvec![lane, with]);
            let both = self.value(array.dtype(), shape, NodeOp::Apply(op), operands);
            (Input::Whole(both.id()), Some(both))
        };
        for (number, piece) in pieces.iter().skip(side_by_side).enumerate() {
            let lane = &mut lanes[number % side_by_side];
            *lane = combine(lane.clone(), read(piece));
        }
        let row = match folded(lanes, |lane, with| Ok::<_, Error>(combine(lane, with)))? {
            Some((Input::Whole(_), Some(row))) if pieces.len() > 1 => Array::from_value(row),
            _ => pieces.swap_remove(0),
        };
        let row = row.reshape(&shape).unwrap_or(row);
        self.reduce(op, &row, &[along], false)
    }
}

/// The axis that is reduced before the others, the longest: of many integers that are computed from operands which
/// lie otherwise. As one axis they would be stored first, and the order in which integers are combined changes no
/// bit. `None` where all axes go together.
fn reduced_apart(array: &Array, gone: &[usize]) -> Option<usize> {
    let mut several = gone.iter().filter(|axis| array.shape()[**axis] > 1);
    if !is_exact(array.dtype())
        || array.size() <= T.most_points
        || several.nth(1).is_none()
        || !array.is_pending()
    {
        return None;
    }
    let lies_otherwise = match array.current().held() {
        Contents::Value(value) => {
            matches!(value.0.kind, ValueKind::Expr { op: NodeOp::Apply(_), .. }) && !value.0.linear
        }
        Contents::Own(_) | Contents::Nothing => false,
    };
    let longest = gone.iter().copied().max_by_key(|axis| array.shape()[*axis]);
    longest.filter(|_| lies_otherwise)
}

/// Whether the points of a reduction are combined each by itself: those of neighbouring results lie side by side, there
/// are many results, and few operations for each. `overlaps` asks for windows, whose own elements lie side by side,
/// too.
fn is_by_points(array: &Array, gone: &[usize], overlaps: bool) -> bool {
    let extents = array.shape();
    let n: usize = gone.iter().map(|axis| extents[*axis]).product();
    // Each point is a node to plan; a copy would store and load an element for each of its results, in a nanosecond.
    let results = array.size().checked_div(n).unwrap_or(0);
    let is_planned = results as f64 >= T.planned_node;
    if n > T.combined_points || !is_planned || array.constant().is_some() {
        return false;
    }
    let last = |is_gone: bool| {
        let is_it = |axis: &usize| gone.contains(axis) == is_gone && extents[*axis] > 1;
        (0..array.ndim()).rev().find(is_it)
    };
    let Some(kept) = last(false) else { return false };
    let axes: SmallVec<[usize; 2]> =
        [Some(kept), last(true).filter(|_| overlaps)].into_iter().flatten().collect();
    if axes.iter().all(|axis| array.strides()[*axis].unsigned_abs() <= 1) {
        return true;
    }
    // Of a map those lie so that it is made of.
    let value = match array.current().held() {
        Contents::Value(value) if value.len() == array.size() => value.clone(),
        _ => return false,
    };
    let strides = contiguous_strides(value.shape());
    let of_map = |axis: &usize| {
        let is_it = |own: &usize| {
            strides[*own] == array.strides()[*axis] && value.shape()[*own] == extents[*axis]
        };
        (0..strides.len()).find(is_it)
    };
    let Some(map) = PendingMap::of(&value, T.most_apart as usize / n) else { return false };
    axes.iter().all(|axis| of_map(axis).is_some_and(|own| map.reads_side_by_side(own)))
}

/// Whether reductions give the same bits in whatever order elements are combined.
fn is_exact(dtype: DType) -> bool {
    !dtype.is_float() && !dtype.is_complex()
}

/// The result of the canonical tree for `n` equal elements, at least one; `None` where the operation does not combine
/// them. All chunks of a step but the last are equal, so each step combines two.
fn of_equals(op: Op, scalar: Scalar, n: usize) -> Option<Scalar> {
    let (dtype, size) = (scalar.dtype, scalar.dtype.size());
    let chunk = |count: usize, element: Scalar, end: Option<Scalar>| -> Option<Scalar> {
        let mut bytes = [0; 8 * REDUCE_CHUNK];
        let elements = std::iter::repeat_n(element, count).chain(end);
        let mut len = 0;
        for (place, element) in bytes.chunks_exact_mut(size).zip(elements) {
            place.copy_from_slice(element.bytes().get(..size)?);
            len += size;
        }
        Scalar::read(dtype, &whole::reduced(op, dtype, &bytes[..len])?)
    };
    // So many equal elements, and one behind them.
    let (mut count, mut element, mut end) = (n, scalar, None);
    loop {
        let (full, rest) = (count / REDUCE_CHUNK, count % REDUCE_CHUNK);
        let behind = match (rest, end) {
            (0, None) => None,
            _ => Some(chunk(rest, element, end)?),
        };
        if full > 0 {
            element = chunk(REDUCE_CHUNK, element, None)?;
        }
        (count, end) = (full, behind);
        match (count, end) {
            (0, Some(one)) => return Some(one),
            (1, None) => return Some(element),
            _ => {}
        }
    }
}

/// A shape whose reduced axes stay, with one element.
fn kept_dims(shape: &[usize], axes: &[usize]) -> Shape {
    let extent = |(axis, extent): (usize, &usize)| if axes.contains(&axis) { 1 } else { *extent };
    shape.iter().enumerate().map(extent).collect()
}
