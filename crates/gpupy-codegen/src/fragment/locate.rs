//! Statements by which a fragment computes its coordinates and the validity of its elements.
//!
//! Owns `Locator`. The statements before any loop over elements declare `pos`, `texel` and the coordinates that all
//! four elements share. Those inside declare the others and `valid`.
//!
//! Not here: the plan of the mapping (`point_mapping.rs`).

use super::draw_plan::DrawPlan;
use super::point_mapping::{AxisQuotient, CoordinateSource, WritePredicate};
use super::texel_reader::{FragmentCoordinate, quotient, word};
use crate::dialect::glsl::Glsl;
use crate::dialect::{Dialect, Logic, Width};
use crate::emit::body::Body;
use gpupy_core::DType;
use gpupy_core::op::Op;

/// Writes the statements of a plan's point mapping.
pub(super) struct Locator<'a> {
    pub plan: &'a DrawPlan,
}

impl Locator<'_> {
    /// The statements that all elements of a fragment share.
    pub fn shared(&self, body: &mut Body<'_>) {
        body.line("ivec2 pos = ivec2(gl_FragCoord.xy);");
        if let Some((width, first)) = self.plan.frame.texel {
            let (width, first) = (word(width), less(first));
            body.line(&format!("int texel = pos.y * {width} + pos.x{first};"));
        }
        let lacks = |axis: &u8| self.plan.frame.coordinates.lack(*axis);
        for axis in (0..self.plan.rank).filter(lacks) {
            body.line(&format!("int i{axis} = 0;"));
        }
        match &self.plan.frame.coordinates {
            CoordinateSource::Quads(steps) => {
                body.line("int rest0 = 4 * texel;");
                let (_, others) = steps.split_last().unzip();
                let rest = self.steps(body, "rest", others.unwrap_or(&[]), Width::One);
                body.line(&format!("int run = {rest};"));
            }
            CoordinateSource::Split { row, rows, .. } => {
                body.line(&format!("int row0 = pos.y{};", less(*row)));
                self.steps(body, "row", rows, Width::One);
                if self.guarded() {
                    let valid = self.checks("row", rows, Width::One);
                    body.line(&format!("bool row_valid = {valid};"));
                }
            }
            _ => {}
        }
    }

    /// The statements for one element (`c`), or for all four.
    pub fn elements(&self, body: &mut Body<'_>, width: Width) {
        let int = Glsl.type_name(DType::I32, width);
        let lanes = match width {
            Width::One => "c",
            Width::Four => "ivec4(0, 1, 2, 3)",
        };
        match &self.plan.frame.coordinates {
            CoordinateSource::Unused => {}
            CoordinateSource::Number => body.line(&format!("{int} i0 = 4 * texel + {lanes};")),
            CoordinateSource::Quads(steps) => {
                if let Some(step) = steps.last() {
                    body.line(&format!("{int} i{} = run + {lanes};", step.axis));
                }
            }
            CoordinateSource::Elements { start, steps } => {
                let start = less(*start);
                body.line(&format!("{int} rest0 = 4 * texel + {lanes}{start};"));
                self.steps(body, "rest", steps, width);
            }
            CoordinateSource::Split { col, cols, .. } => {
                body.line(&format!("{int} col0 = 4 * pos.x + {lanes}{};", less(*col)));
                self.steps(body, "col", cols, width);
            }
        }
        self.guard(body, width, lanes);
    }

    /// The names of the coordinates.
    pub fn coordinates(&self, width: Width) -> Vec<FragmentCoordinate> {
        let four = |axis: u8| match &self.plan.frame.coordinates {
            _ if width == Width::One => false,
            CoordinateSource::Unused => false,
            CoordinateSource::Number => axis == 0,
            CoordinateSource::Elements { .. } => true,
            CoordinateSource::Quads(steps) => steps.last().is_some_and(|step| step.axis == axis),
            CoordinateSource::Split { cols, .. } => cols.iter().any(|s| s.axis == axis),
        };
        (0..self.plan.rank)
            .map(|axis| FragmentCoordinate { name: format!("i{axis}"), four: four(axis) })
            .collect()
    }

    fn guarded(&self) -> bool {
        self.plan.frame.guard != WritePredicate::None
    }

    fn guard(&self, body: &mut Body<'_>, width: Width, lanes: &str) {
        if !self.guarded() {
            return;
        }
        let valid = match (&self.plan.frame.coordinates, self.plan.frame.count) {
            (_, Some(count)) => {
                let int = Glsl.type_name(DType::I32, width);
                body.line(&format!("{int} number = 4 * texel + {lanes};"));
                let bound = |text: &str| Glsl.splat(DType::I32, width, text);
                let low = Glsl.compare(Op::Ge, DType::I32, width, "number", &bound("0"));
                let high = Glsl.compare(Op::Lt, DType::I32, width, "number", &bound(&word(count)));
                Glsl.logic(Logic::And, width, &low, &high)
            }
            (CoordinateSource::Split { cols, .. }, None) => {
                let row = Glsl.splat(DType::Bool, width, "row_valid");
                Glsl.logic(Logic::And, width, &row, &self.checks("col", cols, width))
            }
            (CoordinateSource::Elements { steps, .. }, None) => self.checks("rest", steps, width),
            _ => Glsl.splat(DType::Bool, width, "true"),
        };
        body.line(&format!("{} valid = {valid};", Glsl.type_name(DType::Bool, width)));
        match (width, self.plan.frame.guard) {
            (Width::One, _) => body.line("if (!valid) continue;"),
            (_, WritePredicate::Texels) => body.line("if (!valid.x) discard;"),
            _ => body.line("if (!any(valid)) discard;"),
        }
    }

    /// Divides `<name>0` by the axes' strides. Returns the name of the remainder.
    fn steps(
        &self,
        body: &mut Body<'_>,
        name: &str,
        steps: &[AxisQuotient],
        width: Width,
    ) -> String {
        let int = Glsl.type_name(DType::I32, width);
        let mut rest = format!("{name}0");
        for (k, step) in steps.iter().enumerate() {
            let count = match step.divisor {
                None => rest.clone(),
                Some(d) => {
                    let reciprocal = Glsl.word(d.reciprocal.into(), DType::F32);
                    let by = word(d.by);
                    let quotient = quotient(self.plan);
                    body.line(&format!(
                        "{int} {name}q{k} = {quotient}({rest}, {by}, {reciprocal});"
                    ));
                    let next = format!("{name}{}", k + 1);
                    body.line(&format!("{int} {next} = {rest} - {name}q{k} * {by};"));
                    rest = next;
                    format!("{name}q{k}")
                }
            };
            let coordinate = match step.length {
                Some(length) if step.backwards => format!("{} - 1 - {count}", word(length)),
                _ => count,
            };
            body.line(&format!("{int} i{} = {coordinate};", step.axis));
        }
        rest
    }

    /// Whether each axis of `<name>0` is inside its length, and the remainder is 0.
    fn checks(&self, name: &str, steps: &[AxisQuotient], width: Width) -> String {
        let zero = Glsl.splat(DType::I32, width, "0");
        let mut all = Vec::new();
        let mut rest = format!("{name}0");
        let mut left = true;
        for (k, step) in steps.iter().enumerate() {
            let count = match step.divisor {
                Some(_) => {
                    rest = format!("{name}{}", k + 1);
                    format!("{name}q{k}")
                }
                None => {
                    left = false;
                    rest.clone()
                }
            };
            if k == 0 {
                // Later counts come from remainders, which are never negative.
                all.push(Glsl.compare(Op::Ge, DType::I32, width, &count, &zero));
            }
            if let Some(length) = step.length {
                let length = Glsl.splat(DType::I32, width, &word(length));
                all.push(Glsl.compare(Op::Lt, DType::I32, width, &count, &length));
            }
        }
        if left {
            all.push(Glsl.compare(Op::Eq, DType::I32, width, &rest, &zero));
        }
        let both = |a: String, b: String| Glsl.logic(Logic::And, width, &a, &b);
        all.into_iter().reduce(both).unwrap_or_default()
    }
}

/// The text that subtracts a word.
fn less(taken: Option<u16>) -> String {
    taken.map(|taken| format!(" - {}", word(taken))).unwrap_or_default()
}
