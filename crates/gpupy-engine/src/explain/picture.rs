//! A flush as a picture: a list of its values and kernels, in which one colour marks the values of one kernel.
//!
//! Invariants: the picture is well-formed XML whatever names it shows, and the same for the same program: it has no
//! times.
//!
//! Not here: the graph for a layout program (`dot.rs`), text (`flush_text.rs`).

use crate::explain::dot::{PLAIN, colour, kernels_of};
use crate::explain::flush_text::LISTED;
use crate::explain::names::{Names, count, type_text};
use crate::explain::trace::Flush;
use std::fmt::Write;

const ROW: usize = 18;
const MARGIN: usize = 12;
/// The width of a character, roughly, as fonts differ.
const CHARACTER: usize = 8;

/// A line of the list.
struct Row {
    fill: Option<&'static str>,
    text: String,
}

/// The picture of a flush, or of a heading alone.
pub(crate) fn svg(heading: &str, flush: Option<&Flush>) -> String {
    let mut rows = vec![Row { fill: None, text: heading.into() }];
    if let Some(flush) = flush {
        values(&mut rows, flush);
        kernels(&mut rows, flush);
    }
    draw(&rows)
}

fn values(rows: &mut Vec<Row>, flush: &Flush) {
    let (names, computed_by) = (Names::of(flush), kernels_of(flush));
    for node in flush.graph.iter().take(LISTED) {
        let by = computed_by.get(&node.value.id).and_then(|by| by.first());
        let (name, what) = (names.name(node.value.id), type_text(&node.value));
        let fill = Some(by.map_or(PLAIN, |kernel| colour(*kernel)));
        rows.push(Row { fill, text: format!("{name} = {}: {what}", names.node(node)) });
    }
    rest(rows, flush.graph.len(), "more value");
}

fn kernels(rows: &mut Vec<Row>, flush: &Flush) {
    for (k, (step, kernel)) in flush.kernels().take(LISTED).enumerate() {
        let operations = count(kernel.operations, "operation");
        let text = format!("kernel {} on {}: {operations}", k + 1, step.driver);
        rows.push(Row { fill: Some(colour(k)), text });
    }
    rest(rows, flush.kernels().count(), "more kernel");
}

fn rest(rows: &mut Vec<Row>, all: usize, words: &str) {
    if all > LISTED {
        rows.push(Row { fill: None, text: format!("and {}", count(all - LISTED, words)) });
    }
}

fn draw(rows: &[Row]) -> String {
    let longest = rows.iter().map(|row| row.text.chars().count()).max().unwrap_or(0);
    let (width, height) = (longest * CHARACTER + 2 * MARGIN + ROW, rows.len() * ROW + 2 * MARGIN);
    let title = rows.first().map_or("", |row| &row.text);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{PLAIN}\"/>\n",
        escaped(title)
    );
    for (number, Row { fill, text }) in rows.iter().enumerate() {
        let y = MARGIN + number * ROW;
        if let Some(fill) = fill {
            let _ = write!(
                out,
                "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{fill}\" \
                 stroke=\"#333333\"/>"
            );
        }
        let x = MARGIN + if fill.is_some() { ROW } else { 0 };
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{}\">{}</text>", y + 11, escaped(text));
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
