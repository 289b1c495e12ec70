//! Prints the shaders of launches for several devices, and compares them with snapshots.
//!
//! Owns [`Case`] and its checks. Not here: the cases (`snapshots.rs`).

use gpupy_codegen::compute::{self, KernelFeatures, Language};
use gpupy_codegen::fragment::{self, DrawRequest, DrawTarget, TextureLayout, Version};
use gpupy_codegen::split_program::SplitProgram;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Scalar};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::path::PathBuf;

/// The facts of a launch that its shaders depend on.
pub struct Case {
    pub program: Program,
    pub shape: Vec<usize>,
    pub accesses: Vec<Access>,
    pub operands: Vec<TextureLayout>,
    pub target: (TextureLayout, Access, bool),
    pub specialise: bool,
}

impl Case {
    pub fn source(&self) -> String {
        self.source_of(&(0..self.program.dests.len() as u32).collect::<Vec<_>>())
    }

    /// The shader of a draw of some destinations.
    pub fn source_of(&self, stores: &[u32]) -> String {
        let (layout, access, whole) = &self.target;
        let (mut program, mut operands) = (self.program.clone(), self.operands.clone());
        let mut stores = stores.to_vec();
        if let Some(planes) = SplitProgram::of(&program) {
            let dests = planes.dests.iter().zip(0..);
            stores =
                dests.filter(|((d, _), _)| stores.contains(&(*d as u32))).map(|p| p.1).collect();
            operands = planes.operands.iter().map(|(operand, _)| operands[*operand]).collect();
            program = planes.program;
        }
        let params: Vec<u64> = program.params.iter().map(|d| pattern(*d)).collect();
        let request = DrawRequest {
            program: &program,
            shape: &self.shape,
            accesses: &self.accesses,
            operands: &operands,
            params: &params,
            stores: &stores,
            target: DrawTarget { layout: *layout, access, whole: *whole },
            specialise: self.specialise,
        };
        let planned = fragment::plan(&request).unwrap();
        fragment::source(&program, &planned.plan, Version::V400)
    }
}

impl Case {
    /// The compute kernel that writes some destinations.
    pub fn kernel_of(&self, stores: &[u32], device: &KernelFeatures) -> Option<String> {
        let mut dtypes = self.program.insts.iter().map(|inst| inst.dtype);
        let known = dtypes.all(|dtype| device.stored(dtype).is_some());
        if !known || !device.supports_form(self.program.form.kind()) {
            return None;
        }
        let (_, access, whole) = &self.target;
        let params: Vec<u64> = self.program.params.iter().map(|d| pattern(*d)).collect();
        let lengths: Vec<usize> = self.operands.iter().map(|layout| layout.len).collect();
        let request = compute::DispatchRequest {
            program: &self.program,
            shape: &self.shape,
            accesses: &self.accesses,
            params: &params,
            lengths: &lengths,
            stores,
            targets: &vec![(access, *whole); stores.len()],
            adds: false,
            specialise: self.specialise,
        };
        let planned = compute::plan(device, &request).unwrap();
        Some(compute::source(&self.program, &planned.plan, device))
    }
}

/// A device with all Vulkan features.
pub const VULKAN: KernelFeatures = KernelFeatures {
    language: Language::Glsl,
    addresses: true,
    int64: true,
    float64: true,
    bytes: true,
    halves: true,
    group: 256,
    group_bytes: 16_384,
    groups: 65535,
    push_bytes: 128,
    guards: false,
    shares: true,
};

/// [`VULKAN`] with bound storage buffers in place of addresses.
pub const BOUND: KernelFeatures = KernelFeatures { addresses: false, ..VULKAN };

/// A device with the least features of WGSL.
pub const WEB: KernelFeatures = KernelFeatures {
    language: Language::Wgsl,
    int64: false,
    float64: false,
    bytes: false,
    halves: false,
    guards: true,
    shares: false,
    ..VULKAN
};

pub const DEVICES: [(&str, KernelFeatures); 3] =
    [("comp", VULKAN), ("bound.comp", BOUND), ("wgsl", WEB)];

pub fn pattern(dtype: DType) -> u64 {
    match dtype {
        DType::F32 => Scalar::f32(2.5).bits,
        DType::I32 => Scalar::i32(-3).bits,
        _ => 1,
    }
}

/// Compares the shaders of a case in every dialect.
pub fn check(name: &str, case: &Case) {
    let all: Vec<u32> = (0..case.program.dests.len() as u32).collect();
    check_some(name, case, &all);
}

pub fn check_some(name: &str, case: &Case, stores: &[u32]) {
    check_text(&format!("{name}.frag"), &case.source_of(stores));
    check_kernels(name, case, stores);
}

/// Parses and validates a kernel with naga.
pub fn validate(name: &str, kernel: &str) {
    let module = naga::front::wgsl::parse_str(kernel);
    let module = module.unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(kernel)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    if let Err(error) = validator.validate(&module) {
        panic!("{name}: {}\n{kernel}", error.emit_to_string(kernel));
    }
}

/// Compares the compute kernels of a case.
pub fn check_kernels(name: &str, case: &Case, stores: &[u32]) {
    for (extension, device) in &DEVICES {
        if let Some(kernel) = case.kernel_of(stores, device) {
            check_text(&format!("{name}.{extension}"), &kernel);
            if device.language == Language::Wgsl {
                validate(name, &kernel);
            }
        }
    }
}

pub fn check_text(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("GPUPY_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
        return;
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        got == wanted,
        "{} is not what is generated now; GPUPY_BLESS=1 rewrites it\n{got}",
        path.display()
    );
}

pub fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

pub fn square(len: usize) -> TextureLayout {
    TextureLayout::square(len, 16384).unwrap()
}

pub fn rows(len: usize, row: usize) -> TextureLayout {
    TextureLayout::rows(len, row, 16384).unwrap()
}

/// A case of `f` of one operand, which has the layout of the destination.
pub fn unary(dtype: DType, f: impl FnOnce(&mut Builder, u32) -> u32) -> Case {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(dtype));
    let x = b.load(x, all);
    let value = f(&mut b, x);
    b.store(value);
    Case {
        program: b.finish(),
        shape: vec![1000],
        accesses: vec![access(0, &[1])],
        operands: vec![square(1000)],
        target: (square(1000), access(0, &[1]), true),
        specialise: false,
    }
}

/// A case that copies a view of an operand into a block of 64 rows of 64.
pub fn view(kind: AccessKind, operand: TextureLayout, offset: i64, strides: &[i64]) -> Case {
    let mut b = Builder::new(Form::Map, strides.len() as u32);
    let (moved, x) = (b.access(kind), b.operand(DType::F32));
    let x = b.load(x, moved);
    b.store(x);
    Case {
        program: b.finish(),
        shape: vec![64; strides.len()],
        accesses: vec![access(offset, strides)],
        operands: vec![operand],
        target: (rows(4096, 64), access(0, &[64, 1]), true),
        specialise: false,
    }
}
