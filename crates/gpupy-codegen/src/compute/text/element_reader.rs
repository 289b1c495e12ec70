//! Expressions that load operands and store destinations.
//!
//! Owns `ElementReader` and `KernelCoordinate`. Invariant: an incomplete vector of four reads only elements of its
//! points again, or elements of a vector inside the block.
//!
//! Not here: how an access finds its elements (`fetch.rs`).

use crate::analysis::kernel_arguments::{AffineIndex, ParameterSource};
use crate::compute::plan::fetch::{ElementFetch, LaneLayout};
use crate::compute::plan::windows::ElementWindow;
use crate::compute::text::kernel_text::KernelText;
use crate::dialect::{COMPONENTS, Width};
use crate::emit::body::Leaves;
use gpupy_core::{DType, Scalar};

/// The names of a coordinate in the text.
#[derive(Clone, Debug)]
pub(crate) struct KernelCoordinate {
    /// The coordinate of the first point, or of all four if the points are apart.
    pub name: String,
    /// The coordinates of all four points; equal to `name` if they share one.
    pub all: String,
    /// Whether `all` is a vector of four.
    pub four: bool,
}

/// Writes the loads, indices and stores of one part of a kernel.
pub(crate) struct ElementReader<'a> {
    pub text: &'a KernelText<'a>,
    pub fetches: &'a [(u32, ElementFetch)],
    pub windows: &'a [ElementWindow],
    pub indices: &'a [(u32, AffineIndex)],
    pub targets: &'a [(ElementFetch, bool)],
    pub coordinates: Vec<KernelCoordinate>,
    pub width: Width,
    /// The prefix of the names of element indices.
    pub prefix: &'static str,
    /// The name of the invocation's number, for linear fetches.
    pub linear: &'static str,
    /// The condition of stores, if there is one.
    pub writes: Option<String>,
}

impl ElementReader<'_> {
    /// The statements that compute element indices and load windows, before all loads and stores.
    pub fn places(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (access, fetch) in self.fetches {
            self.place(&format!("{}{access}", self.prefix), fetch, &mut lines);
        }
        for (store, (fetch, _)) in self.targets.iter().enumerate() {
            self.place(&format!("s{store}"), fetch, &mut lines);
        }
        for (number, window) in self.windows.iter().enumerate() {
            self.window(number, window, &mut lines);
        }
        lines
    }

    /// Loads the elements of a window: `w<number>_<place>`, and from an aligned vector `w<number>v<place>`.
    fn window(&self, number: usize, window: &ElementWindow, lines: &mut Vec<String>) {
        let (text, block, name) = (self.text, window.operand as usize, format!("w{number}"));
        lines.push(text.declare_int(Width::One, &name, &self.sum(&window.first, false).0));
        let dtype = text.block_dtype(block);
        let kind = |width| text.stored_type(dtype, width);
        let mut place = 0;
        while place < window.length {
            let is_vector = window.vectors().any(|start| start == place);
            let (width, own, stored) = match is_vector {
                true => {
                    let index = format!("({name} + {place}) >> 2");
                    (Width::Four, format!("{name}v{place}"), text.four(block, &index))
                }
                false => {
                    // Points that are missing at an end have no elements.
                    let beyond = window.short && place > window.span();
                    let place_text = match beyond {
                        true => format!("min({place}, left + {})", window.span()),
                        false => place.to_string(),
                    };
                    let index = format!("{name} + {place_text}");
                    (Width::One, format!("{name}_{place}"), text.element(block, &index))
                }
            };
            lines.push(text.declare_stored(kind(width), &own, &stored));
            place += if is_vector { 4 } else { 1 };
        }
    }

    /// The four stored elements of an access that is in a window.
    fn in_window(&self, operand: u32, access: u32) -> Option<String> {
        let mut windows = self.windows.iter().enumerate();
        let (number, window, first) = windows.find_map(|(number, window)| {
            Some((number, window, window.place_of(operand, access)?))
        })?;
        if window.vectors().any(|start| start == first) {
            return Some(format!("w{number}v{first}"));
        }
        let element = |place: u8| {
            let of = |start: &u8| (*start..start + 4).contains(&place);
            match window.vectors().find(of) {
                Some(start) => {
                    format!("w{number}v{start}.{}", COMPONENTS[usize::from(place - start)])
                }
                None => format!("w{number}_{place}"),
            }
        };
        let all: Vec<String> = (first..first + 4).map(element).collect();
        let kind = self.text.stored_type(self.text.block_dtype(operand as usize), Width::Four);
        Some(format!("{kind}({})", all.join(", ")))
    }

    /// Declares `name`: the index of an element, of a vector of four, or of four elements.
    fn place(&self, name: &str, fetch: &ElementFetch, lines: &mut Vec<String>) {
        let text = self.text;
        let number = |n: u16| text.number(n);
        let int = |value: &str| text.declare_int(Width::One, name, value);
        let each = |first: &str, step: &str| {
            let value = format!("({first}) + {step}lane");
            text.declare_int(Width::Four, name, &value)
        };
        lines.push(match fetch {
            ElementFetch::Uniform(element) => int(&number(*element)),
            ElementFetch::Linear { first, aligned } => {
                let first = first.map_or_else(String::new, |n| format!("{} + ", number(n)));
                match (*aligned, self.width) {
                    (true, _) | (_, Width::One) => int(&format!("{first}{}", self.linear)),
                    _ => each(&format!("{first}4 * {}", self.linear), ""),
                }
            }
            ElementFetch::Sum { sum, lanes } => match lanes {
                LaneLayout::Splat => int(&self.sum(sum, false).0),
                LaneLayout::Aligned => int(&format!("{} >> 2", self.sum(sum, false).0)),
                LaneLayout::Step(None) => each(&self.sum(sum, false).0, ""),
                LaneLayout::Step(Some(step)) => {
                    each(&self.sum(sum, false).0, &format!("{} * ", number(*step)))
                }
                LaneLayout::Apart => {
                    let (sum, four) = self.sum(sum, true);
                    let sum = if four { sum } else { self.four_ints(&sum) };
                    text.declare_int(Width::Four, name, &sum)
                }
            },
        });
    }

    fn four_ints(&self, scalar: &str) -> String {
        self.text.dialect.splat(DType::I32, Width::Four, scalar)
    }

    /// An affine index in parentheses, and whether it is a vector of four. `all`: for all points, not just the first.
    fn sum(&self, sum: &AffineIndex, all: bool) -> (String, bool) {
        let mut four = false;
        let coordinate = |axis: u8| {
            let coordinate = &self.coordinates[usize::from(axis)];
            four |= all && coordinate.four;
            if all { &coordinate.all } else { &coordinate.name }.clone()
        };
        (sum.text(|n| self.text.number(n), coordinate), four)
    }

    /// The statement that stores a value or a vector of four.
    fn store_at(&self, store: usize, value: &str) -> String {
        let text = self.text;
        let block = text.program.operands.len() + store;
        let dtype = text.block_dtype(block);
        let (fetch, whole) = &self.targets[store];
        let place = format!("s{store}");
        let stored = text.stored_of(dtype, self.width, value);
        if self.width == Width::One {
            return format!("{} = {stored};", text.element(block, &place));
        }
        let short = text.plan.frame.tail.is_some();
        let four = format!("{} = {stored};", text.four(block, &place));
        if fetch.takes_fours() && (!short || *whole) {
            return four;
        }
        let kind = text.stored_type(dtype, Width::Four);
        let mut lines = vec![text.declare_stored(kind, &format!("whole{store}"), &stored)];
        if fetch.takes_fours() {
            lines.push(format!("if (left >= 3) {{ {four} }} else {{"));
        }
        for (c, component) in COMPONENTS.iter().enumerate() {
            let element = match fetch {
                ElementFetch::Uniform(_) if c > 0 => break,
                ElementFetch::Uniform(_) => text.element(block, &place),
                f if f.takes_fours() => text.lane_of_four(block, &place, c),
                _ => text.element(block, &format!("{place}.{component}")),
            };
            let assign = format!("{element} = whole{store}.{component};");
            lines.push(match short && c > 0 {
                true => format!("if (left >= {c}) {{ {assign} }}"),
                false => assign,
            });
        }
        if fetch.takes_fours() {
            lines.push("}".to_owned());
        }
        lines.join("\n    ")
    }
}

impl Leaves for ElementReader<'_> {
    fn param(&self, slot: u32, dtype: DType) -> String {
        match self.text.plan.params[slot as usize] {
            ParameterSource::Word(word) => self.text.scalar(word, dtype),
            ParameterSource::Literal(bits) => self.text.dialect.literal(Scalar::new(dtype, bits)),
        }
    }

    fn constant(&self, value: Scalar) -> String {
        match self.text.plan.constants.iter().find(|(constant, _)| *constant == value) {
            Some((_, word)) => self.text.scalar(*word, value.dtype),
            None => self.text.dialect.literal(value),
        }
    }

    fn index(&self, access: u32) -> String {
        let Some((_, sum)) = self.indices.iter().find(|(a, _)| *a == access) else {
            return String::new();
        };
        let (sum, four) = self.sum(sum, self.width == Width::Four);
        if four { sum } else { self.text.dialect.splat(DType::I32, self.width, &sum) }
    }

    fn load(&self, operand: u32, access: u32) -> String {
        if let Some(four) = self.in_window(operand, access) {
            let dtype = self.text.block_dtype(operand as usize);
            return self.text.value_of(dtype, Width::Four, &four);
        }
        let Some((_, fetch)) = self.fetches.iter().find(|(a, _)| *a == access) else {
            return String::new();
        };
        let (text, block) = (self.text, operand as usize);
        let dtype = text.block_dtype(block);
        let place = format!("{}{access}", self.prefix);
        if self.width == Width::One || fetch.takes_one() {
            let one = text.value_of(dtype, Width::One, &text.element(block, &place));
            return text.dialect.splat(dtype, self.width, &one);
        }
        let four = match fetch.takes_fours() {
            true => text.four(block, &place),
            false => text.each(block, &place),
        };
        text.value_of(dtype, Width::Four, &four)
    }

    fn gather(&self, operand: u32, index: &str) -> String {
        let (text, block) = (self.text, operand as usize);
        let dtype = text.block_dtype(block);
        let last = text.plan.lasts[block].map_or_else(String::new, |n| text.number(n));
        let element = |index: &str| {
            text.value_of(
                dtype,
                Width::One,
                &text.element(block, &format!("clamp({index}, 0, {last})")),
            )
        };
        if self.width == Width::One {
            return element(index);
        }
        let four: Vec<String> =
            COMPONENTS.iter().map(|c| element(&format!("{index}.{c}"))).collect();
        format!("{}({})", text.dialect.type_name(dtype, Width::Four), four.join(", "))
    }

    fn store(&self, dest: u32, value: &str) -> String {
        let store = self.text.plan.stores.iter().position(|d| *d == dest).unwrap_or_default();
        let statement = self.store_at(store, value);
        match &self.writes {
            Some(condition) => format!("if ({condition}) {{ {statement} }}"),
            None => statement,
        }
    }
}
