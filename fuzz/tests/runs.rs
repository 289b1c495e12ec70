//! A few thousand inputs for each target.
#![allow(clippy::unwrap_used)]

use gpupy_fuzz::engine::{Plan, run};
use gpupy_fuzz::{Reached, TARGETS, Target, target};
use std::path::PathBuf;
use std::time::Duration;

const PLAN: Plan = Plan { runs: 2000, seed: 1, time: Duration::MAX };

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn no_input_of_a_few_thousand_panics() {
    for target in TARGETS {
        let file = file(target.name);
        let outcome = run(target, PLAN, &file).unwrap();
        assert!(!outcome.failed, "gpupy-fuzz {} --input {}", target.name, file.display());
        assert_eq!(outcome.runs, PLAN.runs);
        assert!(outcome.reached > 10, "{}: {} ends", target.name, outcome.reached);
    }
}

#[test]
fn the_same_plan_runs_the_same_inputs_and_the_one_that_panics_is_in_its_file() {
    fn fragile(input: &[u8]) -> Reached {
        assert!(!input.contains(&b'7'), "there is a 7");
        (target("text").unwrap().run)(input)
    }
    let seeds = || vec![b"form map\nrank 1\n".to_vec()];
    let target = Target { name: "fragile", does: "breaks", run: fragile, seeds, is_text: true };
    let inputs = ["first", "second"].map(|name| {
        let outcome = run(&target, PLAN, &file(name)).unwrap();
        assert!(outcome.failed && outcome.runs < PLAN.runs);
        (outcome, std::fs::read(file(name)).unwrap())
    });
    assert!(inputs[0].1.contains(&b'7'));
    assert_eq!(inputs[0], inputs[1]);
}
