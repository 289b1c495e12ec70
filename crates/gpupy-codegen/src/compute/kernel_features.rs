//! Device features and limits that determine the text of kernels.
//!
//! Owns [`KernelFeatures`] and [`Language`]. Invariant: a kernel uses no feature that its device lacks.
//!
//! Not here: the resources that a kernel needs (`resources.rs`).

use crate::device::operation_support::OperationSupport;
use crate::dialect::Dialect;
use crate::dialect::glsl::Glsl;
use crate::dialect::wgsl::Wgsl;
use crate::emit::operations::is_emitted;
use crate::emulation64::split_storage::EmulationLevel;
use gpupy_core::DType;
use gpupy_core::ir::{FormKind, Program};

/// The language of kernels, which determines how a kernel reaches its blocks and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// GLSL 4.50 for Vulkan.
    ///
    /// With [`KernelFeatures::addresses`], a kernel reaches blocks by 64-bit device addresses
    /// (`GL_EXT_buffer_reference`). Addresses of operands, addresses of stored destinations, and the argument words, in
    /// this order, are push constants if they fit ([`DispatchPlan::pushed`](super::DispatchPlan::pushed)). Otherwise
    /// the only push constant is the address of memory that holds them.
    ///
    /// Without it, blocks are storage buffers of set 0 from binding 1 on, in the same order. The argument words are
    /// push constants if they fit, otherwise a uniform buffer at binding 0.
    Glsl,
    /// WGSL. Blocks are storage buffers of group 0: from binding 1 on the operands, read-only, then the stored
    /// destinations. Binding 0 is a uniform buffer of the argument words.
    Wgsl,
}

/// The features and limits of a device that determine its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelFeatures {
    /// The language of its kernels.
    pub language: Language,
    /// True if GLSL reaches blocks by addresses, which limit neither their size nor their number.
    pub addresses: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// float64, in arithmetic and in blocks. It is used only with `int64`.
    pub float64: bool,
    /// 8-bit elements in blocks.
    pub bytes: bool,
    /// 16-bit elements in blocks.
    pub halves: bool,
    /// Invocations of a workgroup: a power of two, from 32 to 1024.
    pub group: u32,
    /// Bytes of workgroup memory, which is used with `shares`.
    pub group_bytes: u32,
    /// The most workgroups along one dimension of a dispatch.
    pub groups: u32,
    /// Bytes of push constants, at least 8; unused in WGSL.
    pub push_bytes: u32,
    /// True if float operations must be separated by their bits ([`Wgsl::guards`](crate::Wgsl::guards)), because
    /// nothing else keeps the compiler from contracting them.
    pub guards: bool,
    /// True if invocations share the points of a reduction through workgroup memory, which suits GPUs. False if one
    /// invocation takes them all, which suits a CPU, where barriers are expensive.
    pub shares: bool,
}

/// Blocks start at multiples of this many bytes, and their sizes are multiples of it.
pub const ALIGNMENT: usize = 32;

impl KernelFeatures {
    /// Bytes of an element in a block; `None` for a dtype that kernels cannot have on this device. A narrow element
    /// takes four bytes if the device has no narrow storage (`elements.rs`).
    pub fn stored(&self, dtype: DType) -> Option<usize> {
        let there = match dtype {
            DType::I64 | DType::U64 => self.int64,
            // Much of float64 arithmetic works on its bits.
            DType::F64 => self.float64 && self.int64,
            dtype => is_emitted(dtype),
        };
        there.then(|| match dtype.size() {
            1 if !self.bytes => 4,
            2 if !self.halves => 4,
            size => size,
        })
    }

    /// Whether workgroup memory has room for the partial results of a program's reductions.
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        // A bool takes four bytes, like any narrow value.
        let bytes = |dtype: DType| 4 * dtype.size().max(4);
        let all: usize = program.reductions().map(|reduction| bytes(reduction.dtype)).sum();
        all * self.group as usize <= self.group_bytes as usize
    }

    /// The dtypes that kernels can have.
    pub fn dtypes(&self) -> Vec<DType> {
        DType::ALL.into_iter().filter(|dtype| self.stored(*dtype).is_some()).collect()
    }

    /// Whether kernels of this form are supported.
    pub fn supports_form(&self, form: FormKind) -> bool {
        !matches!(form, FormKind::Sort | FormKind::Routine)
    }

    /// The emulation of 64-bit elements that the device needs.
    pub fn split(&self) -> EmulationLevel {
        if self.int64 { EmulationLevel::Nothing } else { EmulationLevel::Integers }
    }

    /// The operations that kernels do here, if the device does them right.
    pub fn abilities(&self) -> OperationSupport {
        let kept = |dtype: &DType| self.stored(*dtype).is_some() || self.split().splits(*dtype);
        let made = |form: &FormKind| self.supports_form(*form);
        OperationSupport {
            dtypes: DType::ALL.into_iter().filter(kept).collect(),
            forms: FormKind::OFFERED.into_iter().filter(made).collect(),
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
