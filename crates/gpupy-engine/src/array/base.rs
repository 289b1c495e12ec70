//! Arrays: views of bases.
//!
//! Owns [`Array`] and its base. A base is an identity whose current value can be replaced by writing. Arrays that view
//! one base alias each other as NumPy's do. A recorded expression holds the value that a base had when it was recorded,
//! not the base. Invariant: all values of a base have the dtype and shape with which it was made.
//!
//! Not here: recording operations (`record/`), reading and evaluating (`context/`).

use crate::array::contents::{Contents, Current};
use crate::array::owned_elements::OwnedElements;
use crate::graph::value::{Input, Operand, Origin, Value, ValueKind};
use crate::memory::limit;
use crate::memory::reader::Reader;
use crate::memory::view::View;
use gpupy_core::memory::{of_array, refused};
use gpupy_core::shape::{MAX_RANK, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};

/// An array: a view of a base.
#[derive(Clone)]
pub struct Array {
    base: Arc<Base>,
    view: View,
}

/// An array that does not keep its base.
pub struct WeakArray {
    base: Weak<Base>,
    view: View,
}

impl WeakArray {
    /// The array, if another handle keeps its base.
    pub fn upgrade(&self) -> Option<Array> {
        Some(Array { base: self.base.upgrade()?, view: self.view.clone() })
    }
}

struct Base {
    dtype: DType,
    len: usize,
    current: Mutex<Current>,
    /// Where the elements are another base's, from the beginning or from some time on.
    dtype_view: OnceLock<Box<dyn DtypeView>>,
}

/// Bases of many elements, where host memory is limited.
static LARGE: Mutex<Vec<Weak<Base>>> = Mutex::new(Vec::new());

/// A new base.
#[inline]
fn shared(base: Base) -> Arc<Base> {
    let bytes = base.len.saturating_mul(base.dtype.size());
    let base = Arc::new(base);
    if bytes >= limit::PAGED_FROM && limit::host_bytes().is_some() {
        note(&base);
    }
    base
}

#[cold]
fn note(base: &Arc<Base>) {
    let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    if large.len() == large.capacity() {
        large.retain(|base| base.strong_count() > 0);
    }
    large.push(Arc::downgrade(base));
}

/// Makes values of the many elements that bases have for their own, but for pinned ones: only a value's memory may go
/// to the disk. Waits for no lock.
pub(crate) fn share_large() {
    let large = LARGE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for base in large.iter().filter_map(Weak::upgrade) {
        if let Ok(mut current) = base.current.try_lock()
            && matches!(current.held(), Contents::Own(_))
        {
            // Pinned ones stay as they are, and so do those for which there is no room.
            let _ = current.value_mut();
        }
    }
}

/// A dtype view: the elements of a base that has none of its own, but shows another base's.
pub(crate) trait DtypeView: Send + Sync {
    /// Gives the dtype view's base the elements that the whole has now.
    fn follow(&self, dtype: DType, current: &mut Current);

    /// Like `follow`, but gives `None` where another thread has locked the whole.
    fn follow_now(&self, dtype: DType, current: &mut Current) -> Option<()>;

    /// Gives the whole the elements that were written to the dtype view's base; false where the whole is pinned, which
    /// undoes the write.
    ///
    /// # Errors
    /// - `Disposed`: either has none any more. `OutOfMemory`: there is no room for them. What was written
    ///   to the dtype view is undone then.
    fn pass_on(&self, current: &mut Current) -> Result<bool>;

    /// The view of the whole and the source that together do the same as writing `source` to a view of the dtype view;
    /// `None` where the dtype view's own elements have to be written.
    ///
    /// # Errors
    /// - `Disposed`: there are no elements any more. `Shape`: the source does not fit.
    fn through(&self, dest: &Array, source: ArrayOrScalar<'_>) -> Result<Option<(Array, Array)>>;

    /// The array whose elements the dtype view shows.
    fn whole(&self) -> &Array;
}

/// An operand: an array, or a scalar that broadcasts to anything.
#[derive(Clone, Copy)]
pub enum ArrayOrScalar<'a> {
    /// An array.
    Array(&'a Array),
    /// A scalar.
    Scalar(Scalar),
}

impl ArrayOrScalar<'_> {
    /// The dtype of its elements.
    pub fn dtype(&self) -> DType {
        match self {
            ArrayOrScalar::Array(array) => array.dtype(),
            ArrayOrScalar::Scalar(scalar) => scalar.dtype,
        }
    }
}

impl<'a> From<&'a Array> for ArrayOrScalar<'a> {
    fn from(array: &'a Array) -> ArrayOrScalar<'a> {
        ArrayOrScalar::Array(array)
    }
}

impl From<Scalar> for ArrayOrScalar<'_> {
    fn from(scalar: Scalar) -> Self {
        ArrayOrScalar::Scalar(scalar)
    }
}

impl Array {
    /// A new base with this value, seen whole.
    pub fn from_value(value: Value) -> Array {
        let view = View::contiguous(value.shape());
        Array::with_view(value, view)
    }

    /// A new base with this value, seen through a view.
    pub(crate) fn with_view(value: Value, view: View) -> Array {
        let (dtype, len) = (value.dtype(), value.len());
        let current = Mutex::new(Current::new(Contents::Value(value)));
        Array { base: shared(Base { dtype, len, current, dtype_view: OnceLock::new() }), view }
    }

    /// A new base with these elements for its own, seen whole.
    pub(crate) fn of_own(own: OwnedElements) -> Array {
        let (dtype, len, view) = (own.dtype, own.len(), View::contiguous(&own.shape));
        let current = Mutex::new(Current::new(Contents::Own(own)));
        Array { base: shared(Base { dtype, len, current, dtype_view: OnceLock::new() }), view }
    }

    /// A new base that shows another one's elements.
    pub(crate) fn of_dtype_view(dtype: DType, len: usize, dtype_view: Box<dyn DtypeView>) -> Array {
        let current = Mutex::new(Current::new(Contents::Nothing));
        let base = Base { dtype, len, current, dtype_view: OnceLock::from(dtype_view) };
        Array { base: Arc::new(base), view: View::contiguous(&[len]) }
    }

    /// A new base with a copy of these elements for its own, in C order; seen whole. `None` where they are
    /// too few, or there is no room.
    #[inline(always)]
    pub(crate) fn own(
        dtype: DType,
        shape: &[usize],
        origin: Origin,
        bytes: &[u8],
    ) -> Option<Array> {
        let bytes = bytes.get(..size_of(shape) * dtype.size())?;
        Array::made(dtype, shape, origin, 0, |room| {
            room.copy_from_slice(bytes);
            Some(())
        })
    }

    /// A new base with elements of its own, in C order, that `write` puts into the room for them; `None` where there is
    /// none, or `write` gives none. `depth` is the length of the chain that led to them.
    #[inline(always)]
    pub(crate) fn made(
        dtype: DType,
        shape: &[usize],
        origin: Origin,
        depth: u32,
        write: impl FnOnce(&mut [u8]) -> Option<()>,
    ) -> Option<Array> {
        let view = View::contiguous(shape);
        let len = view.size();
        let base = Arc::<Base>::new_uninit();
        let place = Arc::as_ptr(&base).cast_mut().cast::<Base>();
        // Filled in where it stays: moving it would take as long as computing few elements.
        let held = Contents::Own(OwnedElements::blank(dtype, origin, depth));
        let current = Mutex::new(Current::new(held));
        // SAFETY: the allocation was just made for this type and is not shared; `write` initialises it. `base` is not
        // used while its contents are borrowed.
        let (base, current) = unsafe {
            place.write(Base { dtype, len, current, dtype_view: OnceLock::new() });
            (base.assume_init(), (*place).current.get_mut())
        };
        let own = current.unwrap_or_else(PoisonError::into_inner).own_mut()?;
        write(own.make_room(shape).ok()?)?;
        Some(Array { base, view })
    }

    /// An array that holds a copy of these elements: C order, native endian.
    ///
    /// # Errors
    /// - `Shape`: the bytes are not exactly the elements of the shape.
    /// - `OutOfMemory`: there is no room for them.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
        let wanted = checked_size(shape)?.checked_mul(dtype.size());
        if wanted != Some(bytes.len()) {
            return Err(Error::new(ErrorKind::Shape, "array")
                .says("the bytes are not the elements of the shape")
                .with("bytes", bytes.len())
                .with("shape", format!("{shape:?}"))
                .with("dtype", dtype));
        }
        let refused = || of_array(refused(bytes.len()), shape, dtype);
        let made = Array::own(dtype, shape, Origin::Given, bytes).ok_or_else(refused)?;
        made.noted(bytes.len())
    }

    /// An array of elements that `write` puts into the room for them, all of them: C order, native endian.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    /// - `OutOfMemory`: there is no room for them; `write` was not called.
    pub fn from_written<R>(
        dtype: DType,
        shape: &[usize],
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<(Array, R)> {
        let bytes = checked_size(shape)?.saturating_mul(dtype.size());
        let mut returned = None;
        let made = Array::made(dtype, shape, Origin::Given, 0, |room| {
            returned = Some(write(room));
            Some(())
        });
        let (Some(made), Some(returned)) = (made, returned) else {
            return Err(of_array(refused(bytes), shape, dtype));
        };
        Ok((made.noted(bytes)?, returned))
    }

    /// This new array, known to what limits memory.
    fn noted(self, bytes: usize) -> Result<Array> {
        if bytes >= limit::PAGED_FROM && limit::host_bytes().is_some() {
            // Only a value's memory may go to the disk.
            self.value()?;
            note(&self.base);
        }
        Ok(self)
    }

    /// An array of elements that a reader gives when they are needed, tile by tile.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    pub fn of_reader(dtype: DType, shape: &[usize], reader: Arc<dyn Reader>) -> Result<Array> {
        checked_size(shape)?;
        Ok(Array::from_value(Value::external(dtype, shape, reader)))
    }

    /// An array whose elements are all `scalar`; it takes no memory.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    pub fn full(shape: &[usize], scalar: Scalar) -> Result<Array> {
        checked_size(shape)?;
        Ok(Array::from_value(Value::constant(shape, scalar)))
    }

    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// Elements a step of each axis.
    pub fn strides(&self) -> &[isize] {
        &self.view.strides
    }

    /// The position of the first element in the base.
    pub fn offset(&self) -> isize {
        self.view.offset
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.base.dtype
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.view.shape.len()
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.view.size()
    }

    /// True when the elements stand one after another in C order.
    pub fn is_contiguous(&self) -> bool {
        self.view.is_contiguous()
    }

    /// True when both view the same base, so that writing one may change the other.
    pub fn shares_base(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
    }

    /// True when writing one may change the other: they view the same base, or dtype views of it.
    pub fn aliases(&self, other: &Array) -> bool {
        Arc::ptr_eq(self.owner(), other.owner())
    }

    /// True when both show the same elements, and each where the other does.
    pub(crate) fn shows_what(&self, other: &Array) -> bool {
        self.view == other.view
            && match (self.dtype_view(), other.dtype_view()) {
                (Some(dtype_view), Some(others)) if self.dtype() == other.dtype() => {
                    dtype_view.whole().shows_what(others.whole())
                }
                _ => self.shares_base(other),
            }
    }

    /// The base whose elements these are.
    fn owner(&self) -> &Arc<Base> {
        let mut base = &self.base;
        while let Some(dtype_view) = base.dtype_view.get() {
            base = &dtype_view.whole().base;
        }
        base
    }

    /// All elements of the base whose elements these are, as one axis.
    pub fn owner_elements(&self) -> Array {
        let base = self.owner().clone();
        let view = View::contiguous(&[base.len]);
        Array { base, view }
    }

    /// The bytes of an element of the base whose elements these are.
    pub(crate) fn owner_size(&self) -> usize {
        self.owner().dtype.size()
    }

    /// The contents of the base that owns the elements.
    pub(crate) fn owner_current(&self) -> MutexGuard<'_, Current> {
        let mut current = self.owner().current.lock().unwrap_or_else(PoisonError::into_inner);
        current.follow_exports();
        current
    }

    /// Bytes from the first element of the base whose elements these are to the first one shown.
    pub fn byte_offset(&self) -> isize {
        self.view.offset * self.dtype().size() as isize + self.base_offset()
    }

    /// Bytes from the first element of the base whose elements these are to the first one of this base.
    pub(crate) fn base_offset(&self) -> isize {
        self.dtype_view().map_or(0, |dtype_view| dtype_view.whole().byte_offset())
    }

    /// A weak handle of the array.
    pub fn downgrade(&self) -> WeakArray {
        WeakArray { base: Arc::downgrade(&self.base), view: self.view.clone() }
    }

    /// How many elements the base has.
    pub fn base_len(&self) -> usize {
        self.base.len
    }

    /// The dtype view, if the base has no elements of its own.
    pub(crate) fn dtype_view(&self) -> Option<&dyn DtypeView> {
        self.base.dtype_view.get().map(|dtype_view| &**dtype_view)
    }

    /// True when this array shows its whole base in C order.
    pub fn is_whole(&self) -> bool {
        self.view.offset == 0 && self.size() == self.base.len && self.is_contiguous()
    }

    /// How often the base was written. Of a pinned one nothing tells, so it is another number each time.
    pub fn version(&self) -> u64 {
        self.current().seen()
    }

    /// The view itself.
    pub fn layout(&self) -> &View {
        &self.view
    }

    #[inline]
    pub(crate) fn seen_as(&self, view: View) -> Array {
        Array { base: self.base.clone(), view }
    }

    pub(crate) fn current(&self) -> MutexGuard<'_, Current> {
        let mut current = self.base.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.follow_exports();
        if let Some(dtype_view) = self.base.dtype_view.get() {
            dtype_view.follow(self.base.dtype, &mut current);
        }
        current
    }

    /// Like `current`, but gives `None` where another thread has the lock.
    #[inline]
    pub(crate) fn current_now(&self) -> Option<MutexGuard<'_, Current>> {
        let mut current = match self.base.current.try_lock() {
            Ok(current) => current,
            Err(TryLockError::Poisoned(current)) => current.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        current.follow_exports();
        if let Some(dtype_view) = self.base.dtype_view.get() {
            dtype_view.follow_now(self.base.dtype, &mut current)?;
        }
        Some(current)
    }

    /// Like `current_now`, for in-place writers, as dtype views are not told of the write; `None` if the base has dtype
    /// views.
    #[inline]
    pub(crate) fn current_to_write(&self) -> Option<MutexGuard<'_, Current>> {
        let current = self.current_now()?;
        self.base.dtype_view.get().is_none().then_some(current)
    }

    /// Makes the base a dtype view of another one, which `make` makes of its contents. Does nothing if the base is a
    /// view already.
    ///
    /// # Errors
    /// - `Disposed`: it has none any more. Those of `make`.
    pub(crate) fn become_dtype_view(
        &self,
        make: impl FnOnce(&mut Current) -> Result<Box<dyn DtypeView>>,
    ) -> Result<()> {
        let mut current = self.current();
        if self.base.dtype_view.get().is_none() {
            let dtype_view = make(&mut current)?;
            // The lock is held, so no other thread sets it.
            let _ = self.base.dtype_view.set(dtype_view);
        }
        Ok(())
    }

    /// The base's value now.
    ///
    /// # Errors
    /// - `Disposed`: it has none any more.
    pub fn value(&self) -> Result<Value> {
        self.current().value()
    }

    /// The present elements, in a base of its own with the same value, which later writes to this base do not change.
    ///
    /// # Errors
    /// - `Disposed`: it has none any more.
    pub fn snapshot(&self) -> Result<Array> {
        Ok(Array::with_view(self.value()?, self.view.clone()))
    }

    /// Lets go of the elements of the base now, on every device and in host memory, even while there are other arrays
    /// of it: these keep shape and dtype, and nothing else. Expressions that were recorded before keep the elements
    /// until they are computed.
    pub fn dispose(&self) {
        let mut current = self.current();
        let held = current.dispose();
        // Dropping it takes other locks.
        drop(current);
        drop(held);
    }

    /// The contents of the base of an array without other handles.
    ///
    /// # Errors
    /// - `Disposed`: nothing.
    pub(crate) fn into_held(self) -> Result<Contents> {
        let mut current = self.current();
        match current.take() {
            Contents::Nothing => Err(current.why()),
            held => Ok(held),
        }
    }

    /// The number that all elements of the base are equal to, if it takes no memory.
    pub(crate) fn constant(&self) -> Option<Scalar> {
        match self.current().held() {
            Contents::Value(value) => match value.0.kind {
                ValueKind::Constant(scalar) => Some(scalar),
                ValueKind::Host(_) | ValueKind::External(_) | ValueKind::Expr { .. } => None,
            },
            Contents::Own(_) | Contents::Nothing => None,
        }
    }

    /// Whether the elements lie outside, so that each look at them reads them, or are pending and computed from such.
    pub fn is_outside(&self) -> bool {
        match self.current().held() {
            Contents::Value(value) => {
                value.0.streams && (value.is_external() || !value.is_computed())
            }
            Contents::Own(_) | Contents::Nothing => false,
        }
    }

    /// Whether the elements lie outside, and are not to be written to.
    pub fn is_external(&self) -> bool {
        matches!(self.current().held(), Contents::Value(value) if value.is_external())
    }

    /// Whether the base has elements of its own.
    pub(crate) fn has_own(&self) -> bool {
        matches!(self.current().held(), Contents::Own(_))
    }

    /// Whether the base's value is an expression that is not fully computed.
    pub(crate) fn is_pending(&self) -> bool {
        match self.current().held() {
            Contents::Value(value) => {
                matches!(value.0.kind, ValueKind::Expr { .. }) && !value.is_computed()
            }
            Contents::Own(_) | Contents::Nothing => false,
        }
    }

    /// Whether the base has elements of its own; false where another thread has the lock.
    pub fn is_there(&self) -> bool {
        self.current_now().is_some_and(|current| matches!(current.held(), Contents::Own(_)))
    }

    /// Refuses a disposed array.
    ///
    /// # Errors
    /// - `Disposed`: it has no elements any more.
    pub(crate) fn check_there(&self) -> Result<()> {
        let current = self.current();
        match current.held() {
            Contents::Nothing => Err(current.why()),
            Contents::Own(_) | Contents::Value(_) => Ok(()),
        }
    }

    /// This array as an operand broadcast to `shape`, with the value that it has now.
    pub(crate) fn operand(&self, shape: &[usize]) -> Result<Operand> {
        let mut current = self.current();
        let value = current.value()?;
        drop(current);
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Ok((Input::Scalar(scalar), None));
        }
        let input = if self.view.shape[..] == *shape {
            Input::new(value.id(), &self.view)
        } else {
            Input::new(value.id(), &self.view.broadcast_to(shape)?)
        };
        Ok((input, Some(value)))
    }
}

/// The number of elements, when memory could ever count them, and there are not too many axes.
pub(crate) fn checked_size(shape: &[usize]) -> Result<usize> {
    if shape.len() > MAX_RANK {
        return Err(Error::new(ErrorKind::Shape, "array").says(format!(
            "maximum supported dimension for an ndarray is currently {MAX_RANK}, found {}",
            shape.len()
        )));
    }
    let mut size = 1usize;
    for extent in shape.iter().filter(|e| **e != 0) {
        size = size.checked_mul(*extent).filter(|s| *s <= isize::MAX as usize / 16).ok_or_else(
            || {
                Error::new(ErrorKind::Shape, "array").says(
                    "array is too big; `arr.size * arr.dtype.itemsize` is larger than the \
                     maximum possible size.",
                )
            },
        )?;
    }
    Ok(size_of(shape))
}
