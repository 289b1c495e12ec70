//! Shaders of the map form: every fragment computes the four points of its texel.
//!
//! Not here: reductions (`row_reduction.rs`).

use super::draw_plan::DrawPlan;
use super::locate::Locator;
use super::point_mapping::WritePredicate;
use super::texel_reader::{TexelReader, to_raw};
use super::texture_layout::raw;
use crate::analysis::kernel_arguments::ParameterSource;
use crate::dialect::glsl::Glsl;
use crate::dialect::{COMPONENTS, Dialect, Width};
use crate::emit::body::{Body, Leaves};
use crate::emit::loop_bounds::LoopHead;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Scalar};

/// The function `main` of a map.
pub(super) fn main(program: &Program, plan: &DrawPlan, live: &[bool]) -> String {
    let mut body = Body::new(program, &Glsl, live, plan.finite);
    let locator = Locator { plan };
    let width = plan.width;
    let reader = TexelReader {
        program,
        plan,
        loads: &plan.loads,
        indices: &plan.indices,
        coordinates: locator.coordinates(width),
        width,
    };
    let all = 0..program.insts.len();
    body.text = "void main() {\n".to_owned();
    locator.shared(&mut body);
    if width == Width::One {
        for line in reader.early_fetches() {
            body.line(&line);
        }
        open_elements(&mut body, program, plan);
        locator.elements(&mut body, width);
        body.instructions(all, width, &reader);
        close_elements(&mut body, plan);
    } else {
        locator.elements(&mut body, width);
        for vector in plan.held.0..plan.held.1 {
            body.line(&format!("ivec4 c{vector} = k[{vector}];"));
        }
        fetch_kept(&mut body, program, plan);
        for line in reader.early_fetches() {
            body.line(&line);
        }
        body.instructions(all, width, &reader);
    }
    body.finish() + "}\n"
}

/// Fetches the old texel, if some of its elements are kept.
pub(super) fn fetch_kept(body: &mut Body<'_>, program: &Program, plan: &DrawPlan) {
    if plan.reads_old() {
        let dtype = raw(program.dests[plan.stores[0] as usize]);
        let name = Glsl.type_name(dtype, Width::Four);
        body.line(&format!("{name} kept = texelFetch(old, pos, 0);"));
    }
}

/// Opens the loop over a texel's elements `c`. Their values are collected in `q<output>`.
pub(super) fn open_elements(body: &mut Body<'_>, program: &Program, plan: &DrawPlan) {
    for (location, dest) in plan.stores.iter().enumerate() {
        let name = Glsl.type_name(raw(program.dests[*dest as usize]), Width::Four);
        let start = match plan.reads_old() {
            true => "texelFetch(old, pos, 0)".to_owned(),
            false => format!("{name}(0)"),
        };
        body.line(&format!("{name} q{location} = {start};"));
    }
    body.open_loop(&LoopHead::below("c", "4", 4));
}

/// Closes the loop over elements, and writes the collected values.
pub(super) fn close_elements(body: &mut Body<'_>, plan: &DrawPlan) {
    body.close();
    for location in 0..plan.stores.len() {
        body.line(&format!("o{location} = q{location};"));
    }
}

impl Leaves for TexelReader<'_> {
    fn param(&self, slot: u32, dtype: DType) -> String {
        match self.plan.params[slot as usize] {
            ParameterSource::Word(word)
                if (self.plan.held.0..self.plan.held.1).contains(&(word / 4)) =>
            {
                Glsl.held_word(word.into(), dtype)
            }
            ParameterSource::Word(word) => Glsl.word(word.into(), dtype),
            ParameterSource::Literal(bits) => Glsl.literal(Scalar::new(dtype, bits)),
        }
    }

    fn constant(&self, value: Scalar) -> String {
        match self.plan.constants.iter().find(|(constant, _)| *constant == value) {
            Some((_, word)) => Glsl.word((*word).into(), value.dtype),
            None => Glsl.literal(value),
        }
    }

    fn index(&self, access: u32) -> String {
        TexelReader::index(self, access)
    }

    fn load(&self, operand: u32, access: u32) -> String {
        TexelReader::load(self, operand, access)
    }

    fn gather(&self, operand: u32, index: &str) -> String {
        TexelReader::gather(self, operand, index)
    }

    fn store(&self, dest: u32, value: &str) -> String {
        let dtype = self.program.dests[dest as usize];
        let stores = &self.plan.stores;
        let location = stores.iter().position(|d| *d == dest).unwrap_or_default();
        let value = to_raw(dtype, self.width, value);
        if self.width == Width::Four {
            let value = match self.plan.frame.guard {
                WritePredicate::Elements => {
                    Glsl.select(raw(dtype), Width::Four, "valid", &value, "kept")
                }
                _ => value,
            };
            return format!("o{location} = {value};");
        }
        let assign = |c: usize| format!("q{location}.{} = {value};", COMPONENTS[c]);
        format!(
            "if (c == 0) {} else if (c == 1) {} else if (c == 2) {} else {}",
            assign(0),
            assign(1),
            assign(2),
            assign(3)
        )
    }
}
