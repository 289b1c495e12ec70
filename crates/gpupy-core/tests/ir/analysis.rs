//! Liveness and uniformity of random programs, compared with definitions by single instructions.

use crate::generate;
use gpupy_core::Op;
use gpupy_core::ir::Program;
use proptest::prelude::*;

/// The loops around an instruction, by the positions that open and end them.
fn loops_around(program: &Program, at: usize) -> impl Iterator<Item = (usize, usize)> {
    let ends = program.region_ends();
    let opens = (0..at).filter(|open| program.insts[*open].op == Op::Loop);
    let found: Vec<_> = opens.map(|open| (open, ends[open])).filter(|(_, end)| *end > at).collect();
    found.into_iter()
}

/// The instructions that a value depends on, itself included; of the result of an `if`, the condition, and its value
/// in both branches.
fn dependencies(program: &Program, at: usize) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), vec![at]);
    while let Some(at) = open.pop() {
        if found.contains(&at) {
            continue;
        }
        found.push(at);
        let inst = &program.insts[at];
        open.extend(program.uses(inst).map(|value| value as usize));
        if inst.op == Op::Result {
            let (region, which) = (inst.args[0], inst.args[1] as usize);
            found.push(region as usize);
            open.push(program.insts[region as usize].args[0] as usize);
            let closers = program
                .insts
                .iter()
                .filter(|inst| matches!(inst.op, Op::Else | Op::End) && inst.args[0] == region);
            open.extend(closers.map(|inst| program.uses(inst).nth(which).unwrap() as usize));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_a_live_instruction_needs_is_live_and_nothing_else(seed: u64, dest in 0u32..3) {
        let program = generate::program(seed);
        let live = program.live(|_, inst| inst.op == Op::Store && inst.args[0] == dest);
        let regions = program.region_ends();
        for (at, inst) in program.insts.iter().enumerate() {
            let mut needs: Vec<usize> = program.uses(inst).map(|value| value as usize).collect();
            if matches!(inst.op, Op::Result | Op::Carry | Op::Iter) {
                needs.push(inst.args[0] as usize);
                needs.push(regions[inst.args[0] as usize]);
            }
            prop_assert!(!live[at] || needs.iter().all(|needed| live[*needed]), "{at}\n{program}");
            let is_root = inst.op == Op::Store && inst.args[0] == dest;
            let is_needed = (0..program.insts.len()).any(|user| {
                let of = &program.insts[user];
                let of_region = matches!(of.op, Op::Result | Op::Carry | Op::Iter | Op::Else | Op::End)
                    && of.args[0] as usize == at;
                let closes = matches!(inst.op, Op::Else | Op::End) && user == inst.args[0] as usize;
                live[user] && (of_region || closes || program.uses(of).any(|value| value as usize == at))
            });
            prop_assert!(!live[at] || is_root || is_needed, "{at}\n{program}");
        }
    }

    #[test]
    fn a_value_lives_until_its_last_use_and_through_loops_that_use_it_from_outside(seed: u64) {
        let program = generate::program(seed);
        let last = program.last_uses(&program.region_ends());
        let mut used = vec![0usize; program.insts.len()];
        for (at, inst) in program.insts.iter().enumerate() {
            for value in program.uses(inst).map(|value| value as usize) {
                let outer = loops_around(&program, at).find(|(open, _)| *open > value);
                let until = outer.map_or(at, |(_, end)| end);
                prop_assert!(last[value] >= until, "{value} at {at}\n{program}");
                used[value] = used[value].max(until);
            }
        }
        for (value, used) in used.into_iter().enumerate() {
            let op = program.insts[value].op;
            let is_opening = matches!(op, Op::Loop | Op::If);
            let is_asked_again = program.insts.iter().any(|inst| {
                matches!(inst.op, Op::Loop | Op::If) && inst.args[0] as usize == value
            });
            prop_assert!(
                is_opening || is_asked_again || last[value] == used.max(value),
                "{value}\n{program}"
            );
        }
    }

    #[test]
    fn as_many_values_live_as_are_between_their_first_and_last_use(seed: u64) {
        let program = generate::program(seed);
        let last = program.last_uses(&program.region_ends());
        let held = |at: usize| {
            let counts = |value: &usize| {
                !matches!(program.insts[*value].op, Op::Const | Op::Param) && last[*value] > *value
            };
            (0..=at).filter(counts).filter(|value| last[*value] >= at).count() as u32
        };
        let most = (0..program.insts.len()).map(held).max().unwrap_or(0);
        prop_assert_eq!(program.most_live_values(), most, "{}", program);
    }

    #[test]
    fn a_value_is_uniform_if_it_depends_on_nothing_that_differs_between_points(
        seed: u64,
        differing: u64,
    ) {
        let program = generate::program(seed);
        let is_uniform = |at: usize| differing >> (at % 64) & 1 == 0;
        let uniform = program.uniform(is_uniform);
        for (at, inst) in program.insts.iter().enumerate() {
            let of_rows = |op| {
                matches!(op, Op::Reduce | Op::Scan | Op::Sort | Op::ArgSort | Op::MatMul | Op::Routine)
            };
            let control = matches!(inst.op, Op::Loop | Op::If | Op::Else | Op::End | Op::Store);
            let reached = dependencies(&program, at);
            let differs = reached.iter().any(|at| match program.insts[*at].op {
                Op::Load | Op::Index => !is_uniform(*at),
                op => matches!(op, Op::Carry | Op::Loop) || of_rows(op),
            });
            prop_assert_eq!(uniform[at], !control && !differs, "{}\n{}", at, program);
        }
    }
}
