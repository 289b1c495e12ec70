//! Splitting: one look with branches becomes one look for each path from its beginning to an end.
//!
//! Paths that were seen for some extents alone would keep looks from being alike (`open_extents.rs`). Invariant: the
//! look of a path does on that path what the original look does; where the function decides otherwise, another look
//! applies.
//!
//! Not here: which of them are alike.

use super::look::{AfterSegment, BaseSource, Ending, Look, SegmentCall};

/// Lists that are renumbered in the order in which they are used.
#[derive(Default)]
struct Used(Vec<u32>);

impl Used {
    /// The new number of an item with this old one.
    fn number(&mut self, old: u32) -> u32 {
        let known = self.0.iter().position(|used| *used == old);
        known.unwrap_or_else(|| {
            self.0.push(old);
            self.0.len() - 1
        }) as u32
    }

    /// The used items of a list, in their new order.
    fn of<T: Clone>(&self, all: &[T]) -> Vec<T> {
        self.0.iter().filter_map(|old| all.get(*old as usize).cloned()).collect()
    }
}

impl Look {
    /// A look for each way to an end.
    pub(super) fn single(&self) -> Vec<Look> {
        // The way that each was decided for at, and how.
        let mut before: Vec<Option<(usize, bool)>> = vec![None; self.ways.len()];
        for (number, way) in self.ways.iter().enumerate() {
            if let AfterSegment::Decide { no, yes, .. } = &way.then {
                for (next, truth) in [(no, false), (yes, true)] {
                    if let Some(slot) = next.and_then(|next| before.get_mut(next as usize)) {
                        *slot = Some((number, truth));
                    }
                }
            }
        }
        let ends = self.ways.iter().enumerate().filter_map(|(number, way)| match way.then {
            AfterSegment::End(ending) => Some((number, self.endings.get(ending as usize)?)),
            AfterSegment::Decide { .. } => None,
        });
        let single = |(end, ending): (usize, &Ending)| {
            let mut chain = vec![(end, None)];
            let mut place = end;
            while let Some((from, truth)) = before[place] {
                chain.push((from, Some(truth)));
                place = from;
            }
            chain.reverse();
            self.along(&chain, ending)
        };
        ends.map(single).collect()
    }

    /// The look of these ways, each with the decision behind it.
    fn along(&self, chain: &[(usize, Option<bool>)], ending: &Ending) -> Look {
        let (mut segments, mut leaves) = (Used::default(), Used::default());
        let mut ways: Vec<SegmentCall> = Vec::new();
        for (number, (place, truth)) in chain.iter().enumerate() {
            let mut way = self.ways[*place].clone();
            way.segment = segments.number(way.segment);
            let next = Some(number as u32 + 1);
            way.then = match (way.then, truth) {
                (AfterSegment::Decide { seen, .. }, Some(truth)) => {
                    let (no, yes) = if *truth { (None, next) } else { (next, None) };
                    AfterSegment::Decide { seen, no, yes }
                }
                _ => AfterSegment::End(0),
            };
            ways.push(way);
        }
        let mut segments = segments.of(&self.segments);
        let made =
            ways.iter().map(|way| way.gives + segments[way.segment as usize].results.len() as u32);
        let made = made.max().unwrap_or(0);
        // Arrays that were inspected on other ways are inspected, too: a program may have asked for their shape alone.
        let mut captured = self.captured.clone();
        captured.iter_mut().for_each(|captured| captured.leaf = leaves.number(captured.leaf));
        for segment in &mut segments {
            segment.leaves.iter_mut().for_each(|leaf| *leaf = leaves.number(*leaf));
        }
        let mut ending = ending.clone();
        let writes = ending.writes.iter_mut().map(|(_, base)| base);
        for base in writes.chain(&mut ending.bases) {
            if let BaseSource::Leaf(leaf) = base {
                *leaf = leaves.number(*leaf);
            }
        }
        Look {
            captured,
            pattern: self.pattern.clone(),
            wanted: self.wanted.clone(),
            order: self.order.clone(),
            leaves: leaves.of(&self.leaves),
            segments,
            ways,
            endings: vec![ending],
            made,
            open: self.open.clone(),
            parts: self.parts.clone(),
            arguments: self.arguments.clone(),
            named: self.named.clone(),
            objects: self.objects,
        }
    }
}
