//! Loops whose rounds are done in groups, or written out, do what their rounds do one by one, and leave in the midst of
//! one with its names.

use crate::tests::{ARRAY, INT, assign, check, loop_of, name};
use crate::{Given, Kind, Reason};

const FLOAT: Given = Given::Number(Kind::F64, false);
const OTHER: Given = Given::Other;

fn binary(operation: &str, left: &str, right: &str) -> String {
    format!(r#"{{"Binary":["{operation}",{left},{right}]}}"#)
}

fn element(index: &str) -> String {
    format!(r#"{{"Element":[3,[{{"At":{index}}}]]}}"#)
}

fn int(value: i64) -> String {
    format!(r#"{{"Int":{value}}}"#)
}

fn store(number: usize, index: &str, value: &str) -> String {
    format!(r#"{{"number":{number},"does":{{"Assign":[[{}],{value}]}}}}"#, element(index))
}

#[test]
fn a_group_leaves_before_the_round_that_would_warn() {
    let text = loop_of(4, &assign(1, 2, &binary("Add", &name(2), &element(&name(0)))));
    for at in 0..13 {
        let mut array = vec![1.0; 13];
        array[at] = f64::MAX;
        let words = [0, 13, f64::MAX.to_bits(), 0];
        // What the sum was before is finite: one and the greatest number are the greatest number.
        let (reason, statement, words) =
            check(&text, &[OTHER, INT, FLOAT, ARRAY], &words, &mut [array]);
        assert_eq!((reason, statement, words[0]), (Reason::Value, 1, at as u64));
        assert_eq!(f64::from_bits(words[4]), f64::MAX);
    }
}

#[test]
fn a_sum_that_is_infinite_before_goes_on_without_a_warning() {
    let text = loop_of(4, &assign(1, 2, &binary("Sub", &name(2), &element(&name(0)))));
    for (first, at, wanted) in [
        (f64::INFINITY, 13, (Reason::Done, 12)),
        (f64::NAN, 13, (Reason::Done, 12)),
        // An infinite operand is to blame, and two of them are not.
        (1.0, 6, (Reason::Done, 12)),
        (f64::INFINITY, 6, (Reason::Value, 6)),
    ] {
        let mut array = vec![1.0; 13];
        array.iter_mut().skip(at).take(1).for_each(|one| *one = f64::INFINITY);
        let words = [0, 13, first.to_bits(), 0];
        let (reason, _, words) = check(&text, &[OTHER, INT, FLOAT, ARRAY], &words, &mut [array]);
        assert_eq!((reason, words[0]), wanted, "{first} {at}");
        assert!(!f64::from_bits(words[4]).is_finite());
    }
}

#[test]
fn a_group_leaves_before_the_round_whose_place_is_outside() {
    for beside in [-5, -1, 0, 2, 5] {
        let place = binary("Add", &name(0), &int(beside));
        let text = loop_of(4, &assign(1, 2, &binary("Add", &name(2), &element(&place))));
        for rounds in 0..12 {
            let array: Vec<f64> = (0..9).map(|one| 2.0_f64.powi(one)).collect();
            let (mut sum, mut last, mut is_done) = (0.0, 0, true);
            for i in 0..rounds {
                last = i;
                let place = i + beside;
                let place = if place < 0 { place + 9 } else { place };
                match usize::try_from(place).ok().and_then(|place| array.get(place)) {
                    Some(one) => sum += one,
                    None => {
                        is_done = false;
                        break;
                    }
                }
            }
            let words = [0, rounds as u64, 0, 0];
            let (reason, _, words) =
                check(&text, &[OTHER, INT, FLOAT, ARRAY], &words, &mut [array]);
            let wanted = if is_done { Reason::Done } else { Reason::Value };
            assert_eq!((reason, words[0], f64::from_bits(words[4])), (wanted, last as u64, sum));
        }
    }
}

#[test]
fn a_place_of_the_round_before_is_checked_in_each() {
    // `names[3][k] = 1.0; k = i + 1`, where k begins outside or within.
    let one = format!(r#"{{"Float":{}}}"#, 1.0_f64.to_bits());
    let body = [store(1, &name(2), &one), assign(2, 2, &binary("Add", &name(0), &int(1)))];
    let text = loop_of(4, &body.join(","));
    for (first, rounds, stored, wanted) in [
        (0, 6, 6, Reason::Done),
        (99, 6, 0, Reason::Value),
        (0, 9, 8, Reason::Value),
        (7, 8, 7, Reason::Done),
    ] {
        let mut arrays = [vec![0.0; 8]];
        let given = [OTHER, INT, INT, ARRAY];
        let (reason, ..) = check(&text, &given, &[0, rounds, first, 0], &mut arrays);
        let found = arrays[0].iter().filter(|one| **one == 1.0).count();
        assert_eq!((reason, found), (wanted, stored), "{first} {rounds}");
    }
}

#[test]
fn what_a_round_stores_is_read_by_the_next_one() {
    // `names[3][i + d] = names[3][i] + names[2]`.
    for beside in [1, 2, 3, 5] {
        let sum = binary("Add", &element(&name(0)), &name(2));
        let body = store(1, &binary("Add", &name(0), &int(beside)), &sum);
        let mut wanted: Vec<f64> = (0..20).map(f64::from).collect();
        for i in 0..14 {
            wanted[i + beside as usize] = wanted[i] + 0.5;
        }
        let mut arrays = [(0..20).map(f64::from).collect::<Vec<_>>()];
        let words = [0, 14, 0.5_f64.to_bits(), 0];
        let (reason, ..) =
            check(&loop_of(4, &body), &[OTHER, INT, FLOAT, ARRAY], &words, &mut arrays);
        assert_eq!((reason, &arrays[0]), (Reason::Done, &wanted));
    }
}

/// `for names[0] in range(names[1]): for names[2] in range(first, 2): body`.
fn with_few_rounds(names: usize, first: i64, body: &str) -> String {
    let range = format!("{},{}", int(first), int(2));
    let inner = format!(r#"{{"number":1,"does":{{"For":[2,[{range}],[],[{body}],[]]}}}}"#);
    loop_of(names, &inner)
}

#[test]
fn rounds_that_are_written_out_wrap_at_both_ends() {
    // `names[3][(i + j) % n] += j + 3`.
    for (extent, rounds) in [(1, 1_i64), (2, 2), (3, 3), (5, 5), (5, 4), (5, 7), (0, 0), (4, 9)] {
        for first in [-1, -2, 0, 1] {
            let rest = binary("Mod", &binary("Add", &name(0), &name(2)), &name(1));
            let value = binary("Add", &name(2), &int(3));
            let sum = binary("Add", &element(&rest), &value);
            let body = store(2, &rest, &sum);
            let mut wanted = vec![0.0; extent];
            let mut is_within = true;
            'all: for i in 0..rounds {
                for j in first..2 {
                    let Some(one) = wanted.get_mut((i + j).rem_euclid(rounds) as usize) else {
                        is_within = false;
                        break 'all;
                    };
                    *one += (j + 3) as f64;
                }
            }
            let mut arrays = [vec![0.0; extent]];
            let given = [OTHER, INT, OTHER, ARRAY];
            let text = with_few_rounds(4, first, &body);
            let (reason, ..) = check(&text, &given, &[0, rounds as u64, 0, 0], &mut arrays);
            let reasons = if is_within { Reason::Done } else { Reason::Value };
            assert_eq!((reason, &arrays[0]), (reasons, &wanted), "{extent} {rounds} {first}");
        }
    }
}

#[test]
fn a_round_that_is_written_out_leaves_with_its_own_item() {
    // The sum of items is more than 63 bits in the second round of the third time.
    let body = assign(2, 3, &binary("Add", &name(3), &name(2)));
    let given = [OTHER, INT, OTHER, Given::Number(Kind::Int, false)];
    let words = [0, 5, 0, (i64::MAX - 2) as u64];
    let (reason, statement, words) = check(&with_few_rounds(4, 0, &body), &given, &words, &mut []);
    assert_eq!((reason, statement, words[0], words[4]), (Reason::Value, 2, 2, 1));
    assert_eq!(words[6], i64::MAX as u64);
}

#[test]
fn counters_are_not_checked_unless_they_begin_near_the_end() {
    let text = loop_of(3, &assign(1, 2, &binary("Add", &name(2), &int(1))));
    let given = [OTHER, INT, Given::Number(Kind::Int, false)];
    for (first, wanted) in [(5, (Reason::Done, 15)), (i64::MAX - 3, (Reason::Value, i64::MAX))] {
        let (reason, _, words) = check(&text, &given, &[0, 10, first as u64], &mut []);
        assert_eq!((reason, words[4] as i64), wanted);
    }
}

#[test]
fn products_are_not_checked_where_what_they_are_of_is_small() {
    // `names[2] = (names[2] * 1103515245 + 12345) % 2**31`, and without the remainder.
    for (is_small, first) in [(true, 42), (true, i64::MAX), (true, -(1 << 40)), (false, 42)] {
        let product = binary("Mult", &name(2), &int(1_103_515_245));
        let sum = binary("Add", &product, &int(12_345));
        let rest = binary("Mod", &sum, &int(1 << 31));
        let text = loop_of(3, &assign(1, 2, if is_small { &rest } else { &sum }));
        let (mut state, mut rounds) = (first, 0);
        while rounds < 9 {
            let sum =
                i64::checked_mul(state, 1_103_515_245).and_then(|one| one.checked_add(12_345));
            let Some(sum) = sum else { break };
            state = if is_small { sum.rem_euclid(1 << 31) } else { sum };
            rounds += 1;
        }
        let given = [OTHER, INT, Given::Number(Kind::Int, false)];
        let (reason, _, words) = check(&text, &given, &[0, 9, first as u64], &mut []);
        let wanted = if rounds == 9 { Reason::Done } else { Reason::Value };
        assert_eq!((reason, words[4] as i64), (wanted, state), "{is_small} {first}");
    }
}

#[test]
fn a_choice_of_sums_is_one_of_them() {
    // `names[2] += 1 if i % 3 == 0 else -2`, by statements.
    let step = |number, by| assign(number, 2, &binary("Add", &name(2), &int(by)));
    let test =
        format!(r#"{{"Compare":[{},[["Eq",{}]]]}}"#, binary("Mod", &name(0), &int(3)), int(0));
    let body =
        format!(r#"{{"number":1,"does":{{"If":[{test},[{}],[{}]]}}}}"#, step(2, 1), step(3, -2));
    for first in [0, i64::MIN + 5] {
        let (mut sum, mut last) = (first, Reason::Done);
        for i in 0..11 {
            match i64::checked_add(sum, if i % 3 == 0 { 1 } else { -2 }) {
                Some(next) => sum = next,
                None => {
                    last = Reason::Value;
                    break;
                }
            }
        }
        let given = [OTHER, INT, Given::Number(Kind::Int, false)];
        let (reason, _, words) = check(&loop_of(3, &body), &given, &[0, 11, first as u64], &mut []);
        assert_eq!((reason, words[4] as i64), (last, sum));
    }
}

#[test]
fn a_loop_that_ends_by_its_sum_is_looked_at_in_each_round() {
    // `names[2] += names[3][i]`, and `break` where that is more than 10.
    let sum = assign(1, 2, &binary("Add", &name(2), &element(&name(0))));
    let ten = format!(r#"{{"Float":{}}}"#, 10.0_f64.to_bits());
    let test = format!(r#"{{"Compare":[{},[["Gt",{ten}]]]}}"#, name(2));
    let ends =
        format!(r#"{{"number":2,"does":{{"If":[{test},[{{"number":3,"does":"Break"}}],[]]}}}}"#);
    let text = loop_of(4, &format!("{sum},{ends}"));
    for at in 0..9 {
        let mut array = vec![1.0; 13];
        array[at] = f64::MAX;
        for (first, wanted) in
            [(0.0, (Reason::Done, f64::MAX)), (f64::MAX, (Reason::Done, f64::MAX))]
        {
            let given = [OTHER, INT, FLOAT, ARRAY];
            let words = [0, 13, f64::to_bits(first), 0];
            let (reason, _, words) = check(&text, &given, &words, &mut [array.clone()]);
            let is_first = first == 0.0 || at > 0;
            let wanted = if is_first { wanted } else { (Reason::Value, f64::MAX) };
            assert_eq!((reason, f64::from_bits(words[4])), wanted, "{first} {at}");
        }
    }
}

#[test]
fn remainders_by_less_than_what_is_added_are_divided() {
    for beside in [-3, -1, 1, 3] {
        let rest = binary("Mod", &binary("Add", &name(0), &int(beside)), &name(1));
        let text = loop_of(3, &assign(1, 2, &binary("Add", &name(2), &rest)));
        for rounds in 0..7_i64 {
            let wanted: i64 = (0..rounds).map(|i| (i + beside).rem_euclid(rounds)).sum();
            let (reason, _, words) =
                check(&text, &[OTHER, INT, INT], &[0, rounds as u64, 0], &mut []);
            assert_eq!((reason, words[4] as i64), (Reason::Done, wanted), "{beside} {rounds}");
        }
    }
}

#[test]
fn a_divisor_of_zero_leaves_and_is_not_divided_by_beside_its_test() {
    let rest = binary("Mod", &name(0), &name(2));
    let given = [OTHER, INT, INT, INT];
    let (reason, statement, words) =
        check(&loop_of(4, &assign(1, 3, &rest)), &given, &[0, 6, 0, 9], &mut []);
    assert_eq!((reason, statement, words[0], words[6]), (Reason::Value, 1, 0, 9));
    let test = format!(r#"{{"Compare":[{},[["Gt",{}]]]}}"#, name(2), int(0));
    let body = format!(r#"{{"number":1,"does":{{"If":[{test},[{}],[]]}}}}"#, assign(2, 3, &rest));
    for (divisor, wanted) in [(0, 9), (4, 1)] {
        let (reason, _, words) = check(&loop_of(4, &body), &given, &[0, 6, divisor, 9], &mut []);
        assert_eq!((reason, words[6]), (Reason::Done, wanted));
    }
}

#[test]
fn what_no_sum_carries_on_is_looked_at_in_each_round() {
    // `names[4] = names[3][i] * 2.0; names[2] += names[3][i]`.
    let two = format!(r#"{{"Float":{}}}"#, 2.0_f64.to_bits());
    let twice = assign(1, 4, &binary("Mult", &element(&name(0)), &two));
    let sum = assign(2, 2, &binary("Add", &name(2), &element(&name(0))));
    let text = loop_of(5, &format!("{twice},{sum}"));
    for at in 0..9 {
        let mut array = vec![1.0; 9];
        array[at] = f64::MAX;
        let given = [OTHER, INT, FLOAT, ARRAY, OTHER];
        let (reason, statement, words) = check(&text, &given, &[0, 9, 0, 0, 0], &mut [array]);
        assert_eq!((reason, statement, words[0]), (Reason::Value, 1, at as u64));
        assert_eq!(f64::from_bits(words[4]), at as f64);
    }
}

#[test]
fn what_is_stored_is_stored_once() {
    // `names[3][i] = names[3][i] + 1.0; names[2] += names[3][i]`.
    let one = format!(r#"{{"Float":{}}}"#, 1.0_f64.to_bits());
    let more = store(1, &name(0), &binary("Add", &element(&name(0)), &one));
    let sum = assign(2, 2, &binary("Add", &name(2), &element(&name(0))));
    let text = loop_of(4, &format!("{more},{sum}"));
    for at in 0..9 {
        let mut arrays = [vec![1.0; 9]];
        arrays[0][at] = f64::MAX;
        let words = [0, 9, f64::MAX.to_bits(), 0];
        let (reason, statement, words) =
            check(&text, &[OTHER, INT, FLOAT, ARRAY], &words, &mut arrays);
        assert_eq!((reason, statement, words[0]), (Reason::Value, 2, at as u64));
        let wanted = (0..9).map(|i| {
            if i == at {
                f64::MAX
            } else if i < at {
                2.0
            } else {
                1.0
            }
        });
        assert_eq!(arrays[0], wanted.collect::<Vec<f64>>());
    }
}
