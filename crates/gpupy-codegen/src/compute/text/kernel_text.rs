//! The text around a kernel's statements: blocks, arguments (uniforms or push constants), the entry point.
//!
//! Owns `KernelText`. Block number `n` is operand `n`; the stored destinations follow the operands. The argument words
//! are the array `k`.
//!
//! Not here: statements (`map.rs`), the syntax of scalar code (`dialect`).

use crate::analysis::uses::live_for;
use crate::compute::kernel_features::{KernelFeatures, Language};
use crate::compute::plan::DispatchPlan;
use crate::compute::plan::form_plan::{FormDetails, ReductionPlan};
use crate::compute::text::quotient;
use crate::dialect::{COMPONENTS, Dialect, Width};
use crate::emit::accumulator_lanes::ReductionLanes;
use crate::emit::definitions::definitions;
use gpupy_core::DType;
use gpupy_core::ir::Program;
use std::fmt::Write;

/// Writes the parts of a kernel that depend on its device.
pub(crate) struct KernelText<'a> {
    pub program: &'a Program,
    pub plan: &'a DispatchPlan,
    pub device: &'a KernelFeatures,
    pub dialect: &'static dyn Dialect,
}

impl KernelText<'_> {
    /// Argument word `n`, an int.
    pub fn number(&self, n: u16) -> String {
        let component = COMPONENTS[usize::from(n % 4)];
        match (self.has_vectors(), self.holds_numbers()) {
            (true, true) => format!("h{}.{component}", n / 4),
            (true, false) => format!("k[{}].{component}", n / 4),
            (false, true) => format!("h{n}"),
            (false, false) if self.plan.addresses && !self.plan.pushed => format!("launch.k[{n}]"),
            (false, false) => format!("k[{n}]"),
        }
    }

    /// True if the argument words are vectors of four.
    fn has_vectors(&self) -> bool {
        match self.device.language {
            Language::Glsl => !self.plan.pushed && !self.plan.addresses,
            Language::Wgsl => true,
        }
    }

    /// True if the entry point reads all argument words first. In divergent code, inside a loop or a branch, Mesa's
    /// rasteriser would read them separately for each invocation.
    fn holds_numbers(&self) -> bool {
        !matches!(self.plan.form, FormDetails::Map)
    }

    /// The lines that read all argument words.
    fn held_numbers(&self) -> String {
        let count = self.plan.word_count;
        let line = |n: usize| match (self.device.language, self.has_vectors()) {
            (Language::Wgsl, _) => format!("    let h{n} = k[{n}];\n"),
            (Language::Glsl, true) => format!("    ivec4 h{n} = k[{n}];\n"),
            (Language::Glsl, false) if self.plan.pushed => format!("    int h{n} = k[{n}];\n"),
            (Language::Glsl, false) => format!("    int h{n} = launch.k[{n}];\n"),
        };
        match (self.holds_numbers(), self.has_vectors()) {
            (false, _) => String::new(),
            (true, true) => (0..count.div_ceil(4)).map(line).collect(),
            (true, false) => (0..count).map(line).collect(),
        }
    }

    /// The scalar that starts at argument word `n`.
    pub fn scalar(&self, n: u16, dtype: DType) -> String {
        self.dialect.typed(dtype, &self.number(n), &self.number(n + 1))
    }

    /// An int in the plan's width.
    pub fn int(&self, width: Width) -> &'static str {
        self.dialect.type_name(DType::I32, width)
    }

    /// Declares an int.
    pub fn declare_int(&self, width: Width, name: &str, value: &str) -> String {
        format!("{};", self.dialect.declare(DType::I32, width, name, value))
    }

    /// The indices of the lanes of a vector of four.
    pub fn lanes(&self) -> String {
        format!("{}(0, 1, 2, 3)", self.int(Width::Four))
    }

    /// The dtype of block number `block`.
    pub fn block_dtype(&self, block: usize) -> DType {
        let operands = &self.program.operands;
        match block.checked_sub(operands.len()) {
            None => operands[block],
            Some(store) => self.program.dests[self.plan.stores[store] as usize],
        }
    }

    /// Stored element `index` of a block.
    pub fn element(&self, block: usize, index: &str) -> String {
        match self.device.language {
            Language::Glsl => format!("{}.e[{index}]", self.whole(block, Width::One)),
            Language::Wgsl if self.plan.fours[block] => {
                format!("b{block}[({index}) >> 2][({index}) & 3]")
            }
            Language::Wgsl => format!("b{block}[{index}]"),
        }
    }

    /// Stored vector of four number `index` of a block.
    pub fn four(&self, block: usize, index: &str) -> String {
        match self.device.language {
            Language::Glsl => format!("{}.e[{index}]", self.whole(block, Width::Four)),
            Language::Wgsl if self.plan.fours[block] => format!("b{block}[{index}]"),
            Language::Wgsl => {
                let element = |c: usize| format!("b{block}[4 * ({index}) + {c}]");
                let four = self.stored_type(self.block_dtype(block), Width::Four);
                format!("{four}({}, {}, {}, {})", element(0), element(1), element(2), element(3))
            }
        }
    }

    /// Component `c` of the stored vector of four number `index`.
    pub fn lane_of_four(&self, block: usize, index: &str, c: usize) -> String {
        match self.device.language {
            Language::Wgsl if self.plan.fours[block] => {
                format!("b{block}[{index}].{}", COMPONENTS[c])
            }
            _ => self.element(block, &format!("4 * {index} + {c}")),
        }
    }

    /// Four stored elements of a block, at the indices in a vector of ints.
    pub fn each(&self, block: usize, index: &str) -> String {
        let element = |c: &&str| self.element(block, &format!("{index}.{c}"));
        let four: Vec<String> = COMPONENTS.iter().map(element).collect();
        let kind = self.stored_type(self.block_dtype(block), Width::Four);
        format!("{kind}({})", four.join(", "))
    }

    /// Declares a stored value.
    pub fn declare_stored(&self, kind: &str, name: &str, value: &str) -> String {
        match self.device.language {
            Language::Glsl => format!("{kind} {name} = {value};"),
            Language::Wgsl => format!("let {name} = {value};"),
        }
    }

    /// The complete kernel. `main` is its functions and entry point; `tiles` declares further workgroup memory.
    pub fn kernel(&self, main: &str, tiles: &str) -> String {
        let functions = quotient::definitions(self.device.language, main);
        let body = [functions.as_str(), main].concat();
        let helpers = definitions(self.dialect, &body);
        let shared = self.group_memory();
        [self.header(&body), shared, tiles.to_owned(), helpers, body].concat()
    }

    /// Declares the workgroup memory of reductions.
    fn group_memory(&self) -> String {
        if !matches!(self.plan.form, FormDetails::Reduce(ReductionPlan { shared: true, .. })) {
            return String::new();
        }
        let of = |lanes: &ReductionLanes<'_>| {
            let kind = self.dialect.type_name(lanes.dtype(), Width::Four);
            self.shared(&lanes.name("partial"), kind, self.device.group)
        };
        let live = live_for(self.program, &self.plan.stores);
        ReductionLanes::of(self.program, &live, self.dialect).iter().map(of).collect()
    }

    fn blocks(&self) -> usize {
        self.program.operands.len() + self.plan.stores.len()
    }

    fn is_target(&self, block: usize) -> bool {
        block >= self.program.operands.len()
    }

    /// The name of the type of references to blocks of a dtype.
    fn reference(&self, dtype: DType, width: Width, target: bool) -> String {
        let access = if target { "Out" } else { "In" };
        let fours = if width == Width::Four { "x4" } else { "" };
        format!("{access}_{}{fours}", dtype.name())
    }

    /// A block in GLSL, as an array `e`.
    fn whole(&self, block: usize, width: Width) -> String {
        if !self.plan.addresses {
            let fours = if width == Width::Four { "x4" } else { "" };
            return format!("b{block}{fours}");
        }
        let launch = if self.plan.pushed { "" } else { "launch." };
        let reference = self.reference(self.block_dtype(block), width, self.is_target(block));
        format!("{reference}({launch}b{block})")
    }

    /// The header of the text `body`.
    fn header(&self, body: &str) -> String {
        match self.device.language {
            Language::Wgsl => self.wgsl_bindings(),
            Language::Glsl if self.plan.addresses => {
                self.glsl_version() + &self.glsl_addresses(body)
            }
            Language::Glsl => self.glsl_version() + &self.glsl_bindings(body),
        }
    }

    fn glsl_version(&self) -> String {
        let mut text = "#version 450\n".to_owned();
        let dtypes: Vec<DType> = (0..self.blocks()).map(|b| self.block_dtype(b)).collect();
        let stored = |bytes| dtypes.iter().any(|d| self.device.stored(*d) == Some(bytes));
        let mut extension = |name: &str| {
            let _ = writeln!(text, "#extension {name} : require");
        };
        if self.plan.addresses {
            extension("GL_EXT_buffer_reference");
            extension("GL_EXT_buffer_reference_uvec2");
        }
        if stored(1) {
            extension("GL_EXT_shader_8bit_storage");
            extension("GL_EXT_shader_explicit_arithmetic_types_int8");
        }
        if stored(2) {
            extension("GL_EXT_shader_16bit_storage");
            extension("GL_EXT_shader_explicit_arithmetic_types_int16");
        }
        if self.program.insts.iter().any(|inst| inst.dtype.size() == 8) {
            extension("GL_EXT_shader_explicit_arithmetic_types_int64");
        }
        let _ = writeln!(text, "layout(local_size_x = {}) in;", self.device.group);
        text
    }

    fn glsl_addresses(&self, body: &str) -> String {
        let mut text = String::new();
        let mut known: Vec<(DType, bool)> = Vec::new();
        for block in 0..self.blocks() {
            let (dtype, target) = (self.block_dtype(block), self.is_target(block));
            if known.contains(&(dtype, target)) {
                continue;
            }
            known.push((dtype, target));
            let size = self.device.stored(dtype).unwrap_or(4);
            let access = if target { "" } else { "readonly " };
            for (width, align) in [(Width::One, size), (Width::Four, 4 * size)] {
                let name = self.reference(dtype, width, target);
                if !body.contains(&format!("{name}(")) {
                    continue;
                }
                let element = self.stored_type(dtype, width);
                let _ = writeln!(
                    text,
                    "layout(buffer_reference, std430, buffer_reference_align = {align}) \
                     {access}buffer {name} {{ {element} e[]; }};"
                );
            }
        }
        let blocks: Vec<String> = (0..self.blocks()).map(|b| format!("uvec2 b{b};")).collect();
        let numbers = format!("{{ {} int k[{}]; }}", blocks.join(" "), self.plan.word_count);
        let _ = match self.plan.pushed {
            true => writeln!(text, "layout(push_constant, std430) uniform Launch {numbers};"),
            false => writeln!(
                text,
                "layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer \
                 Launch {numbers};\n\
                 layout(push_constant, std430) uniform Push {{ Launch launch; }};"
            ),
        };
        text
    }

    fn glsl_bindings(&self, body: &str) -> String {
        let (count, vectors) = (self.plan.word_count, self.plan.word_count.div_ceil(4));
        let mut text = match self.plan.pushed {
            _ if count == 0 => String::new(),
            true => {
                format!("layout(push_constant, std430) uniform Launch {{ int k[{count}]; }};\n")
            }
            false => {
                format!("layout(binding = 0, std140) uniform Launch {{ ivec4 k[{vectors}]; }};\n")
            }
        };
        for block in 0..self.blocks() {
            let access = if self.is_target(block) { "" } else { "readonly " };
            for width in [Width::One, Width::Four] {
                let name = self.whole(block, width);
                if body.contains(&format!("{name}.e[")) {
                    let element = self.stored_type(self.block_dtype(block), width);
                    let binding = block + 1;
                    let _ = writeln!(
                        text,
                        "layout(binding = {binding}, std430) {access}buffer B{name} \
                         {{ {element} e[]; }} {name};"
                    );
                }
            }
        }
        text
    }

    fn wgsl_bindings(&self) -> String {
        let vectors = self.plan.word_count.div_ceil(4);
        let mut text =
            format!("@group(0) @binding(0) var<uniform> k: array<vec4<i32>, {vectors}>;\n");
        if self.plan.zero.is_some() {
            text += "var<private> zero: u32;\n";
        }
        for block in 0..self.blocks() {
            let access = if self.is_target(block) { "read_write" } else { "read" };
            let (element, binding) = (self.bound_type(block), block + 1);
            let _ = writeln!(
                text,
                "@group(0) @binding({binding}) var<storage, {access}> b{block}: array<{element}>;"
            );
        }
        text
    }

    fn bound_type(&self, block: usize) -> &'static str {
        let width = if self.plan.fours[block] { Width::Four } else { Width::One };
        self.stored_type(self.block_dtype(block), width)
    }

    /// The lines that open the entry point. They declare `t`, the invocation's number, and `local`, its number in the
    /// workgroup.
    pub fn open_main(&self) -> String {
        let group = self.group_number();
        let size = self.device.group;
        let held = self.held_numbers();
        let zero = self.plan.zero.map_or_else(String::new, |n| {
            let zero = self.dialect.bitcast(DType::I32, DType::U32, Width::One, &self.number(n));
            format!("    zero = {zero};\n")
        });
        match self.device.language {
            Language::Glsl => format!(
                "void main() {{\n{held}    int local = int(gl_LocalInvocationIndex);\n    \
                 int t = {size} * {group} + local;\n"
            ),
            Language::Wgsl => format!(
                "@compute @workgroup_size({size})\n\
                 fn main(@builtin(workgroup_id) group: vec3<u32>, \
                 @builtin(local_invocation_index) index: u32) {{\n{held}    \
                 let local: i32 = i32(index);\n    let t: i32 = {size} * {group} + local;\n{zero}"
            ),
        }
    }

    /// The number of the workgroup.
    pub fn group_number(&self) -> String {
        let [x, y] = match self.device.language {
            Language::Glsl => ["int(gl_WorkGroupID.x)", "int(gl_WorkGroupID.y)"],
            Language::Wgsl => ["i32(group.x)", "i32(group.y)"],
        };
        match self.plan.frame.columns {
            None => x.to_owned(),
            Some(n) => format!("({y} * {} + {x})", self.number(n)),
        }
    }

    /// Declares a variable that is not `precise`.
    pub fn plain_variable(&self, dtype: DType, width: Width, name: &str) -> String {
        let kind = self.dialect.type_name(dtype, width);
        match self.device.language {
            Language::Glsl => format!("{kind} {name}"),
            Language::Wgsl => format!("var {name}: {kind}"),
        }
    }

    /// A barrier of the workgroup that makes writes to workgroup memory visible.
    pub fn barrier(&self) -> &'static str {
        match self.device.language {
            Language::Glsl => "memoryBarrierShared(); barrier();",
            Language::Wgsl => "workgroupBarrier();",
        }
    }

    /// Declares workgroup memory: `len` vectors of type `kind`.
    pub fn shared(&self, name: &str, kind: &str, len: u32) -> String {
        match self.device.language {
            Language::Glsl => format!("shared {kind} {name}[{len}];\n"),
            Language::Wgsl => format!("var<workgroup> {name}: array<{kind}, {len}>;\n"),
        }
    }
}
