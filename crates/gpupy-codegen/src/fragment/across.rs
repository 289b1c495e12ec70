//! Shaders of the reduce form whose output's neighbours are the input's: the four elements of a
//! texel are reduced side by side, from whole texels of the operands.
//!
//! The 16 lanes of the canonical tree are 16 vectors. One at a time walks over its points, so that
//! the prologue stands in the text once.
//!
//! Not here: reductions along the rows of operands (`reduce.rs`).

use super::locate::Locator;
use super::map::fetch_kept;
use super::operand::{Coordinate, Reader, word};
use super::plan::Plan;
use super::reduce::{prologue, zero};
use crate::dialect::glsl::Glsl;
use crate::dialect::{Dialect, Width};
use crate::spell::body::Body;
use crate::spell::loops::{EACH_LANE, POINTS_OF_A_LANE};
use crate::spell::operations::spell;
use gpupy_core::ir::{Program, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;

/// The function `main` of a reduction by `op`.
pub(super) fn main(program: &Program, plan: &Plan, live: &[bool], op: Op) -> String {
    let Some(reduce) = program.insts.iter().position(|i| i.op == Op::Reduce) else {
        return String::new();
    };
    let inst = program.insts[reduce];
    let dtype = inst.dtype;
    let mut body = Body::new(program, &Glsl, live, plan.finite);
    let locator = Locator { plan };
    let last = usize::from(plan.rank) - 1;
    let late = Reader {
        program,
        plan,
        loads: &plan.late_loads,
        indices: &plan.late_indices,
        coordinates: locator.coordinates(Width::Four),
        width: Width::Four,
    };
    let mut coordinates = late.coordinates.clone();
    coordinates[last] = Coordinate { name: "at".to_owned(), four: false };
    let early = Reader { loads: &plan.loads, indices: &plan.indices, coordinates, ..late.clone() };
    let vector = |name: &str| Glsl.variable(dtype, Width::Four, name);
    let combine =
        |a: &str, b: &str| spell(&Glsl, op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default();

    body.text = "void main() {\n".to_owned();
    locator.shared(&mut body);
    locator.elements(&mut body, Width::Four);
    fetch_kept(&mut body, program, plan);
    body.line(&format!("int base = {REDUCE_CHUNK} * i{last};"));
    body.line(&format!("int count = min({} - base, {REDUCE_CHUNK});", word(plan.points)));
    let zero = zero(dtype);
    for lane in 0..REDUCE_LANES {
        body.line(&format!("{} = {zero};", vector(&format!("lanes{lane}"))));
    }
    body.open_loop(&EACH_LANE);
    body.line(&format!("{} = {zero};", vector("lanes")));
    body.open_loop(&POINTS_OF_A_LANE);
    body.line("int at = base + n;");
    prologue(&mut body, &early, reduce);
    let value = body.name(inst.args[0]).to_owned();
    body.line(&format!("{} = {};", vector("combined"), combine("lanes", &value)));
    body.line(&format!("if (n == part) lanes = {value}; else lanes = combined;"));
    body.close();
    for lane in 0..REDUCE_LANES {
        body.line(&format!("if (part == {lane}) lanes{lane} = lanes;"));
    }
    body.close();

    // Lane l takes lane l + 8, then l + 4, l + 2, l + 1, where the other one exists.
    let mut step = REDUCE_LANES / 2;
    while step > 0 {
        for lane in 0..step {
            let (into, other) = (format!("lanes{lane}"), format!("lanes{}", lane + step));
            let combined = combine(&into, &other);
            body.line(&format!("if (count > {}) {into} = {combined};", lane + step));
        }
        step /= 2;
    }
    body.set_name(reduce as u32, "lanes0".to_owned());
    for line in late.early_fetches() {
        body.line(&line);
    }
    body.instructions(reduce + 1..program.insts.len(), Width::Four, &late);
    body.finish() + "}\n"
}
