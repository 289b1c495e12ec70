//! Traces and explanations: what they tell of an evaluation, and that they change nothing.
//!
//! `GPUPY_BLESS=1` rewrites the stored text.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::trace::{Event, Flush, Freed, StepAction};
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

fn context(limit: u32, refuse: usize) -> Context {
    let log = Arc::new(Mutex::new(Log::default()));
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(limit, refuse, log.clone())))
        .register(driver_soft::NAME, driver_soft::new);
    Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() })
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// `(a · 2 + b)²` and then, on every second element, `count` more additions.
fn program(context: &Context, count: usize) -> Array {
    let (a, b) = (floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.5, 0.25, 0.125, 0.0625]));
    let two = ArrayOrScalar::Scalar(Scalar::f32(2.0));
    let double = context.apply(Op::Mul, &[ArrayOrScalar::Array(&a), two]).unwrap();
    let sum =
        context.apply(Op::Add, &[ArrayOrScalar::Array(&double), ArrayOrScalar::Array(&b)]).unwrap();
    let square =
        context.apply(Op::Mul, &[ArrayOrScalar::Array(&sum), ArrayOrScalar::Array(&sum)]).unwrap();
    let mut x = square.slice_axis(0, 1, 2, 2);
    for i in 0..count {
        let term = ArrayOrScalar::Scalar(Scalar::f32(i as f32));
        x = context.apply(Op::Add, &[ArrayOrScalar::Array(&x), term]).unwrap();
    }
    x
}

/// The text with every time taken out: what must not change from one run to the next.
fn without_times(text: &str) -> String {
    let words = text.split(' ').collect::<Vec<_>>();
    let is_time = |i: usize| {
        words.get(i + 1).is_some_and(|unit| unit.starts_with("ms") || unit.starts_with("µs"))
            && words[i].parse::<f64>().is_ok()
    };
    (0..words.len()).map(|i| if is_time(i) { "…" } else { words[i] }).collect::<Vec<_>>().join(" ")
}

fn count(flush: &Flush, is: impl Fn(&Event) -> bool) -> usize {
    flush.events.iter().filter(|event| is(event)).count()
}

/// Every tag is closed in order, and what looks like markup in text is escaped.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "a bare > in {text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "&{entity}");
        }
        let end = rest[at..].find('>').unwrap() + at;
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} are open");
}

#[test]
fn a_plan_of_two_kernels_is_told_kernel_by_kernel() {
    let context = context(6, usize::MAX);
    let x = program(&context, 4);
    let told = context.explain(&x).unwrap();
    let flush = told.flush().unwrap();
    let kernels: Vec<_> = flush.kernels().collect();
    assert_eq!(kernels.len(), 2, "{}", told.text());
    assert_eq!(kernels.iter().map(|(_, kernel)| kernel.operations).sum::<usize>(), 7);
    assert_eq!(kernels[1].0.reads, kernels[0].0.writes);
    assert_eq!(kernels[1].0.writes[0].value, flush.value);
    assert!(kernels.iter().all(|(step, kernel)| kernel.compiled == 1 && step.driver == "fused"));
    assert_eq!(
        flush.steps().filter(|step| matches!(step.what, StepAction::Upload { .. })).count(),
        2
    );
    // The given arrays are no more when the first kernel is done, and what that wrote after the second.
    let given = flush.graph.iter().filter(|node| node.leaf).map(|node| node.value.clone());
    assert_eq!(kernels[0].0.frees, given.map(Freed::Value).collect::<Vec<_>>());
    assert_eq!(kernels[1].0.frees, [Freed::Value(kernels[0].0.writes[0].value.clone())]);
    assert!(flush.steps().all(|step| step.expected.as_nanos() > 0), "{}", told.text());
    assert_eq!(context.stats().launches, 2);
    assert_eq!(flush.graph.iter().filter(|node| node.leaf).count(), 2);
    assert!(flush.error.is_none());
    assert_eq!(read(&context, &x), [24.0625, 8.0625 * 8.0625 + 6.0]);
}

#[test]
fn the_text_is_as_stored_whatever_was_computed_before() {
    let path = format!("{}/tests/snapshots/explanation.txt", env!("CARGO_MANIFEST_DIR"));
    for before in 0..2 {
        let other = context(6, usize::MAX);
        for _ in 0..before * 5 {
            read(&other, &program(&other, 4));
        }
        let context = context(6, usize::MAX);
        let told = context.explain(&program(&context, 4)).unwrap();
        let text = without_times(&told.text());
        if std::env::var_os("GPUPY_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, stored, "{path} is out of date; GPUPY_BLESS=1 rewrites it");
    }
}

#[test]
fn pictures_are_well_formed_and_of_a_bearable_size() {
    for operations in [0, 1, 30, 250, 3000] {
        let context = context(20, usize::MAX);
        let told = context.explain(&program(&context, operations)).unwrap();
        let svg = told.svg();
        assert_well_formed(&svg);
        assert!(svg.starts_with("<svg xmlns=") && svg.len() < 300_000, "{} bytes", svg.len());
        assert_eq!(svg, told.svg());
        let (rows, dot) = (svg.matches("<text").count(), told.dot());
        let Some(flush) = told.flush() else { continue };
        // The graph for a layout program is whole.
        let nodes = dot.lines().filter(|line| line.contains(" [label=")).count();
        assert!(dot.starts_with("digraph {") && nodes == flush.graph.len(), "{dot}");
        match operations {
            // A row for the heading, for each value and for each kernel.
            1 => assert_eq!(rows, 1 + flush.graph.len() + flush.kernels().count()),
            3000 => assert!(svg.contains("more values") && rows <= 403, "{rows} rows"),
            _ => {}
        }
    }
    assert_well_formed(&context(20, 9).explain(&floats(&[1.0])).unwrap().svg());
}

#[test]
fn a_trace_prints_what_an_explanation_says() {
    let (told, traced) = (context(6, usize::MAX), context(6, usize::MAX));
    let heard = Arc::new(Mutex::new(String::new()));
    let sink = heard.clone();
    traced.set_trace(Some(Box::new(move |text| sink.lock().unwrap().push_str(text))));
    traced.evaluate(&[&program(&traced, 4)]).unwrap();
    let text = told.explain(&program(&told, 4)).unwrap().text();
    let heard = without_times(&heard.lock().unwrap());
    // What the last step reads is kept until the elements are where they are wanted, in case that fails.
    assert_eq!(heard, without_times(&text.replace("; frees v5\n", "\n")));
}

#[test]
fn explaining_changes_no_result_and_no_plan() {
    let (told, silent) = (context(9, usize::MAX), context(9, usize::MAX));
    let (x, y) = (program(&told, 40), program(&silent, 40));
    told.explain(&x).unwrap();
    assert_eq!(read(&told, &x), read(&silent, &y));
    assert_eq!(told.stats(), silent.stats());
}

#[test]
fn what_is_there_already_is_said_to_be() {
    let context = context(20, usize::MAX);
    let check = |array: &Array, words: &str| {
        let told = context.explain(array).unwrap();
        assert!(told.flush().is_none() && told.text().contains(words), "{}", told.text());
    };
    check(&floats(&[1.0]), "given in host memory");
    check(&Array::full(&[3], Scalar::i32(7)).unwrap(), "every element is 7");
    check(&floats(&[]), "no elements");
    let x = program(&context, 3);
    context.explain(&x).unwrap();
    check(&x, "evaluated already");
}

#[test]
fn what_a_driver_cannot_do_is_told_with_the_one_that_did_it() {
    let context = context(20, usize::MAX);
    // The test's driver has no reductions.
    let terms = floats(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let terms = context
        .apply(Op::Mul, &[ArrayOrScalar::Array(&terms), ArrayOrScalar::Array(&terms)])
        .unwrap();
    let sum = context.reduce(Op::Add, &terms, &[0], false).unwrap();
    let told = context.explain(&sum).unwrap();
    let flush = told.flush().unwrap();
    assert!(count(flush, |e| matches!(e, Event::GaveUp(_, "fused", _))) > 0, "{}", told.text());
    assert!(flush.kernels().any(|(step, _)| step.driver == "soft"));
    assert!(told.text().contains("fused cannot evaluate"));
}

#[test]
fn a_sink_gets_each_flush_and_each_read_until_it_is_taken_away() {
    let context = context(20, usize::MAX);
    let heard = Arc::new(Mutex::new(String::new()));
    let sink = heard.clone();
    context.set_trace(Some(Box::new(move |text| sink.lock().unwrap().push_str(text))));
    let x = program(&context, 2);
    assert!(heard.lock().unwrap().is_empty(), "recording is no flush");
    read(&context, &x);
    let text = std::mem::take(&mut *heard.lock().unwrap());
    for words in ["flush of ", "structure: 5 operations, 2 leaves", "kernel 1 on fused", "form map"]
    {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
    let last = without_times(text.lines().last().unwrap());
    assert_eq!(last, "download float32 (2,) from fused, 8 bytes; … µs expected, took … µs");
    context.set_trace(None);
    read(&context, &program(&context, 9));
    assert!(heard.lock().unwrap().is_empty());
}
