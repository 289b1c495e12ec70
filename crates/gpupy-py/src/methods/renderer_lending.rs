//! `ndarray.lend`: graphics interop, an array's block for a renderer that draws with the same device.
//!
//! Owns [`LendContext`], the context manager. Invariant: between `__enter__` and `__exit__` the block does not
//! move.
//!
//! Not here: which memory is lent, and when it comes back (`gpupy_engine::LentBlock`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::record_fields::field;
use crate::array::recording;
use crate::convert::dtypes;
use crate::session::context::ready;
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_core::DType;
use gpupy_core::driver::LendKind;
use gpupy_engine::{Array, LentBlock};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An array's block, as an OpenGL texture or buffer while it is lent.
///
/// Element `k` of the array in C order is component `k % row % 4` of the texel in column `k % row // 4` and row
/// `k // row`; of a buffer, the `k`-th element.
#[pyclass(name = "Lent", frozen, module = "gpupy")]
pub struct LendContext {
    array: Array,
    kind: LendKind,
    write: bool,
    block: Mutex<Option<LentBlock>>,
}

impl LendContext {
    fn block(&self) -> MutexGuard<'_, Option<LentBlock>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told<T>(&self, tell: impl FnOnce(&LentBlock) -> T) -> PyResult<T> {
        let outside =
            || PyRuntimeError::new_err("the block is lent between `with` and its end only");
        self.block().as_ref().map(tell).ok_or_else(outside)
    }
}

#[pymethods]
impl LendContext {
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let (py, this) = (slf.py(), slf.get());
        if this.block().is_some() {
            return Err(PyRuntimeError::new_err("the block is lent already"));
        }
        let context = ready(py)?;
        let lent = wait(py, || context.lend(&this.array, this.kind, this.write)).map_err(to_py)?;
        *this.block() = Some(lent);
        Ok(slf.clone())
    }

    #[pyo3(signature = (kind, _value, _trace))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let Some(mut lent) = self.block().take() else { return Ok(()) };
        let done = wait(py, || lent.give_back());
        // An exception from inside the block says more.
        if kind.is_none() { done.map_err(to_py) } else { Ok(()) }
    }

    /// The name of the texture or the buffer in OpenGL.
    #[getter]
    fn id(&self) -> PyResult<u64> {
        self.told(|block| block.lent().name)
    }

    /// Its binding target: `GL_TEXTURE_2D` or `GL_ARRAY_BUFFER`, as a number.
    #[getter]
    fn target(&self) -> PyResult<u32> {
        self.told(|block| block.lent().target)
    }

    /// The texture's internal format, as OpenGL's number (`GL_RGBA32F`); 0 of a buffer.
    #[getter]
    fn format(&self) -> PyResult<u32> {
        self.told(|block| block.lent().format)
    }

    /// Texels of four elements in a row of the texture; 0 of a buffer.
    #[getter]
    fn width(&self) -> PyResult<u32> {
        self.told(|block| block.lent().width)
    }

    /// Rows of the texture; 0 of a buffer.
    #[getter]
    fn height(&self) -> PyResult<u32> {
        self.told(|block| block.lent().height)
    }

    /// Elements in a row of the texture: four times its width, or up to three fewer; of a buffer all.
    #[getter]
    fn row(&self) -> PyResult<u64> {
        self.told(|block| block.lent().row)
    }

    /// How many elements there are.
    #[getter]
    fn size(&self) -> PyResult<usize> {
        self.told(LentBlock::size)
    }

    /// The elements' dtype; float16 is in a texture of its bits, as uint16, and bool in one of uint8.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtypes::to_numpy(py, self.told(LentBlock::dtype)?)
    }

    fn __repr__(&self) -> String {
        match self.told(|block| (block.lent(), block.size(), block.dtype())) {
            Ok((lent, size, dtype)) => match self.kind {
                LendKind::Buffer => format!("<buffer {} of {size} {dtype}>", lent.name),
                LendKind::Texture => {
                    let (name, width, height) = (lent.name, lent.width, lent.height);
                    format!("<texture {name} of {width} by {height} texels with {size} {dtype}>")
                }
            },
            Err(_) => "<a block that is not lent>".to_owned(),
        }
    }
}

#[pymethods]
impl NdArray {
    /// Lends the array to a renderer whose OpenGL context is current, and which the driver has joined
    /// (`gpupy.use("gl", share=True)`): `with x.lend() as texture:` gives a texture with its elements, or with
    /// `kind="buffer"` a buffer with a copy made on the device.
    ///
    /// Earlier computations finish before the renderer's draws inside, and these before the array is written again.
    /// The texture or buffer is read-only, unless `write` is true: then the array takes the renderer's elements, and
    /// nothing else may write to it meanwhile. A view, a field of records, or an array whose memory other code has, is
    /// lent as a copy, which is read-only.
    #[pyo3(signature = (kind="texture", *, write=false))]
    fn lend(slf: &Bound<'_, Self>, kind: &str, write: bool) -> PyResult<LendContext> {
        let kind = match kind {
            "texture" => LendKind::Texture,
            "buffer" => LendKind::Buffer,
            _ => {
                let words = format!("kind is `{kind}`, and has to be \"texture\" or \"buffer\"");
                return Err(PyValueError::new_err(words));
            }
        };
        let array = match (elements(slf), field(slf)?) {
            (ArrayElements::Lazy(array), _) => array,
            (ArrayElements::Numpy(_), Some(_)) if write => {
                return Err(PyTypeError::new_err(
                    "a field of records is only lent to be read, as a copy: lend an array of its own to be written",
                ));
            }
            (ArrayElements::Numpy(_), Some(array)) => array,
            (ArrayElements::Numpy(_), None) => {
                return Err(PyTypeError::new_err(
                    "an array of a dtype that is NumPy's own is on no device: lend a field, or a copy as numbers",
                ));
            }
        };
        if write && !slf.get().is_writable() {
            return Err(PyValueError::new_err("assignment destination is read-only"));
        }
        recording::unrecordable::spoil(&array, "it lends an array to a renderer")?;
        if array.dtype() == DType::C64 || array.dtype() == DType::C128 {
            return Err(PyTypeError::new_err(
                "complex numbers are in no texture: lend `x.real` and `x.imag`, or a view as floats",
            ));
        }
        Ok(LendContext { array, kind, write, block: Mutex::new(None) })
    }
}
