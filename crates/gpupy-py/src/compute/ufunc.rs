//! NumPy's ufuncs on lazy arrays.
//!
//! Owns [`Ufunc`]: a callable with a NumPy ufunc's name and attributes, which records operations that drivers have
//! and leaves the rest to NumPy. Invariant: dtypes are those of NumPy's own promotion, `ufunc.resolve_dtypes`,
//! asked once for each combination of operand kinds.
//!
//! Not here: compositions of several operations (`ufunc_lowering`), calls (`ufunc_call.rs`), how a call reaches
//! NumPy (`python/gpupy/_fallback/policy.py`).

use crate::array::ndarray::NdArray;
use crate::array::operand::{OperandKind, UfuncOperand, classify_exact};
use crate::compute::dispatch_cache::DispatchCache;
use crate::compute::operator::Operator;
use crate::compute::promotion::{NUMPYS, PromotedOperand, Promotion, UNKNOWN};
use crate::compute::scalar_arithmetic;
use crate::compute::scan_sort_matmul::little_product;
use crate::compute::ufunc_lowering::{self, UfuncLowering, record};
use crate::convert::dtypes::{self, numpy};
use crate::convert::numpy_arrays;
use crate::session::context::{self, ready};
use crate::session::errors::{not_broadcastable, to_py};
use gpupy_core::{DType, ErrorKind, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, ScalarFunction};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU8, Ordering};

/// A NumPy ufunc that records on lazy arrays.
#[pyclass(name = "ufunc", module = "gpupy", frozen, weakref)]
pub struct Ufunc {
    /// Its name in NumPy.
    pub name: String,
    /// NumPy's own.
    pub numpy: Py<PyAny>,
    /// How it is recorded, if it can be.
    pub lowering: Option<UfuncLowering>,
    /// How many operands it takes.
    pub nin: usize,
    plans: [AtomicU8; OperandKind::COUNT * OperandKind::COUNT],
    dispatch_cache: DispatchCache,
}

/// A ufunc for the one of this name in NumPy's namespace.
pub fn named(py: Python<'_>, name: &str) -> PyResult<Py<Ufunc>> {
    let numpy = numpy(py)?.module.bind(py).getattr(name)?;
    Py::new(py, Ufunc::new(name.to_owned(), &numpy)?)
}

impl Ufunc {
    fn plan(&self, py: Python<'_>, kinds: &[OperandKind]) -> PyResult<Option<Promotion>> {
        // Too few operands would find the place of others.
        if kinds.len() != self.nin {
            return Ok(None);
        }
        let cell = match kinds {
            [a] => &self.plans[a.index()],
            [a, b] => &self.plans[a.index() * OperandKind::COUNT + b.index()],
            _ => return Ok(None),
        };
        match cell.load(Ordering::Relaxed) {
            UNKNOWN => {}
            code => return Ok(Promotion::of_code(code)),
        }
        let plan = self.ask(py, kinds)?;
        let code = plan.map_or(NUMPYS, Promotion::code);
        cell.store(code, Ordering::Relaxed);
        Ok(plan)
    }

    /// NumPy's own promotion for operands of these kinds.
    fn ask(&self, py: Python<'_>, kinds: &[OperandKind]) -> PyResult<Option<Promotion>> {
        self.resolve(py, kinds.iter().map(|kind| spec(py, *kind)).collect::<PyResult<_>>()?)
    }

    /// The promotion of operands of these dtypes; `None` when a dtype is NumPy's own, or NumPy has no promotion.
    fn resolve<'py>(
        &self,
        py: Python<'py>,
        mut specs: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Promotion>> {
        if self.lowering.is_none() || specs.len() != self.nin {
            return Ok(None);
        }
        specs.push(py.None().into_bound(py));
        let asked = self.numpy.bind(py).call_method1("resolve_dtypes", (PyTuple::new(py, specs)?,));
        let answer = match asked {
            Ok(answer) => answer,
            // Combinations that NumPy refuses are NumPy's to refuse, when they are really computed.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(None),
            // Other errors, such as too deep a recursion or a signal, are not remembered.
            Err(error) => return Err(error),
        };
        let mut found: SmallVec<[DType; 4]> = SmallVec::new();
        for dtype in answer.try_iter()? {
            match dtypes::from_numpy(&dtype?)? {
                Some(dtype) => found.push(dtype),
                None => return Ok(None),
            }
        }
        let plan = match found[..] {
            [a, result] => Promotion { operands: [a; 2], result },
            [a, b, result] => Promotion { operands: [a, b], result },
            _ => return Ok(None),
        };
        Ok(self.lowering.is_some_and(|lowering| lowering.takes(plan)).then_some(plan))
    }

    /// The dtype that recording these operands would give.
    pub fn result_dtype(
        &self,
        py: Python<'_>,
        operands: &[UfuncOperand<'_>],
    ) -> PyResult<Option<DType>> {
        let kinds: SmallVec<[OperandKind; 2]> = operands.iter().map(|o| o.kind).collect();
        Ok(self.plan(py, &kinds)?.map(|plan| plan.result))
    }

    /// Records `operands` as an operator does, which for a power differs from the ufunc.
    pub fn record_operator(
        &self,
        py: Python<'_>,
        op: Operator,
        operands: &[UfuncOperand<'_>],
        out: Option<&Array>,
    ) -> PyResult<Option<Array>> {
        if op == Operator::Pow
            && let [base, exponent] = operands
            && let Some(array) = record::operator_power(base, exponent)?
        {
            return Ok(Some(array));
        }
        self.record(py, operands, out)
    }

    /// Records the operation; `None` leaves it to NumPy. `out` is the output argument: NumPy mentions its
    /// shape when operands do not broadcast. If it is pinned, the result may be written to it, and it is returned.
    pub fn record(
        &self,
        py: Python<'_>,
        operands: &[UfuncOperand<'_>],
        out: Option<&Array>,
    ) -> PyResult<Option<Array>> {
        let kinds: SmallVec<[OperandKind; 2]> = operands.iter().map(|o| o.kind).collect();
        let (Some(lowering), Some(plan)) = (self.lowering, self.plan(py, &kinds)?) else {
            return Ok(None);
        };
        if out.is_none()
            && let Some(made) = self.of_function(py, (lowering, plan), &kinds, operands)
        {
            return Ok(Some(made));
        }
        let done = run(py, lowering, plan, operands, out)?;
        if let (Some(_), Some(dtype)) = (&done, plan.operand())
            && let Some(op) = lowering.alone(dtype)
        {
            self.dispatch_cache.remember(operands, op, dtype);
        }
        Ok(done)
    }

    /// The result of several operations, which become one function where they can be computed eagerly.
    fn of_function(
        &self,
        py: Python<'_>,
        (lowering, plan): (UfuncLowering, Promotion),
        kinds: &[OperandKind],
        operands: &[UfuncOperand<'_>],
    ) -> Option<Array> {
        let (context, _) = context::open()?;
        let is_several = lowering.is_composed(plan.operand()?);
        if !is_several || operands.iter().all(|o| o.as_array().is_none_or(|a| a.ndim() == 0)) {
            return None;
        }
        let dtypes = kinds.iter().zip(plan.operands);
        let dtypes: SmallVec<[DType; 2]> =
            dtypes.map(|(kind, wanted)| kind.dtype().unwrap_or(wanted)).collect();
        let make = || {
            let given: SmallVec<[Array; 2]> = dtypes.iter().map(|d| Array::argument(*d)).collect();
            let operands: SmallVec<[UfuncOperand<'_>; 2]> =
                given.iter().map(|argument| UfuncOperand::made(argument.clone())).collect();
            let made = run(py, lowering, plan, &operands, None).ok()??;
            ScalarFunction::recorded(&given, &[ArrayOrScalar::Array(&made)]).ok()
        };
        let function = self.dispatch_cache.function(kinds, make)?;
        let mut args: SmallVec<[ArrayOrScalar<'_>; 2]> = SmallVec::new();
        for (operand, dtype) in operands.iter().zip(&dtypes) {
            args.push(match operand.as_array() {
                Some(array) => ArrayOrScalar::Array(array),
                None => ArrayOrScalar::Scalar(operand.scalar(*dtype)?),
            });
        }
        context.call_eagerly(&function, &args)
    }

    /// The result of an array of ours, where it can be computed eagerly and has axes. Most operations on small
    /// arrays are this or `of_two`, which take no detour by [`UfuncOperand`]s.
    #[inline(always)]
    pub fn of_one<'py>(&self, a: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Ok(array) = a.cast_exact::<NdArray>() else { return Ok(None) };
        let a = array.get().read(array.py());
        let Some(a) = a.as_lazy() else { return Ok(None) };
        made(array.py(), self.dispatch_cache.of_arrays([a]))
    }

    /// The result of two arrays of ours, where it can be computed eagerly and has axes, or is the product of
    /// vectors or matrices.
    #[inline(always)]
    pub fn of_two<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(UfuncLowering::MatMul) = self.lowering {
            return little_product(a, b);
        }
        let py = a.py();
        let (Ok(a), Ok(b)) = (a.cast_exact::<NdArray>(), b.cast_exact::<NdArray>()) else {
            return Ok(None);
        };
        let (a, b) = (a.get().read(py), b.get().read(py));
        let (Some(a), Some(b)) = (a.as_lazy(), b.as_lazy()) else { return Ok(None) };
        made(py, self.dispatch_cache.of_arrays([a, b]))
    }

    /// Like [`Self::of_two`], but of an array of ours and a Python float, in either order.
    #[inline(always)]
    pub fn of_array_and_float<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = a.py();
        let (array, value, swapped) = match (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
            (Ok(value), Err(_)) => (b, value, true),
            (Err(_), Ok(value)) => (a, value, false),
            _ => return Ok(None),
        };
        let Ok(array) = array.cast_exact::<NdArray>() else { return Ok(None) };
        let array = array.get().read(py);
        let Some(array) = array.as_lazy() else { return Ok(None) };
        made(py, self.dispatch_cache.of_array_and_float(array, value.value(), swapped))
    }

    /// The result, where it can be computed eagerly and has axes.
    pub fn apply_eagerly(&self, operands: &[UfuncOperand<'_>]) -> Option<Array> {
        self.dispatch_cache.take(operands)
    }

    /// Writes the result in place, where it can be computed eagerly.
    pub fn update_eagerly(&self, operands: &[UfuncOperand<'_>], dest: &Array) -> bool {
        self.dispatch_cache.update(operands, dest)
    }

    /// The operation on numbers alone, with the bits of an element of an array; `None` where NumPy computes it, for
    /// example because it might warn of the result.
    pub fn of_numbers(
        &self,
        py: Python<'_>,
        operands: &[UfuncOperand<'_>],
    ) -> PyResult<Option<Scalar>> {
        let quiet = |found: &Scalar| scalar_arithmetic::is_quiet(*found);
        if let Some(found) = self.of_scalars(py, operands) {
            return Ok(Some(found));
        }
        if let Some(found) = self.dispatch_cache.of_numbers(operands) {
            return Ok(Some(found).filter(quiet));
        }
        // Operations are recorded of arrays.
        let alone =
            operands.iter().map(UfuncOperand::without_axes).collect::<Option<SmallVec<[_; 2]>>>();
        let Some(alone) = alone else { return Ok(None) };
        Ok(self.record(py, &alone, None)?.and_then(|made| made.known_element()).filter(quiet))
    }

    /// The operation on known scalars, where it is one of the core's and NumPy's scalars would say nothing
    /// of it.
    pub fn of_scalars(&self, py: Python<'_>, operands: &[UfuncOperand<'_>]) -> Option<Scalar> {
        let kinds: SmallVec<[OperandKind; 2]> = operands.iter().map(|o| o.kind).collect();
        let plan = self.plan(py, &kinds).ok()??;
        let dtype = plan.operand().filter(|dtype| !dtype.is_complex())?;
        let op = self.lowering?.alone(dtype)?;
        let scalars: Option<SmallVec<[Scalar; 2]>> =
            operands.iter().map(|operand| operand.scalar(dtype)).collect();
        scalar_arithmetic::eval_silently(op, plan.result, &scalars?)
    }

    /// Records operands some of which are neither ours nor Python numbers; `None` when NumPy has to
    /// do it.
    pub fn record_mixed(
        &self,
        py: Python<'_>,
        objects: &[&Bound<'_, PyAny>],
    ) -> PyResult<Option<Array>> {
        if self.lowering.is_none() {
            return Ok(None);
        }
        let numpy = numpy(py)?;
        let mut operands: SmallVec<[Result<UfuncOperand<'_>, Bound<'_, PyAny>>; 2]> =
            SmallVec::new();
        let mut specs = Vec::with_capacity(objects.len() + 1);
        for object in objects {
            if let Some(operand) = classify_exact(object)? {
                specs.push(spec(py, operand.kind)?);
                operands.push(Ok(operand));
            } else if object.get_type().is(&numpy.ndarray) {
                specs.push(object.getattr("dtype")?);
                operands.push(Err((*object).clone()));
            } else {
                return Ok(None);
            }
        }
        let Some(plan) = self.resolve(py, specs)? else { return Ok(None) };
        let mut ready: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
        for (operand, dtype) in operands.into_iter().zip(plan.operands) {
            ready.push(match operand {
                Ok(operand) => operand,
                Err(array) => {
                    let cast = array.call_method1("astype", (dtypes::to_numpy(py, dtype)?,))?;
                    match numpy_arrays::from_numpy(&cast)? {
                        Some(array) => UfuncOperand::made(array),
                        None => return Ok(None),
                    }
                }
            });
        }
        match self.lowering {
            Some(lowering) => run(py, lowering, plan, &ready, None),
            None => Ok(None),
        }
    }
}

/// An object for an array that was computed.
#[inline(always)]
fn made(py: Python<'_>, array: Option<Array>) -> PyResult<Option<Bound<'_, PyAny>>> {
    match array {
        Some(array) => Ok(Some(Bound::new(py, NdArray::lazy(array))?.into_any())),
        None => Ok(None),
    }
}

/// The object for an operand kind in NumPy's promotion.
pub fn spec(py: Python<'_>, kind: OperandKind) -> PyResult<Bound<'_, PyAny>> {
    Ok(match kind.dtype() {
        Some(dtype) => dtypes::to_numpy(py, dtype)?,
        None if kind == OperandKind::WEAK_INT => py.get_type::<PyInt>().into_any(),
        None if kind == OperandKind::WEAK_FLOAT => py.get_type::<PyFloat>().into_any(),
        None => py.get_type::<PyComplex>().into_any(),
    })
}

/// Records a lowering on operands, cast by their promotion.
fn run(
    py: Python<'_>,
    lowering: UfuncLowering,
    plan: Promotion,
    operands: &[UfuncOperand<'_>],
    out: Option<&Array>,
) -> PyResult<Option<Array>> {
    let context = ready(py)?;
    if operands.iter().all(|operand| operand.as_array().is_none())
        || !lowering.supported(context, plan)?
    {
        return Ok(None);
    }
    let mut prepared: SmallVec<[PromotedOperand<'_>; 3]> = SmallVec::new();
    for (operand, dtype) in operands.iter().zip(plan.operands) {
        match PromotedOperand::new(context, operand, dtype)? {
            Some(operand) => prepared.push(operand),
            None => return record::beyond(context, lowering, plan, operands),
        }
    }
    let args: SmallVec<[ArrayOrScalar<'_>; 3]> =
        prepared.iter().map(PromotedOperand::arg).collect();
    let record = |args: &[ArrayOrScalar<'_>]| lowering.record(context, plan, args);
    let recorded = match out {
        Some(out) => context.recorded_into(out, &args, record),
        None => record(&args),
    };
    match recorded {
        // NumPy has the words for a product that does not fit its output.
        Ok(Some(array)) if matches!(lowering, UfuncLowering::MatMul) => {
            Ok(out.is_none_or(|out| out.shape() == array.shape()).then_some(array))
        }
        Ok(array) => Ok(array),
        Err(error) if error.kind() == ErrorKind::Shape => Err(not_broadcastable(
            operands.iter().map(UfuncOperand::shape).chain(out.map(Array::shape)),
        )),
        Err(error) => Err(to_py(error)),
    }
}

#[pymethods]
impl Ufunc {
    #[new]
    fn new(name: String, numpy: &Bound<'_, PyAny>) -> PyResult<Ufunc> {
        let nin = numpy.getattr("nin")?.extract()?;
        let nout: usize = numpy.getattr("nout")?.extract()?;
        let lowering = if nout == 1 { ufunc_lowering::of_numpy(&name) } else { None };
        let plans = [const { AtomicU8::new(UNKNOWN) }; OperandKind::COUNT * OperandKind::COUNT];
        let dispatch_cache = DispatchCache::new();
        Ok(Ufunc { name, numpy: numpy.clone().unbind(), lowering, nin, plans, dispatch_cache })
    }
}
