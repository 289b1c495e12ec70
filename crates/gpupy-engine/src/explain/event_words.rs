//! The words of one event: a step in one line, or in two where there is more to say, and the reason of a decision.
//!
//! Invariant: the time of a step that was done stands behind the word `took`; nothing else in its text differs from run
//! to run, but whether a program was compiled for it.
//!
//! Not here: the record (`trace.rs`, `step.rs`), the names of values (`names.rs`), the text around the steps
//! (`flush_text.rs`).

use super::names::{Names, count, shape_text, short, short_time};
use super::step::{ElementRange, Freed, KernelEvent, Step, StepAction};
use super::trace::Event;

/// An event as lines. Of kernels, this is its number in its flush.
pub(crate) fn event(event: &Event, kernel: usize, names: &Names) -> Vec<String> {
    let line = match event {
        Event::Step(step) => return of_step(step, kernel, names),
        Event::Eager(dtype, shape, what, driver) => {
            format!("{what} computed at once on {driver}: {dtype} {}", shape_text(shape))
        }
        Event::Cut(value) => {
            format!("cut at {}: it is evaluated into a block", names.called(value))
        }
        Event::Assigned(value, true) => format!("assign {} in place", names.called(value)),
        Event::Assigned(value, false) => format!("assign {} into a new block", names.called(value)),
        Event::Later(0) => "what is left is compiled when this was done".into(),
        Event::Later(windows) => {
            format!(
                "and {}, each compiled when those before it were done",
                count(*windows, "window")
            )
        }
        Event::GaveUp(value, driver, reason) => {
            format!("{driver} cannot evaluate {}: {reason}", names.called(value))
        }
    };
    vec![line]
}

fn of_step(step: &Step, number: usize, names: &Names) -> Vec<String> {
    let driver = step.driver;
    let (reads, frees) = (extents(&step.reads, names), frees(step, names));
    let took = took(step, names);
    // A transfer is told with its bytes, which determine its cost.
    let moved = |what: String| {
        let all = format!("{what}, {} bytes; {took}", step.work.bytes);
        vec![format!(
            "{all}{}",
            if frees.is_empty() { String::new() } else { format!("; {frees}") }
        )]
    };
    let what = match &step.what {
        StepAction::Kernel(kernel) => {
            format!("kernel {number} on {driver}: {}", of_kernel(kernel))
        }
        StepAction::Host(operation) => format!("{operation} in host memory:"),
        StepAction::Upload { gathered } => {
            let how = if *gathered { "a view of " } else { "" };
            return moved(format!("upload {how}{reads} to {driver}"));
        }
        StepAction::Import => return moved(format!("{driver} reads {reads} in host memory")),
        StepAction::Download => return moved(format!("download {reads} from {driver}")),
        StepAction::Evict => return vec![format!("evict a block of {reads} from {driver}")],
    };
    let mut line = format!("{what} reads {reads}, writes {}", writes(step, names));
    if let StepAction::Kernel(kernel) = &step.what {
        let launches = match kernel.launches {
            1 => String::new(),
            n => format!("; {}", count(n as usize, "launch")),
        };
        let compiled = if kernel.compiled > 0 { ", compiled now" } else { "" };
        line += &format!("; program {}{compiled}{launches}", short(kernel.fingerprint));
    }
    let (operations, bytes) = (step.work.operations as usize, step.work.bytes);
    let cost = format!("{} on elements, {bytes} bytes; {took}", count(operations, "operation"));
    let then = if frees.is_empty() { cost } else { format!("{cost}; {frees}") };
    vec![line, then]
}

fn of_kernel(kernel: &KernelEvent) -> String {
    let what = match (kernel.library, &kernel.reductions[..]) {
        (Some(library), _) => format!("library operation {library}"),
        (None, []) if kernel.gathers && kernel.operations == 0 => "gather".into(),
        (None, []) if kernel.gathers => {
            format!("{} with a gather", count(kernel.operations, "operation"))
        }
        (None, []) if kernel.operations == 0 => "copy".into(),
        (None, []) => count(kernel.operations, "operation"),
        (None, reduced) if kernel.operations == 0 => format!("reduce {}", reduced.join(", ")),
        (None, reduced) => {
            format!("{}, reduce {}", count(kernel.operations, "operation"), reduced.join(", "))
        }
    };
    format!("{what} over {}", shape_text(&kernel.space))
}

fn extents(all: &[ElementRange], names: &Names) -> String {
    let words: Vec<String> = all
        .iter()
        .map(|extent| match extent.is_all() {
            true => names.called(&extent.value),
            false => format!(
                "{} [{} to {}]",
                names.called(&extent.value),
                extent.range.start,
                extent.range.end
            ),
        })
        .collect();
    if words.is_empty() { "nothing".into() } else { words.join(", ") }
}

fn writes(step: &Step, names: &Names) -> String {
    let written = match step.writes.is_empty() {
        true => "part of a block".into(),
        false if step.partly => format!("part of {}", extents(&step.writes, names)),
        false => extents(&step.writes, names),
    };
    match &step.in_place_of {
        Some(old) => format!("{written} in place of {}", names.called(old)),
        None => written,
    }
}

fn frees(step: &Step, names: &Names) -> String {
    let words: Vec<String> = step
        .frees
        .iter()
        .map(|freed| match freed {
            Freed::Value(value) => names.called(value),
            Freed::Block(value) => format!("a block of {}", names.called(value)),
        })
        .collect();
    if words.is_empty() { String::new() } else { format!("frees {}", words.join(", ")) }
}

fn took(step: &Step, names: &Names) -> String {
    let expected = format!("{} expected", short_time(step.expected));
    match names.are_planned {
        true => expected,
        false => format!("{expected}, took {}", short_time(step.time)),
    }
}
