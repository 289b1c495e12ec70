//! Mutation tests: the suite catches a driver that breaks the contract. A good driver is changed in one way at
//! a time.

#![allow(clippy::unwrap_used)]

mod careless;
mod spoiled;

use careless::{Careless, Driven};
use gpupy_conformance::{Case, Options, Verdict};
use gpupy_core::driver::Driver;
use gpupy_core::op::Op;
use spoiled::{Spoil, Spoiled};

#[track_caller]
fn check(how: Spoil, wanted: &str) {
    detects(&format!("{how:?}"), move || Spoiled::boxed(how), wanted);
}

#[track_caller]
fn check_careless(how: Careless, wanted: &str) {
    detects(&format!("{how:?}"), move || Driven::boxed(how), wanted);
}

/// Asserts that a case whose full name begins so fails.
#[track_caller]
fn detects(how: &str, make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static, wanted: &str) {
    let group = wanted.split('/').next();
    let wanted_group = |name: &str, _: &str| group == Some(name);
    let options = Options { wanted: Some(&wanted_group), ..Options::default() };
    let report = gpupy_conformance::run(make, options).unwrap();
    let failed: Vec<_> = report.failures().map(Case::full_name).collect();
    assert!(failed.iter().any(|case| case.starts_with(wanted)), "{how}: failed are {failed:#?}");
}

#[test]
fn a_driver_that_is_not_spoiled_passes() {
    gpupy_conformance::check(|| Spoiled::boxed(Spoil::Nothing));
}

#[test]
fn wrong_operations_are_caught() {
    check(Spoil::Swap(Op::Floor, Op::Trunc), "elementwise/floor");
    check(Spoil::Swap(Op::Lt, Op::Le), "elementwise/lt");
    check(Spoil::Swap(Op::Shr, Op::Shl), "elementwise/shr");
    check(Spoil::Swap(Op::Fmod, Op::Copysign), "elementwise/fmod");
    check(Spoil::Swap(Op::Cast, Op::Bitcast), "dtypes/");
    check(Spoil::Swap(Op::Max, Op::Min), "reductions/max");
}

#[test]
fn wrong_launches_are_caught() {
    check(Spoil::OtherTree, "reductions/add of float32");
    check(Spoil::OtherTree, "several_reductions/of one float32");
    check(Spoil::OneOperation, "several_reductions/of one int32");
    check(Spoil::OneValue, "several_reductions/as many as the driver takes");
    check(Spoil::LastPoint, "views/");
    check(Spoil::Outside, "eval_ir/");
    check(Spoil::DestOffset, "eval_ir/");
    check(Spoil::StaleScalars, "eval_ir/again and again");
    check(Spoil::Operands, "elementwise/");
    check(Spoil::Panic, "eval_ir/");
}

#[test]
fn wrong_blocks_are_caught() {
    check(Spoil::LateRead, "block_read/parts of a block");
    check(Spoil::ShortWrite, "block_write/whole blocks");
    check(Spoil::NoLimit, "block_alloc/a device");
    check(Spoil::OtherKind, "block_alloc/a device");
    check(Spoil::Leak, "block_alloc/a device");
}

#[test]
fn wrong_answers_are_caught() {
    check(Spoil::FreeParts, "resource_get/is an upper bound");
    check(Spoil::AllFits, "resource_check/agrees");
    check(Spoil::Denied(Op::Sqrt), "get_method/agrees");
    check(Spoil::Claimed(Op::Loop), "regions/");
    check(Spoil::Fickle, "init/again after cleanup");
}

#[test]
fn wrong_bits_are_caught() {
    check(Spoil::QuietNan, "specials/a copy keeps every bit");
    check(Spoil::QuietNan, "specials/select keeps every bit");
    check(Spoil::PositiveZero, "specials/neg of zeros");
    check(Spoil::Flushes, "specials/add of subnormals");
}

#[test]
fn careless_answers_to_mistakes_are_caught() {
    check_careless(Careless::TakesDead, "block_read/of a block that was freed");
    check_careless(Careless::TakesDead, "block_write/to a block that was freed");
    check_careless(Careless::TakesDead, "eval_ir/operand: a block that was freed");
    check_careless(Careless::TakesDead, "eval_ir/on host memory, operands that are not there");
    check_careless(Careless::TakesDead, "eval_ir/on host memory, destinations that are not there");
    check_careless(Careless::TakesNothing, "eval_ir/on host memory, lengths that no block has");
    check_careless(Careless::ReusesNumbers, "block_alloc/no number is given out twice");
    check_careless(Careless::ReusesNumbers, "block_write/to a block that was freed");
    check_careless(Careless::Panics, "block_read/ranges outside");
    check_careless(Careless::Panics, "block_write/ranges outside");
    check_careless(Careless::Clips, "block_read/ranges outside");
    check_careless(Careless::Clips, "block_write/ranges outside");
    check_careless(Careless::ClipsAndRefuses, "block_read/ranges outside");
    check_careless(Careless::ClipsAndRefuses, "block_write/ranges outside");
    check_careless(Careless::TakesEmpty, "block_read/ranges outside");
    check_careless(Careless::TakesNothing, "block_alloc/lengths that no block has");
    check_careless(Careless::PanicsAtSecondFree, "block_free/of a block that was freed");
    check_careless(Careless::PanicsAtUnsupported, "check_ir/what is absent is unsupported");
}

#[test]
fn careless_errors_are_caught() {
    check_careless(Careless::Gone, "block_read/of a block that was freed");
    check_careless(Careless::Gone, "block_alloc/no room leaves blocks as they were");
    check_careless(Careless::Gone, "eval_ir/a program that does not fit");
    check_careless(Careless::Forgets, "block_write/to a block that was freed");
    check_careless(Careless::Forgets, "eval_ir/destination: a block that was freed");
    check_careless(Careless::WritesFirst, "eval_ir/second destination: a block that was freed");
    check_careless(Careless::WritesFirst, "eval_ir/a program that is unsupported");
    check_careless(Careless::WritesFirst, "several_reductions/last destination:");
}

#[test]
fn careless_writes_are_caught() {
    check_careless(Careless::PastTheEnd, "elementwise/");
    check_careless(Careless::PastTheEnd, "reductions/");
    check_careless(Careless::PastTheEnd, "several_reductions/");
    check_careless(Careless::PastTheEnd, "eval_ir/on host memory, one piece as several operands");
    check_careless(Careless::TakesPositionsForHandles, "eval_ir/on host memory, again and again");
    check_careless(Careless::TakesPositionsForHandles, "reductions/");
    check_careless(Careless::WritesOnwards, "block_write/parts leave the rest");
}

#[test]
fn careless_opening_and_closing_is_caught() {
    check_careless(Careless::OpensTwice, "init/a second time");
    check_careless(Careless::StaysOpen, "cleanup/nothing works afterwards");
    check_careless(Careless::StaysOpen, "init/again after cleanup");
    check_careless(Careless::BoundToThread, "init/on one thread, for another");
    check_careless(Careless::BoundToThread, "eval_ir/by several threads in turns");
}

const KNOWN: &str = "elementwise/floor float32 of arrays";

/// The verdict on one case of a driver whose `floor` is wrong, or right, where it is known to fail.
fn known_failure(how: Spoil, case: &str) -> (Verdict, String) {
    let wanted = |group: &str, name: &str| format!("{group}/{name}") == case;
    let expected = &[(case, "floor is broken here")];
    let options = Options { wanted: Some(&wanted), expected, ..Options::default() };
    let report = gpupy_conformance::run(move || Spoiled::boxed(how), options).unwrap();
    assert_eq!(report.cases.len(), 1);
    (report.cases[0].verdict, report.cases[0].reason.clone())
}

#[test]
fn a_known_failure_is_no_failure_and_has_its_reason() {
    let (verdict, reason) = known_failure(Spoil::Swap(Op::Floor, Op::Ceil), KNOWN);
    assert_eq!((verdict, reason.as_str()), (Verdict::Expected, "floor is broken here"));
}

#[test]
fn a_known_failure_that_passes_is_a_failure() {
    let (verdict, reason) = known_failure(Spoil::Nothing, KNOWN);
    assert_eq!(verdict, Verdict::Failed);
    assert_eq!(reason, "expected to fail (floor is broken here), but it passed");
}

#[test]
fn a_known_failure_that_is_skipped_or_does_not_exist_is_a_failure() {
    let (verdict, reason) = known_failure(Spoil::Nothing, "regions/a choice");
    assert_eq!(verdict, Verdict::Failed);
    assert!(reason.contains("but skipped"), "{reason}");
    let (verdict, reason) = known_failure(Spoil::Nothing, "elementwise/no such thing");
    assert_eq!(verdict, Verdict::Failed);
    assert_eq!(reason, "expected to fail, but there is no such case");
}

#[test]
#[should_panic(expected = "1 cases failed")]
fn check_with_panics_where_a_known_failure_passes() {
    gpupy_conformance::check_with(driver_soft::new, &[(KNOWN, "it is not broken")]);
}
