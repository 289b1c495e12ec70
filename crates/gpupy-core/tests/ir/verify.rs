//! The verifier accepts the builder's programs, and reports the error in others.

use crate::generate;
use gpupy_core::DType;
use gpupy_core::ir::{Builder, Form, Program, pieces_lowering};
use gpupy_core::op::Op;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn everything_that_the_builder_makes_is_valid(seed: u64) {
        let program = generate::program(seed);
        prop_assert!(program.verify().is_ok(), "{:?}\n{}", program.verify(), program);
    }

    #[test]
    fn a_program_without_numbers_in_pieces_is_valid_and_takes_the_same_launches(seed: u64) {
        let program = generate::program(seed);
        let lowered = pieces_lowering::lowered(&program);
        prop_assert!(lowered.verify().is_ok(), "{:?}\n{}", lowered.verify(), lowered);
        prop_assert!(!pieces_lowering::is_in(&lowered));
        let lists = |of: &Program| (of.operands.clone(), of.params.clone(), of.dests.clone());
        prop_assert_eq!(lists(&lowered), lists(&program));
        prop_assert_eq!(lowered.accesses, program.accesses);
    }

    #[test]
    fn a_changed_program_is_refused_or_still_prints(seed: u64, change: u64) {
        let mut program = generate::program(seed);
        let mut rng = generate::Rng(change | 1);
        let at = rng.below(program.insts.len());
        let other = program.insts[rng.below(program.insts.len())];
        let inst = &mut program.insts[at];
        match rng.below(4) {
            0 => inst.args[rng.below(3)] = rng.next() as u32,
            1 => inst.args[rng.below(3)] = rng.below(8) as u32,
            2 => *inst = other,
            _ => inst.dtype = other.dtype,
        }
        if program.verify().is_ok() {
            prop_assert_eq!(program.to_string().parse::<Program>().unwrap(), program);
        }
    }
}

#[test]
fn every_mistake_is_named() {
    const MAP: &str = "form map\nrank 1\noperands float32\nparams int32 bool float32\n\
                       accesses contiguous\ndests float32\n";
    let sum = MAP.replace("map", "reduce add");
    // Each body follows a header (a map unless it says sum). The last field is the expected message.
    let cases = [
        ("%0 = param float32 p2", "destination `0` has no `store`"),
        ("%0 = param float32 p0", "the dtype is `float32`, not `int32`"),
        ("%0 = param float32 p3", "parameter `3` is not among the 3 that the program has"),
        ("%0 = load float32 o1 a0", "operand `1` is not among the 1"),
        ("%0 = load float32 o0 a1", "access `1` is not among the 1"),
        ("%0 = const bool 0x2", "`0x2` is not among the bits of `bool`, at most 0x1"),
        ("%0 = const float32 0x100000000", "is not among the bits of `float32`"),
        ("%0 = const complex64 0x0", "`complex64` has no literals"),
        ("%0 = neg float32 %0", "value `0` is not defined before"),
        ("%0 = param int32 p0\n%1 = sqrt int32 %0", "`sqrt` does not take (`int32`)"),
        ("%0 = param bool p1\n%1 = sub bool %0 %0", "`sub` does not take (`bool`, `bool`)"),
        ("%0 = param int32 p0\n%1 = lt int32 %0 %0", "the dtype is `int32`, not `bool`"),
        ("%0 = param bool p1\n%1 = gather float32 o0 %0", "the index is `bool`, not `int32`"),
        ("%0 = param bool p1\n%1 = piece int32 %0 (%0)", "the number is `bool`, not `int32`"),
        ("%0 = param int32 p0\n%1 = piece int32 %0 ()", "the ends of pieces are (), not int32"),
        ("%0 = param int32 p0\n%1 = choose int32 %0 ()", "it chooses from ()"),
        (
            "%0 = param int32 p0\n%1 = param bool p1\n%2 = choose int32 %0 (%0 %1)",
            "it chooses from (`int32`, `bool`)",
        ),
        ("%0 = param bool p1\n%1 = loop %0 ()", "the count is `bool`, not `int32`"),
        ("%0 = param int32 p0\n%1 = if %0", "the condition is `int32`, not `bool`"),
        ("%0 = param bool p1\n%1 = if %0\nend %1 ()", "region `1` has no `else`"),
        ("%0 = param bool p1\n%1 = if %0\nelse %1 ()\nelse %1 ()", "has its `else` already"),
        ("%0 = param bool p1\n%1 = if %0\nelse %1 ()\nend %1 (%0)", "gives (`bool`) here and ()"),
        ("%0 = param bool p1\n%1 = if %0", "region `1` has no `end`"),
        ("%0 = param int32 p0\n%1 = loop %0 (%0)\nelse %1 (%0)", "region `1` is a loop"),
        ("%0 = param int32 p0\n%1 = loop %0 (%0)\nend %0 (%0)", "is not the innermost open one"),
        ("%0 = param int32 p0\n%1 = loop %0 (%0)\nend %1 ()", "gives () here and (`int32`)"),
        ("%0 = param int32 p0\n%1 = loop %0 ()\n%2 = carry int32 %1 0", "carried value `0` is not"),
        ("%0 = param int32 p0\n%1 = iter int32 %0", "no loop `0` is open here"),
        (
            "%0 = param int32 p0\n%1 = loop %0 ()\n%2 = iter int32 %1\nend %1 ()\n%4 = neg int32 %2",
            "value `2` cannot be seen here",
        ),
        ("%0 = param int32 p0\n%1 = loop %0 ()\n%2 = neg int32 %1", "instruction `1` has no value"),
        ("%0 = param int32 p0\n%1 = loop %0 ()\n%2 = result int32 %1 0", "no finished region"),
        ("%0 = param float32 p2\nstore d0 %0\nstore d0 %0", "destination `0` has a second `store`"),
        ("%0 = param int32 p0\nstore d0 %0", "the stored value is `int32`, not `float32`"),
        (
            "%0 = param int32 p0\n%1 = loop %0 ()\n%2 = param float32 p2\nstore d0 %2",
            "`store` stands inside a region",
        ),
        ("%0 = param float32 p2\n%1 = reduce float32 %0", "the map form has no `reduce`"),
        ("sum%0 = param float32 p2\nstore d0 %0", "`store` stands before `reduce`"),
        ("sum%0 = param float32 p2", "destination `0` has no `store`"),
        ("sum%0 = param bool p1\n%1 = reduce bool %0", "`add` does not reduce `bool`"),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = reduce float32 %1",
            "value `1` is another reduction's result",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = reduce float32 %0",
            "a further `reduce` names no operation, but `0`",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = reduce float32 %0 and",
            "`and` does not reduce `float32`",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = reduce float32 %0 sqrt",
            "`sqrt` does not reduce `float32`",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0 add",
            "the first `reduce` has the form's operation and names none",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = neg float32 %1\n\
             %3 = reduce float32 %0 max",
            "value `0` cannot be seen here",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = param float32 p2\n\
             %3 = reduce float32 %2 max",
            "a further `reduce` stands apart from those before it",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\n%2 = reduce float32 %0 max\n\
             store d0 %0",
            "value `0` cannot be seen here",
        ),
        (
            "sum%0 = param float32 p2\n%1 = reduce float32 %0\nstore d0 %0",
            "value `0` cannot be seen here",
        ),
    ];
    for (body, wanted) in cases {
        let (head, body) = match body.strip_prefix("sum") {
            Some(body) => (sum.as_str(), body),
            None => (MAP, body),
        };
        let error = (head.to_string() + body).parse::<Program>().unwrap().verify().unwrap_err();
        assert!(error.to_string().contains(wanted), "{body}\ngave  {error}\nnot   {wanted}");
    }
}

#[test]
fn the_epilogue_sees_all_reductions_and_each_has_its_dtype() {
    let text = "form reduce add\nrank 1\noperands float32 int32\nparams\n\
        accesses contiguous\ndests float32 int32 bool\n\
        %0 = load float32 o0 a0\n%1 = load int32 o1 a0\n%2 = lt bool %1 %1\n\
        %3 = reduce float32 %0\n%4 = reduce float32 %0 min\n%5 = reduce int32 %1 xor\n\
        %6 = reduce bool %2 or\n%7 = sub float32 %3 %4\n\
        store d0 %7\nstore d1 %5\nstore d2 %6\n";
    let program: Program = text.parse().unwrap();
    program.verify().unwrap();
    assert_eq!(program.to_string(), text);
    let found: Vec<_> = program.reductions().map(|r| (r.at, r.op, r.value, r.dtype)).collect();
    let wanted = [
        (3, Op::Add, 0, DType::F32),
        (4, Op::Min, 0, DType::F32),
        (5, Op::Xor, 1, DType::I32),
        (6, Op::Or, 2, DType::Bool),
    ];
    assert_eq!(found, wanted);
    assert_eq!(program.reduce_range(), Some(3..7));
    // An unknown operation code, and one that does not fit a `u16`.
    for code in [60_000, 1 << 16 | Op::Min as u32] {
        let mut other = program.clone();
        other.insts[4].args[1] = code;
        let error = other.verify().unwrap_err().to_string();
        assert!(error.contains("names no operation"), "{error}");
    }
}

#[test]
fn the_builder_makes_equal_reductions_one_and_the_first_the_form_s() {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
    let x = b.param(DType::I32);
    let y = b.op(Op::Mul, &[x, x]);
    let most = b.reduce_by(Op::Max, y);
    assert_ne!(b.reduce_by(Op::Add, y), most);
    assert_ne!(b.reduce_by(Op::Max, x), most);
    assert_eq!(b.reduce_by(Op::Max, y), most);
    assert_eq!(b.reduce(y), most);
    b.store(most);
    let program = b.finish();
    program.verify().unwrap();
    assert_eq!(program.form, Form::Reduce { op: Op::Max });
    assert_eq!(program.reductions().count(), 3);
}

#[test]
fn a_whole_program_form_has_loads_its_instruction_and_a_store() {
    let head = |form: &str, rank: u32, dest: &str| {
        format!(
            "form {form}\nrank {rank}\noperands float32 float32 bool\nparams\n\
             accesses affine affine affine\ndests {dest}\n"
        )
    };
    const LOADS: &str = "%0 = load float32 o0 a0\n%1 = load float32 o1 a1\n";
    let check = |head: String, body: &str, wanted: &str| {
        let program: Program = (head + body).parse().unwrap();
        let said = program.verify().map_or_else(|error| error.to_string(), |()| "fine".into());
        assert!(said.contains(wanted), "{program}\ngave  {said}\nnot   {wanted}");
    };
    let with = |form: &str, body: &str, wanted: &str| {
        check(head(form, 3, "float32"), &(LOADS.to_owned() + body), wanted);
    };
    with("matmul", "%2 = matmul float32 %0 %1\nstore d0 %2", "fine");
    with("scan add", "%2 = scan float32 %0 %1\nstore d0 %2", "fine");
    with("matmul", "%2 = matmul float32 %1 %0\nstore d0 %2", "its operands' loads, in their order");
    with(
        "matmul",
        "%2 = neg float32 %1\n%3 = matmul float32 %0 %2\nstore d0 %3",
        "and nothing else",
    );
    with(
        "matmul",
        "%2 = matmul float32 %0 %1\n%3 = neg float32 %2\nstore d0 %3",
        "has one `store`",
    );
    with("matmul", "%2 = matmul float32 %0 %1\nstore d0 %1", "value `1` cannot be seen here");
    with("matmul", "%2 = matmul int32 %0 %1\nstore d0 %2", "the dtype is `int32`, not `float32`");
    with("matmul", "%2 = scan float32 %0 %1\nstore d0 %2", "the matmul form has no `scan`");
    with("matmul", "store d0 %1", "`store` stands before `matmul`");
    with("scan and", "%2 = scan float32 %0 %1\nstore d0 %2", "`and` does not scan `float32`");
    with("sort", "%2 = sort float32 %0\nstore d0 %2", "in their order, and nothing else");
    let sort = "%0 = load float32 o0 a0\n%1 = sort float32 %0\nstore d0 %1";
    check(head("sort", 1, "float32"), sort, "fine");
    let argsort = "%0 = load bool o2 a0\n%1 = argsort int32 %0\nstore d0 %1";
    check(head("sort", 1, "int32"), argsort, "fine");
    let flat = LOADS.to_owned() + "%2 = matmul float32 %0 %1\nstore d0 %2";
    check(head("matmul", 2, "float32"), &flat, "the matmul form has at least 3 axes");
    let mixed =
        "%0 = load float32 o0 a0\n%1 = load bool o2 a1\n%2 = matmul float32 %0 %1\nstore d0 %2";
    check(head("matmul", 3, "float32"), mixed, "the second operand is `bool`, not `float32`");
}

#[test]
fn there_is_one_memory_form() {
    let valid: Program = "form map\nrank 1\noperands\nparams int32\naccesses\ndests int32\n\
        %0 = param int32 p0\n%1 = loop %0 (%0)\nend %1 (%0)\nstore d0 %0"
        .parse()
        .unwrap();
    valid.verify().unwrap();
    let check = |change: &dyn Fn(&mut Program), wanted: &str| {
        let mut program = valid.clone();
        change(&mut program);
        let error = program.verify().unwrap_err().to_string();
        assert!(error.contains(wanted), "gave {error}, not {wanted}");
    };
    check(&|p| p.insts[0].args[2] = 5, "an unused argument is `5`, not 0");
    check(&|p| p.insts[2].args[1] = 0, "the value list starts at `0`, not at 1");
    check(&|p| p.insts[2].args[2] = 9, "values `1..10` are not among the 2 listed ones");
    check(&|p| p.extra.push(0), "instructions name 2 of 3 listed values");
    check(&|p| p.rank = 0, "rank `0` is not between 1 and 64");
    check(&|p| p.dests.clear(), "the program has no destination");
}
