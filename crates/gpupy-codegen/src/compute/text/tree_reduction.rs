//! Kernels of the reduce form: tree reductions.
//!
//! The 16 lanes of the canonical tree are four vectors. One loop computes one vector, so that the prologue is in the
//! text once. Either one invocation computes the four vectors in turn, or four invocations compute one each and share
//! them through workgroup memory. Points are `at` to `at + 3`. Lanes without points hold undefined values and are
//! never combined. Several reductions have separate lanes: each point is computed once and combined by each of them.
//!
//! Not here: the map form (`map.rs`), the passes of a long reduction (the engine).

use crate::compute::plan::form_plan::{FormDetails, ReductionPlan};
use crate::compute::text::element_reader::{ElementReader, KernelCoordinate};
use crate::compute::text::kernel_text::KernelText;
use crate::compute::text::map::{coordinates, find_points};
use crate::dialect::{COMPONENTS, Width};
use crate::emit::accumulator_lanes::ReductionLanes;
use crate::emit::body::Body;
use crate::emit::loop_bounds::{FOURS_OF_LANES, LoopHead, POINTS_OF_A_LANE};
use gpupy_core::DType;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;

/// The entry point of a program's reductions.
pub(crate) fn main(text: &KernelText<'_>, live: &[bool]) -> String {
    let found = text.program.reduce_range();
    let (Some(range), FormDetails::Reduce(how)) = (found, text.plan.form.clone()) else {
        return String::new();
    };
    let tree = Tree {
        text,
        prologue: range.start,
        how,
        all: ReductionLanes::of(text.program, live, text.dialect),
    };
    let mut body = Body::new(text.program, text.dialect, live, text.plan.finite);
    body.text = text.open_main();
    tree.points(&mut body);
    tree.lanes(&mut body);
    for lanes in &tree.all {
        fold(text, &mut body, lanes);
    }
    let rank = usize::from(text.plan.rank);
    let late = ElementReader {
        text,
        fetches: &text.plan.late_fetches,
        windows: &[],
        indices: &text.plan.late_indices,
        targets: &text.plan.targets,
        coordinates: coordinates(&text.plan.frame, rank),
        width: Width::One,
        prefix: "z",
        linear: tree.point(),
        writes: None,
    };
    for line in late.places() {
        body.line(&line);
    }
    for lanes in &tree.all {
        let result = lanes.given(Width::One, &(lanes.name("lanes0") + ".x"));
        body.set_name(lanes.reduction.at as u32, result);
    }
    body.instructions(range.end..text.program.insts.len(), Width::One, &late);
    if how.shared {
        body.close();
    }
    body.finish() + "}\n"
}

/// The reductions in a kernel.
struct Tree<'a> {
    text: &'a KernelText<'a>,
    /// The number of instructions before the `reduce` instructions.
    prologue: usize,
    how: ReductionPlan,
    all: Vec<ReductionLanes<'a>>,
}

impl Tree<'_> {
    /// The name of the output point's number.
    fn point(&self) -> &'static str {
        if self.how.shared { "point" } else { "t" }
    }

    fn int(&self, body: &mut Body<'_>, name: &str, value: &str) {
        body.line(&self.text.declare_int(Width::One, name, value));
    }

    /// Computes the output point, its first input point and the number of its input points.
    fn points(&self, body: &mut Body<'_>) {
        let text = self.text;
        let (frame, last) = (&text.plan.frame, text.plan.rank - 1);
        let outputs = text.number(frame.count);
        if self.how.shared {
            self.int(body, "point", "t >> 2");
        } else {
            body.line(&format!("if (t >= {outputs}) {{ return; }}"));
        }
        find_points(body, text, frame, usize::from(last) + 1, self.point());
        let chunked = frame.steps.iter().any(|step| step.axis == last);
        let base = if chunked { format!("{REDUCE_CHUNK} * i{last}") } else { "0".to_owned() };
        self.int(body, "base", &base);
        let points = text.number(self.how.points);
        let count = format!("min({points} - base, {REDUCE_CHUNK})");
        let count = match self.how.shared {
            // All invocations must reach the barrier.
            true => {
                let exists = format!("(point < {outputs})");
                self.text.dialect.select(DType::I32, Width::One, &exists, &count, "0")
            }
            false => count,
        };
        self.int(body, "count", &count);
    }

    /// Combines the points of each lane.
    fn lanes(&self, body: &mut Body<'_>) {
        if self.how.shared {
            self.int(body, "part", "4 * (t & 3)");
            self.walk(body);
            for lanes in &self.all {
                let (partial, own) = (lanes.name("partial"), lanes.name("lanes"));
                body.line(&format!("{partial}[local] = {own};"));
            }
            body.line(self.text.barrier());
            body.open("if (part == 0 && count > 0) {");
            for lanes in &self.all {
                for k in 0..REDUCE_LANES / 4 {
                    let other = match k {
                        0 => lanes.name("lanes"),
                        k => format!("{}[local + {k}]", lanes.name("partial")),
                    };
                    body.line(&lanes.vector(&format!("lanes{k}"), &other));
                }
            }
            return;
        }
        for lanes in &self.all {
            for k in 0..REDUCE_LANES / 4 {
                body.line(&lanes.vector(&format!("lanes{k}"), &lanes.zeros()));
            }
        }
        body.open_loop(&FOURS_OF_LANES);
        self.walk(body);
        for lanes in &self.all {
            for k in 0..REDUCE_LANES / 4 {
                let (kept, own) = (lanes.name(&format!("lanes{k}")), lanes.name("lanes"));
                body.line(&format!("if (part == {}) {{ {kept} = {own}; }}", 4 * k));
            }
        }
        body.close();
    }

    /// Combines the points of the four lanes from `part` on, into `lanes`.
    fn walk(&self, body: &mut Body<'_>) {
        let text = self.text;
        for lanes in &self.all {
            body.line(&lanes.vector("lanes", &lanes.zeros()));
        }
        body.open_loop(&POINTS_OF_A_LANE);
        let values = match text.plan.width {
            Width::Four => {
                self.int(body, "at", "base + n");
                self.int(body, "left", "count - 1 - n");
                let lanes = match self.how.ragged {
                    true => format!("min({}, {}(left))", text.lanes(), text.int(Width::Four)),
                    false => text.lanes(),
                };
                body.line(&text.declare_int(Width::Four, "lane", &lanes));
                let values = self.prologue(body);
                let all = self.all.iter().zip(values);
                all.map(|(lanes, value)| lanes.taken(Width::Four, &value)).collect::<Vec<_>>()
            }
            Width::One => {
                for lanes in &self.all {
                    body.line(&lanes.vector("value", &lanes.zeros()));
                }
                body.open_loop(&LoopHead::below("e", "min(4, count - n)", 4));
                self.int(body, "at", "base + n + e");
                let values = self.prologue(body);
                for (lanes, value) in self.all.iter().zip(values) {
                    let (four, value) = (lanes.name("value"), lanes.taken(Width::One, &value));
                    for (c, component) in COMPONENTS.iter().enumerate() {
                        body.line(&format!("if (e == {c}) {{ {four}.{component} = {value}; }}"));
                    }
                }
                body.close();
                self.all.iter().map(|lanes| lanes.name("value")).collect()
            }
        };
        for (lanes, value) in self.all.iter().zip(values) {
            self.take(body, lanes, &value);
        }
        body.close();
    }

    /// Combines lanes with the four points from `n` on.
    fn take(&self, body: &mut Body<'_>, lanes: &ReductionLanes<'_>, value: &str) {
        let (own, combined) = (lanes.name("lanes"), lanes.name("combined"));
        body.line(&lanes.vector("combined", &lanes.combine(&own, value)));
        if self.how.ragged {
            let ends = format!("{}(count - n)", self.text.int(Width::Four));
            let exists = exist(self.text, &self.text.lanes(), &ends);
            let kept = lanes.select(&exists, &combined, &own);
            body.line(&format!("{combined} = {kept};"));
        }
        body.line(&format!("if (n == part) {{ {own} = {value}; }} else {{ {own} = {combined}; }}"));
    }

    /// Writes the prologue and returns the names of the values to combine.
    fn prologue(&self, body: &mut Body<'_>) -> Vec<String> {
        let text = self.text;
        let rank = usize::from(text.plan.rank);
        let mut coordinates = coordinates(&text.plan.frame, rank);
        let fours = text.plan.width == Width::Four;
        let all = if fours { "ats" } else { "at" };
        coordinates[rank - 1] =
            KernelCoordinate { name: "at".to_owned(), all: all.to_owned(), four: fours };
        if fours && !text.plan.indices.is_empty() {
            body.line(&text.declare_int(Width::Four, "ats", &format!("at + {}", text.lanes())));
        }
        let early = ElementReader {
            text,
            fetches: &text.plan.fetches,
            windows: &[],
            indices: &text.plan.indices,
            targets: &[],
            coordinates,
            width: text.plan.width,
            prefix: "a",
            linear: "",
            writes: None,
        };
        for line in early.places() {
            body.line(&line);
        }
        body.instructions(0..self.prologue, text.plan.width, &early);
        self.all.iter().map(|lanes| body.name(lanes.reduction.value).to_owned()).collect()
    }
}

/// Whether each of four lanes is before an end.
fn exist(text: &KernelText<'_>, lanes: &str, ends: &str) -> String {
    text.dialect.compare(Op::Lt, DType::I32, Width::Four, lanes, ends)
}

/// Combines the 16 lanes: lane l with lane l + 8, then l + 4, l + 2 and l + 1, where the other lane has points.
fn fold(text: &KernelText<'_>, body: &mut Body<'_>, lanes: &ReductionLanes<'_>) {
    let ints = text.int(Width::Four);
    let mut fold = |into: &str, (other, mixed): (&str, &str), first: usize| {
        let others = match first {
            2 => format!("{ints}(2, 3, 2, 3)"),
            1 => format!("{ints}(1, 1, 3, 3)"),
            _ => format!("{ints}({first}, {}, {}, {})", first + 1, first + 2, first + 3),
        };
        let exists = exist(text, &others, &format!("{ints}(count)"));
        let (into, other) = (lanes.name(into), lanes.name(other) + mixed);
        let fold = format!("fold{first}");
        body.line(&lanes.vector(&fold, &lanes.combine(&into, &other)));
        body.line(&format!("{into} = {};", lanes.select(&exists, &lanes.name(&fold), &into)));
    };
    fold("lanes0", ("lanes2", ""), 8);
    fold("lanes1", ("lanes3", ""), 12);
    fold("lanes0", ("lanes1", ""), 4);
    fold("lanes0", ("lanes0", ".zwzw"), 2);
    fold("lanes0", ("lanes0", ".yyww"), 1);
}
