//! The bytes of the assembler, disassembled.

use crate::check::{compiled, isas};
use crate::generate;
use crate::rng::Rng;
use gpupy_core::DType::{Bool, F16, F32, F64, I32, I64, U64};
use gpupy_jit::{Isa, RowStride};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};

#[test]
fn code_is_made_of_instructions_that_the_machine_has() {
    for isa in isas() {
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let dtypes = [F32, F16, I32, Bool, F64, I64, U64];
            let dtypes = if seed % 2 == 0 { &dtypes[..4] } else { &dtypes };
            let program = generate::program(&mut rng, isa, dtypes, 80);
            let variant = crate::check::variant(&program, RowStride::Unit);
            let kernel = compiled(&program, &variant, isa);
            read_back(isa, kernel.code());
        }
    }
}

fn read_back(isa: Isa, code: &[u8]) {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut last = Mnemonic::INVALID;
    let mut starts = vec![];
    let mut targets = vec![];
    while decoder.can_decode() {
        let inst = decoder.decode();
        assert!(!inst.is_invalid(), "{isa:?}: bytes at {:#x}", inst.ip());
        starts.push(inst.ip());
        if matches!(
            inst.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        ) {
            targets.push(inst.near_branch_target());
        }
        let needs = inst.cpuid_features();
        let needs: Vec<String> = needs.iter().map(|need| format!("{need:?}")).collect();
        let has = ["INTEL8086", "INTEL386", "X64", "AVX", "AVX2", "BMI2", "INTEL186", "F16C"];
        let has_too = ["AVX512F", "AVX512VL", "AVX512DQ", "AVX512BW"];
        for need in &needs {
            let had = has.contains(&need.as_str())
                || isa == Isa::Avx512 && has_too.contains(&need.as_str());
            assert!(had, "{isa:?}: {inst} needs {need}");
        }
        last = inst.mnemonic();
    }
    // Detours come after the end, and jump back.
    assert!(matches!(last, Mnemonic::Ret | Mnemonic::Jmp));
    assert!(targets.iter().all(|target| starts.contains(target)));
}
