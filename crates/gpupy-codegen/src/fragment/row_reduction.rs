//! Row reductions in fragment shaders: each element of the output combines up to 256 points.
//!
//! The 16 lanes of the canonical tree are four vectors. One loop computes one vector, so that the prologue is in the
//! text once. Points are `at` to `at + 3`. Lanes without points hold undefined values and are never combined. Several
//! reductions have separate lanes, side by side.
//!
//! Not here: column reductions (`column_reduction.rs`), the passes of a long reduction (the engine).

use super::draw_plan::DrawPlan;
use super::locate::Locator;
use super::map::{close_elements, open_elements};
use super::texel_reader::{FragmentCoordinate, TexelReader, word};
use crate::dialect::glsl::Glsl;
use crate::dialect::{COMPONENTS, Width};
use crate::emit::accumulator_lanes::ReductionLanes;
use crate::emit::body::{Body, Leaves};
use crate::emit::loop_bounds::{FOURS_OF_LANES, LoopHead, POINTS_OF_A_LANE};
use gpupy_core::ir::{Program, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;

/// The function `main` of reductions.
pub(super) fn main(program: &Program, plan: &DrawPlan, live: &[bool]) -> String {
    let Some(range) = program.reduce_range() else { return String::new() };
    let all = ReductionLanes::of(program, live, &Glsl);
    let mut body = Body::new(program, &Glsl, live, plan.finite);
    let locator = Locator { plan };
    let last = usize::from(plan.rank) - 1;
    let late = TexelReader {
        program,
        plan,
        loads: &plan.late_loads,
        indices: &plan.late_indices,
        coordinates: locator.coordinates(Width::One),
        width: Width::One,
    };
    let loops = program.insts[..range.start].iter().any(|i| i.op == Op::Loop);
    let inner = if loops { Width::One } else { Width::Four };
    let mut coordinates = locator.coordinates(Width::One);
    coordinates[last] = FragmentCoordinate { name: "at".to_owned(), four: inner == Width::Four };
    let early = TexelReader {
        loads: &plan.loads,
        indices: &plan.indices,
        coordinates,
        width: inner,
        ..late.clone()
    };

    body.text = "void main() {\n".to_owned();
    locator.shared(&mut body);
    open_elements(&mut body, program, plan);
    locator.elements(&mut body, Width::One);
    let points = word(plan.points);
    body.line(&format!("int base = {REDUCE_CHUNK} * i{last};"));
    body.line(&format!("int count = min({points} - base, {REDUCE_CHUNK});"));
    for lanes in &all {
        for k in 0..REDUCE_LANES / 4 {
            body.line(&lanes.vector(&format!("lanes{k}"), &lanes.zeros()));
        }
    }
    body.open_loop(&FOURS_OF_LANES);
    for lanes in &all {
        body.line(&lanes.vector("lanes", &lanes.zeros()));
    }
    body.open_loop(&POINTS_OF_A_LANE);
    let values: Vec<String> = if inner == Width::Four {
        body.line("ivec4 at = base + n + ivec4(0, 1, 2, 3);");
        prologue(&mut body, &early, range.start);
        let value =
            |lanes: &ReductionLanes<'_>| lanes.taken(Width::Four, body.name(lanes.reduction.value));
        all.iter().map(value).collect()
    } else {
        for lanes in &all {
            body.line(&lanes.vector("value", &lanes.zeros()));
        }
        body.open_loop(&LoopHead::below("e", "4", 4));
        body.line("int at = base + n + e;");
        prologue(&mut body, &early, range.start);
        for lanes in &all {
            let four = lanes.name("value");
            let value = lanes.taken(Width::One, body.name(lanes.reduction.value));
            let [x, y, z, w] = COMPONENTS.map(|component| format!("{four}.{component} = {value};"));
            let line =
                format!("if (e == 0) {x} else if (e == 1) {y} else if (e == 2) {z} else {w}");
            body.line(&line);
        }
        body.close();
        all.iter().map(|lanes| lanes.name("value")).collect()
    };
    body.line("bvec4 exists = lessThan(n + ivec4(0, 1, 2, 3), ivec4(count));");
    for (lanes, value) in all.iter().zip(&values) {
        let (own, both) = (lanes.name("lanes"), lanes.name("both_lanes"));
        body.line(&lanes.vector("both_lanes", &lanes.combine(&own, value)));
        let combined = lanes.select("exists", &both, &own);
        body.line(&format!("if (n == part) {own} = {value}; else {own} = {combined};"));
    }
    body.close();
    for lanes in &all {
        let [first, second, third, last] = [0, 1, 2, 3]
            .map(|k| format!("{} = {};", lanes.name(&format!("lanes{k}")), lanes.name("lanes")));
        body.line(&format!(
            "if (part == 0) {first} else if (part == 4) {second} else if (part == 8) {third} else {last}"
        ));
    }
    body.close();

    for lanes in &all {
        fold(&mut body, lanes);
        let result = lanes.given(Width::One, &(lanes.name("lanes0") + ".x"));
        body.set_name(lanes.reduction.at as u32, result);
    }
    for line in late.early_fetches() {
        body.line(&line);
    }
    body.instructions(range.end..program.insts.len(), Width::One, &late);
    close_elements(&mut body, plan);
    body.finish() + "}\n"
}

/// Combines the 16 lanes: lane l with lane l + 8, then l + 4, l + 2 and l + 1, where the other lane has points.
fn fold(body: &mut Body<'_>, lanes: &ReductionLanes<'_>) {
    let mut fold = |into: &str, (other, mixed): (&str, &str), first: usize| {
        let exists = format!("lessThan(ivec4({}), ivec4(count))", lanes_from(first));
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

/// Writes the prologue: the instructions before `reduce`, the first reduction.
pub(super) fn prologue(body: &mut Body<'_>, reader: &TexelReader<'_>, reduce: usize) {
    for line in reader.early_fetches() {
        body.line(&line);
    }
    let leaves: &dyn Leaves = reader;
    body.instructions(0..reduce, reader.width, leaves);
}

/// The indices of the other lanes of a fold, for each component of the result.
fn lanes_from(first: usize) -> String {
    match first {
        2 => "2, 3, 2, 3".to_owned(),
        1 => "1, 1, 3, 3".to_owned(),
        _ => format!("{first}, {}, {}, {}", first + 1, first + 2, first + 3),
    }
}
