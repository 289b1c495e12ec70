//! A flush as text for people.
//!
//! Owns the words of a trace. Invariant: apart from times, the same program
//! gives the same text in every process: values are numbered in the order of their creation.
//!
//! Not here: what is recorded (`trace.rs`), the graph as a picture (`picture.rs`).

use crate::explain::trace::{
    Event, Flush, GraphNode, KernelEvent, Source, Subject, subject, view_text,
};
use crate::graph::value::{Kind, Origin, Value, ValueId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Nodes of a graph, and steps of a flush, that are listed one by one.
const LISTED: usize = 200;
/// Lines of one program that are shown.
const PROGRAM_LINES: usize = 200;

/// The numbers that a reader sees in place of ids: by creation, and then as they come.
pub(crate) struct Names(FxHashMap<ValueId, usize>);

impl Names {
    pub fn of(flush: &Flush) -> Names {
        let mut names = FxHashMap::default();
        let ids = flush.graph.iter().map(|node| node.value.id);
        let later = flush.events.iter().flat_map(mentioned);
        for id in ids.chain(later) {
            let next = names.len();
            names.entry(id).or_insert(next);
        }
        Names(names)
    }

    pub fn name(&self, id: ValueId) -> String {
        self.0.get(&id).map_or_else(|| "another value".into(), |n| format!("v{n}"))
    }

    fn list<'a>(&self, values: impl IntoIterator<Item = &'a Subject>) -> String {
        let all: Vec<String> = values.into_iter().map(|value| self.name(value.id)).collect();
        if all.is_empty() { "nothing".into() } else { all.join(", ") }
    }

    /// What a node does, with its sources.
    pub fn node(&self, node: &GraphNode) -> String {
        if node.leaf || node.sources.is_empty() {
            return node.what.clone();
        }
        let sources: Vec<String> = node.sources.iter().map(|s| self.source(s)).collect();
        format!("{}({})", node.what, sources.join(", "))
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Scalar(scalar) => scalar.to_string(),
            Source::Whole(id) => self.name(*id),
            Source::View(id, offset, strides) => {
                format!("{} {}", self.name(*id), view_text(*offset, strides))
            }
        }
    }
}

fn mentioned(event: &Event) -> Vec<ValueId> {
    match event {
        Event::Kernel(kernel) => {
            kernel.reads.iter().chain(&kernel.writes).map(|value| value.id).collect()
        }
        Event::Needed(values) => values.iter().map(|value| value.id).collect(),
        Event::Uploaded(value, ..)
        | Event::Imported(value, ..)
        | Event::Downloaded(value, ..)
        | Event::Evicted(value, _)
        | Event::Cut(value)
        | Event::Assigned(value, _)
        | Event::GaveUp(value, ..) => vec![value.id],
        // Its result has no name yet.
        Event::AtOnce(..) => Vec::new(),
    }
}

/// The launches of a flush, in order.
pub(crate) fn kernels(flush: &Flush) -> Vec<&KernelEvent> {
    let events = flush.events.iter();
    events
        .filter_map(|event| match event {
            Event::Kernel(kernel) => Some(&**kernel),
            _ => None,
        })
        .collect()
}

/// A flush as text.
pub(crate) fn flush_text(flush: &Flush) -> String {
    let names = Names::of(flush);
    let mut out = String::new();
    let wanted = match flush.range.len() == flush.value.shape.iter().product::<usize>() {
        true => String::new(),
        false => format!(", elements {} to {}", flush.range.start, flush.range.end),
    };
    let (name, what) = (names.name(flush.value.id), type_text(&flush.value));
    line(&mut out, 0, &format!("flush of {name}: {what}{wanted}"));
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
    let launched = kernels(flush).len();
    line(out, 1, &format!("partition: {}", count(launched, "kernel")));
    let mut number = 0;
    for (i, event) in flush.events.iter().enumerate() {
        number += usize::from(matches!(event, Event::Kernel(_)));
        if i < LISTED {
            line(out, 2, &step(event, number, names));
        }
    }
    if flush.events.len() > LISTED {
        line(out, 2, &format!("and {} more steps", flush.events.len() - LISTED));
    }
}

fn step(event: &Event, number: usize, names: &Names) -> String {
    let name = |value: &Subject| names.name(value.id);
    match event {
        Event::Kernel(kernel) => {
            let writes = match kernel.writes.is_empty() {
                true => "part of a block".into(),
                false => names.list(&kernel.writes),
            };
            let launches = match kernel.launches {
                1 => String::new(),
                n => format!("; {}", count(n as usize, "launch")),
            };
            format!(
                "kernel {number} on {}: {} over {} reads {}, writes {writes}; program {}{}{launches}; {}",
                kernel.driver,
                count(kernel.operations, "operation"),
                shape_text(&kernel.space),
                names.list(&kernel.reads),
                short(kernel.fingerprint),
                if kernel.compiled > 0 { ", compiled now" } else { "" },
                time_text(kernel.time),
            )
        }
        Event::Uploaded(value, driver, bytes, gathered) => {
            let how = if *gathered { "a view of " } else { "" };
            format!("upload {how}{} to {driver}: {bytes} bytes", name(value))
        }
        Event::Imported(value, driver, bytes) => {
            format!("{driver} reads {} in host memory: {bytes} bytes", name(value))
        }
        Event::Downloaded(value, driver, bytes) => {
            format!("download {} from {driver}: {bytes} bytes", name(value))
        }
        Event::Evicted(value, driver) => format!("evict a block of {} from {driver}", name(value)),
        Event::AtOnce(dtype, shape, what, driver) => {
            format!("{what} computed at once on {driver}: {dtype} {}", shape_text(shape))
        }
        Event::Cut(value) => format!("cut at {}: it is evaluated into a block", name(value)),
        Event::Needed(values) => format!("needed first: {}", names.list(values)),
        Event::Assigned(value, true) => format!("assign {} in place", name(value)),
        Event::Assigned(value, false) => format!("assign {} into a new block", name(value)),
        Event::GaveUp(value, driver, reason) => {
            format!("{driver} cannot evaluate {}: {reason}", name(value))
        }
    }
}

fn programs(out: &mut String, flush: &Flush) {
    let mut shown: FxHashMap<u128, usize> = FxHashMap::default();
    let launched = kernels(flush);
    for kernel in &launched {
        *shown.entry(kernel.fingerprint).or_default() += 1;
    }
    for kernel in launched {
        let Some(times) = shown.remove(&kernel.fingerprint) else { continue };
        let used = count(times, "kernel");
        line(out, 1, &format!("program {} ({used}):", short(kernel.fingerprint)));
        listing(out, &kernel.program);
        if let Some(code) = &kernel.code {
            line(out, 1, &format!("as {} runs it:", kernel.driver));
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
    for event in &flush.events {
        match event {
            Event::Uploaded(_, _, bytes, _) => up = (up.0 + 1, up.1 + bytes),
            Event::Downloaded(_, _, bytes) => down = (down.0 + 1, down.1 + bytes),
            Event::Evicted(..) => evicted += 1,
            _ => {}
        }
    }
    let moved = |way: &str, (blocks, bytes): (usize, usize)| {
        format!("{} {way} ({bytes} bytes)", count(blocks, "block"))
    };
    let (up, down) = (moved("up", up), moved("down", down));
    line(out, 1, &format!("moved: {up}, {down}, {evicted} evicted"));
    let kernels = kernels(flush).iter().map(|kernel| kernel.time).sum();
    let (all, inside) = (time_text(flush.time), time_text(kernels));
    line(out, 1, &format!("time: {all}, of which {inside} launching kernels"));
    if let Some(error) = &flush.error {
        line(out, 1, &format!("failed: {error}"));
    }
}

/// An event outside every flush, as one line.
pub(crate) fn lone_event(event: &Event) -> String {
    let what = match event {
        Event::Downloaded(value, driver, bytes) => {
            format!("download {} from {driver}: {bytes} bytes", type_text(value))
        }
        Event::Uploaded(value, driver, bytes, _) => {
            format!("upload {} to {driver}: {bytes} bytes", type_text(value))
        }
        other => step(other, 1, &Names(FxHashMap::default())),
    };
    what + "\n"
}

/// What a value is that needs no evaluation.
pub(crate) fn whereabouts(value: &Value) -> String {
    let what = type_text(&subject(value));
    match value.0.kind {
        Kind::Constant(scalar) => format!("array of {what}: every element is {scalar}"),
        Kind::Host(Origin::Given) => {
            format!("array of {what}: given in host memory, nothing to evaluate")
        }
        Kind::Host(Origin::AtOnce) => format!(
            "array of {what}: computed at once in host memory when it was asked for, as it is small; \
             nothing to evaluate"
        ),
        Kind::Expr { .. } => format!("array of {what}: evaluated already"),
    }
}

/// A dtype with extents, as NumPy writes them.
pub(crate) fn type_text(value: &Subject) -> String {
    format!("{} {}", value.dtype, shape_text(&value.shape))
}

fn shape_text(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().map(usize::to_string).collect();
    if let [one] = &all[..] { format!("({one},)") } else { format!("({})", all.join(", ")) }
}

pub(crate) fn time_text(time: std::time::Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// Enough of a fingerprint to tell programs apart by eye.
fn short(fingerprint: u128) -> String {
    format!("{:08x}", fingerprint >> 96)
}

pub(crate) fn count(n: usize, what: &str) -> String {
    let many = if what.ends_with("ch") { format!("{what}es") } else { format!("{what}s") };
    plural(n, what, &many)
}

fn plural(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
