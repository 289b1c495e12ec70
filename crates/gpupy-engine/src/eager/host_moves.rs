//! Eager moves: writes, copies and joins of elements in host memory, without any driver.
//!
//! Owns [`write_own`], [`write()`], [`write_element`], [`copied`], [`filled`] and [`joined`]. Invariant: elements are
//! moved only when all of them are computed and in host memory.
//!
//! Not here: where elements may be written ([`Current::make_mut`]), masks (`small_boolean_mask.rs`), index arrays
//! (`small_fancy_index.rs`); writes that are recorded (`recorder.rs`) and evaluated (`host_assign.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::{Contents, Current};
use crate::array::owned_elements::OwnedElements;
use crate::eager::borrow::{BorrowGuard, BorrowedOperand, HostView};
use crate::graph::join::Join;
use crate::graph::value::{Copies, Input, Operand, Origin, Value};
use crate::memory::access;
use crate::memory::cow_buffer::CowBuffer;
use crate::memory::element_bytes::{ElementBytes, copy_seen, fill, fill_all, place, put};
use crate::memory::ranges::Ranges;
use crate::memory::strided::gather;
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::memory;
use gpupy_core::shape::{contiguous_strides, size_of};

/// Writes an operand (see `source_of`) into a view of a base with these contents, where that is a move in host memory;
/// `None`, with nothing done, where the write has to be recorded.
///
/// A scalar is written in place, if the elements have no other owner. Where the write is little work, so are elements
/// of an array in host memory; and few elements with other owners are copied first.
pub(crate) fn write(
    current: &mut Current,
    dest: &Array,
    source: &Operand,
    little: bool,
) -> Option<()> {
    // The whole base gets another value, without any move.
    if dest.is_whole() && dest.size() > 1 {
        return None;
    }
    let data = data(dest, source, little)?;
    let most = if little { T.most_points } else { 0 };
    let bytes = current.make_mut_at(Copies::UpTo(most), || written(dest))?;
    put(bytes, dest.dtype().size(), dest.layout(), &data);
    Some(())
}

/// The positions that a write into a view changes.
fn written(dest: &Array) -> Ranges {
    dest.layout().positions(T.sent_ranges)
}

/// The source elements of a write, in C order; one element for a scalar.
fn data(dest: &Array, source: &Operand, little: bool) -> Option<ElementBytes> {
    match source {
        (Input::Scalar(scalar), _) => {
            Some(ElementBytes::from_slice(scalar.bytes().get(..dest.dtype().size())?))
        }
        (input, Some(value)) if little => {
            elements(value, &input.access(dest.shape()), dest.shape())
        }
        _ => None,
    }
}

/// Writes few elements into a view of a base that has its own, if the source is in host memory and needs no
/// broadcasting but of one element; `None`, with nothing done, for others.
pub(crate) fn write_own(dest: &Array, source: &ArrayOrScalar<'_>) -> Option<()> {
    let size = dest.dtype().size();
    // The borrowed source is not the destination's base, whose lock is taken below.
    let borrowed;
    let data = match source {
        ArrayOrScalar::Scalar(scalar) if scalar.dtype != dest.dtype() => return None,
        ArrayOrScalar::Scalar(scalar) => {
            WriteSource::Of(HostView::Copied(ElementBytes::from_slice(scalar.bytes().get(..size)?)))
        }
        ArrayOrScalar::Array(array) if !fits(array, dest) => return None,
        ArrayOrScalar::Array(array) if is_better_shared(array, dest) => return share(array, dest),
        ArrayOrScalar::Array(array) if array.shares_base(dest) => {
            WriteSource::Within(array.layout())
        }
        ArrayOrScalar::Array(_) => {
            borrowed = BorrowGuard::of(&[*source])?;
            WriteSource::Of(borrowed.operands.first()?.elements(size)?.apart())
        }
    };
    let mut current = dest.current_to_write()?;
    let bytes = current.make_mut_at(few(), || written(dest))?;
    match data {
        WriteSource::Of(data) => put(bytes, size, dest.layout(), &data),
        WriteSource::Within(view) => move_within(bytes, size, view, dest.layout())?,
    }
    current.version += 1;
    Some(())
}

/// Whether a write replaces all elements of a base by all those of another one, and these are so many that a copy takes
/// longer than to share their memory.
fn is_better_shared(array: &Array, dest: &Array) -> bool {
    array.size() * array.dtype().size() >= T.shared_bytes
        && dest.is_whole()
        && array.is_whole()
        && !array.shares_base(dest)
}

/// Has a base read the memory of another one, until either of them is written; `None`, with nothing done, where exports
/// or other owners write one of them.
fn share(array: &Array, dest: &Array) -> Option<()> {
    let memory = array.current_now()?.own_mut()?.share()?;
    let mut current = dest.current_to_write()?;
    let Contents::Own(own) = current.held() else { return None };
    if own.is_pinned() || own.is_foreign() {
        return None;
    }
    let shape = own.shape.clone();
    let shared = CowBuffer::shared(memory);
    let own = OwnedElements::new(dest.dtype(), shape, Origin::Eager, shared);
    current.replace(Contents::Own(own));
    Some(())
}

/// Puts the elements that one view of these bytes shows where another one does, as they were before; `None`
/// where the former leaves them.
fn move_within(bytes: &mut [u8], size: usize, from: &View, to: &View) -> Option<()> {
    let (mut few, mut many) = ([0; STACK], None);
    let len = from.size() * size;
    let copy = match few.get_mut(..len) {
        Some(few) => few,
        None => many.insert(memory::zeroed(len).ok()?),
    };
    copy_seen(copy, bytes, size, from)?;
    put(bytes, size, to, copy);
    Some(())
}

/// The elements that an eager write may copy.
#[inline]
pub(crate) fn few() -> Copies {
    Copies::UpTo(T.most_points)
}

/// Bytes of elements that are copied by way of the stack.
const STACK: usize = 1 << 10;

/// The source of a write.
enum WriteSource<'a> {
    Of(HostView<'a>),
    /// Elements of the destination's base.
    Within(&'a View),
}

/// Whether an array is written element by element, or is one element.
fn fits(array: &Array, dest: &Array) -> bool {
    array.dtype() == dest.dtype()
        && (array.shape() == dest.shape() || array.size() == 1 && array.ndim() <= dest.ndim())
}

/// Writes one element of the array's dtype at a position of a base that has its own; false, with nothing done, for
/// others, and where these are not the bytes of one element.
pub(crate) fn write_element(array: &Array, position: isize, element: &[u8]) -> bool {
    let size = array.dtype().size();
    let Some(mut current) = array.current_to_write() else { return false };
    let mut write = || {
        let at = usize::try_from(position).ok()?;
        if element.len() != size {
            return None;
        }
        let own = current.make_mut_at(few(), || Ranges::of(at..at + 1))?;
        own.get_mut(at * size..(at + 1) * size)?.copy_from_slice(element);
        Some(())
    };
    let is_written = write().is_some();
    current.version += u64::from(is_written);
    is_written
}

/// A copy of elements in host memory; `None` for others, and for a whole value, which takes no copy.
pub(crate) fn copied(array: &Array) -> Option<Array> {
    let current = array.current_now()?;
    let (dtype, view) = (array.dtype(), array.layout());
    let own = |elements: &[u8]| Array::own(dtype, array.shape(), Origin::Eager, elements);
    match current.held() {
        Contents::Own(held) if array.is_contiguous() => {
            let start = array.offset() as usize * dtype.size();
            own(held.bytes().get(start..start + array.size() * dtype.size())?)
        }
        Contents::Own(held) => Array::made(dtype, array.shape(), Origin::Eager, 0, |room| {
            copy_seen(room, held.bytes(), dtype.size(), view)
        }),
        Contents::Value(value) if !array.is_whole() => {
            let walk = access::access(view.offset, &view.strides);
            own(&elements(value, &walk, &view.shape)?)
        }
        Contents::Value(_) | Contents::Nothing => None,
    }
}

/// Few elements that are all the same scalar.
pub(crate) fn filled(shape: &[usize], scalar: Scalar) -> Option<Array> {
    let (size, bytes) = (scalar.dtype.size(), scalar.bytes());
    let element = bytes.get(..size)?;
    Array::made(scalar.dtype, shape, Origin::Given, 0, |room| {
        match scalar.bits {
            0 => room.fill(0),
            _ => fill_all(room, element),
        }
        Some(())
    })
}

/// Elements of arrays in host memory, one behind the other; `None` where they are not there, or there are none.
pub(crate) fn joined(shape: &[usize], join: &Join, arrays: &[Array]) -> Option<Array> {
    let dtype = arrays.first()?.dtype();
    let (len, size) = (size_of(shape), dtype.size());
    if len == 0 {
        return None;
    }
    let (axis, whole) = (join.axis as usize, View::contiguous(shape));
    Array::made(dtype, shape, Origin::Eager, 0, |bytes| {
        for (part, array) in arrays.iter().filter(|array| array.size() > 0).enumerate() {
            let view = whole.slice_axis(axis, join.start(part), array.shape()[axis], 1);
            let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
            let borrowed = guard.operands.first()?;
            let data = borrowed.elements(size)?;
            match borrowed {
                BorrowedOperand::Scalar(_) => fill(bytes, &view, &data),
                BorrowedOperand::Memory(..) => place(bytes, size, &view, &data),
            }
        }
        Some(())
    })
}

/// The elements of a value that an access names, in C order, if they are in host memory.
fn elements(value: &Value, walk: &Access, shape: &[usize]) -> Option<ElementBytes> {
    let size = value.dtype().size();
    if size_of(shape) == 0 {
        // The access of nothing may lead anywhere.
        return Some(ElementBytes::new());
    }
    let reach = access::reach(walk, shape);
    let state = value.state();
    let bytes = state.host_bytes(reach.clone(), size)?;
    if contiguous_strides(shape).iter().zip(&walk.strides).all(|(a, b)| *a as i64 == *b) {
        return memory::small_copied(bytes).ok();
    }
    let walk = access::within(walk, &reach);
    gather(bytes, size, &walk, shape).ok().map(ElementBytes::from_vec)
}
