//! What a device has that shapes its kernels.
//!
//! Owns [`KernelFeatures`] and [`Language`]. Invariant: a kernel asks for nothing that its device
//! lacks.
//!
//! Not here: what a kernel needs of it (`resources.rs`).

use crate::device::operation_support::OperationSupport;
use crate::dialect::Dialect;
use crate::dialect::glsl::Glsl;
use crate::dialect::wgsl::Wgsl;
use crate::emulation64::split_storage::EmulationLevel;
use gpupy_core::DType;
use gpupy_core::ir::{FormKind, Program};

/// The language of a kernel's text, and with it how a kernel reaches its blocks and the numbers of its
/// launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// GLSL 4.50 for Vulkan.
    ///
    /// With [`KernelFeatures::addresses`], blocks are reached by 64-bit device addresses
    /// (`GL_EXT_buffer_reference`), which stand before the launch's numbers: those of the operands,
    /// then those of the destinations that are stored. All of them are push constants where they fit
    /// ([`DispatchPlan::pushed`](super::DispatchPlan::pushed)); otherwise the one push constant is the address of
    /// memory that holds them.
    ///
    /// Without, blocks are the storage buffers of set 0 from binding 1 on, in the same order. The
    /// launch's numbers are push constants where they fit, otherwise a uniform buffer, binding 0.
    Glsl,
    /// WGSL. Blocks are storage buffers of group 0: the operands, read-only, from binding 1 on, then
    /// the destinations that are stored. Binding 0 is a uniform buffer of the launch's numbers.
    Wgsl,
}

/// What a device has that shapes a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelFeatures {
    /// The language of its kernels.
    pub language: Language,
    /// True when GLSL reaches blocks by addresses: of any size, and any number of them.
    pub addresses: bool,
    /// Integers of 64 bits.
    pub int64: bool,
    /// float64, in arithmetic and in blocks; of use with `int64` alone.
    pub float64: bool,
    /// Elements of 8 bits in blocks.
    pub bytes: bool,
    /// Elements of 16 bits in blocks.
    pub halves: bool,
    /// Invocations of a group: a power of two, from 32 to 1024.
    pub group: u32,
    /// Bytes of the memory that a group shares, of use with `shares`.
    pub group_bytes: u32,
    /// The most groups along one dimension of a dispatch.
    pub groups: u32,
    /// Bytes of push constants, at least 8; unused in WGSL.
    pub push_bytes: u32,
    /// True when float operations must be kept apart by their bits, because nothing else tells the
    /// compiler to.
    pub guards: bool,
    /// True when invocations share the points of a reduction through the group's memory, as hardware
    /// likes it; false when one takes them all, as it suits a CPU, where barriers are dear.
    pub shares: bool,
}

/// Blocks lie at multiples of so many bytes, and take a multiple of so many.
pub const ALIGNMENT: usize = 32;

impl KernelFeatures {
    /// Bytes that an element takes in a block; `None` for a dtype that kernels cannot have here.
    ///
    /// Where a device has no elements of 8 or 16 bits, these take 32: integers with their sign or
    /// zeros above, a bool as 0 or 1, a float16 as its bits.
    pub fn stored(&self, dtype: DType) -> Option<usize> {
        let there = match dtype {
            DType::I64 | DType::U64 => self.int64,
            // Much of its arithmetic is done by its bits.
            DType::F64 => self.float64 && self.int64,
            dtype => !dtype.is_complex(),
        };
        there.then(|| match dtype.size() {
            1 if !self.bytes => 4,
            2 if !self.halves => 4,
            size => size,
        })
    }

    /// Whether the group's memory has room for what the invocations of a program's reductions share.
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        // A bool takes four bytes, as any short value does.
        let bytes = |dtype: DType| 4 * dtype.size().max(4);
        let all: usize = program.reductions().map(|reduction| bytes(reduction.dtype)).sum();
        all * self.group as usize <= self.group_bytes as usize
    }

    /// The dtypes of which kernels have elements.
    pub fn dtypes(&self) -> Vec<DType> {
        DType::ALL.into_iter().filter(|dtype| self.stored(*dtype).is_some()).collect()
    }

    /// Whether kernels of this form can be had.
    pub fn supports_form(&self, form: FormKind) -> bool {
        form != FormKind::Sort
    }

    /// What becomes of 64-bit elements.
    pub fn split(&self) -> EmulationLevel {
        if self.int64 { EmulationLevel::Nothing } else { EmulationLevel::Integers }
    }

    /// What kernels do here, if the device does it right.
    pub fn abilities(&self) -> OperationSupport {
        let kept = |dtype: &DType| self.stored(*dtype).is_some() || self.split().splits(*dtype);
        let made = |form: &FormKind| *form != FormKind::Map && self.supports_form(*form);
        OperationSupport {
            dtypes: DType::ALL.into_iter().filter(kept).collect(),
            forms: FormKind::ALL.into_iter().filter(made).collect(),
            pairs: self.split() == EmulationLevel::Integers,
            ..OperationSupport::default()
        }
    }

    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        match (self.language, self.guards) {
            (Language::Glsl, _) => &Glsl,
            (Language::Wgsl, true) => &Wgsl { guards: true },
            (Language::Wgsl, false) => &Wgsl { guards: false },
        }
    }
}
