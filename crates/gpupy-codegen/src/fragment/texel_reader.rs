//! Expressions that load operands from textures, and the functions that they call.
//!
//! Owns `TexelReader`. Each operand `n` has these functions, if called: `wrap<n>` (texel number to position),
//! `flat<n>` (element by number), `at<n>` (element by column and row), each for one element and for four.
//!
//! Not here: how a load finds its elements (`fetch.rs`).

use super::draw_plan::{DrawPlan, Load};
use super::fetch::{Quad, TexelFetch, TexelPlace, Wrap};
use super::texture_layout::raw;
use crate::analysis::kernel_arguments::AffineIndex;
use crate::dialect::glsl::Glsl;
use crate::dialect::{COMPONENTS, Dialect, Width};
use crate::emit::library_calls::call;
use gpupy_core::DType;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use std::fmt::Write;

/// The name of a coordinate in the text, and whether it is a vector of four.
#[derive(Clone, Debug)]
pub(super) struct FragmentCoordinate {
    pub name: String,
    pub four: bool,
}

/// Writes the loads and indices of one part of a shader.
#[derive(Clone)]
pub(super) struct TexelReader<'a> {
    pub program: &'a Program,
    pub plan: &'a DrawPlan,
    pub loads: &'a [Load],
    pub indices: &'a [(u32, AffineIndex)],
    pub coordinates: Vec<FragmentCoordinate>,
    pub width: Width,
}

impl TexelReader<'_> {
    /// A load, as a value of the program's dtype.
    pub fn load(&self, operand: u32, access: u32) -> String {
        let dtype = self.program.operands[operand as usize];
        let found = self.loads.iter().position(|l| l.operand == operand && l.access == access);
        let Some(number) = found else {
            return String::new();
        };
        let raw_value = match &self.loads[number].fetch {
            TexelFetch::Uniform { lane, .. } => {
                let scalar = format!("lane(f{number}, {})", word(*lane));
                Glsl.splat(raw(dtype), self.width, &scalar)
            }
            TexelFetch::Same { .. } | TexelFetch::Linear { .. } => match self.width {
                Width::Four => format!("f{number}"),
                Width::One => format!("lane(f{number}, c)"),
            },
            TexelFetch::Element { place, quad } => self.element(number, operand, place, *quad),
        };
        from_raw(dtype, self.width, &raw_value)
    }

    /// Declares the first texel of a load that other loads may be positioned relative to.
    fn base(&self, number: usize, place: &TexelPlace, quad: Quad) -> Option<String> {
        let whole = matches!(quad, Quad::Aligned | Quad::Pair(_)) && self.width == Width::Four;
        match place {
            TexelPlace::Split { row, col } if whole => {
                let (row, col) = (self.sum(row, Some("x")).0, self.sum(col, Some("x")).0);
                Some(format!("ivec2 near{number} = ivec2({col} >> 2, {row});"))
            }
            _ => None,
        }
    }

    /// Fetches that do not depend on the element, which precede any loop over elements, and the first texels of base
    /// loads.
    pub fn early_fetches(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, load) in self.loads.iter().enumerate() {
            let operand = load.operand;
            let position = match load.fetch {
                TexelFetch::Uniform { x, y, .. } => format!("ivec2({}, {})", word(x), word(y)),
                TexelFetch::Same { rows: None } => "pos".to_owned(),
                TexelFetch::Same { rows: Some(rows) } => format!("pos + ivec2(0, {})", word(rows)),
                TexelFetch::Linear { first } => format!("wrap{operand}(texel + {})", word(first)),
                TexelFetch::Element { ref place, quad } => {
                    lines.extend(self.base(number, place, quad));
                    continue;
                }
            };
            let dtype = raw(self.program.operands[operand as usize]);
            let name = Glsl.type_name(dtype, Width::Four);
            lines.push(format!("{name} f{number} = texelFetch(t{operand}, {position}, 0);"));
        }
        lines
    }

    /// The affine number of an access.
    pub fn index(&self, access: u32) -> String {
        let Some((_, sum)) = self.indices.iter().find(|(a, _)| *a == access) else {
            return String::new();
        };
        let (text, four) = self.sum(sum, None);
        if four { text } else { Glsl.splat(DType::I32, self.width, &text) }
    }

    /// A load at a computed index.
    pub fn gather(&self, operand: u32, index: &str) -> String {
        let dtype = self.program.operands[operand as usize];
        let last = self.plan.wraps[operand as usize].map_or(0, |(_, last)| last);
        let bound = |text: &str| Glsl.splat(DType::I32, self.width, text);
        let value =
            format!("flat{operand}(clamp({index}, {}, {}))", bound("0"), bound(&word(last)));
        from_raw(dtype, self.width, &value)
    }

    fn element(&self, number: usize, operand: u32, place: &TexelPlace, quad: Quad) -> String {
        let dtype = raw(self.program.operands[operand as usize]);
        if self.width == Width::One || quad == Quad::Each {
            return match place {
                TexelPlace::Flat(sum) => format!("flat{operand}({})", self.full(sum)),
                TexelPlace::Split { row, col } => {
                    format!("at{operand}({}, {})", self.full(col), self.full(row))
                }
                // Only loads of whole texels are relative to a base.
                TexelPlace::Near { .. } => String::new(),
            };
        }
        // The first of the four points represents all of them.
        let first = |sum: &AffineIndex| self.sum(sum, Some("x")).0;
        if quad == Quad::Splat {
            let scalar = match place {
                TexelPlace::Flat(sum) => format!("flat{operand}({})", first(sum)),
                TexelPlace::Split { row, col } => {
                    format!("at{operand}({}, {})", first(col), first(row))
                }
                TexelPlace::Near { .. } => String::new(),
            };
            return Glsl.splat(dtype, Width::Four, &scalar);
        }
        let texel = |ahead: i8| {
            let (base, texels, rows) = match place {
                TexelPlace::Flat(sum) => {
                    let first = first(sum);
                    let texel = format!("({first} >> 2) + {ahead}");
                    return format!("texelFetch(t{operand}, wrap{operand}({texel}), 0)");
                }
                TexelPlace::Split { .. } => (number, ahead, 0),
                TexelPlace::Near { base, texels, rows } => (*base as usize, texels + ahead, *rows),
            };
            format!("texelFetch(t{operand}, near{base} + ivec2({texels}, {rows}), 0)")
        };
        match quad {
            Quad::Pair(lane) => {
                let name = Glsl.type_name(dtype, Width::Four);
                let (head, tail) = ("xyzw".split_at(lane as usize).1, &"xyz"[..lane as usize]);
                format!("{name}({}.{head}, {}.{tail})", texel(0), texel(1))
            }
            _ => texel(0),
        }
    }

    /// An affine index in the reader's width.
    fn full(&self, sum: &AffineIndex) -> String {
        let (text, four) = self.sum(sum, None);
        if four { text } else { Glsl.splat(DType::I32, self.width, &text) }
    }

    /// An affine index in parentheses, and whether it is a vector of four. With `component`, of that component alone.
    fn sum(&self, sum: &AffineIndex, component: Option<&str>) -> (String, bool) {
        let mut four = false;
        let coordinate = |axis: u8| {
            let coordinate = &self.coordinates[usize::from(axis)];
            four |= coordinate.four && component.is_none();
            match component {
                Some(component) if coordinate.four => format!("{}.{component}", coordinate.name),
                _ => coordinate.name.clone(),
            }
        };
        (sum.text(word, coordinate), four)
    }
}

/// Argument word `n`, an int.
pub(super) fn word(n: u16) -> String {
    Glsl.word(n.into(), DType::I32)
}

/// Converts a texel to a value of the program's dtype.
fn from_raw(dtype: DType, width: Width, value: &str) -> String {
    match dtype {
        DType::Bool => {
            Glsl.compare(Op::Ne, DType::U32, width, value, &Glsl.splat(DType::U32, width, "0u"))
        }
        DType::F16 => call("half_of_bits", DType::F32, width, &[value]),
        _ => value.to_owned(),
    }
}

/// Converts a value of the program's dtype to a texel.
pub(super) fn to_raw(dtype: DType, width: Width, value: &str) -> String {
    match dtype {
        DType::Bool => Glsl.convert(DType::U32, width, value),
        DType::F16 => call("half_bits", DType::F32, width, &[value]),
        _ => value.to_owned(),
    }
}

/// The functions of operands that `main` calls.
pub(super) fn functions(program: &Program, plan: &DrawPlan, main: &str) -> String {
    let mut text = String::new();
    for (n, dtype) in program.operands.iter().enumerate() {
        let one = Glsl.type_name(raw(*dtype), Width::One);
        let four = Glsl.type_name(raw(*dtype), Width::Four);
        // The preceding character must not be part of a name: `flat0` ends like `at0`.
        let called = |name: &str| {
            let call = format!("{name}{n}(");
            main.match_indices(&call).any(|(at, _)| !main[..at].ends_with(char::is_alphanumeric))
        };
        let each = |call: &dyn Fn(&str) -> String| {
            let calls: Vec<String> = COMPONENTS.iter().map(|c| call(c)).collect();
            format!("{four}({})", calls.join(", "))
        };
        let rows = matches!(plan.wraps[n], Some((Wrap::Rows(_), _)));
        let at = called("at") || rows && called("flat");
        let flat = match plan.wraps[n] {
            Some((Wrap::Rows(d), _)) => format!(
                "int y = {}(e, {}, {}); return at{n}(e - y * {}, y);",
                quotient(plan),
                word(d.by),
                Glsl.word(d.reciprocal.into(), DType::F32),
                word(d.by)
            ),
            _ => format!("return lane(texelFetch(t{n}, wrap{n}(e >> 2), 0), e & 3);"),
        };
        if at {
            let _ = writeln!(
                text,
                "{one} at{n}(int x, int y) {{ \
                 return lane(texelFetch(t{n}, ivec2(x >> 2, y), 0), x & 3); }}"
            );
            let calls = each(&|c| format!("at{n}(x.{c}, y.{c})"));
            let _ = writeln!(text, "{four} at{n}(ivec4 x, ivec4 y) {{ return {calls}; }}");
        }
        if let Some((wrap, _)) = plan.wraps[n].filter(|_| !rows) {
            let body = match wrap {
                Wrap::Mask { mask, shift } => {
                    format!("return ivec2(t & {}, t >> {});", word(mask), word(shift))
                }
                Wrap::Divide(d) | Wrap::Rows(d) => format!(
                    "int y = {}(t, {}, {}); return ivec2(t - y * {}, y);",
                    quotient(plan),
                    word(d.by),
                    Glsl.word(d.reciprocal.into(), DType::F32),
                    word(d.by)
                ),
            };
            let _ = writeln!(text, "ivec2 wrap{n}(int t) {{ {body} }}");
        }
        if called("flat") {
            let _ = writeln!(text, "{one} flat{n}(int e) {{ {flat} }}");
            let calls = each(&|c| format!("flat{n}(e.{c})"));
            let _ = writeln!(text, "{four} flat{n}(ivec4 e) {{ return {calls}; }}");
        }
    }
    text
}

/// The name of the division function.
pub(super) fn quotient(plan: &DrawPlan) -> &'static str {
    if plan.large { "quotient_large" } else { "quotient" }
}

/// Definitions of the functions for texels and coordinates that `text` calls.
pub(super) fn definitions(text: &str) -> String {
    let called = |(name, _): &&(&str, &str)| text.contains(&format!("{name}("));
    DEFINITIONS.iter().filter(called).map(|(_, definition)| *definition).collect()
}

/// Floored quotients, computed by the divisor's reciprocal: integer division is slow on rasterisers that run on the
/// CPU. An estimate is at most one off for numbers below 2^22. A larger number takes a second estimate, of the first
/// one's remainder.
const DEFINITIONS: &[(&str, &str)] = &[
    (
        "lane",
        "float lane(vec4 v, int c) { \
         return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }\n\
         int lane(ivec4 v, int c) { \
         return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }\n\
         uint lane(uvec4 v, int c) { \
         return (c & 2) == 0 ? ((c & 1) == 0 ? v.x : v.y) : ((c & 1) == 0 ? v.z : v.w); }\n",
    ),
    (
        "quotient",
        "int quotient(int n, int d, float r) { int q = int(float(n) * r); int m = n - q * d; \
         return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }\n\
         ivec4 quotient(ivec4 n, int d, float r) { \
         ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; \
         return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }\n",
    ),
    (
        "quotient_large",
        "int quotient_large(int n, int d, float r) { int q = int(float(n) * r); \
         int m = n - q * d; q += int(floor(float(m) * r)); m = n - q * d; \
         return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }\n\
         ivec4 quotient_large(ivec4 n, int d, float r) { ivec4 q = ivec4(vec4(n) * r); \
         ivec4 m = n - q * d; q += ivec4(floor(vec4(m) * r)); m = n - q * d; \
         return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }\n",
    ),
];
