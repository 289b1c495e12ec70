//! Copy-on-write memory of elements: inline, own, shared, foreign or pinned; and all raw writes to host memory.
//!
//! Owns [`CowBuffer`]. Its one question is [`CowBuffer::make_mut`]: may the elements be written where they lie, or in a
//! copy? Few elements are stored inline, in the base itself (small-buffer optimisation). Invariants: bytes that another
//! owner reads are never written, but for those of exports, which see each write; a value's bytes are written before
//! its evaluated map has them, by one thread at a time.
//!
//! Not here: allocation (`host_buffer.rs`), the elements of a base (`array/owned_elements.rs`) and of a value
//! (`graph/value/stored.rs`), memory that drivers write (`gpupy_core::driver::HostMemory`).

use crate::memory::element_bytes::fill_all;
use crate::memory::host_buffer::HostBuffer;
use gpupy_core::memory::refused;
use gpupy_core::{Error, ErrorKind, Result};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes, aligned for every dtype, that are copied before a write where others read them.
pub(crate) struct CowBuffer {
    /// Where they are, if they are many or pinned.
    held: Option<Held>,
    /// The inline bytes otherwise. They are initialised once they are used, as moving others costs nothing.
    here: InlineBytes,
}

/// Bytes that are not inline.
enum Held {
    /// No other owner has them.
    Own(HostBuffer),
    /// Values or other code may have them, too, and none of these write them: the memory of a value, or foreign memory
    /// that is only read.
    Shared(Arc<HostBuffer>),
    /// Exports have them, too, and may write them at any time; or an address was given out as a number for the life of
    /// the base, whose users cannot be counted.
    Pinned { buffer: Arc<HostBuffer>, for_life: bool },
}

/// The most bytes that are stored inline.
const HERE: usize = 64;

#[repr(align(16))]
struct InlineBytes(MaybeUninit<[u8; HERE]>);

impl CowBuffer {
    /// Memory without room yet.
    #[inline(always)]
    pub fn blank() -> CowBuffer {
        CowBuffer { held: None, here: InlineBytes(MaybeUninit::uninit()) }
    }

    fn held(held: Held) -> CowBuffer {
        CowBuffer { held: Some(held), ..CowBuffer::blank() }
    }

    /// The bytes of a buffer that has no other owner.
    pub fn own(buffer: HostBuffer) -> CowBuffer {
        CowBuffer::held(Held::Own(buffer))
    }

    /// The bytes of a buffer that values or other code may read, too; all of them stay as they are.
    pub fn shared(buffer: Arc<HostBuffer>) -> CowBuffer {
        CowBuffer::held(Held::Shared(buffer))
    }

    /// The bytes of a buffer that exports have.
    pub fn pinned(buffer: Arc<HostBuffer>) -> CowBuffer {
        CowBuffer::held(Held::Pinned { buffer, for_life: false })
    }

    /// So many elements that are all the same one.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for them.
    pub fn full(element: &[u8], len: usize) -> Result<CowBuffer> {
        let bytes = len.checked_mul(element.len()).ok_or_else(|| refused(usize::MAX))?;
        let mut buffer = CowBuffer::blank();
        fill_all(buffer.make_room(bytes)?, element);
        Ok(buffer)
    }

    /// Makes room for so many bytes of its own in the place of the old ones. Their contents are unspecified.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room; nothing changed.
    #[inline(always)]
    pub fn make_room(&mut self, len: usize) -> Result<&mut [u8]> {
        match len {
            ..=HERE => {
                self.held = None;
                self.here.0.write([0; HERE]);
            }
            _ => self.held = Some(Held::Own(HostBuffer::new(len)?)),
        }
        // SAFETY: the memory was just made with at least `len` bytes, which are initialised, and is borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start_mut().as_ptr(), len) })
    }

    /// The first byte; it stays there as long as the buffer is not moved, or pinned.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        match &self.held {
            None => NonNull::from(&self.here.0).cast(),
            Some(Held::Own(buffer)) => buffer.start(),
            Some(Held::Shared(buffer) | Held::Pinned { buffer, .. }) => buffer.start(),
        }
    }

    /// The first byte, for writing.
    #[inline]
    fn start_mut(&mut self) -> NonNull<u8> {
        match &self.held {
            None => NonNull::from(&mut self.here.0).cast(),
            Some(_) => self.start(),
        }
    }

    /// The bytes, of which there are at least `len`.
    #[inline]
    pub fn bytes(&self, len: usize) -> &[u8] {
        // SAFETY: the memory has room for `len` bytes, all initialised. They are not written meanwhile: own ones are
        // written by `&mut self`, shared ones by nothing, and accesses of exports are for the front end to order.
        unsafe { std::slice::from_raw_parts(self.start().as_ptr(), len) }
    }

    /// The bytes, of which there are at least `len`, for writing: where they lie, or in a copy where others read them.
    /// `None` where there is no room for a copy.
    #[inline]
    pub fn make_mut(&mut self, len: usize) -> Option<&mut [u8]> {
        if let Some(Held::Shared(_)) = &self.held {
            self.unshare(len).ok()?;
        }
        // SAFETY: the memory has room for `len` bytes, all initialised. It is borrowed mutably and no other owner reads
        // it, but for exports, whose accesses are for the front end to order.
        Some(unsafe { std::slice::from_raw_parts_mut(self.start_mut().as_ptr(), len) })
    }

    /// Whether the bytes are written where they lie, at the address that they have now. Few bytes, which are inline,
    /// have none that is kept.
    #[inline]
    pub fn is_alone(&self) -> bool {
        match &self.held {
            None => false,
            Some(Held::Shared(buffer)) => HostBuffer::is_sole(buffer),
            Some(Held::Own(_) | Held::Pinned { .. }) => true,
        }
    }

    /// Makes shared bytes its own: those themselves, if they have no other owner any more, or a copy.
    #[cold]
    fn unshare(&mut self, len: usize) -> Result<()> {
        match self.held.take() {
            Some(Held::Shared(buffer)) if HostBuffer::is_sole(&buffer) => {
                buffer.count_again();
                self.held = Arc::into_inner(buffer).map(Held::Own);
            }
            Some(Held::Shared(buffer)) => {
                // SAFETY: shared bytes stay as they are.
                let copied = self
                    .make_room(len)
                    .map(|room| room.copy_from_slice(unsafe { buffer.bytes(0..len) }));
                if copied.is_err() {
                    self.held = Some(Held::Shared(buffer));
                }
                return copied;
            }
            held => self.held = held,
        }
        Ok(())
    }

    /// The memory, which others may read from now on, as this buffer does. `None` for inline bytes, and for those that
    /// exports or a foreign owner may write.
    pub fn share(&mut self) -> Option<Arc<HostBuffer>> {
        if let Some(Held::Own(buffer)) = self.held.take_if(|held| matches!(held, Held::Own(_))) {
            self.held = Some(Held::Shared(Arc::new(buffer)));
        }
        match &self.held {
            Some(Held::Shared(buffer)) if !buffer.is_lent() => Some(buffer.clone()),
            _ => None,
        }
    }

    /// Moves the bytes, which are not pinned, into memory that values share.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for few bytes, which were inline; nothing changed.
    pub fn take_shared(&mut self, len: usize) -> Result<Arc<HostBuffer>> {
        match self.held.take() {
            Some(Held::Own(buffer)) => Ok(Arc::new(buffer)),
            Some(Held::Shared(buffer) | Held::Pinned { buffer, .. }) => Ok(buffer),
            None => HostBuffer::from_bytes(self.bytes(len)).map(Arc::new),
        }
    }

    /// The memory for an export; the bytes stay there until the export is gone, or with `for_life` as long as the
    /// buffer lives.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for few bytes, which were inline, or for a copy of shared ones.
    pub fn pin(&mut self, len: usize, for_life: bool) -> Result<Arc<HostBuffer>> {
        if let Some(Held::Pinned { buffer, for_life: stays }) = &mut self.held {
            *stays |= for_life;
            return Ok(buffer.clone());
        }
        self.unshare(len)?;
        let buffer = self.take_shared(len)?;
        self.held = Some(Held::Pinned { buffer: buffer.clone(), for_life });
        Ok(buffer)
    }

    /// Whether exports show the bytes, or may.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        matches!(&self.held, Some(Held::Pinned { buffer, for_life }) if *for_life || !is_sole(buffer))
    }

    /// Whether the bytes are those of another owner, which are written there.
    pub fn is_foreign(&self) -> bool {
        match &self.held {
            Some(Held::Own(buffer)) => buffer.is_lent(),
            Some(Held::Pinned { buffer, .. }) => buffer.is_lent(),
            Some(Held::Shared(_)) | None => false,
        }
    }

    /// Whether there are exports that show the bytes.
    pub fn is_exported(&self) -> bool {
        matches!(&self.held, Some(Held::Pinned { buffer, .. }) if !is_sole(buffer))
    }

    /// Whether exports may have changed the bytes since this was asked last.
    pub fn was_pinned(&mut self) -> bool {
        if !matches!(self.held, Some(Held::Pinned { .. })) {
            return false;
        }
        if !self.is_pinned()
            && let Some(Held::Pinned { buffer, .. }) = self.held.take()
        {
            // Without exports it is asked for the last time.
            self.held = Some(Held::Shared(buffer));
        }
        true
    }
}

fn is_sole(buffer: &Arc<HostBuffer>) -> bool {
    Arc::strong_count(buffer) == 1
}

impl HostBuffer {
    /// Whether the memory may be written through this handle: there is no other handle, and the memory is not
    /// read-only.
    pub(crate) fn is_sole(this: &Arc<HostBuffer>) -> bool {
        !this.is_constant() && is_sole(this)
    }

    /// A copy of these bytes.
    ///
    /// # Errors
    /// As of `new`.
    pub fn from_bytes(bytes: &[u8]) -> Result<HostBuffer> {
        let buffer = HostBuffer::new(bytes.len())?;
        // SAFETY: the new buffer has as many bytes, and is not shared yet.
        unsafe {
            buffer.start().copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len())
        };
        Ok(buffer)
    }

    /// Has a range of bytes written, which no reader has yet: `is_unread` says so, and no other thread writes the
    /// buffer meanwhile.
    ///
    /// # Errors
    /// - `Invalid`: the range leaves the buffer, is read already, or another thread writes the buffer; nothing is
    ///   written. `OutOfMemory`: the process may have no more memory. Those of `write`.
    pub(crate) fn write_unread(
        &self,
        range: Range<usize>,
        is_unread: impl FnOnce() -> bool,
        write: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let is_within = range.start <= range.end && range.end <= self.len() && !self.is_constant();
        let sole = SoleWriter::begin(self.is_written());
        let Some(_sole) = sole.filter(|_| is_within && is_unread()) else {
            return Err(Error::new(ErrorKind::Invalid, "write")
                .says("the bytes are not there, or in use")
                .with("bytes", format!("{}..{}", range.start, range.end))
                .with("length", self.len()));
        };
        self.open(range.clone())?;
        // SAFETY: the range is in bounds and initialised. No reader has it, and no other writer has any of the buffer
        // while `_sole` lives.
        write(unsafe {
            std::slice::from_raw_parts_mut(self.start().add(range.start).as_ptr(), range.len())
        })
    }
}

/// The only thread that writes a buffer.
struct SoleWriter<'a>(&'a AtomicBool);

impl SoleWriter<'_> {
    fn begin(is_written: &AtomicBool) -> Option<SoleWriter<'_>> {
        (!is_written.swap(true, Ordering::Acquire)).then_some(SoleWriter(is_written))
    }
}

impl Drop for SoleWriter<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Whether there ever was an array over memory of others. Only then may two bases have elements in common.
static OVER: AtomicBool = AtomicBool::new(false);

/// Notes that there is an array over memory of others.
pub(crate) fn bases_overlap() {
    OVER.store(true, Ordering::Relaxed);
}

/// Whether elements of different bases may be the same ones.
#[inline]
pub(crate) fn bases_may_overlap() -> bool {
    OVER.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths around that of the inline bytes.
    const LENGTHS: [usize; 5] = [1, HERE - 1, HERE, HERE + 1, 5000];

    fn shared(len: usize) -> Result<Arc<HostBuffer>> {
        HostBuffer::from_bytes(&vec![7; len]).map(Arc::new)
    }

    fn written(buffer: &mut CowBuffer, len: usize) -> *const u8 {
        let bytes = buffer.make_mut(len).expect("there is room");
        bytes.fill(8);
        bytes.as_ptr()
    }

    #[test]
    fn a_state_costs_no_more_than_the_inline_bytes() {
        assert_eq!(size_of::<CowBuffer>(), 2 * HERE);
    }

    #[test]
    fn what_others_read_is_copied_before_it_is_written() -> Result<()> {
        for len in LENGTHS {
            let other = shared(len)?;
            let mut buffer = CowBuffer::shared(other.clone());
            assert_ne!(written(&mut buffer, len), other.as_ptr());
            assert_eq!(buffer.bytes(len), vec![8; len]);
            // SAFETY: nothing writes the bytes.
            assert_eq!(unsafe { other.bytes(0..len) }, vec![7; len]);
        }
        Ok(())
    }

    #[test]
    fn what_has_no_other_owner_any_more_is_written_where_it_lies() -> Result<()> {
        for len in LENGTHS {
            let other = shared(len)?;
            let address = other.as_ptr();
            let mut buffer = CowBuffer::shared(other);
            assert_eq!(written(&mut buffer, len), address);
            // Its own by now, it stays so.
            assert_eq!(written(&mut buffer, len), address);
        }
        Ok(())
    }

    #[test]
    fn foreign_memory_is_never_written() -> Result<()> {
        for len in LENGTHS {
            let owner = vec![7u8; len];
            let memory = NonNull::from(&owner[..]).cast();
            // SAFETY: the owner keeps the bytes, which nothing changes.
            let foreign = unsafe { HostBuffer::constant(memory, len, Box::new(())) };
            let mut buffer = CowBuffer::shared(Arc::new(foreign));
            assert_ne!(written(&mut buffer, len), owner.as_ptr());
            assert_eq!(owner, vec![7; len]);
        }
        Ok(())
    }

    #[test]
    fn exports_see_each_write_until_they_are_gone() -> Result<()> {
        for len in LENGTHS {
            let mut buffer = CowBuffer::full(&[7], len)?;
            let export = buffer.pin(len, false)?;
            assert!(buffer.is_pinned() && buffer.is_exported());
            assert_eq!(written(&mut buffer, len), export.as_ptr());
            drop(export);
            assert!(!buffer.is_pinned());
            assert!(buffer.was_pinned() && !buffer.was_pinned());
            drop(buffer.pin(len, true)?);
            assert!(buffer.is_pinned() && !buffer.is_exported());
        }
        Ok(())
    }

    #[test]
    fn bytes_are_written_once_by_one_writer() -> Result<()> {
        let buffer = HostBuffer::new(8)?;
        let nothing = |_: &mut [u8]| Ok(());
        assert!(buffer.write_unread(0..8, || true, nothing).is_ok());
        assert!(buffer.write_unread(0..8, || false, nothing).is_err());
        assert!(buffer.write_unread(0..9, || true, nothing).is_err());
        let again = |_: &mut [u8]| buffer.write_unread(0..1, || true, nothing);
        assert!(buffer.write_unread(4..8, || true, again).is_err());
        // A failed write lets the next one in.
        assert!(buffer.write_unread(4..8, || true, nothing).is_ok());
        Ok(())
    }
}
