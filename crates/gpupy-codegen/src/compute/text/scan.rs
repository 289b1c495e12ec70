//! Kernels of the scan form: one invocation scans each chunk from its given start.
//!
//! Not here: the division of a long axis into chunks with starts (the engine).

use crate::compute::plan::form_plan::FormDetails;
use crate::compute::text::element_reader::{ElementReader, KernelCoordinate};
use crate::compute::text::kernel_text::KernelText;
use crate::compute::text::map::{coordinates, find_points};
use crate::dialect::Width;
use crate::emit::body::{Body, Leaves};
use crate::emit::loop_bounds::LoopHead;
use crate::emit::operations::emit;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;

/// The entry point of a scan by `op`.
pub(crate) fn main(text: &KernelText<'_>, live: &[bool], op: Op) -> String {
    let (plan, d) = (text.plan, text.dialect);
    let (rank, dtype) = (usize::from(plan.rank), text.block_dtype(0));
    let loads: Vec<[u32; 3]> =
        text.program.insts.iter().filter(|i| i.op == Op::Load).map(|i| i.args).collect();
    let ([[elements, each, _], [starts, first, _]], FormDetails::Scan(points)) =
        (&loads[..], &plan.form)
    else {
        return String::new();
    };
    let mut body = Body::new(text.program, d, live, text.plan.finite);
    body.text = text.open_main();
    body.line(&format!("if (t >= {}) {{ return; }}", text.number(plan.frame.count)));
    find_points(&mut body, text, &plan.frame, rank, "t");
    let mut reader = ElementReader {
        text,
        fetches: &plan.late_fetches,
        windows: &[],
        indices: &[],
        targets: &[],
        coordinates: coordinates(&plan.frame, rank),
        width: Width::One,
        prefix: "z",
        linear: "t",
        writes: None,
    };
    for line in reader.places() {
        body.line(&line);
    }
    let start = reader.load(*starts, *first);
    body.line(&format!("{} = {start};", d.variable(dtype, Width::One, "running")));
    let int = |name: &str, value: &str| text.declare_int(Width::One, name, value);
    let chunked = plan.frame.steps.iter().any(|step| usize::from(step.axis) + 1 == rank);
    let base = if chunked { format!("{REDUCE_CHUNK} * i{}", rank - 1) } else { "0".to_owned() };
    body.line(&int("base", &base));
    let count = format!("min({} - base, {REDUCE_CHUNK})", text.number(*points));
    body.line(&int("count", &count));
    body.open_loop(&LoopHead::below("n", "count", REDUCE_CHUNK as u64));
    body.line(&int("at", "base + n"));
    (reader.fetches, reader.targets, reader.prefix) = (&plan.fetches, &plan.targets, "a");
    reader.coordinates[rank - 1] =
        KernelCoordinate { name: "at".to_owned(), all: "at".to_owned(), four: false };
    for line in reader.places() {
        body.line(&line);
    }
    let element = reader.load(*elements, *each);
    body.line(&format!("{};", d.declare(dtype, Width::One, "element", &element)));
    let combined = emit(d, op, dtype, dtype, Width::One, &["running", "element"]);
    body.line(&format!("running = {};", combined.unwrap_or_default()));
    body.line(&reader.store(plan.stores[0], "running"));
    body.close();
    body.finish() + "}\n"
}
