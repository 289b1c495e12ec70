//! Kernels of the map form, and the statements by which invocations compute their coordinates.
//!
//! Not here: reductions (`tree_reduction.rs`).

use crate::compute::plan::fetch::ElementFetch;
use crate::compute::plan::point_mapping::{InvocationMapping, Points, Take};
use crate::compute::text::element_reader::{ElementReader, KernelCoordinate};
use crate::compute::text::kernel_text::KernelText;
use crate::dialect::Width;
use crate::emit::body::Body;
use gpupy_core::DType;

/// The entry point of a map.
pub(crate) fn main(text: &KernelText<'_>, live: &[bool]) -> String {
    let plan = text.plan;
    let mut body = Body::new(text.program, text.dialect, live, text.plan.finite);
    body.text = text.open_main();
    // An invocation without points repeats the last point and writes nothing. After an early return, Mesa's
    // rasteriser would read the argument words separately for each invocation, which costs as much as some
    // operations.
    let count = text.number(plan.frame.count);
    let number = if plan.frame.full { "t".to_owned() } else { format!("min(t, {count} - 1)") };
    body.line(&text.declare_int(Width::One, "number", &number));
    find_points(&mut body, text, &plan.frame, usize::from(plan.rank), "number");
    let reader = ElementReader {
        text,
        fetches: &plan.fetches,
        windows: &plan.windows,
        indices: &plan.indices,
        targets: &plan.targets,
        coordinates: coordinates(&plan.frame, usize::from(plan.rank)),
        width: plan.width,
        prefix: "a",
        linear: "number",
        writes: (!plan.frame.full).then(|| format!("t < {count}")),
    };
    // An axis of length one has no coordinate, and none is needed.
    let last = plan.rank - 1;
    let has_last = plan.frame.steps.iter().any(|step| step.axis == last);
    if !plan.indices.is_empty() && plan.frame.points == Points::Run && has_last {
        let all = format!("i{last} + {}", text.lanes());
        body.line(&text.declare_int(Width::Four, &format!("j{last}"), &all));
    }
    for line in reader.places() {
        body.line(&line);
    }
    body.instructions(0..text.program.insts.len(), plan.width, &reader);
    body.finish() + "}\n"
}

/// Declares the coordinates `i<axis>` of an invocation's points. If needed, it also declares `left`, the number of
/// points after the first, and `lane`, the distance of each point from the first.
pub(crate) fn find_points(
    body: &mut Body<'_>,
    text: &KernelText<'_>,
    frame: &InvocationMapping,
    rank: usize,
    number: &str,
) {
    let plan = text.plan;
    let apart = frame.points == Points::Apart;
    let width = if apart { Width::Four } else { Width::One };
    if apart && (frame.tail.is_some() || !frame.steps.is_empty()) {
        let points = format!("4 * {number} + {}", text.lanes());
        let points = match frame.tail {
            Some(tail) => {
                let last = text.dialect.splat(DType::I32, Width::Four, &text.number(tail));
                format!("min({points}, {last})")
            }
            None => points,
        };
        body.line(&text.declare_int(Width::Four, "points", &points));
    }
    let mut rest = if apart { "points" } else { number }.to_owned();
    let large = if plan.large { "_large" } else { "" };
    let quotient = format!("quotient{}{large}", if apart { "s" } else { "" });
    for (k, step) in frame.steps.iter().enumerate() {
        let divided = match step.take {
            Take::Nothing => {
                body.line(&text.declare_int(width, &format!("i{}", step.axis), "0"));
                continue;
            }
            Take::Rest => None,
            Take::Quotient(d) => {
                let (by, reciprocal) = (text.number(d.by), text.scalar(d.reciprocal, DType::F32));
                Some((format!("{quotient}({rest}, {by}, {reciprocal})"), by))
            }
            Take::Known(by) => {
                // Compilers turn an unsigned division into a shift or a product.
                let signed = text.dialect.type_name(DType::I32, width);
                let unsigned = text.dialect.type_name(DType::U32, width);
                Some((format!("{signed}({unsigned}({rest}) / {by}u)"), by.to_string()))
            }
        };
        let count = match divided {
            None => rest.clone(),
            Some((value, by)) => {
                let (q, next) = (format!("q{k}"), format!("rest{k}"));
                body.line(&text.declare_int(width, &q, &value));
                body.line(&text.declare_int(width, &next, &format!("{rest} - {q} * {by}")));
                rest = next;
                q
            }
        };
        let in_fours = frame.points == Points::Run && usize::from(step.axis) + 1 == rank;
        let count = if in_fours { format!("4 * {count}") } else { count };
        body.line(&text.declare_int(width, &format!("i{}", step.axis), &count));
    }
    if frame.points == Points::One {
        return;
    }
    let lanes = text.lanes();
    let lanes = match frame.tail {
        Some(tail) => {
            let whole_row = frame.points == Points::Run && rank > 1;
            let first = if whole_row { format!("i{}", rank - 1) } else { format!("4 * {number}") };
            body.line(&text.declare_int(
                Width::One,
                "left",
                &format!("{} - {first}", text.number(tail)),
            ));
            format!("min({lanes}, {})", text.dialect.splat(DType::I32, Width::Four, "left"))
        }
        None => lanes,
    };
    let each = |f: &ElementFetch| !f.takes_fours() && !f.takes_one();
    let targets = plan.targets.iter().map(|(f, _)| f);
    if plan.fetches.iter().map(|(_, f)| f).chain(targets).any(each) {
        body.line(&text.declare_int(Width::Four, "lane", &lanes));
    }
}

/// The names of the coordinates that `find_points` declares.
pub(crate) fn coordinates(frame: &InvocationMapping, rank: usize) -> Vec<KernelCoordinate> {
    let of = |axis: usize| {
        let name = format!("i{axis}");
        match frame.points {
            Points::One => KernelCoordinate { all: name.clone(), name, four: false },
            Points::Apart => KernelCoordinate { all: name.clone(), name, four: true },
            Points::Run if axis + 1 == rank => {
                KernelCoordinate { name, all: format!("j{axis}"), four: true }
            }
            Points::Run => KernelCoordinate { all: name.clone(), name, four: false },
        }
    };
    (0..rank).map(of).collect()
}
