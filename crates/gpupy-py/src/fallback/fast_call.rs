//! The fast path of calls that NumPy serves: arguments are arrays of ours and plain values.
//!
//! Owns [`call`]. Invariant: it does the same as the slow path in `python/gpupy/_fallback/calls.py`, which has the
//! rare cases: other arguments, outputs, views, refusals.
//!
//! Not here: how memory is exported (`array_export.rs`), how calls are counted (`call_sites.rs`).

use crate::array::classes::wrap::{references, wrap_new};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::record_fields;
use crate::convert::array_export::to_numpy;
use crate::convert::dtypes::{Numpy, numpy};
use crate::convert::numpy_arrays::{set_writeable, span};
use crate::fallback::call_sites;
use crate::session::python_objects;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use smallvec::SmallVec;

/// Containers in containers that are looked into.
const DEPTH: usize = 4;
/// Results in one container, at most.
const RESULTS: usize = 16;
/// Functions that write to no argument, have no output, and give new arrays, but copy arguments that are read-only.
const ONLY_READ: [&str; 6] =
    ["bincount", "convolve", "correlate", "interp", "repeat", "searchsorted"];

/// `function(*args, **kwargs)` by NumPy; a fallback if arrays of ours take part.
#[pyfunction]
pub fn call<'py>(
    name: &Bound<'py, PyString>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = name.py();
    if let Some(made) = of_fields(name, function, args, kwargs)? {
        return Ok(made);
    }
    let mut loan = HostCall {
        numpy: numpy(py)?,
        arrays: SmallVec::new(),
        hosts: SmallVec::new(),
        opened: ONLY_READ.contains(&&*name.to_cow()?).then(SmallVec::new),
    };
    let Some((host_args, host_kwargs)) = loan.arguments(function, args, kwargs)? else {
        let made = python_objects::LONGER_CALL.get(py)?.call1((name, function, args, kwargs))?;
        return if made.is_exact_instance(python_objects::ONWARD.get(py)?) {
            onward(&made)
        } else {
            Ok(made)
        };
    };
    call_sites::count(name, &loan.arrays)?;
    let made = function.call(host_args, host_kwargs.as_ref());
    loan.close();
    match made {
        Ok(result) => {
            if loan.arrays.is_empty() {
                call_sites::count_made(name, args, &result)?;
            }
            loan.given_back(name, result)
        }
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            let error = error.into_value(py).into_bound(py);
            let refused = (&error, function, args, kwargs, loan.arrays.to_vec());
            let made = python_objects::REFUSED.get(py)?.call1(refused)?;
            // It is raised here, so that no further frame stands in its traceback.
            if made.is(&error) { Err(PyErr::from_value(error.into_any())) } else { Ok(made) }
        }
        Err(error) => Err(error),
    }
}

/// A call that reads numeric fields of records and gives no view: done on the arrays by which drivers read the fields.
/// `None` for other calls, and where the function has no implementation of ours.
fn of_fields<'py>(
    name: &Bound<'py, PyString>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = name.py();
    let mut found = false;
    let given = args.iter().map(|arg| lazily(arg, &mut found)).collect::<PyResult<Vec<_>>>()?;
    if !found {
        return Ok(None);
    }
    let own = python_objects::OWN_OF_FIELDS.get(py)?.call1((name, function, args))?;
    if own.is_none() {
        Ok(None)
    } else {
        own.call(PyTuple::new(py, given)?, Some(kwargs)).map(Some)
    }
}

/// A value with arrays that drivers see in the places of fields of records, also in a list or a tuple.
fn lazily<'py>(value: Bound<'py, PyAny>, found: &mut bool) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(array) = value.cast_exact::<NdArray>() {
        return Ok(match record_fields::field(array)? {
            Some(field) => {
                *found = true;
                Bound::new(value.py(), NdArray::lazy(field))?.into_any()
            }
            None => value,
        });
    }
    let Some(items) = Container::of(&value)?.filter(|items| !matches!(items, Container::Named(_)))
    else {
        return Ok(value);
    };
    let is_array = |item: &PyResult<Bound<'py, PyAny>>| {
        item.as_ref().is_ok_and(|item| item.is_exact_instance_of::<NdArray>())
    };
    if !value.try_iter()?.any(|item| is_array(&item)) {
        return Ok(value);
    }
    let made = value.try_iter()?.map(|item| lazily(item?, found));
    items.made(value.py(), made.collect::<PyResult<_>>()?)
}

/// Whether an ndarray has objects of the program as elements.
fn is_of_objects(host: &Bound<'_, PyAny>) -> bool {
    host.cast::<PyUntypedArray>().is_ok_and(|array| array.dtype().has_object())
}

/// The class of a container of results.
enum Container<'py> {
    List,
    Tuple,
    /// Of this class, which makes one of its items.
    Named(Bound<'py, PyAny>),
}

impl<'py> Container<'py> {
    /// `None` for other objects.
    fn of(result: &Bound<'py, PyAny>) -> PyResult<Option<Container<'py>>> {
        if result.is_exact_instance_of::<PyTuple>() {
            return Ok(Some(Container::Tuple));
        }
        if result.is_exact_instance_of::<PyList>() {
            return Ok(Some(Container::List));
        }
        if !result.is_instance_of::<PyTuple>() {
            return Ok(None);
        }
        let make = result.get_type().getattr_opt(intern!(result.py(), "_make"))?;
        Ok(make.map(Container::Named))
    }

    fn made(
        &self,
        py: Python<'py>,
        items: SmallVec<[Bound<'py, PyAny>; 6]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Container::List => PyList::new(py, items)?.into_any(),
            Container::Tuple => PyTuple::new(py, items)?.into_any(),
            Container::Named(make) => make.call1((PyTuple::new(py, items)?,))?,
        })
    }
}

/// Arguments by position, and by name where there are any.
type HostArguments<'py> = (Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>);

/// Makes the call that `longer_call` leaves to another class. It is made here, since libraries count the frames from
/// theirs to the program's for their warnings.
fn onward<'py>(call: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = call.py();
    let args = call.getattr(intern!(py, "args"))?.cast_into::<PyTuple>()?;
    let kwargs = call.getattr(intern!(py, "kwargs"))?.cast_into::<PyDict>()?;
    let made = call.getattr(intern!(py, "function"))?.call(args, Some(&kwargs))?;
    call.call_method1(intern!(py, "given_back"), (made,))
}

/// A call to NumPy: our arrays among the arguments, and their NumPy arrays.
struct HostCall<'py> {
    numpy: &'static Numpy,
    arrays: SmallVec<[Bound<'py, NdArray>; 4]>,
    /// NumPy's array for each of them.
    hosts: SmallVec<[Bound<'py, PyAny>; 4]>,
    /// Those that say they may be written until the call returns, so that NumPy takes them as they are; `None` where
    /// the function may write.
    opened: Option<SmallVec<[Bound<'py, PyUntypedArray>; 4]>>,
}

impl<'py> HostCall<'py> {
    /// The arguments as NumPy gets them; `None` where one is neither an array nor plain, or an output.
    fn arguments(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<HostArguments<'py>>> {
        let py = function.py();
        if function.get_type().is(&self.numpy.ufunc)
            && args.len() > function.getattr(intern!(py, "nin"))?.extract()?
        {
            return Ok(None);
        }
        // Nothing is evaluated for a call that another class implements.
        if args.iter_borrowed().any(|value| !self.may_be_lent(&value)) {
            return Ok(None);
        }
        let Some(items) = self.lent_all(args.iter(), DEPTH)? else { return Ok(None) };
        let items = PyTuple::new(py, items)?;
        if kwargs.is_empty() {
            return Ok(Some((items, None)));
        }
        let named = PyDict::new(py);
        for (name, value) in kwargs.iter() {
            if name.eq(intern!(py, "out"))? || name.eq(intern!(py, "where"))? {
                return Ok(None);
            }
            let Some(lent) = self.lent(value, DEPTH)? else { return Ok(None) };
            named.set_item(name, lent)?;
        }
        Ok(Some((items, Some(named))))
    }

    /// An ndarray made for this call; it says that it may be written, if the function writes to none.
    fn opened(&mut self, host: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(opened) = &mut self.opened {
            let host = host.cast::<PyUntypedArray>()?;
            set_writeable(host, true);
            opened.push(host.clone());
        }
        Ok(host)
    }

    /// Has the ndarrays be read-only again, as something may have kept one.
    fn close(&mut self) {
        for host in self.opened.take().into_iter().flatten() {
            set_writeable(&host, false);
        }
    }

    fn lent_all(
        &mut self,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> PyResult<Option<SmallVec<[Bound<'py, PyAny>; 6]>>> {
        values.map(|value| self.lent(value, depth)).collect()
    }

    /// The object that NumPy gets for a value.
    fn lent(
        &mut self,
        value: Bound<'py, PyAny>,
        depth: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = value.py();
        if let Ok(array) = value.cast_exact::<NdArray>() {
            let host = match elements(array) {
                ArrayElements::Lazy(lazy) => self.opened(to_numpy(py, &lazy)?)?,
                ArrayElements::Numpy(host) => host,
            };
            self.hosts.push(host.clone());
            self.arrays.push(array.clone());
            return Ok(Some(host));
        }
        if self.is_plain(&value) {
            return Ok(Some(value));
        }
        if let Ok(scalar) = value.cast_exact::<LazyScalar>() {
            return scalar.get().value(py).map(Some);
        }
        if depth == 0 {
            return Ok(None);
        }
        if let Ok(items) = value.cast_exact::<PyTuple>() {
            let Some(lent) = self.lent_all(items.iter(), depth - 1)? else { return Ok(None) };
            let is_same = items.iter_borrowed().zip(&lent).all(|(item, lent)| item.is(lent));
            let all = if is_same { value } else { PyTuple::new(py, lent)?.into_any() };
            return Ok(Some(all));
        }
        if let Ok(items) = value.cast_exact::<PyList>() {
            let Some(lent) = self.lent_all(items.iter(), depth - 1)? else { return Ok(None) };
            // A list without arrays of ours stays itself: the function may be one that writes to it.
            let is_same = items.iter().zip(&lent).all(|(item, lent)| item.is(lent));
            let all = if is_same { value } else { PyList::new(py, lent)?.into_any() };
            return Ok(Some(all));
        }
        Ok(None)
    }

    /// Whether a value is one that `lent` knows, as far as its class says.
    fn may_be_lent(&self, value: &Bound<'py, PyAny>) -> bool {
        value.is_exact_instance_of::<NdArray>()
            || self.is_plain(value)
            || value.is_exact_instance_of::<LazyScalar>()
            || value.is_exact_instance_of::<PyTuple>()
            || value.is_exact_instance_of::<PyList>()
    }

    /// Whether NumPy gets a value as it is.
    fn is_plain(&self, value: &Bound<'py, PyAny>) -> bool {
        value.is_none()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyBool>()
            || value.get_type().is(&self.numpy.ndarray)
            || value.is_exact_instance_of::<PyType>()
            || value.is_exact_instance_of::<PyComplex>()
            || self.numpy.is_scalar_type(&value.get_type())
            || self.numpy.is_other_scalar_type(&value.get_type())
            || value.is_instance_of::<PyArrayDescr>()
    }

    /// A result of NumPy's as the user gets it.
    fn given_back(
        self,
        name: &Bound<'py, PyString>,
        result: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = name.py();
        // Its result shares the memory of its argument, of any class; what is in an array of objects may be a result.
        let shows = name.to_cow()? == "frombuffer" || self.hosts.iter().any(is_of_objects);
        if !shows && let Some(simple) = self.simple(&result, 1)? {
            return Ok(simple);
        }
        let parts = (name, result, self.arrays.to_vec(), self.hosts.to_vec());
        python_objects::GIVEN_BACK.get(py)?.call1(parts)
    }

    /// Wraps a result, or a tuple or list of results, that shares no memory with the arguments; `None` for others.
    /// `known` is the number of references to it that this call holds.
    fn simple(
        &self,
        result: &Bound<'py, PyAny>,
        known: isize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = result.py();
        let class = result.get_type();
        if class.is(&self.numpy.ndarray) {
            return match self.is_new(result.cast()?) {
                true => wrap_new(result, known).map(Some),
                false => Ok(None),
            };
        }
        if self.is_value(result) {
            return Ok(Some(result.clone()));
        }
        let Some(items) = Container::of(result)? else { return Ok(None) };
        if result.len()? > RESULTS {
            return Ok(None);
        }
        let mut seen: SmallVec<[Bound<'py, PyAny>; 6]> = SmallVec::new();
        let mut made: SmallVec<[Bound<'py, PyAny>; 6]> = SmallVec::new();
        for item in result.try_iter()? {
            let item = item?;
            // An array that is in it twice has to stay one object, also within nested containers.
            if Container::of(&item)?.is_some() || seen.iter().any(|before| before.is(&item)) {
                return Ok(None);
            }
            // The container and this loop refer to it.
            let known = if references(result) == known { 2 } else { 0 };
            let Some(simple) = self.simple(&item, known)? else { return Ok(None) };
            seen.push(item);
            made.push(simple);
        }
        items.made(py, made).map(Some)
    }

    /// Whether a result is neither one of the arrays that were lent nor a view of one. Nothing tells whose view
    /// an array without elements is.
    fn is_new(&self, result: &Bound<'py, PyUntypedArray>) -> bool {
        let Some(span) = span(result) else { return false };
        !self.hosts.iter().filter_map(|host| host.cast::<PyUntypedArray>().ok()).any(|host| {
            self::span(host).is_some_and(|host| host.start < span.end && span.start < host.end)
        })
    }

    /// Whether a result stays as it is.
    fn is_value(&self, result: &Bound<'py, PyAny>) -> bool {
        self.numpy.is_scalar_type(&result.get_type())
            || self.numpy.is_other_scalar_type(&result.get_type())
            || result.is_none()
            || result.is_exact_instance_of::<PyInt>()
            || result.is_exact_instance_of::<PyFloat>()
            || result.is_exact_instance_of::<PyString>()
            || result.is_exact_instance_of::<PyBool>()
    }
}
