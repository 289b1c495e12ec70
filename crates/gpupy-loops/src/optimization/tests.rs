//! Checks that are left out are those that hold, and a version runs with all of them where they may not.

use std::collections::HashSet;

use crate::code::Operation;
use crate::tests::{ARRAY, INT};
use crate::{DotFunctions, Given, Kind, Nest, NestVersion, Pause, Reason, flow, layout};

extern "C" fn no_dot(_: i64, _: i64, _: i64, _: i64, _: i64) -> i64 {
    0
}

/// `for i in range(range): a[index] = 1.0`, of the names `i, n, a`.
fn store(range: &str, index: &str) -> Nest {
    let value = 1.0_f64.to_bits();
    let body = format!(
        r#"{{"number":1,"does":{{"Assign":[[{{"Element":[2,[{{"At":{index}}}]]}}],{{"Float":{value}}}]}}}}"#
    );
    let text = format!(
        r#"{{"names":["i","n","a"],"body":{{"number":0,"does":{{"For":[0,[{range}],[],[{body}],[]]}}}}}}"#
    );
    serde_json::from_str(&text).expect("a nest")
}

/// Made for one extent and number, run with others: how many checks of indices are left, the exit, and how many
/// elements were stored.
fn run(nest: &Nest, made: (u64, u64), runs: (u64, u64)) -> (usize, Reason, usize, usize) {
    let given = [Given::Other, INT, ARRAY];
    let flow = flow(nest, &[0, 0, 1]);
    let (places, count) = layout(&given, flow.loops.len());
    let state = |(extent, number): (u64, u64), address: u64| {
        let mut state = vec![0; count];
        (state[2], state[3]) = (number, Kind::Int as u64);
        let [base, length, stride] = [0, 1, 2].map(|word| places[2] + word);
        (state[base], state[length], state[stride]) = (address, extent, 8);
        state
    };
    let mut found = Vec::new();
    for is_interpreted in [true, false] {
        let products = DotFunctions { of_doubles: no_dot, of_singles: no_dot };
        let version = NestVersion::new(&flow, &given, &state(made, 0), products, is_interpreted)
            .expect("a version");
        let operations = version.code().blocks.iter().flat_map(|block| &block.operations);
        let is_check =
            |one: &&Operation| matches!(one, Operation::Within(..) | Operation::Inside(..));
        // Rounds of a group have the same.
        let checks: HashSet<_> =
            operations.filter(is_check).map(|one| format!("{one:?}")).collect();
        let checks = checks.len();
        let mut memory = vec![0.0_f64; 16];
        let mut ask = || Some(7);
        let mut words = state(runs, memory.as_mut_ptr() as u64);
        // SAFETY: the state has the layout's words; the array lives until the end, and has more memory than it says.
        let exit = unsafe { version.run(&mut words, Pause::new(&mut ask)) };
        let stored = memory.iter().filter(|one| **one != 0.0).count();
        let beyond = memory[runs.0 as usize..].iter().any(|one| *one != 0.0);
        assert!(!beyond, "stored behind the end");
        found.push((checks, exit.reason, exit.statement, stored));
    }
    assert_eq!(found[0], found[1]);
    found[0]
}

const I: &str = r#"{"Name":0}"#;
const N: &str = r#"{"Name":1}"#;

fn of_two(operation: &str, left: &str, right: &str) -> String {
    format!(r#"{{"Binary":["{operation}",{left},{right}]}}"#)
}

#[test]
fn a_range_within_has_no_check_and_one_more_leaves_at_the_end() {
    let nest = store(N, I);
    for extent in [0, 1, 2, 5] {
        assert_eq!(
            run(&nest, (extent, extent), (extent, extent)),
            (0, Reason::Done, 0, extent as usize)
        );
        // Made where it is within, and run where it is not.
        let beyond = run(&nest, (extent, extent), (extent, extent + 1));
        assert_eq!(beyond, (0, Reason::Value, 1, extent as usize));
        // Made where it is not.
        let beyond = run(&nest, (extent, extent + 1), (extent, extent + 1));
        assert_eq!(beyond, (1, Reason::Value, 1, extent as usize));
    }
}

#[test]
fn a_neighbour_is_within_where_its_range_ends_before() {
    let one = r#"{"Int":1}"#;
    let after = of_two("Add", I, one);
    let less = of_two("Sub", N, one);
    for extent in [1, 2, 5] {
        let stored = extent as usize - 1;
        let within = run(&store(&less, &after), (extent, extent), (extent, extent));
        assert_eq!(within, (0, Reason::Done, 0, stored));
        let beyond = run(&store(&less, &after), (extent, extent), (extent, extent + 1));
        assert_eq!(beyond, (0, Reason::Value, 1, stored));
        let beyond = run(&store(N, &after), (extent, extent), (extent, extent));
        assert_eq!(beyond, (1, Reason::Value, 1, stored));
    }
}

#[test]
fn what_may_be_negative_counts_from_the_end() {
    let before = of_two("Sub", I, r#"{"Int":1}"#);
    // The last element, then the first ones.
    assert_eq!(run(&store(N, &before), (4, 4), (4, 4)), (1, Reason::Done, 0, 4));
    let from_one = format!(r#"{{"Int":1}},{N}"#);
    assert_eq!(run(&store(&from_one, &before), (4, 5), (4, 5)), (0, Reason::Done, 0, 4));
    assert_eq!(run(&store(&from_one, &before), (4, 5), (4, 6)), (0, Reason::Value, 1, 4));
    assert_eq!(run(&store(&from_one, &before), (4, 6), (4, 6)), (1, Reason::Value, 1, 4));
    // Versions do not know that it begins with 0 or 1.
    let masked = format!("{},{N}", of_two("BitAnd", N, r#"{"Int":1}"#));
    assert_eq!(run(&store(&masked, I), (4, 4), (4, 4)), (0, Reason::Done, 0, 4));
    assert_eq!(run(&store(&masked, I), (4, 5), (4, 5)), (1, Reason::Value, 1, 3));
    assert_eq!(run(&store(&masked, I), (4, 4), (4, 6)), (0, Reason::Value, 1, 4));
    assert_eq!(run(&store(N, r#"{"Int":-1}"#), (1, 3), (1, 3)), (0, Reason::Done, 0, 1));
    assert_eq!(run(&store(N, r#"{"Int":-1}"#), (1, 3), (0, 3)), (0, Reason::Value, 1, 0));
}

#[test]
fn ranges_that_count_down_and_remainders_are_within() {
    let down = format!(r#"{},{{"Int":-1}},{{"Int":-1}}"#, of_two("Sub", N, r#"{"Int":1}"#));
    assert_eq!(run(&store(&down, I), (5, 5), (5, 5)), (0, Reason::Done, 0, 5));
    assert_eq!(run(&store(&down, I), (5, 5), (5, 6)), (0, Reason::Value, 1, 0));
    let rest = of_two("Mod", &of_two("Add", I, r#"{"Int":3}"#), N);
    assert_eq!(run(&store(N, &rest), (5, 5), (5, 5)), (0, Reason::Done, 0, 5));
    assert_eq!(run(&store(N, &rest), (5, 5), (5, 6)).1, Reason::Value);
    assert_eq!(run(&store(N, &rest), (5, 6), (5, 6)).0, 1);
}
