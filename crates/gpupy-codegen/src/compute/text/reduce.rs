//! Kernels of the reduce form.
//!
//! The 16 lanes of the canonical tree are four vectors. Each walks over its points by itself, so that
//! the prologue stands in the text once: one after another in one invocation, or each in an
//! invocation of its own, which then share them through the group's memory. Points are `at` to
//! `at + 3`; lanes that do not exist hold anything and are never combined.
//!
//! Not here: the map form (`map.rs`), how many passes a reduction takes (the core).

use crate::compute::plan::parts::{Formed, Reduction};
use crate::compute::text::kernel::Text;
use crate::compute::text::map::{coordinates, find_points};
use crate::compute::text::reader::{Coordinate, Reader};
use crate::dialect::{COMPONENTS, Dialect, Width};
use crate::spell::body::Body;
use crate::spell::loops::{Each, FOURS_OF_LANES, POINTS_OF_A_LANE};
use crate::spell::operations::spell;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The entry point of a reduction by `op`.
pub(crate) fn main(text: &Text<'_>, live: &[bool], op: Op) -> String {
    let found = text.program.insts.iter().position(|inst| inst.op == Op::Reduce);
    let (Some(reduce), Formed::Reduce(reduction)) = (found, text.plan.form.clone()) else {
        return String::new();
    };
    let tree = Tree { text, reduce, reduction, op, dtype: text.program.insts[reduce].dtype };
    let mut body = Body::new(text.program, text.dialect, live, text.plan.finite);
    body.text = text.open_main();
    tree.points(&mut body);
    tree.lanes(&mut body);
    tree.fold(&mut body);
    let rank = usize::from(text.plan.rank);
    let late = Reader {
        text,
        fetches: &text.plan.late_fetches,
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
    body.set_name(reduce as u32, "lanes0.x".to_owned());
    body.instructions(reduce + 1..text.program.insts.len(), Width::One, &late);
    if reduction.shared {
        body.close();
    }
    body.finish() + "}\n"
}

/// A reduction in a kernel.
struct Tree<'a> {
    text: &'a Text<'a>,
    /// The position of the `reduce` instruction.
    reduce: usize,
    reduction: Reduction,
    op: Op,
    dtype: DType,
}

impl Tree<'_> {
    fn dialect(&self) -> &'static dyn Dialect {
        self.text.dialect
    }

    /// The name of the number of the output point.
    fn point(&self) -> &'static str {
        if self.reduction.shared { "point" } else { "t" }
    }

    /// A vector of lanes that is assigned later, too.
    fn vector(&self, name: &str, value: &str) -> String {
        let variable = self.dialect().variable(self.dtype, Width::Four, name);
        format!("{variable} = {value};")
    }

    fn zeros(&self) -> String {
        let zero = self.dialect().literal(Scalar::zero(self.dtype));
        self.dialect().splat(self.dtype, Width::Four, &zero)
    }

    fn combine(&self, a: &str, b: &str) -> String {
        let (op, dtype) = (self.op, self.dtype);
        spell(self.dialect(), op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default()
    }

    fn int(&self, body: &mut Body<'_>, name: &str, value: &str) {
        body.line(&self.text.declare_int(Width::One, name, value));
    }

    /// Finds the output point, and its first input point and how many there are.
    fn points(&self, body: &mut Body<'_>) {
        let text = self.text;
        let (frame, last) = (&text.plan.frame, text.plan.rank - 1);
        let outputs = text.number(frame.count);
        if self.reduction.shared {
            self.int(body, "point", "t >> 2");
        } else {
            body.line(&format!("if (t >= {outputs}) {{ return; }}"));
        }
        find_points(body, text, frame, usize::from(last) + 1, self.point());
        let chunked = frame.steps.iter().any(|step| step.axis == last);
        let base = if chunked { format!("{REDUCE_CHUNK} * i{last}") } else { "0".to_owned() };
        self.int(body, "base", &base);
        let points = text.number(self.reduction.points);
        let count = format!("min({points} - base, {REDUCE_CHUNK})");
        let count = match self.reduction.shared {
            // All invocations come to the barrier.
            true => {
                let exists = format!("(point < {outputs})");
                self.dialect().select(DType::I32, Width::One, &exists, &count, "0")
            }
            false => count,
        };
        self.int(body, "count", &count);
    }

    /// Combines the points of each lane.
    fn lanes(&self, body: &mut Body<'_>) {
        if self.reduction.shared {
            self.int(body, "part", "4 * (t & 3)");
            self.walk(body);
            body.line("partial[local] = lanes;");
            body.line(self.text.barrier());
            body.open("if (part == 0 && count > 0) {");
            for k in 0..REDUCE_LANES / 4 {
                let other =
                    if k == 0 { "lanes".to_owned() } else { format!("partial[local + {k}]") };
                body.line(&self.vector(&format!("lanes{k}"), &other));
            }
            return;
        }
        for k in 0..REDUCE_LANES / 4 {
            body.line(&self.vector(&format!("lanes{k}"), &self.zeros()));
        }
        body.open_loop(&FOURS_OF_LANES);
        self.walk(body);
        for k in 0..REDUCE_LANES / 4 {
            body.line(&format!("if (part == {}) {{ lanes{k} = lanes; }}", 4 * k));
        }
        body.close();
    }

    /// Combines the points of the four lanes from `part` on, into `lanes`.
    fn walk(&self, body: &mut Body<'_>) {
        let (text, d) = (self.text, self.dialect());
        body.line(&self.vector("lanes", &self.zeros()));
        body.open_loop(&POINTS_OF_A_LANE);
        let value = match text.plan.width {
            Width::Four => {
                self.int(body, "at", "base + n");
                self.int(body, "left", "count - 1 - n");
                let lanes = match self.reduction.ragged {
                    true => format!("min({}, {}(left))", text.lanes(), text.int(Width::Four)),
                    false => text.lanes(),
                };
                body.line(&text.declare_int(Width::Four, "lane", &lanes));
                self.prologue(body)
            }
            Width::One => {
                body.line(&self.vector("value", &self.zeros()));
                body.open_loop(&Each::below("e", "min(4, count - n)", 4));
                self.int(body, "at", "base + n + e");
                let value = self.prologue(body);
                for (c, component) in COMPONENTS.iter().enumerate() {
                    body.line(&format!("if (e == {c}) {{ value.{component} = {value}; }}"));
                }
                body.close();
                "value".to_owned()
            }
        };
        body.line(&self.vector("combined", &self.combine("lanes", &value)));
        if self.reduction.ragged {
            let lanes = text.lanes();
            let ends = format!("{}(count - n)", text.int(Width::Four));
            let exists = d.compare(Op::Lt, DType::I32, Width::Four, &lanes, &ends);
            let kept = d.select(self.dtype, Width::Four, &exists, "combined", "lanes");
            body.line(&format!("combined = {kept};"));
        }
        body.line(&format!("if (n == part) {{ lanes = {value}; }} else {{ lanes = combined; }}"));
        body.close();
    }

    /// Writes the prologue, and gives the name of the value to combine.
    fn prologue(&self, body: &mut Body<'_>) -> String {
        let text = self.text;
        let rank = usize::from(text.plan.rank);
        let mut coordinates = coordinates(&text.plan.frame, rank);
        let fours = text.plan.width == Width::Four;
        let all = if fours { "ats" } else { "at" };
        coordinates[rank - 1] =
            Coordinate { name: "at".to_owned(), all: all.to_owned(), four: fours };
        if fours && !text.plan.indices.is_empty() {
            body.line(&text.declare_int(Width::Four, "ats", &format!("at + {}", text.lanes())));
        }
        let early = Reader {
            text,
            fetches: &text.plan.fetches,
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
        body.instructions(0..self.reduce, text.plan.width, &early);
        body.name(text.program.insts[self.reduce].args[0]).to_owned()
    }

    /// Lane l takes lane l + 8, then l + 4, l + 2, l + 1, where the other one exists.
    fn fold(&self, body: &mut Body<'_>) {
        let (text, d) = (self.text, self.dialect());
        let ints = text.int(Width::Four);
        let mut fold = |into: &str, other: &str, first: usize| {
            let lanes = match first {
                2 => format!("{ints}(2, 3, 2, 3)"),
                1 => format!("{ints}(1, 1, 3, 3)"),
                _ => format!("{ints}({first}, {}, {}, {})", first + 1, first + 2, first + 3),
            };
            let exists =
                d.compare(Op::Lt, DType::I32, Width::Four, &lanes, &format!("{ints}(count)"));
            let name = format!("fold{first}");
            body.line(&self.vector(&name, &self.combine(into, other)));
            let folded = d.select(self.dtype, Width::Four, &exists, &name, into);
            body.line(&format!("{into} = {folded};"));
        };
        fold("lanes0", "lanes2", 8);
        fold("lanes1", "lanes3", 12);
        fold("lanes0", "lanes1", 4);
        fold("lanes0", "lanes0.zwzw", 2);
        fold("lanes0", "lanes0.yyww", 1);
    }
}
