//! The graph of a flush in the language of Graphviz, for programs that draw graphs.
//!
//! Values are nodes, and one colour marks the values of one kernel; dashed edges are views. Invariant: the text is the
//! same for the same program: it has no times.
//!
//! Not here: a picture without such a program (`picture.rs`).

use crate::explain::names::{Names, type_text};
use crate::explain::trace::{Flush, Source};
use crate::graph::value::ValueId;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Fills for kernels, told apart by most eyes, with black on them legible.
const COLOURS: [&str; 10] = [
    "#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#8dd3c7", "#fccde5",
    "#d9d9d9", "#80b1d3",
];
/// The fill of a value that no kernel of the flush computes.
pub(crate) const PLAIN: &str = "#ffffff";

/// The fill for a kernel, by its number from 0.
pub(crate) fn colour(kernel: usize) -> &'static str {
    COLOURS[kernel % COLOURS.len()]
}

/// The kernels that compute each value, by their numbers from 0.
pub(crate) fn kernels_of(flush: &Flush) -> FxHashMap<ValueId, Vec<usize>> {
    let mut computed_by: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
    for (number, (_, kernel)) in flush.kernels().enumerate() {
        for value in &kernel.computes {
            computed_by.entry(*value).or_default().push(number);
        }
    }
    computed_by
}

/// The graph of a flush, or a heading alone.
pub(crate) fn dot(heading: &str, flush: Option<&Flush>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "digraph {{");
    let _ = writeln!(out, "  label={};", quoted(heading));
    let _ = writeln!(out, "  node [shape=box, style=filled, fontname=monospace];");
    if let Some(flush) = flush {
        nodes(&mut out, flush);
    }
    out.push_str("}\n");
    out
}

fn nodes(out: &mut String, flush: &Flush) {
    let (names, computed_by) = (Names::of(flush), kernels_of(flush));
    for node in &flush.graph {
        let name = names.name(node.value.id);
        let scalars = node.sources.iter().filter_map(|source| match source {
            Source::Scalar(scalar) => Some(scalar.to_string()),
            _ => None,
        });
        let words: Vec<String> = [node.what.clone()].into_iter().chain(scalars).collect();
        let label = format!("{}\n{name}: {}", words.join(" "), type_text(&node.value));
        let by = computed_by.get(&node.value.id).and_then(|by| by.first());
        let fill = by.map_or(PLAIN, |kernel| colour(*kernel));
        let _ = writeln!(out, "  {name} [label={}, fillcolor=\"{fill}\"];", quoted(&label));
        for source in &node.sources {
            let Some(id) = source.id() else { continue };
            let style = if matches!(source, Source::View(..)) { " [style=dashed]" } else { "" };
            let _ = writeln!(out, "  {} -> {name}{style};", names.name(id));
        }
    }
}

/// Text as a quoted string of the language.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted() {
        assert_eq!(quoted("a\"b\\c\nd\u{1}"), "\"a\\\"b\\\\c\\nd\u{fffd}\"");
        assert!(dot("say \"x\"", None).contains(r#"label="say \"x\"";"#));
    }
}
