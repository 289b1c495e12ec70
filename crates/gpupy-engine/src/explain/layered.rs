//! Layered layout of an acyclic graph: positions of its boxes and courses of its lines.
//!
//! Owns [`LayeredLayout`]. Layers go down the page. A line that passes layers gets a place of its own in each, so that
//! it runs between boxes. Boxes are ordered by the mean place of their neighbours, and then moved towards it.
//! Invariants: boxes of a layer do not overlap; every line goes down.
//!
//! Not here: the contents of the boxes (`picture.rs`).

use std::fmt::Write;

const BOX: f64 = 36.0;
const LAYER: f64 = 68.0;
const GAP: f64 = 18.0;
const PASS: f64 = 4.0;
/// Turns of ordering and moving: more change little.
const TURNS: usize = 12;
/// Characters of a title or detail that are shown.
const SHOWN: usize = 36;

/// A box.
pub(crate) struct LayerBox {
    /// Counted from the top.
    pub layer: usize,
    pub title: String,
    pub detail: String,
    /// The tooltip of the box.
    pub note: String,
    pub colour: Option<usize>,
    pub leaf: bool,
}

/// A line from a box to one of a lower layer.
pub(crate) struct LayerLine {
    pub from: usize,
    pub to: usize,
    pub view: bool,
    /// Its places in the layers between.
    through: Vec<usize>,
}

impl LayerBox {
    pub fn new(layer: usize, title: String, detail: String) -> LayerBox {
        let cut = |text: String| match text.chars().count() > SHOWN {
            true => text.chars().take(SHOWN - 1).chain(['…']).collect(),
            false => text,
        };
        let (title, detail) = (cut(title), cut(detail));
        LayerBox { layer, title, detail, note: String::new(), colour: None, leaf: false }
    }
}

impl LayerLine {
    pub fn new(from: usize, to: usize, view: bool) -> LayerLine {
        LayerLine { from, to, view, through: Vec::new() }
    }
}

/// Boxes with their places.
pub(crate) struct LayeredLayout {
    pub items: Vec<LayerBox>,
    pub lines: Vec<LayerLine>,
    pub width: f64,
    pub height: f64,
    /// Of boxes, and then of lines that pass a layer.
    places: Vec<BoxPlace>,
}

struct BoxPlace {
    layer: usize,
    width: f64,
    leaf: bool,
    /// The middle.
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

impl LayeredLayout {
    pub fn new(items: Vec<LayerBox>, mut lines: Vec<LayerLine>) -> LayeredLayout {
        let place = |layer, width, leaf| BoxPlace {
            layer,
            width,
            leaf,
            x: 0.0,
            above: vec![],
            below: vec![],
        };
        let mut places: Vec<BoxPlace> = items
            .iter()
            .map(|item| {
                let title = item.title.chars().count() as f64 * 7.3;
                let detail = item.detail.chars().count() as f64 * 6.1;
                place(item.layer, title.max(detail).max(30.0) + 16.0, item.leaf)
            })
            .collect();
        for line in &mut lines {
            let mut at = line.from;
            for layer in items[line.from].layer + 1..items[line.to].layer {
                places.push(place(layer, PASS, false));
                line.through.push(places.len() - 1);
                join(&mut places, at, line.through.last().copied().unwrap_or(at));
                at = places.len() - 1;
            }
            join(&mut places, at, line.to);
        }
        let count = places.iter().map(|place| place.layer + 1).max().unwrap_or(0);
        let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (i, place) in places.iter().enumerate() {
            layers[place.layer].push(i);
        }
        for layer in &layers {
            spread(&mut places, layer, None);
        }
        for turn in 0..TURNS {
            let down = turn % 2 == 0;
            for n in 0..count {
                let layer = &mut layers[if down { n } else { count - 1 - n }];
                let wanted: Vec<f64> = layer.iter().map(|i| middle(&places, *i, down)).collect();
                let mut order: Vec<usize> = (0..layer.len()).collect();
                order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
                *layer = order.iter().map(|k| layer[*k]).collect();
                let wanted: Vec<f64> = order.iter().map(|k| wanted[*k]).collect();
                spread(&mut places, layer, Some(&wanted));
            }
        }
        let edge = |place: &BoxPlace| place.x - place.width / 2.0;
        let left = places.iter().map(edge).fold(f64::INFINITY, f64::min);
        places.iter_mut().for_each(|place| place.x -= left);
        let width = places.iter().map(|p| p.x + p.width / 2.0).fold(0.0, f64::max);
        let height = count.saturating_sub(1) as f64 * LAYER + BOX;
        LayeredLayout { items, lines, width, height, places }
    }

    /// The left, top, width and height of a box.
    pub fn place(&self, item: usize) -> (f64, f64, f64, f64) {
        let place = &self.places[item];
        (place.x - place.width / 2.0, place.layer as f64 * LAYER, place.width, BOX)
    }

    /// The path of a line, `margin` to the right and below.
    pub fn path(&self, line: &LayerLine, margin: f64) -> String {
        let stops = line.through.iter().chain([&line.to]);
        let point = |i: usize| {
            let place = &self.places[i];
            (place.x + margin, place.layer as f64 * LAYER + margin)
        };
        let (mut x, mut y) = point(line.from);
        y += BOX;
        let mut out = format!("M{x:.1} {y:.1}");
        for stop in stops {
            let (to_x, to_y) = point(*stop);
            let half = (y + to_y) / 2.0;
            // Writing to a string cannot fail.
            let _ = write!(out, "C{x:.1} {half:.1} {to_x:.1} {half:.1} {to_x:.1} {to_y:.1}");
            (x, y) = (to_x, to_y);
            if *stop != line.to {
                y += BOX;
                let _ = write!(out, "V{y:.1}");
            }
        }
        out
    }
}

fn join(places: &mut [BoxPlace], upper: usize, lower: usize) {
    places[upper].below.push(lower);
    places[lower].above.push(upper);
}

/// The mean place of the neighbours above (or below, or where there are none, the own).
fn middle(places: &[BoxPlace], i: usize, above: bool) -> f64 {
    let place = &places[i];
    let (first, second) = match above {
        true => (&place.above, &place.below),
        false => (&place.below, &place.above),
    };
    let near = if first.is_empty() { second } else { first };
    if near.is_empty() {
        return place.x;
    }
    // A leaf that is drawn for one reader stands wherever there is room, and pulls no other box.
    let pulls = |n: &&usize| !places[**n].leaf || near.iter().all(|n| places[*n].leaf);
    let (sum, count) =
        near.iter().filter(pulls).fold((0.0, 0), |(s, c), n| (s + places[*n].x, c + 1));
    sum / f64::from(count)
}

/// Puts a layer's boxes in their order, as near to the wanted places as they fit.
fn spread(places: &mut [BoxPlace], layer: &[usize], wanted: Option<&[f64]>) {
    let mut right = f64::NEG_INFINITY;
    let (mut moved, mut weights) = (0.0, 0.0);
    for (k, i) in layer.iter().enumerate() {
        let half = places[*i].width / 2.0;
        let want = wanted.map_or(0.0, |wanted| wanted[k]);
        places[*i].x = want.max(right + half);
        right = places[*i].x + half + GAP;
        let weight = if places[*i].leaf { 1e-3 } else { 1.0 };
        moved += weight * (places[*i].x - want);
        weights += weight;
    }
    // Displacement to the right is shared out to both sides.
    let back = if weights > 0.0 { moved / weights } else { 0.0 };
    layer.iter().for_each(|i| places[*i].x -= back);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_layer_do_not_overlap_and_lines_go_down() {
        let mut items = Vec::new();
        let mut lines = Vec::new();
        for i in 0..40usize {
            items.push(LayerBox::new(i / 6, format!("box {i}"), "x".repeat(i)));
            for from in (0..i).filter(|from| from / 6 < i / 6 && (from * 7 + i) % 5 == 0) {
                lines.push(LayerLine::new(from, i, false));
            }
        }
        let layout = LayeredLayout::new(items, lines);
        for layer in 0..7 {
            let mut row: Vec<_> =
                (0..40).filter(|i| i / 6 == layer).map(|i| layout.place(i)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in row.windows(2) {
                assert!(pair[0].0 + pair[0].2 < pair[1].0, "layer {layer}");
            }
            assert!(row.iter().all(|b| b.0 > -0.001 && b.0 + b.2 < layout.width + 0.001));
        }
        for line in &layout.lines {
            assert_eq!(line.through.len(), line.to / 6 - line.from / 6 - 1);
            assert!(layout.place(line.to).1 >= layout.place(line.from).1 + BOX);
        }
    }
}
