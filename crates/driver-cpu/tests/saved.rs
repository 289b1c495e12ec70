//! Files of recorded functions, from Rust: they can be called, and each damaged part is an error.
#![allow(clippy::unwrap_used)]

use gpupy_core::DType;
use gpupy_engine::registry::Registry;
use gpupy_engine::saved::file::{MAGIC, Saved, VERSION};
use gpupy_engine::{Array, Context, Settings};
use serde_json::{Value, json};

fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/functions/");
    std::fs::read(format!("{folder}{name}.gpupy")).unwrap()
}

fn context() -> Context {
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    Context::new(registry, Settings::default())
}

fn floats(shape: &[usize], element: impl Fn(usize) -> f32) -> Array {
    let len = shape.iter().product();
    let bytes: Vec<u8> = (0..len).flat_map(|place| element(place).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn a_file_is_called_without_python() {
    let (saved, context) = (Saved::read(&file("heat")).unwrap(), context());
    assert_eq!((saved.name(), saved.looks().len()), ("heat", 2));
    let (u, rate) = (floats(&[5, 8], |place| (place * place % 7) as f32), floats(&[], |_| 0.25));
    let before = read(&context, &u);
    let results = saved.run(&context, &[u.clone(), rate]).unwrap();
    let mut after = before.clone();
    for y in 1..4 {
        for x in 1..7 {
            let at = y * 8 + x;
            let around = ((before[at - 8] + before[at + 8]) + before[at - 1]) + before[at + 1];
            after[at] = before[at] + 0.25 * (around - 4.0 * before[at]);
        }
    }
    assert_eq!(read(&context, &u), after, "the argument is written");
    let most = |x: usize| (0..5).map(|y| after[y * 8 + x]).fold(f32::MIN, f32::max);
    assert_eq!(read(&context, &results[1]), (0..8).map(most).collect::<Vec<f32>>());
    let mean: f64 = after.iter().map(|x| f64::from(*x)).sum::<f64>() / 40.0;
    assert!((f64::from(read(&context, &results[0])[0]) - mean).abs() < 1e-5);
}

#[test]
fn a_call_that_was_not_recorded_is_an_error_that_writes_nothing() {
    let (saved, context) = (Saved::read(&file("heat")).unwrap(), context());
    let rate = floats(&[], |_| 0.25);
    for u in [floats(&[5, 9], |_| 1.0), floats(&[40], |_| 1.0)] {
        assert!(saved.run(&context, &[u, rate.clone()]).is_err());
    }
    assert!(saved.run(&context, &[]).is_err());
    let decides = Saved::read(&file("decides")).unwrap();
    // Its greatest element is beyond the recorded iterations.
    let (x, y) = (floats(&[5], |_| -1.0), floats(&[5], |_| 1e30));
    let error = decides.run(&context, &[x, y.clone()]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("decides otherwise"), "{error}");
    assert_eq!(read(&context, &y), [1e30; 5]);
}

/// The file with another value in a place of its head.
fn damaged(name: &str, place: &str, value: Value) -> Result<Saved, String> {
    let bytes = file(name);
    let len = u64::from_le_bytes(bytes[12..20].try_into().unwrap()) as usize;
    let mut head: Value = serde_json::from_slice(&bytes[20..20 + len]).unwrap();
    *head.pointer_mut(place).unwrap_or_else(|| panic!("{place} is not there")) = value;
    let head = serde_json::to_vec(&head).unwrap();
    let mut again = MAGIC.to_vec();
    again.extend(VERSION.to_le_bytes());
    again.extend((head.len() as u64).to_le_bytes());
    again.extend(head);
    again.resize(again.len().next_multiple_of(64), 0);
    again.extend(&bytes[(20 + len).next_multiple_of(64)..]);
    Saved::read(&again).map_err(|error| error.to_string())
}

#[test]
fn each_damaged_part_is_an_error_of_one_line() {
    let far = 1i64 << 61;
    let cases = [
        ("heat", "/looks/0/objects", json!(3), "number of objects"),
        ("heat", "/looks/0/pattern/0", json!(1), "pattern"),
        ("heat", "/looks/0/wanted/0/object", json!(7), "no object"),
        ("heat", "/looks/0/wanted/1/input", json!(4), "no object"),
        ("heat", "/looks/0/wanted/1/base", json!([4, 8]), "leaves its base"),
        ("heat", "/looks/0/wanted/1/base", json!([-1, 8]), "negative"),
        ("heat", "/looks/0/wanted/1/base", json!([far, far]), "too big"),
        ("heat", "/looks/0/wanted/1/view/offset", json!(1), "leaves its base"),
        ("heat", "/looks/0/wanted/1/view/strides", json!([8]), "differ in length"),
        ("heat", "/looks/0/wanted/1/view/strides", json!([far, far]), "too far"),
        ("heat", "/looks/0/wanted/1/dtype", json!("float64"), "other elements"),
        ("heat", "/looks/0/ways/0/segment", json!(1), "no segment"),
        ("heat", "/looks/0/ways/0/takes/0", json!({"input": 2}), "not there"),
        ("heat", "/looks/0/ways/0/takes/0", json!({"made": 0}), "before it is there"),
        ("heat", "/looks/0/ways/0/takes/0", json!({"input": 0}), "other elements"),
        ("heat", "/looks/0/ways/0/gives", json!(1), "more than there is room"),
        ("heat", "/looks/0/ways/0/then", json!({"end": 1}), "does not end"),
        ("heat", "/looks/0/made", json!(1u64 << 31), "no way"),
        ("heat", "/looks/0/endings/0/writes/0/0", json!(0), "other elements"),
        (
            "heat",
            "/looks/0/endings/0/writes/0/1",
            json!({"register": {"made": 2}}),
            "other elements",
        ),
        ("heat", "/looks/0/endings/0/outputs/1/view/shape", json!([9]), "leaves its base"),
        ("heat", "/looks/0/endings/0/outputs/1/from", json!({"base": 2}), "no array"),
        ("heat", "/looks/0/endings/0/result", json!({"array": 2}), "not there"),
        ("heat", "/looks/0/segments/0/steps/0/reads/0/view/1", json!(32), "leaves its base"),
        ("heat", "/looks/0/segments/0/steps/0/reads/0/view/0", json!({"step": 0}), "not there"),
        ("heat", "/looks/0/segments/0/steps/0/reads/0/view/0", json!({"argument": 2}), "not there"),
        ("heat", "/looks/0/segments/0/steps/0/reads", json!([]), "other operands"),
        ("heat", "/looks/0/segments/0/steps/0/dtype", json!("float64"), "another dtype"),
        ("heat", "/looks/0/segments/0/steps/0/shape", json!([3, 9]), "leaves its base"),
        ("heat", "/looks/0/segments/0/steps/0/does/apply", json!("gather"), "other operands"),
        ("heat", "/looks/0/segments/0/steps/0/does", json!({"call": [0, 0]}), "no function"),
        ("heat", "/looks/0/segments/0/steps/0/does", json!({"index": 9}), "no such axis"),
        ("heat", "/looks/0/segments/0/steps/7/does/assign/offset", json!(30), "leaves its base"),
        ("heat", "/looks/0/segments/0/steps/8/does/reduce/axes", json!([0, 2]), "not there"),
        ("heat", "/looks/0/segments/0/steps/8/does/reduce/axes", json!([1, 1]), "not there"),
        ("heat", "/looks/0/segments/0/steps/8/does/reduce/of", json!([5, 9]), "leaves its base"),
        ("heat", "/looks/0/segments/0/steps/8/does/reduce/op", json!("sub"), "does not reduce"),
        ("heat", "/looks/0/segments/0/results/0/0", json!({"step": 11}), "not there"),
        ("decides", "/looks/0/ways/0/then/decide/yes", json!(0), "leads back"),
        ("decides", "/looks/0/ways/0/then/decide/yes", json!(2), "two ways"),
        ("decides", "/looks/0/ways/0/then/decide/seen/offset", json!(1), "leaves its base"),
        ("operations", "/looks/0/leaves/1/elements/bytes", json!(far), "ends in its elements"),
        ("operations", "/looks/0/leaves/1/shape", json!([1000]), "ends in its elements"),
        ("operations", "/looks/0/leaves/0/dtype", json!("float64"), "another dtype"),
        ("operations", "/looks/0/segments/0/leaves/0", json!(2), "not there"),
        ("operations", "/looks/0/segments/0/steps/0/does/sort/axis", json!(2), "no such axis"),
        ("operations", "/looks/0/segments/0/steps/5/does/join", json!([1, [1, 5]]), "other parts"),
        ("operations", "/looks/0/segments/0/steps/5/does/join/1", json!([1, 6]), "other parts"),
        ("operations", "/looks/0/segments/0/steps/5/does/join/1", json!([5, 5]), "empty part"),
        ("operations", "/looks/0/segments/0/steps/2/does", json!("gather"), "positions"),
        (
            "operations",
            "/looks/0/segments/0/steps/9/does/matmul/1",
            json!([5, 6]),
            "leaves its base",
        ),
    ];
    let mut wrong = Vec::new();
    for (name, place, value, words) in cases {
        let told = format!("{name}{place} = {value}");
        let error = damaged(name, place, value).map_or_else(|error| error, |_| "it is read".into());
        if !error.contains(words) || error.contains('\n') {
            wrong.push(format!("{told}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
