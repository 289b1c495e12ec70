//! Index arrays and masks, read and written without NumPy.
//!
//! Owns [`pick`], which turns a key with index arrays into a lazy array, [`put`], which writes by one, and
//! the functions that take by index arrays. Invariants: what an index names is a copy; an index outside its
//! axis is reported at the line that makes it, in NumPy's words. A mask is evaluated, as its count is the
//! result's extent.
//!
//! Not here: keys of integers, slices, `...` and `newaxis` alone (`index.rs`), what is
//! written (`assign.rs`), NumPy's signatures (`python/gpupy/_indexing.py`).

use crate::array::{Elements, NdArray, elements};
use crate::assign::{self, Source};
use crate::dtypes::numpy;
use crate::errors::to_py;
use crate::host;
use crate::index::{self, Item};
use crate::masks;
use crate::protocols::wrap_array;
use crate::session::{ready, supports};
use crate::standin::hollow;
use crate::waiting::wait;
use gpupy_core::{DType, ErrorKind, Op, memory};
use gpupy_engine::{Array, Outside};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// A part of a key.
pub enum Part<'py> {
    /// An integer, a slice, `...` or `newaxis`.
    Basic(Item<'py>),
    /// An index array.
    Index(Array),
    /// A mask over as many axes as it has extents, and the positions of its true elements, one after another.
    Mask(SmallVec<[usize; 4]>, Array),
}

/// What a key with index arrays names: of each axis of a view an index array, or all of it; and
/// where the picked axes stand among the others.
pub struct Picked {
    pub view: Array,
    pub indices: SmallVec<[Option<Array>; 4]>,
    pub at: usize,
}

/// The elements that a key with index arrays names; `None` leaves it to NumPy.
pub fn pick<'py>(array: &Array, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = key.py();
    let context = ready(py)?;
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let Some(parts) = parts(key)? else { return Ok(None) };
    let refused = || refusal(array, key, |standin, key| standin.get_item(key));
    let Some(picked) = place(py, array, &parts)? else { return refused().map(|()| None) };
    let laid = Laid::of(&picked);
    let indices: SmallVec<[Option<&Array>; 4]> =
        laid.axes.iter().map(|axis| picked.indices[*axis].as_ref()).collect();
    let view = picked.view.transpose(&laid.axes);
    let found = wait(py, || context.pick(&view, &indices, 0, Outside::Refuse));
    match found {
        Ok(found) => {
            let found = laid.back(&found, picked.at);
            if found.size() == 0 {
                // What NumPy says of indices outside, where they name nothing.
                refused()?;
            }
            Ok(Some(Bound::new(py, NdArray::lazy(found))?.into_any()))
        }
        Err(error) if matches!(error.kind(), ErrorKind::Index | ErrorKind::Shape) => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(to_py(error)),
    }
}

/// How NumPy's results of index arrays lie in memory: the picked axes outermost, then the others from the
/// longest stride to the shortest.
struct Laid {
    /// The axes of the view in that order.
    axes: SmallVec<[usize; 4]>,
    /// How many of them are indexed.
    indexed: usize,
}

impl Laid {
    fn of(picked: &Picked) -> Laid {
        let (view, indices) = (&picked.view, &picked.indices);
        let mut axes: SmallVec<[usize; 4]> = (0..indices.len()).collect();
        axes.sort_by_key(|axis| match indices[*axis] {
            Some(_) => (false, Reverse(0)),
            None => (true, Reverse(view.strides()[*axis].unsigned_abs())),
        });
        Laid { axes, indexed: indices.iter().flatten().count() }
    }

    /// What was picked in this order, with its axes where the key puts them: the picked ones before the kept
    /// axis `at`.
    fn back(&self, found: &Array, at: usize) -> Array {
        let kept = &self.axes[self.indexed..];
        let picked = found.ndim() - kept.len();
        let place = |axis: &usize| kept.iter().filter(|other| *other < axis).count();
        let mut order: SmallVec<[usize; 6]> = SmallVec::from_elem(0, kept.len());
        for (number, axis) in kept.iter().enumerate() {
            order[place(axis)] = picked + number;
        }
        order.insert_many(at, 0..picked);
        if order.is_sorted() { found.clone() } else { found.transpose(&order) }
    }
}

/// The error that NumPy has for a call with a key on an array of this shape, if it has one.
fn refusal<'py>(
    array: &Array,
    key: &Bound<'py, PyAny>,
    call: impl FnOnce(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let py = key.py();
    let standin = hollow(py, array.shape(), array.dtype())?;
    let key = py.import("gpupy._fallback")?.call_method1("to_host", (key,))?;
    call(standin, key).map(drop)
}

/// `array[key] = value` where the key has index arrays; false leaves it to NumPy.
#[pyfunction]
pub fn put(
    array: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = key.py();
    let Elements::Lazy(array) = elements(array) else { return Ok(false) };
    let Some(parts) = parts(key)? else { return Ok(false) };
    let refused = || {
        let value = py.import("gpupy._fallback")?.call_method1("to_host", (value,))?;
        refusal(&array, key, |standin, key| standin.set_item(key, value).map(|()| standin))
    };
    let Some(picked) = place(py, &array, &parts)? else { return refused().map(|()| false) };
    let nothing = |index: &Array| index.size() == 0;
    if picked.view.size() == 0 || picked.indices.iter().flatten().any(nothing) {
        // Where nothing is written, NumPy still looks at the indices and at some values.
        return refused().map(|()| true);
    }
    let indices: SmallVec<[Option<&Array>; 4]> =
        picked.indices.iter().map(Option::as_ref).collect();
    let Ok(source) = assign::source(py, array.dtype(), usize::MAX, value) else {
        return refused().map(|()| false);
    };
    // A mask over all axes takes its elements one after another.
    if let [Part::Mask(shape, _)] = parts.as_slice()
        && shape.len() == array.ndim()
        && matches!(&source, Source::Array(source) if source.ndim() > 1)
    {
        refused()?;
    }
    let context = ready(py)?;
    if let ([Part::Mask(shape, positions)], Source::Array(source)) = (parts.as_slice(), &source)
        && shape.as_slice() == array.shape()
        && supports(context, Op::Select, array.dtype())
        && let Ok(mask) = key.cast::<NdArray>()
        && let Elements::Lazy(mask) = elements(mask)
        && wait(py, || context.put_where(&array, &mask, positions, source)).map_err(to_py)?
    {
        assign::warn_of(value, array.dtype())?;
        return Ok(true);
    }
    let written =
        wait(py, || context.put(&picked.view, &indices, picked.at, Outside::Refuse, source.arg()));
    match written {
        Ok(()) => assign::warn_of(value, array.dtype()).map(|()| true),
        Err(error) if matches!(error.kind(), ErrorKind::Index | ErrorKind::Shape) => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
        Err(error) => Err(to_py(error)),
    }
}

/// The parts of a key that has an index array among them; `None` for other keys.
pub fn parts<'py>(key: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Part<'py>>>> {
    let mut parts = Vec::new();
    let mut add = |key: Bound<'py, PyAny>| -> PyResult<bool> {
        let part = match index::item(key.clone())? {
            Some(item) => Some(Part::Basic(item)),
            None => index_part(&key)?,
        };
        let known = part.is_some();
        parts.extend(part);
        Ok(known)
    };
    let known = match key.cast_exact::<PyTuple>() {
        Ok(keys) => {
            let mut known = true;
            for key in keys.iter() {
                known = known && add(key)?;
            }
            known
        }
        Err(_) => add(key.clone())?,
    };
    let fancy = parts.iter().any(|part| !matches!(part, Part::Basic(_)));
    Ok((known && fancy).then_some(parts))
}

/// An index array or a mask; `None` for what is neither.
fn index_part<'py>(key: &Bound<'py, PyAny>) -> PyResult<Option<Part<'py>>> {
    let py = key.py();
    let numpy = numpy(py)?;
    if let Ok(array) = key.cast::<NdArray>()
        && let Elements::Lazy(array) = elements(array)
        && array.dtype().is_int()
    {
        let index = (array.ndim() > 0).then(|| array.snapshot().map(Part::Index));
        return index.transpose().map_err(to_py);
    }
    if let Ok(key) = key.cast::<NdArray>()
        && let Elements::Lazy(mask) = elements(key)
        && mask.dtype() == DType::Bool
        && mask.ndim() > 0
        && i32::try_from(mask.size()).is_ok()
    {
        let positions = match masks::known(key) {
            Some(known) => known,
            None => {
                let context = ready(py)?;
                let found = wait(py, || context.where_true(&mask)).map_err(to_py)?;
                masks::note(key, &found);
                found
            }
        };
        return Ok(Some(Part::Mask(mask.shape().into(), positions)));
    }
    let given = match key.cast::<NdArray>() {
        Ok(array) => crate::array::host_of(array)?,
        Err(_) if key.cast_exact::<PyList>().is_ok() => numpy.asarray.bind(py).call1((key,))?,
        Err(_) => key.clone(),
    };
    if !given.is_instance(numpy.ndarray.bind(py))?
        || given.getattr("ndim")?.extract::<usize>()? == 0
    {
        return Ok(None);
    }
    let kind: char = given.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty_list = || -> PyResult<bool> {
        Ok(key.cast_exact::<PyList>().is_ok() && given.getattr("size")?.extract::<usize>()? == 0)
    };
    match kind {
        'i' | 'u' => Ok(host::indices(&given)?.map(Part::Index)),
        'b' => {
            let shape: SmallVec<[usize; 4]> =
                given.getattr("shape")?.extract::<Vec<usize>>()?.into();
            let size =
                shape.iter().try_fold(1i32, |size, n| size.checked_mul((*n).try_into().ok()?));
            match size {
                Some(_) => {
                    let positions = host::true_positions(&given)?;
                    Ok(Some(Part::Mask(shape, positions)))
                }
                None => Ok(None),
            }
        }
        // NumPy takes a list of nothing for integers.
        _ if is_empty_list()? => {
            Ok(host::indices(&given.call_method1("astype", ("intp",))?)?.map(Part::Index))
        }
        _ => Ok(None),
    }
}

/// The view and the index arrays of a key's parts; `None` when they do not fit the array.
pub fn place(py: Python<'_>, array: &Array, parts: &[Part<'_>]) -> PyResult<Option<Picked>> {
    let axes = |part: &Part<'_>| match part {
        Part::Basic(Item::At(_) | Item::Range(_)) | Part::Index(_) => 1,
        Part::Basic(Item::Ellipsis | Item::NewAxis) => 0,
        Part::Mask(shape, _) => shape.len(),
    };
    let used: usize = parts.iter().map(axes).sum();
    let ellipses = parts.iter().filter(|part| matches!(part, Part::Basic(Item::Ellipsis))).count();
    if used > array.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let mut made =
        View { array, axis: 0, offset: array.offset(), picked: SmallVec::new(), run: Run::Before };
    for part in parts {
        match part {
            Part::Index(index) => {
                made.advanced();
                made.keep(Some(index.clone()));
            }
            Part::Mask(shape, positions) => {
                made.advanced();
                if !made.mask(py, shape, positions)? {
                    return Ok(None);
                }
            }
            Part::Basic(Item::At(at)) => {
                made.advanced();
                let n = array.shape()[made.axis] as isize;
                let at = if *at < 0 { at.wrapping_add(n) } else { *at };
                if at < 0 || at >= n {
                    return Ok(None);
                }
                made.offset += at * array.strides()[made.axis];
                made.axis += 1;
            }
            Part::Basic(Item::Range(slice)) => {
                made.basic();
                let (n, stride) = (array.shape()[made.axis] as isize, array.strides()[made.axis]);
                let range = slice.indices(n)?;
                if range.slicelength > 0 {
                    made.offset += range.start * stride;
                }
                made.picked.push((range.slicelength, stride * range.step, None));
                made.axis += 1;
            }
            Part::Basic(Item::NewAxis) => {
                made.basic();
                made.picked.push((1, 0, None));
            }
            Part::Basic(Item::Ellipsis) => {
                made.basic();
                (0..array.ndim() - used).for_each(|_| made.keep(None));
            }
        }
    }
    while made.axis < array.ndim() {
        made.keep(None);
    }
    made.finish().map(Some)
}

/// Where the index arrays of a key stand: in one run, or in several with others between them.
enum Run {
    Before,
    /// In the first run, before this kept axis.
    Within(usize),
    Behind(usize),
    Several,
}

/// The view that a key names so far: its axes, and which of them are indexed.
struct View<'a> {
    array: &'a Array,
    axis: usize,
    offset: isize,
    picked: SmallVec<[(usize, isize, Option<Array>); 4]>,
    run: Run,
}

impl View<'_> {
    /// Takes the next axis of the array whole.
    fn keep(&mut self, index: Option<Array>) {
        let (n, stride) = (self.array.shape()[self.axis], self.array.strides()[self.axis]);
        self.picked.push((n, stride, index));
        self.axis += 1;
    }

    /// Takes the next axes where a mask is true: as one axis, where they are one line. False when
    /// the mask has other extents.
    fn mask(&mut self, py: Python<'_>, mask: &[usize], positions: &Array) -> PyResult<bool> {
        let axes = self.axis..self.axis + mask.len();
        let (shape, strides) = (&self.array.shape()[axes.clone()], &self.array.strides()[axes]);
        // NumPy does not look at extents of 0.
        if mask.iter().zip(shape).any(|(n, extent)| *n > 0 && n != extent) {
            return Ok(false);
        }
        let line = |k: usize| strides[k - 1] == strides[k] * shape[k] as isize;
        if mask == shape && (1..mask.len()).all(line) {
            let stride = strides.last().copied().unwrap_or(1);
            self.picked.push((mask.iter().product(), stride, Some(positions.clone())));
        } else {
            let positions = host::numbers(py, positions)?;
            let mut step = 1;
            let mut taken: SmallVec<[_; 4]> = SmallVec::new();
            for (k, n) in mask.iter().enumerate().rev() {
                let n = *n as i32;
                let along = positions.iter().map(|p| p / step % n.max(1));
                let along = memory::collected(positions.len(), along).map_err(to_py)?;
                taken.push((
                    shape[k],
                    strides[k],
                    Some(host::index_array(&[along.len()], &along)?),
                ));
                step *= n.max(1);
            }
            self.picked.extend(taken.into_iter().rev());
        }
        self.axis += mask.len();
        Ok(true)
    }

    /// Notes an index array, or an integer, which counts as one beside them.
    fn advanced(&mut self) {
        let kept = self.picked.iter().filter(|(_, _, index)| index.is_none()).count();
        self.run = match self.run {
            Run::Before => Run::Within(kept),
            Run::Within(at) => Run::Within(at),
            Run::Behind(_) | Run::Several => Run::Several,
        };
    }

    fn basic(&mut self) {
        if let Run::Within(at) = self.run {
            self.run = Run::Behind(at);
        }
    }

    fn finish(self) -> PyResult<Picked> {
        let shape: SmallVec<[usize; 4]> = self.picked.iter().map(|axis| axis.0).collect();
        let strides: SmallVec<[isize; 4]> = self.picked.iter().map(|axis| axis.1).collect();
        let view = self.array.view(&shape, &strides, self.offset).map_err(to_py)?;
        let indices = self.picked.into_iter().map(|axis| axis.2).collect();
        // Runs that are apart have no one place, so their axes come first.
        let at = match self.run {
            Run::Within(at) | Run::Behind(at) => at,
            Run::Before | Run::Several => 0,
        };
        Ok(Picked { view, indices, at })
    }
}

/// `take(array, indices, axis, mode=mode)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn take<'py>(
    array: &Bound<'py, NdArray>,
    indices: &Bound<'py, PyAny>,
    axis: isize,
    mode: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Elements::Lazy(array) = elements(array) else { return Ok(None) };
    let outside = match mode {
        "raise" => Outside::Refuse,
        "wrap" => Outside::Wrap,
        "clip" => Outside::Clip,
        _ => return Ok(None),
    };
    let context = ready(py)?;
    let Some(axis) = normal(axis, array.ndim()) else { return Ok(None) };
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let index = match numbers(indices)? {
        Some(index) => index,
        None => return Ok(None),
    };
    let all: SmallVec<[Option<&Array>; 4]> =
        (0..array.ndim()).map(|k| (k == axis).then_some(&index)).collect();
    let found = wait(py, || context.pick(&array, &all, axis, outside));
    let refused = || {
        refusal(&array, indices, |standin, indices| {
            let kwargs = PyDict::new(py);
            kwargs.set_item("axis", axis)?;
            kwargs.set_item("mode", mode)?;
            standin.call_method("take", (indices,), Some(&kwargs))
        })
    };
    match found {
        Ok(found) => {
            if found.size() == 0 {
                refused()?;
            }
            wrap_array(py, found).map(Some)
        }
        Err(error) if error.kind() == ErrorKind::Index => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(to_py(error)),
    }
}

/// `take_along_axis(array, indices, axis)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn take_along<'py>(
    array: &Bound<'py, NdArray>,
    indices: &Bound<'py, PyAny>,
    axis: isize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Elements::Lazy(array) = elements(array) else { return Ok(None) };
    let context = ready(py)?;
    let Some(axis) = normal(axis, array.ndim()) else { return Ok(None) };
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let Some(index) = numbers(indices)?.filter(|index| index.ndim() == array.ndim()) else {
        return Ok(None);
    };
    let found = wait(py, || {
        let mut all: SmallVec<[Array; 4]> = SmallVec::new();
        for k in 0..array.ndim() {
            if k == axis {
                all.push(index.clone());
                continue;
            }
            let line = context.index(&[array.shape()[k]], 0)?;
            all.push((k + 1..array.ndim()).fold(line, |line, _| line.insert_axis(line.ndim())));
        }
        let all: SmallVec<[Option<&Array>; 4]> = all.iter().map(Some).collect();
        context.pick(&array, &all, 0, Outside::Refuse)
    });
    match found {
        Ok(found) if found.size() > 0 => wrap_array(py, found).map(Some),
        Err(error) if error.kind() != ErrorKind::Index && error.kind() != ErrorKind::Shape => {
            Err(to_py(error))
        }
        // NumPy has the words for what does not fit.
        _ => Ok(None),
    }
}

/// The number of an axis; `None` when there is none.
fn normal(axis: isize, ndim: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + ndim as isize } else { axis };
    usize::try_from(axis).ok().filter(|axis| *axis < ndim)
}

/// Integers as an index array, which may have no axes; `None` for what are none.
fn numbers(given: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(array) = given.cast::<NdArray>()
        && let Elements::Lazy(array) = elements(array)
    {
        return match array.dtype().is_int() {
            true => array.snapshot().map(Some).map_err(to_py),
            false => Ok(None),
        };
    }
    let py = given.py();
    let host = py.import("gpupy._fallback")?.call_method1("to_host", (given,))?;
    let array = numpy(py)?.asarray.bind(py).call1((host,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    match kind {
        'i' | 'u' => host::indices(&array),
        _ => Ok(None),
    }
}
