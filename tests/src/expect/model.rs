//! A model of arrays: elements in a vector, computed at once, one by one.
//!
//! Owns [`Model`]. Views share their base, as NumPy's do; everything else is copied. Invariant: no
//! code of the core is used.
//!
//! Not here: the comparison with real arrays (`cases/arrays.rs`).

use crate::expect::arithmetic;
use crate::expect::oracle::points;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};
use std::cell::RefCell;
use std::rc::Rc;

/// A view of a base.
#[derive(Clone)]
pub struct Model {
    pub dtype: DType,
    pub shape: Vec<usize>,
    base: Rc<RefCell<Vec<Scalar>>>,
    offset: isize,
    strides: Vec<isize>,
}

impl Model {
    /// A new base with these elements in C order.
    pub fn new(dtype: DType, shape: &[usize], elements: Vec<Scalar>) -> Model {
        let mut strides = vec![1; shape.len()];
        for k in (1..shape.len()).rev() {
            strides[k - 1] = strides[k] * shape[k] as isize;
        }
        let base = Rc::new(RefCell::new(elements));
        Model { dtype, shape: shape.to_vec(), base, offset: 0, strides }
    }

    fn place(&self, point: &[usize]) -> usize {
        let steps = self.strides.iter().zip(point).map(|(stride, i)| stride * *i as isize);
        (self.offset + steps.sum::<isize>()) as usize
    }

    pub fn get(&self, point: &[usize]) -> Scalar {
        self.base.borrow()[self.place(point)]
    }

    /// The elements in C order.
    pub fn elements(&self) -> Vec<Scalar> {
        points(&self.shape).map(|point| self.get(&point)).collect()
    }

    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// True when no two points are the same element.
    pub fn is_writable(&self) -> bool {
        self.shape.iter().zip(&self.strides).all(|(n, stride)| *n <= 1 || *stride != 0)
    }

    pub fn slice_axis(&self, axis: usize, start: usize, len: usize, step: isize) -> Model {
        let mut view = self.clone();
        view.offset += start as isize * view.strides[axis];
        view.strides[axis] *= step;
        view.shape[axis] = len;
        view
    }

    pub fn index_axis(&self, axis: usize, index: usize) -> Model {
        let mut view = self.slice_axis(axis, index, 1, 1);
        view.shape.remove(axis);
        view.strides.remove(axis);
        view
    }

    pub fn insert_axis(&self, axis: usize) -> Model {
        let mut view = self.clone();
        view.shape.insert(axis, 1);
        view.strides.insert(axis, 0);
        view
    }

    pub fn transpose(&self, order: &[usize]) -> Model {
        let mut view = self.clone();
        view.shape = order.iter().map(|axis| self.shape[*axis]).collect();
        view.strides = order.iter().map(|axis| self.strides[*axis]).collect();
        view
    }

    /// The view repeated to a shape, or `None` where it does not broadcast.
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Model> {
        let new = shape.len().checked_sub(self.shape.len())?;
        let mut view = self.clone();
        view.shape = shape.to_vec();
        view.strides = vec![0; new];
        for (axis, extent) in self.shape.iter().enumerate() {
            match (*extent, shape[new + axis]) {
                (have, want) if have == want => view.strides.push(self.strides[axis]),
                (1, _) => view.strides.push(0),
                _ => return None,
            }
        }
        Some(view)
    }

    /// Another view of the base: of this shape, with the strides that it has there.
    pub fn reshape(&self, shape: &[usize], strides: &[isize]) -> Model {
        Model { shape: shape.to_vec(), strides: strides.to_vec(), ..self.clone() }
    }

    /// A base of its own with the same elements.
    pub fn join(axis: usize, parts: &[&Model]) -> Model {
        let mut shape = parts[0].shape.clone();
        shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
        let element = |mut point: Vec<usize>| {
            let mut part = 0;
            while point[axis] >= parts[part].shape[axis] {
                point[axis] -= parts[part].shape[axis];
                part += 1;
            }
            parts[part].get(&point)
        };
        let elements = points(&shape).map(element).collect();
        Model::new(parts[0].dtype, &shape, elements)
    }

    /// Writes an element wherever indices, inside an axis, name a place along it.
    pub fn put(&self, axis: usize, index: &Model, element: Scalar) {
        for number in index.elements() {
            let at = self.slice_axis(axis, number.as_i32() as usize, 1, 1);
            at.assign(&Model::new(self.dtype, &at.shape, vec![element; at.size()]));
        }
    }

    /// The elements along an axis that indices, inside the axis, name.
    pub fn pick(&self, axis: usize, index: &Model) -> Model {
        let mut shape = self.shape.clone();
        shape.splice(axis..axis + 1, index.shape.iter().copied());
        let element = |mut point: Vec<usize>| {
            let behind = point.split_off(axis + index.shape.len());
            let number = index.get(&point.split_off(axis)).as_i32();
            point.push(number as usize);
            point.extend(behind);
            self.get(&point)
        };
        let elements = points(&shape).map(element).collect();
        Model::new(self.dtype, &shape, elements)
    }

    pub fn copy(&self) -> Model {
        Model::new(self.dtype, &self.shape, self.elements())
    }

    /// Writes into the view; the source is read first.
    pub fn assign(&self, source: &Model) {
        let elements = source.elements();
        for (point, element) in points(&self.shape).zip(elements) {
            let place = self.place(&point);
            self.base.borrow_mut()[place] = element;
        }
    }

    /// The reduction over one axis by the canonical tree, or `None` where an operation is not
    /// defined.
    pub fn reduce(&self, op: Op, axis: usize) -> Option<Model> {
        let mut out = self.shape.clone();
        let n = out.remove(axis);
        let combine = |a: Option<Scalar>, b: Option<Scalar>| match (a, b) {
            (Some(a), Some(b)) => arithmetic::apply(op, self.dtype, &[a, b]),
            (some, None) | (None, some) => some,
        };
        let chunk = |chunk: &[Scalar]| {
            let mut lanes = [None; 16];
            for (k, element) in chunk.iter().enumerate() {
                lanes[k % 16] = combine(lanes[k % 16], Some(*element));
            }
            for half in [8, 4, 2, 1] {
                for lane in 0..half {
                    lanes[lane] = combine(lanes[lane], lanes[lane + half]);
                }
            }
            lanes[0]
        };
        let reduced = points(&out).map(|mut point| {
            point.insert(axis, 0);
            let mut row: Vec<_> = (0..n)
                .map(|k| {
                    point[axis] = k;
                    self.get(&point)
                })
                .collect();
            loop {
                row = row.chunks(256).map(chunk).collect::<Option<_>>()?;
                if row.len() == 1 {
                    return Some(row[0]);
                }
            }
        });
        let elements = reduced.collect::<Option<_>>()?;
        Some(Model::new(self.dtype, &out, elements))
    }
}

/// An operation on operands that broadcast, or `None` where they do not, or where an element is not
/// defined.
pub fn apply(op: Op, to: DType, args: &[Model]) -> Option<Model> {
    let rank = args.iter().map(|arg| arg.shape.len()).max()?;
    let mut shape = vec![1; rank];
    for arg in args {
        for (extent, have) in shape.iter_mut().rev().zip(arg.shape.iter().rev()) {
            if *have != 1 {
                *extent = *have;
            }
        }
    }
    let args = args.iter().map(|arg| arg.broadcast_to(&shape)).collect::<Option<Vec<_>>>()?;
    let elements = points(&shape).map(|point| {
        let operands: Vec<_> = args.iter().map(|arg| arg.get(&point)).collect();
        arithmetic::apply(op, to, &operands)
    });
    let elements = elements.collect::<Option<Vec<_>>>()?;
    let dtypes: Vec<_> = args.iter().map(|arg| arg.dtype).collect();
    Some(Model::new(op.result_dtype(&dtypes, to)?, &shape, elements))
}
