//! Text, serde and fingerprint of random programs.

use crate::generate;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, FormKind, Program};
use gpupy_core::op::{OPS, Op};
use proptest::prelude::*;
use std::collections::HashSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_printed_reads_back_as_the_same_program(seed: u64) {
        let program = generate::program(seed);
        let text = program.to_string();
        let again: Program = text.parse().unwrap();
        prop_assert_eq!(&again, &program, "{}", text);
        prop_assert_eq!(again.fingerprint(), program.fingerprint());
    }

    #[test]
    fn serde_keeps_the_program(seed: u64) {
        let program = generate::program(seed);
        let json = serde_json::to_string(&program).unwrap();
        prop_assert_eq!(serde_json::from_str::<Program>(&json).unwrap(), program);
    }

    #[test]
    fn a_changed_program_has_another_fingerprint(seed: u64, at: usize, bit in 0u32..32) {
        let program = generate::program(seed);
        let mut other = program.clone();
        let at = at % other.insts.len();
        other.insts[at].args[0] ^= 1 << bit;
        prop_assert_ne!(other.fingerprint(), program.fingerprint());
        other = program.clone();
        other.rank += 1;
        prop_assert_ne!(other.fingerprint(), program.fingerprint());
    }

    #[test]
    fn text_with_a_changed_character_never_panics(seed: u64, at: usize, put in "[ -~]?") {
        let mut text = generate::program(seed).to_string();
        let at = at % text.len();
        text.replace_range(at..at + 1, &put);
        if let Ok(program) = text.parse::<Program>() {
            let _ = program.verify();
        }
    }
}

#[test]
fn json_has_the_names_of_the_text_form() {
    let json = |name: &str| serde_json::Value::from(name);
    for row in OPS {
        assert_eq!(serde_json::to_value(row.op).unwrap(), json(row.name));
    }
    for dtype in DType::ALL {
        assert_eq!(serde_json::to_value(dtype).unwrap(), json(dtype.name()));
    }
    for kind in FormKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), json(kind.name()));
        let number = if kind.combines() { Op::Add as u32 } else { 0 };
        let form = serde_json::to_value(kind.with(number).unwrap()).unwrap();
        let wanted = match kind {
            FormKind::Routine => serde_json::json!({ kind.name(): { "routine": "fft" } }),
            _ if kind.combines() => serde_json::json!({ kind.name(): { "op": "add" } }),
            _ => json(kind.name()),
        };
        assert_eq!(form, wanted);
    }
    for kind in [AccessKind::Contiguous, AccessKind::Uniform, AccessKind::Affine] {
        assert_eq!(serde_json::to_value(kind).unwrap(), json(&kind.to_string()));
    }
}

#[test]
fn random_programs_have_every_instruction() {
    let seen: HashSet<Op> = (0..3000)
        .flat_map(|seed| generate::program(seed).insts.into_iter().map(|inst| inst.op))
        .collect();
    let missing: Vec<_> =
        OPS.iter().filter(|row| !seen.contains(&row.op)).map(|row| row.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_not_a_program_is_refused_with_its_line() {
    const HEAD: &str = "form map\nrank 1\noperands\nparams float32\naccesses\ndests float32\n";
    let cases = [
        ("", "parse: the text ends before the line `form`"),
        ("form fold", "parse: there is no form `fold` (line: 1)"),
        ("form map\nrank -1", "parse: `-1` stands where `` and a number"),
        ("form map\nrank 1\noperands float128", "parse: there is no dtype `float128` (line: 3)"),
        (
            "form map\nrank 1\noperands\nparams\naccesses near",
            "there is no access `near` (line: 5)",
        ),
        ("+%1 = param float32 p0", "this is instruction `%0`, not `%1` (line: 7)"),
        ("+param float32 p0", "`param` lacks its name, `%0 =` (line: 7)"),
        ("+%0 = store d0 %0", "`store` has no value to name (line: 7)"),
        ("+%0 = twist float32 %0", "there is no operation `twist` (line: 7)"),
        ("+%0 = param float32 d0", "`d0` stands where `p` and a number"),
        ("+%0 = param float32", "the line ends where a number should be (line: 7)"),
        ("+%0 = param float32 p0 p1", "`p1` stands where the line should end (line: 7)"),
        ("+%0 = reduce float32 %0 const", "`const` combines nothing (line: 7)"),
        ("+%0 = reduce float32 %0 max min", "`min` stands where the line should end (line: 7)"),
        ("+%+0 = param float32 p0", "`%+0` stands where `%` and a number"),
        ("+%0 = const float32 1.0", "`1.0` stands where bits like `0x3f800000` should be"),
        (
            "+%0 = const int32 0x1\n\n%1 = loop %0 (%0",
            "the line ends where `)` should be (line: 9)",
        ),
    ];
    for (text, wanted) in cases {
        let text = text.replacen('+', HEAD, 1);
        let error = text.parse::<Program>().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}\ngave  {error}\nnot   {wanted}");
    }
}
