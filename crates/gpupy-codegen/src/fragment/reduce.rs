//! Shaders of the reduce form: each element of the output combines up to 256 points.
//!
//! The 16 lanes of the canonical tree are four vectors; one vector at a time walks over the points,
//! so that the prologue stands in the text once. Points are `at` to `at + 3`, in a vector whose
//! lanes that do not exist hold anything and are never combined.
//!
//! Not here: the map form (`map.rs`), how many passes a reduction takes (the core).

use super::locate::Locator;
use super::map::{close_elements, open_elements};
use super::operand::{Coordinate, Reader, word};
use super::plan::Plan;
use crate::dialect::glsl::Glsl;
use crate::dialect::{COMPONENTS, Dialect, Width};
use crate::spell::body::{Body, Leaves};
use crate::spell::loops::{Each, FOURS_OF_LANES, POINTS_OF_A_LANE};
use crate::spell::operations::spell;
use gpupy_core::ir::{Program, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

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
        coordinates: locator.coordinates(Width::One),
        width: Width::One,
    };
    let loops = program.insts[..reduce].iter().any(|i| i.op == Op::Loop);
    let inner = if loops { Width::One } else { Width::Four };
    let mut coordinates = locator.coordinates(Width::One);
    coordinates[last] = Coordinate { name: "at".to_owned(), four: inner == Width::Four };
    let early = Reader {
        loads: &plan.loads,
        indices: &plan.indices,
        coordinates,
        width: inner,
        ..late.clone()
    };

    body.text = "void main() {\n".to_owned();
    locator.shared(&mut body);
    let vector = |name: &str| Glsl.variable(dtype, Width::Four, name);
    let combine =
        |a: &str, b: &str| spell(&Glsl, op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default();
    open_elements(&mut body, program, plan);
    locator.elements(&mut body, Width::One);
    let points = word(plan.points);
    body.line(&format!("int base = {REDUCE_CHUNK} * i{last};"));
    body.line(&format!("int count = min({points} - base, {REDUCE_CHUNK});"));
    let zero = zero(dtype);
    for k in 0..REDUCE_LANES / 4 {
        body.line(&format!("{} = {zero};", vector(&format!("lanes{k}"))));
    }
    body.open_loop(&FOURS_OF_LANES);
    body.line(&format!("{} = {zero};", vector("lanes")));
    body.open_loop(&POINTS_OF_A_LANE);
    let value = if inner == Width::Four {
        body.line("ivec4 at = base + n + ivec4(0, 1, 2, 3);");
        prologue(&mut body, &early, reduce);
        body.name(inst.args[0]).to_owned()
    } else {
        body.line(&format!("{} = {zero};", vector("value")));
        body.open_loop(&Each::below("e", "4", 4));
        body.line("int at = base + n + e;");
        prologue(&mut body, &early, reduce);
        let value = body.name(inst.args[0]).to_owned();
        let assign = |c: usize| format!("value.{} = {value};", COMPONENTS[c]);
        let (x, y, z, w) = (assign(0), assign(1), assign(2), assign(3));
        body.line(&format!("if (e == 0) {x} else if (e == 1) {y} else if (e == 2) {z} else {w}"));
        body.close();
        "value".to_owned()
    };
    body.line("bvec4 exists = lessThan(n + ivec4(0, 1, 2, 3), ivec4(count));");
    body.line(&format!("{} = {};", vector("both_lanes"), combine("lanes", &value)));
    let combined = Glsl.select(dtype, Width::Four, "exists", "both_lanes", "lanes");
    body.line(&format!("if (n == part) lanes = {value}; else lanes = {combined};"));
    body.close();
    body.line(
        "if (part == 0) lanes0 = lanes; else if (part == 4) lanes1 = lanes; \
         else if (part == 8) lanes2 = lanes; else lanes3 = lanes;",
    );
    body.close();

    // Lane l takes lane l + 8, then l + 4, l + 2, l + 1, where the other one exists.
    let mut fold = |into: &str, other: &str, first: usize| {
        let exists = format!("lessThan(ivec4({}), ivec4(count))", lanes_from(first));
        let folded = format!("fold{first}");
        body.line(&format!("{} = {};", vector(&folded), combine(into, other)));
        body.line(&format!(
            "{into} = {};",
            Glsl.select(dtype, Width::Four, &exists, &folded, into)
        ));
    };
    fold("lanes0", "lanes2", 8);
    fold("lanes1", "lanes3", 12);
    fold("lanes0", "lanes1", 4);
    fold("lanes0", "lanes0.zwzw", 2);
    fold("lanes0", "lanes0.yyww", 1);
    body.set_name(reduce as u32, "lanes0.x".to_owned());
    for line in late.early_fetches() {
        body.line(&line);
    }
    body.instructions(reduce + 1..program.insts.len(), Width::One, &late);
    close_elements(&mut body, plan);
    body.finish() + "}\n"
}

pub(super) fn prologue(body: &mut Body<'_>, reader: &Reader<'_>, reduce: usize) {
    for line in reader.early_fetches() {
        body.line(&line);
    }
    let leaves: &dyn Leaves = reader;
    body.instructions(0..reduce, reader.width, leaves);
}

/// The numbers of the lanes that a fold takes, for each component of the result.
fn lanes_from(first: usize) -> String {
    match first {
        2 => "2, 3, 2, 3".to_owned(),
        1 => "1, 1, 3, 3".to_owned(),
        _ => format!("{first}, {}, {}, {}", first + 1, first + 2, first + 3),
    }
}

/// What lanes hold before anything is combined, which nobody sees.
pub(super) fn zero(dtype: DType) -> String {
    Glsl.splat(dtype, Width::Four, &Glsl.literal(Scalar::zero(dtype)))
}
