//! Column reductions in fragment shaders: the four elements of an output texel are reduced side by side, from whole
//! texels of the operands.
//!
//! The 16 lanes of the canonical tree are 16 vectors. One loop computes one vector, so that the prologue is in the
//! text once. Several reductions have separate lanes.
//!
//! Not here: reductions along the rows of operands (`row_reduction.rs`).

use super::draw_plan::DrawPlan;
use super::locate::Locator;
use super::map::fetch_kept;
use super::row_reduction::prologue;
use super::texel_reader::{FragmentCoordinate, TexelReader, word};
use crate::dialect::Width;
use crate::dialect::glsl::Glsl;
use crate::emit::accumulator_lanes::ReductionLanes;
use crate::emit::body::Body;
use crate::emit::loop_bounds::{EACH_LANE, POINTS_OF_A_LANE};
use gpupy_core::ir::{Program, REDUCE_CHUNK, REDUCE_LANES};

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
        coordinates: locator.coordinates(Width::Four),
        width: Width::Four,
    };
    let mut coordinates = late.coordinates.clone();
    coordinates[last] = FragmentCoordinate { name: "at".to_owned(), four: false };
    let early =
        TexelReader { loads: &plan.loads, indices: &plan.indices, coordinates, ..late.clone() };

    body.text = "void main() {\n".to_owned();
    locator.shared(&mut body);
    locator.elements(&mut body, Width::Four);
    fetch_kept(&mut body, program, plan);
    body.line(&format!("int base = {REDUCE_CHUNK} * i{last};"));
    body.line(&format!("int count = min({} - base, {REDUCE_CHUNK});", word(plan.points)));
    for lanes in &all {
        for lane in 0..REDUCE_LANES {
            body.line(&lanes.vector(&format!("lanes{lane}"), &lanes.zeros()));
        }
    }
    body.open_loop(&EACH_LANE);
    for lanes in &all {
        body.line(&lanes.vector("lanes", &lanes.zeros()));
    }
    body.open_loop(&POINTS_OF_A_LANE);
    body.line("int at = base + n;");
    prologue(&mut body, &early, range.start);
    for lanes in &all {
        let (own, combined) = (lanes.name("lanes"), lanes.name("combined"));
        let value = lanes.taken(Width::Four, body.name(lanes.reduction.value));
        body.line(&lanes.vector("combined", &lanes.combine(&own, &value)));
        body.line(&format!("if (n == part) {own} = {value}; else {own} = {combined};"));
    }
    body.close();
    for lanes in &all {
        for lane in 0..REDUCE_LANES {
            let (kept, own) = (lanes.name(&format!("lanes{lane}")), lanes.name("lanes"));
            body.line(&format!("if (part == {lane}) {kept} = {own};"));
        }
    }
    body.close();

    for lanes in &all {
        fold(&mut body, lanes);
        let result = lanes.given(Width::Four, &lanes.name("lanes0"));
        body.set_name(lanes.reduction.at as u32, result);
    }
    for line in late.early_fetches() {
        body.line(&line);
    }
    body.instructions(range.end..program.insts.len(), Width::Four, &late);
    body.finish() + "}\n"
}

/// Combines the 16 lanes: lane l with lane l + 8, then l + 4, l + 2 and l + 1, where the other lane has points.
fn fold(body: &mut Body<'_>, lanes: &ReductionLanes<'_>) {
    let mut step = REDUCE_LANES / 2;
    while step > 0 {
        for lane in 0..step {
            let [into, other] = [lane, lane + step].map(|lane| lanes.name(&format!("lanes{lane}")));
            let combined = lanes.combine(&into, &other);
            body.line(&format!("if (count > {}) {into} = {combined};", lane + step));
        }
        step /= 2;
    }
}
