//! A flush as text for people.
//!
//! Invariant: apart from times, the same program gives the same text in every process.
//!
//! Not here: the record (`trace.rs`), the names of values (`names.rs`), the words of one step (`event_words.rs`), the
//! graph as a picture (`picture.rs`).

use crate::explain::event_words;
use crate::explain::names::{Names, count, plural, short, time_text, type_text};
use crate::explain::trace::{Event, Flush, StepAction, subject};
use crate::graph::value::{Origin, Value, ValueKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Nodes of a graph, and steps or kernels of a flush, that are listed one by one, in texts and pictures.
pub(super) const LISTED: usize = 200;
/// Lines of one program that are shown.
const PROGRAM_LINES: usize = 200;

/// A flush as text.
pub(crate) fn flush_text(flush: &Flush) -> String {
    let names = Names::of(flush);
    let mut out = String::new();
    let wanted = match flush.range.len() == flush.value.shape.iter().product::<usize>() {
        true => String::new(),
        false => format!(", elements {} to {}", flush.range.start, flush.range.end),
    };
    let (name, what) = (names.name(flush.value.id), type_text(&flush.value));
    let beside: Vec<String> = flush
        .beside
        .iter()
        .map(|value| format!("; and {}: {}", names.name(value.id), type_text(value)))
        .collect();
    let planned = if names.are_planned { ", not run" } else { "" };
    let beside = beside.concat();
    line(&mut out, 0, &format!("flush of {name}: {what}{wanted}{beside}{planned}"));
    structure(&mut out, flush, &names);
    steps(&mut out, flush, &names);
    programs(&mut out, flush);
    totals(&mut out, flush);
    out
}

fn line(out: &mut String, indent: usize, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{:indent$}{text}", "", indent = indent * 2);
}

fn structure(out: &mut String, flush: &Flush, names: &Names) {
    let leaves = flush.graph.iter().filter(|node| node.leaf).count();
    let operations = flush.graph.len() - leaves;
    let (o, l) = (count(operations, "operation"), plural(leaves, "leaf", "leaves"));
    line(out, 1, &format!("structure: {o}, {l}"));
    if flush.graph.len() <= LISTED {
        for node in &flush.graph {
            let (name, what) = (names.name(node.value.id), type_text(&node.value));
            line(out, 2, &format!("{name} = {}: {what}", names.node(node)));
        }
        return;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for node in flush.graph.iter() {
        *kinds.entry(&node.what).or_default() += 1;
    }
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let rest = kinds.len().saturating_sub(LISTED);
    for (what, n) in kinds.into_iter().take(LISTED) {
        line(out, 2, &format!("{n} × {what}"));
    }
    if rest > 0 {
        line(out, 2, &format!("and {rest} other kinds"));
    }
}

fn steps(out: &mut String, flush: &Flush, names: &Names) {
    let (steps, launched) = (flush.steps().count(), flush.kernels().count());
    let (all, kernels) = (count(steps, "step"), count(launched, "kernel"));
    line(out, 1, &format!("schedule: {all} ({kernels})"));
    let (mut number, mut kernel) = (0, 0);
    for (i, event) in flush.events.iter().enumerate() {
        let is_step = matches!(event, Event::Step(_));
        number += usize::from(is_step);
        kernel +=
            usize::from(matches!(event, Event::Step(s) if matches!(s.what, StepAction::Kernel(_))));
        if i < LISTED {
            let numbered = if is_step { format!("{number}. ") } else { String::new() };
            let mut text = event_words::event(event, kernel, names).into_iter();
            line(out, 2, &format!("{numbered}{}", text.next().unwrap_or_default()));
            text.for_each(|text| line(out, 4, &text));
        }
    }
    if flush.events.len() > LISTED {
        line(out, 2, &format!("and {} more", flush.events.len() - LISTED));
    }
}

fn programs(out: &mut String, flush: &Flush) {
    let mut shown: FxHashMap<u128, usize> = FxHashMap::default();
    for (_, kernel) in flush.kernels() {
        *shown.entry(kernel.fingerprint).or_default() += 1;
    }
    for (step, kernel) in flush.kernels() {
        let Some(times) = shown.remove(&kernel.fingerprint) else { continue };
        let used = count(times, "kernel");
        line(out, 1, &format!("program {} ({used}):", short(kernel.fingerprint)));
        listing(out, &kernel.program);
        if let Some(code) = &kernel.code {
            line(out, 1, &format!("as {} runs it:", step.driver));
            listing(out, code);
        }
    }
}

fn listing(out: &mut String, text: &str) {
    let all = text.lines().count();
    for text in text.lines().take(PROGRAM_LINES) {
        line(out, 2, text);
    }
    if all > PROGRAM_LINES {
        line(out, 2, &format!("and {} more lines", all - PROGRAM_LINES));
    }
}

fn totals(out: &mut String, flush: &Flush) {
    let (mut up, mut down, mut evicted) = ((0, 0), (0, 0), 0);
    for step in flush.steps() {
        let bytes = step.work.bytes;
        match step.what {
            StepAction::Upload { .. } => up = (up.0 + 1, up.1 + bytes),
            StepAction::Download => down = (down.0 + 1, down.1 + bytes),
            StepAction::Evict => evicted += 1,
            _ => {}
        }
    }
    let moved = |way: &str, (blocks, bytes): (usize, u64)| {
        format!("{} {way} ({bytes} bytes)", count(blocks, "block"))
    };
    let (up, down) = (moved("up", up), moved("down", down));
    line(out, 1, &format!("moved: {up}, {down}, {evicted} evicted"));
    let expected =
        flush.steps().fold(Duration::ZERO, |all, step| all.saturating_add(step.expected));
    line(out, 1, &format!("expected: {}", time_text(expected)));
    if let Some(all) = flush.time {
        let kernels = flush.kernels().map(|(step, _)| step.time).sum();
        let (all, inside) = (time_text(all), time_text(kernels));
        line(out, 1, &format!("time: {all}, of which {inside} launching kernels"));
    }
    if let Some(error) = &flush.error {
        line(out, 1, &format!("failed: {error}"));
    }
}

/// An event outside every flush, as text.
pub(crate) fn single_event(event: &Event) -> String {
    event_words::event(event, 1, &Names::none()).join("\n  ") + "\n"
}

/// The place of a value that needs no evaluation.
pub(crate) fn whereabouts(value: &Value) -> String {
    let what = type_text(&subject(value));
    match &value.0.kind {
        ValueKind::External(external) => {
            format!("array of {what}: read of {} where it is needed", external.0.name())
        }
        ValueKind::Constant(scalar) => format!("array of {what}: every element is {scalar}"),
        ValueKind::Host(Origin::Given) => {
            format!("array of {what}: given in host memory, nothing to evaluate")
        }
        ValueKind::Host(Origin::Eager) => format!(
            "array of {what}: computed at once in host memory when it was asked for, as it is small; \
             nothing to evaluate"
        ),
        ValueKind::Expr { .. } => format!("array of {what}: evaluated already"),
    }
}
