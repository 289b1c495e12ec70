//! Machine code does what the interpreter does, and both leave where they should.

use crate::{
    DotFunctions, ElementType, Given, GivenArray, Kind, Nest, NestVersion, Pause, Reason, flow,
    layout,
};

/// Runs a nest by both; gives the reason and the statement of the exit, and the names' words.
pub(crate) fn check(
    text: &str,
    given: &[Given],
    words: &[u64],
    arrays: &mut [Vec<f64>],
) -> (Reason, usize, Vec<u64>) {
    let nest: Nest = serde_json::from_str(text).expect("a nest");
    let axes: Vec<_> = given.iter().map(|one| one.axes()).collect();
    let flow = flow(&nest, &axes);
    let (places, count) = layout(given, flow.loops.len());
    let before = arrays.to_vec();
    let mut found = Vec::new();
    for is_interpreted in [true, false] {
        arrays.clone_from_slice(&before);
        let (mut state, mut scratch) = (vec![0; count], [0u64; 2 * ROOM]);
        state[count - 2] = scratch.as_mut_ptr() as u64;
        state[count - 1] = ROOM as u64;
        for (name, one) in given.iter().enumerate() {
            state[2 * name] = words[name];
            if let Given::Number(kind, _) = one {
                state[2 * name + 1] = *kind as u64;
            }
            if let Given::Array(..) = one {
                let array = &mut arrays[words[name] as usize];
                state[places[name]] = array.as_mut_ptr() as u64;
                state[places[name] + 1] = array.len() as u64;
                state[places[name] + 2] = 8;
            }
        }
        let version =
            NestVersion::new(&flow, given, &state, PRODUCTS, is_interpreted).expect("a version");
        assert_eq!(version.is_compiled(), !is_interpreted && cfg!(target_arch = "x86_64"));
        let mut ask = || Some(7);
        // SAFETY: the state has the layout's words; the arrays live until the end of the test.
        let exit = unsafe { version.run(&mut state, Pause::new(&mut ask)) };
        let names = state[..2 * given.len()].to_vec();
        found.push((exit.reason, exit.statement, names, arrays.to_vec()));
    }
    let [first, second] = &found[..] else { panic!("two runs") };
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    (first.0, first.1, first.2.clone())
}

pub(crate) fn name(number: usize) -> String {
    format!(r#"{{"Name":{number}}}"#)
}

pub(crate) fn assign(number: usize, target: usize, value: &str) -> String {
    format!(r#"{{"number":{number},"does":{{"Assign":[[{{"Name":{target}}}],{value}]}}}}"#)
}

/// `for names[0] in range(names[1]): body`, with names by number.
pub(crate) fn loop_of(names: usize, body: &str) -> String {
    let names: Vec<_> = (0..names).map(|number| format!("\"n{number}\"")).collect();
    let head = name(1);
    format!(
        r#"{{"names":[{}],"body":{{"number":0,"does":{{"For":[0,[{head}],[],[{body}],[]]}}}}}}"#,
        names.join(",")
    )
}

pub(crate) const INT: Given = Given::Number(Kind::Int, true);
pub(crate) const ARRAY: Given = Given::Array(GivenArray {
    element: ElementType::F64,
    axes: 1,
    is_compact: true,
    is_writeable: true,
    is_ours: true,
});
const ROOM: usize = 8;
const PRODUCTS: DotFunctions = DotFunctions { of_doubles: dot, of_singles: dot };

extern "C" fn dot(a: i64, a_stride: i64, count: i64, b: i64, b_stride: i64) -> i64 {
    let at = |first: i64, place: i64| {
        // SAFETY: rows are within the arrays of a test.
        unsafe { *((first + place) as *const f64) }
    };
    let products = (0..count).map(|k| at(a, k * a_stride) * at(b, k * b_stride));
    products.sum::<f64>().to_bits() as i64
}

#[test]
fn a_sum_takes_the_kind_of_its_elements() {
    let sum =
        format!(r#"{{"Binary":["Add",{},{{"Element":[3,[{{"At":{}}}]]}}]}}"#, name(2), name(0));
    let text = loop_of(4, &assign(1, 2, &sum));
    let given = [Given::Other, INT, Given::Number(Kind::Float, false), ARRAY];
    for (rounds, kind, total) in [(0, Kind::Float, 0.5), (3, Kind::F64, 6.5)] {
        let mut arrays = [vec![1.0, 2.0, 3.0]];
        let (reason, _, words) =
            check(&text, &given, &[0, rounds, 0.5_f64.to_bits(), 0], &mut arrays);
        assert_eq!(
            (reason, words[5], f64::from_bits(words[4])),
            (Reason::Done, kind as u64, total)
        );
    }
}

#[test]
fn an_index_outside_leaves_before_the_statement() {
    let sum =
        format!(r#"{{"Binary":["Add",{},{{"Element":[3,[{{"At":{}}}]]}}]}}"#, name(2), name(0));
    let text = loop_of(4, &assign(1, 2, &sum));
    let given = [Given::Other, INT, Given::Number(Kind::Float, false), ARRAY];
    let mut arrays = [vec![1.0, 2.0, 3.0]];
    let (reason, statement, words) = check(&text, &given, &[0, 9, 0, 0], &mut arrays);
    assert_eq!((reason, statement, words[0], f64::from_bits(words[4])), (Reason::Value, 1, 3, 6.0));
}

#[test]
fn an_overflow_leaves_with_the_last_value() {
    let twice = format!(r#"{{"Binary":["Mult",{},{{"Int":2}}]}}"#, name(2));
    let text = loop_of(3, &assign(1, 2, &twice));
    let (reason, _, words) = check(&text, &[Given::Other, INT, INT], &[0, 100, 1], &mut []);
    assert_eq!((reason, words[4]), (Reason::Value, 1 << 62));
}

#[test]
fn infinities_of_numpys_numbers_leave_and_of_pythons_stay() {
    let twice = format!(r#"{{"Binary":["Mult",{},{{"Float":{}}}]}}"#, name(2), 2.0_f64.to_bits());
    let text = loop_of(3, &assign(1, 2, &twice));
    for (kind, wanted) in [(Kind::F64, Reason::Value), (Kind::Float, Reason::Done)] {
        let given = [Given::Other, INT, Given::Number(kind, false)];
        let (reason, _, words) = check(&text, &given, &[0, 2000, 1.0_f64.to_bits()], &mut []);
        assert_eq!((reason, f64::from_bits(words[4]).is_infinite()), (wanted, kind == Kind::Float));
    }
}

#[test]
fn pauses_end_a_nest_where_they_say_so() {
    let more = format!(r#"{{"Binary":["Add",{},{{"Int":1}}]}}"#, name(2));
    let nest: Nest = serde_json::from_str(&loop_of(3, &assign(1, 2, &more))).expect("a nest");
    let flow = flow(&nest, &[0; 3]);
    let given = [Given::Other, INT, INT];
    for is_interpreted in [true, false] {
        let mut state = vec![0; layout(&given, 1).1];
        state[2] = 1 << 39;
        let version =
            NestVersion::new(&flow, &given, &state, PRODUCTS, is_interpreted).expect("a version");
        let mut left = 3;
        let mut ask = || {
            left -= 1;
            (left > 0).then_some(1000)
        };
        // SAFETY: the state has the layout's words, and no arrays.
        let exit = unsafe { version.run(&mut state, Pause::new(&mut ask)) };
        assert_eq!((exit.reason, exit.statement, state[0]), (Reason::Value, 1, state[4]));
        assert_eq!(left, 0);
    }
}

#[test]
fn a_name_without_a_value_leaves_where_it_is_read() {
    let text = loop_of(3, &assign(1, 2, &name(2)));
    let (reason, statement, _) =
        check(&text, &[Given::Other, INT, Given::Other], &[0, 3, 0], &mut []);
    assert_eq!((reason, statement), (Reason::Kind, 1));
}

/// `names[number][start:stop]`.
fn slice(number: usize, start: &str, stop: &str) -> String {
    format!(r#"{{"Element":[{number},[{{"Slice":[{start},{stop},null]}}]]}}"#)
}

#[test]
fn rows_are_computed_before_they_are_stored() {
    // `names[3][1:] += names[3][:-1] * names[2]`, twice.
    let (target, read) = (slice(3, r#"{"Int":1}"#, "null"), slice(3, "null", r#"{"Int":-1}"#));
    let product = format!(r#"{{"Binary":["Mult",{read},{}]}}"#, name(2));
    let body = format!(r#"{{"number":1,"does":{{"InPlace":[{target},"Add",{product}]}}}}"#);
    let given = [Given::Other, INT, Given::Number(Kind::Float, false), ARRAY];
    for (length, wanted) in [(4, 2), (1, 2), (0, 2), (ROOM + 2, 0)] {
        let mut arrays = [(0..length).map(|one| one as f64).collect::<Vec<_>>()];
        let mut all = arrays[0].clone();
        for _ in 0..wanted {
            let before = all.clone();
            (1..length).for_each(|at| all[at] += before[at - 1] * 0.5);
        }
        let text = loop_of(4, &body);
        let words = [0, 2, 0.5_f64.to_bits(), 0];
        let (reason, statement, _) = check(&text, &given, &words, &mut arrays);
        let is_done = wanted == 2;
        assert_eq!(reason, if is_done { Reason::Done } else { Reason::Value });
        assert_eq!((statement, &arrays[0]), (usize::from(!is_done), &all));
    }
}

#[test]
fn rows_of_other_lengths_leave() {
    let read = slice(3, "null", &name(0));
    let body =
        format!(r#"{{"number":1,"does":{{"Assign":[[{}],{read}]}}}}"#, slice(3, "null", "null"));
    let given = [Given::Other, INT, Given::Other, ARRAY];
    let mut arrays = [vec![1.0, 2.0]];
    let (reason, _, words) = check(&loop_of(4, &body), &given, &[0, 2, 0, 0], &mut arrays);
    assert_eq!((reason, words[0]), (Reason::Value, 0));
}

#[test]
fn what_is_not_known_of_rows_leaves_without_elements_too() {
    let (row, power) = (slice(3, "null", "null"), r#"{"Binary":["Pow",{"Name":3},{"Int":3}]}"#);
    let body = format!(r#"{{"number":1,"does":{{"Assign":[[{row}],{power}]}}}}"#);
    let given = [Given::Other, INT, Given::Other, ARRAY];
    for length in [0, 3] {
        let text = loop_of(4, &body);
        let (reason, statement, words) =
            check(&text, &given, &[0, 2, 0, 0], &mut [vec![1.0; length]]);
        assert_eq!((reason, statement, words[0]), (Reason::Kind, 1, 0));
    }
}

#[test]
fn products_of_rows_are_numbers() {
    let row = r#"{"Name":3}"#;
    for (function, given_rows, wanted) in [
        ("Dot", vec![row, row], 14.0),
        ("Sum", vec![row], 6.0),
        ("Mean", vec![row], 2.0),
        ("Max", vec![row], 3.0),
        ("Min", vec![r#"{"Binary":["Mult",{"Name":3},{"Name":3}]}"#], 1.0),
    ] {
        let value = format!(r#"{{"Reduce":["{function}",[{}]]}}"#, given_rows.join(","));
        let given = [Given::Other, INT, Given::Other, ARRAY];
        let mut arrays = [vec![1.0, 2.0, 3.0]];
        let text = loop_of(4, &assign(1, 2, &value));
        let (reason, _, words) = check(&text, &given, &[0, 1, 0, 0], &mut arrays);
        let found = f64::from_bits(words[4]);
        assert_eq!(
            (reason, words[5], found),
            (Reason::Done, Kind::F64 as u64, wanted),
            "{function}"
        );
    }
}
