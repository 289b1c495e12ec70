//! Compiles WGSL to SPIR-V that forbids the contraction of float arithmetic.
//!
//! Owns [`compile`], under the feature `spirv`. WGSL cannot forbid a compiler to fuse, fold or reassociate floats;
//! SPIR-V can. naga translates the kernel, and this file decorates every float operation with `NoContraction`. So a
//! kernel needs no guards against its compiler on a device that takes SPIR-V.
//!
//! Not here: the text of kernels (`text`), pipelines (drivers).

use super::KernelFeatures;
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Float arithmetic: `OpFNegate`, `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpFRem`, `OpFMod`, `OpVectorTimesScalar`.
const ARITHMETIC: [u16; 8] = [127, 129, 131, 133, 136, 140, 141, 142];

const OP_DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;
/// Words before the first instruction.
const HEADER: usize = 5;

/// True for instructions that precede annotations: capabilities, modes, names.
fn is_before_annotations(op: u16) -> bool {
    matches!(op, 2..=17 | 330 | 331)
}

/// The SPIR-V of the entry point `main` of a WGSL kernel, with the 64-bit types of the device.
///
/// # Errors
/// The message of naga.
pub fn compile(wgsl: &str, device: &KernelFeatures) -> Result<Vec<u32>, String> {
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::FLOAT64, device.float64);
    capabilities.set(Capabilities::SHADER_INT64, device.int64);
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|e| e.emit_to_string(wgsl))?;
    let unchecked = naga::proc::BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        // Every access of a kernel is inside its block, and every loop ends.
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let entry = spv::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".to_owned(),
    };
    let words = spv::write_vec(&module, &info, &options, Some(&entry));
    words.map(decorate).map_err(|error| error.to_string())
}

/// The opcodes and positions of a module's instructions.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u16, usize)> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let word = *words.get(at)?;
        let here = at;
        at += (word >> 16).max(1) as usize;
        Some((word as u16, here))
    })
}

/// Decorates all float arithmetic with `NoContraction`.
fn decorate(words: Vec<u32>) -> Vec<u32> {
    // In `op type result …`, the result is the decorated id.
    let decorations: Vec<u32> = instructions(&words)
        .filter(|(op, _)| ARITHMETIC.contains(op))
        .flat_map(|(_, at)| [3 << 16 | OP_DECORATE, words[at + 2], NO_CONTRACTION])
        .collect();
    let annotations = instructions(&words)
        .find(|(op, _)| !is_before_annotations(*op))
        .map_or(words.len(), |(_, at)| at);
    let mut decorated = words;
    decorated.splice(annotations..annotations, decorations);
    decorated
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::compute::Language;

    const DEVICE: KernelFeatures = KernelFeatures {
        language: Language::Wgsl,
        addresses: false,
        int64: false,
        float64: false,
        bytes: false,
        halves: false,
        group: 64,
        group_bytes: 0,
        groups: 1,
        push_bytes: 0,
        guards: false,
        shares: false,
    };

    const KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(1)
fn main() {
    x[0] = x[1] * x[2] + x[3];
    x[1] = -(x[0] / 3.0) - f32(u32(x[2]) + 1u);
}
";

    #[test]
    fn arithmetic_on_floats_is_decorated_and_nothing_else() {
        let words = compile(KERNEL, &DEVICE).unwrap();
        let mut results = Vec::new();
        let mut decorated = Vec::new();
        for (op, at) in instructions(&words) {
            match op {
                // Negation, sum, difference, product, quotient.
                127 | 129 | 131 | 133 | 136 => results.push(words[at + 2]),
                71 if words[at + 2] == NO_CONTRACTION => decorated.push(words[at + 1]),
                _ => {}
            }
        }
        results.sort_unstable();
        decorated.sort_unstable();
        assert_eq!(results.len(), 5);
        assert_eq!(decorated, results);
    }

    #[test]
    fn what_naga_refuses_is_said_with_its_place() {
        let error = compile("@compute fn main() { let x = y; }", &DEVICE);
        assert!(error.unwrap_err().contains('y'));
    }

    #[test]
    fn types_of_64_bits_pass_where_the_device_has_them() {
        for (dtype, has) in [
            ("f64", KernelFeatures { float64: true, ..DEVICE }),
            ("i64", KernelFeatures { int64: true, ..DEVICE }),
        ] {
            let kernel =
                KERNEL.replace("f32>", &format!("{dtype}>")).replace("f32(", &format!("{dtype}("));
            let kernel = kernel.replace("3.0", &format!("{dtype}(x[3])"));
            assert!(compile(&kernel, &DEVICE).is_err(), "{dtype}");
            assert!(compile(&kernel, &has).is_ok(), "{dtype}: {:?}", compile(&kernel, &has));
        }
    }
}
