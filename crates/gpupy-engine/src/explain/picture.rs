//! The graph of a flush as a picture.
//!
//! Values are boxes, leaves stand above the values that read them, the result below, and one colour marks the values of
//! one kernel. Graphs of more than some hundred values are drawn as their kernels. Invariants: the picture is
//! well-formed XML whatever names it shows, and the same for the same program: it has no times.
//!
//! Not here: positions of boxes and lines (`layered.rs`), text (`flush_text.rs`).

use crate::explain::layered::{LayerBox, LayerLine, LayeredLayout};
use crate::explain::names::{Names, count, type_text};
use crate::explain::trace::{ElementRange, Flush, GraphNode, KernelEvent, Source, Step};
use crate::graph::value::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Values that are drawn one by one.
const DRAWN: usize = 300;
/// Boxes that stand for kernels, when those are drawn.
const GROUPS: usize = 40;
/// Kernels that the legend names.
const LEGEND: usize = 20;
/// Fills for kernels, told apart by most eyes, with black on them legible.
const COLOURS: [&str; 10] = [
    "#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#8dd3c7", "#fccde5",
    "#d9d9d9", "#80b1d3",
];
const PLAIN: &str = "#ffffff";
const MARGIN: f64 = 16.0;

/// The picture of a flush, or of a heading alone.
pub(crate) fn svg(heading: &str, flush: Option<&Flush>) -> String {
    let Some(flush) = flush else {
        let item = LayerBox::new(0, heading.into(), String::new());
        return draw(&LayeredLayout::new(vec![item], Vec::new()), &[], heading);
    };
    let (items, lines) =
        if flush.graph.len() <= DRAWN { of_values(flush) } else { of_kernels(flush) };
    let legend = if flush.graph.len() <= DRAWN { legend(flush) } else { Vec::new() };
    draw(&LayeredLayout::new(items, lines), &legend, heading)
}

/// One box a value; a leaf stands above each layer that reads it.
fn of_values(flush: &Flush) -> (Vec<LayerBox>, Vec<LayerLine>) {
    let names = Names::of(flush);
    let mut computed_by: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
    for (k, (_, kernel)) in flush.kernels().enumerate() {
        for value in &kernel.computes {
            computed_by.entry(*value).or_default().push(k);
        }
    }
    let by_id: FxHashMap<ValueId, &GraphNode> =
        flush.graph.iter().map(|node| (node.value.id, node)).collect();
    let mut items: Vec<LayerBox> = Vec::new();
    let mut lines = Vec::new();
    let mut drawn: FxHashMap<(ValueId, usize), usize> = FxHashMap::default();
    let mut at: FxHashMap<ValueId, usize> = FxHashMap::default();
    let label = |node: &GraphNode| {
        let scalars = node.sources.iter().filter_map(|source| match source {
            Source::Scalar(scalar) => Some(scalar.to_string()),
            _ => None,
        });
        let words: Vec<String> = [node.what.clone()].into_iter().chain(scalars).collect();
        let type_of = type_text(&node.value);
        (words.join(" "), format!("{}: {type_of}", names.name(node.value.id)))
    };
    let layers = layers(flush, &by_id);
    // Ids rise from operands to operations, so operands have their places already.
    for node in flush.graph.iter().filter(|node| !node.leaf || flush.graph.len() == 1) {
        let layer = layers.get(&node.value.id).copied().unwrap_or(0);
        let mut sources = Vec::new();
        for source in &node.sources {
            let Some(id) = source.id() else { continue };
            let from = match (at.get(&id), by_id.get(&id)) {
                (Some(item), _) => *item,
                (None, Some(leaf)) => *drawn.entry((id, layer)).or_insert_with(|| {
                    let (title, detail) = label(leaf);
                    items.push(LayerBox { leaf: true, ..LayerBox::new(layer - 1, title, detail) });
                    items.len() - 1
                }),
                (None, None) => continue,
            };
            sources.push((from, matches!(source, Source::View(..))));
        }
        let (title, detail) = label(node);
        let mut item = LayerBox::new(layer, title, detail);
        item.note = names.node(node);
        if let Some(by) = computed_by.get(&node.value.id) {
            item.colour = by.first().copied();
            let numbers: Vec<String> = by.iter().take(8).map(|k| (k + 1).to_string()).collect();
            let _ = write!(item.note, "\nkernel {}", numbers.join(", "));
        }
        at.insert(node.value.id, items.len());
        lines.extend(sources.iter().map(|(from, view)| LayerLine::new(*from, items.len(), *view)));
        items.push(item);
    }
    (items, lines)
}

/// The layer of each operation: below what it reads; of one that reads no more than one other, as
/// near to what reads it as can be, which leaves room for the lines of the rest.
fn layers(flush: &Flush, by_id: &FxHashMap<ValueId, &GraphNode>) -> FxHashMap<ValueId, usize> {
    let mut layers: FxHashMap<ValueId, usize> = FxHashMap::default();
    let inner = |node: &GraphNode| -> Vec<ValueId> {
        let ids = node.sources.iter().filter_map(Source::id);
        ids.filter(|id| by_id.get(id).is_some_and(|source| !source.leaf)).collect()
    };
    for node in flush.graph.iter().filter(|node| !node.leaf) {
        let below = inner(node).iter().filter_map(|id| layers.get(id)).max().map(|l| l + 1);
        let reads = node.sources.iter().any(|source| source.id().is_some());
        layers.insert(node.value.id, below.unwrap_or(usize::from(reads)));
    }
    let mut readers: FxHashMap<ValueId, usize> = FxHashMap::default();
    for node in flush.graph.iter().rev().filter(|node| !node.leaf) {
        let sources = inner(node);
        let id = node.value.id;
        let first = readers.get(&id).map_or(0, |reader| reader - 1);
        let layer = match layers.get(&id) {
            Some(layer) if sources.len() < 2 => first.max(*layer),
            Some(layer) => *layer,
            None => continue,
        };
        layers.insert(id, layer);
        for source in sources {
            readers.entry(source).and_modify(|l| *l = layer.min(*l)).or_insert(layer);
        }
    }
    layers
}

/// One box for some kernels that follow each other.
fn of_kernels(flush: &Flush) -> (Vec<LayerBox>, Vec<LayerLine>) {
    let all: Vec<(&Step, &KernelEvent)> = flush.kernels().collect();
    let ids =
        |extents: &[ElementRange]| extents.iter().map(|e| e.value.id).collect::<Vec<ValueId>>();
    let group = all.len().div_ceil(GROUPS).max(1);
    let mut items: Vec<LayerBox> = Vec::new();
    let mut lines = Vec::new();
    let mut written: FxHashMap<ValueId, usize> = FxHashMap::default();
    for (g, kernels) in all.chunks(group).enumerate() {
        let mut from: Vec<usize> = Vec::new();
        let mut given: FxHashSet<ValueId> = FxHashSet::default();
        for value in kernels.iter().flat_map(|(step, _)| ids(&step.reads)) {
            match written.get(&value) {
                Some(item) if !from.contains(item) => from.push(*item),
                Some(_) => {}
                None => {
                    given.insert(value);
                }
            }
        }
        let own: FxHashSet<ValueId> =
            kernels.iter().flat_map(|(step, _)| ids(&step.writes)).collect();
        given.retain(|id| !own.contains(id));
        let layer = from.iter().map(|item| items[*item].layer + 1).max();
        let layer = layer.unwrap_or(usize::from(!given.is_empty()));
        if !given.is_empty() {
            from.push(items.len());
            let title = count(given.len(), "value");
            items.push(LayerBox { leaf: true, ..LayerBox::new(layer - 1, title, "given".into()) });
        }
        let (first, last) = (g * group + 1, g * group + kernels.len());
        let title = match first == last {
            true => format!("kernel {first}"),
            false => format!("kernels {first} to {last}"),
        };
        let operations = kernels.iter().map(|(_, kernel)| kernel.operations).sum();
        let mut item = LayerBox::new(layer, title, count(operations, "operation"));
        item.colour = Some(g);
        lines.extend(from.iter().map(|from| LayerLine::new(*from, items.len(), false)));
        own.into_iter().for_each(|id| {
            written.insert(id, items.len());
        });
        items.push(item);
    }
    if items.is_empty() {
        items.push(LayerBox::new(0, count(flush.graph.len(), "value"), "no kernel".into()));
    }
    (items, lines)
}

/// A colour and words for each kernel.
fn legend(flush: &Flush) -> Vec<(&'static str, String)> {
    let all: Vec<(&Step, &KernelEvent)> = flush.kernels().collect();
    let mut rows: Vec<(&str, String)> = all
        .iter()
        .take(LEGEND)
        .enumerate()
        .map(|(k, (step, kernel))| {
            let operations = count(kernel.operations, "operation");
            (colour(k), format!("kernel {} on {}: {operations}", k + 1, step.driver))
        })
        .collect();
    if all.len() > LEGEND {
        rows.push((PLAIN, format!("and {}", count(all.len() - LEGEND, "more kernel"))));
    }
    rows
}

fn colour(k: usize) -> &'static str {
    COLOURS[k % COLOURS.len()]
}

fn draw(layout: &LayeredLayout, legend: &[(&str, String)], heading: &str) -> String {
    const ROW: f64 = 20.0;
    let words = legend.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let width = layout.width.max(words as f64 * 7.5 + 28.0) + 2.0 * MARGIN;
    let below = layout.height + MARGIN + if legend.is_empty() { 0.0 } else { MARGIN };
    let height = below + legend.len() as f64 * ROW + MARGIN;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escaped(heading)
    );
    for line in &layout.lines {
        let dashes = if line.view { " stroke-dasharray=\"4 3\"" } else { "" };
        let path = layout.path(line, MARGIN);
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#777777\"{dashes}/>");
    }
    for (i, item) in layout.items.iter().enumerate() {
        let (x, y, w, h) = layout.place(i);
        let (x, y) = (x + MARGIN, y + MARGIN);
        let fill = item.colour.map_or(PLAIN, colour);
        let corner = if item.leaf { 0 } else { 8 };
        let middle = x + w / 2.0;
        let _ = write!(
            out,
            "<g>{}<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" \
             rx=\"{corner}\" fill=\"{fill}\" stroke=\"#333333\"/>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            match item.note.is_empty() {
                true => String::new(),
                false => format!("<title>{}</title>", escaped(&item.note)),
            },
            y + if item.detail.is_empty() { h / 2.0 + 4.0 } else { 15.0 },
            escaped(&item.title),
        );
        if !item.detail.is_empty() {
            let _ = write!(
                out,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\" \
                 fill=\"#444444\">{}</text>",
                y + 29.0,
                escaped(&item.detail),
            );
        }
        out.push_str("</g>\n");
    }
    for (row, (fill, text)) in legend.iter().enumerate() {
        let y = below + row as f64 * ROW;
        let _ = writeln!(
            out,
            "<rect x=\"{MARGIN}\" y=\"{y:.1}\" width=\"14\" height=\"14\" fill=\"{fill}\" \
             stroke=\"#333333\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            MARGIN + 22.0,
            y + 11.0,
            escaped(text),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Text as XML takes it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push('\n'),
            // XML has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a<b & \"c\"'\u{1}"), "a&lt;b &amp; &quot;c&quot;&apos;\u{fffd}");
        let picture = svg("<&>", None);
        assert!(picture.contains("&lt;&amp;&gt;") && !picture.contains("<&>"));
    }
}
