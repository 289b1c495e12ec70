//! Fragment shaders: programs drawn into textures.
//!
//! A block is a texture with four elements in a texel ([`TextureLayout`]). [`plan()`] decides how the fragments of one
//! draw find their elements and those of operands. The result is a [`DrawPlan`], equal for launches that can share a
//! shader, and the argument words. [`source`] writes the shader of a program and a plan.
//!
//! Invariants: the shader depends only on program and plan. Elements that the launch does not write keep their old
//! value. Texels outside the area are not drawn.
//!
//! Not here: textures and draws (`driver-gl`), statements (`emit`).

mod column_reduction;
mod draw_plan;
mod fetch;
mod locate;
mod map;
mod point_mapping;
mod request;
mod row_reduction;
mod texel_reader;
mod texture_layout;
mod walks;

pub use draw_plan::{DrawPlan, PlannedDraw, plan};
pub use point_mapping::Area;
pub use request::{DrawDeclined, DrawRequest, DrawTarget};
pub use texture_layout::TextureLayout;

use crate::analysis::uses::live_for;
use crate::dialect::glsl::Glsl;
use crate::dialect::{Dialect, Width};
use crate::emit::definitions::definitions;
use gpupy_core::DType;
use gpupy_core::ir::{Form, Program};
use std::fmt::Write;
use texture_layout::raw;

/// The GLSL version of shaders, chosen for the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// GLSL 4.00.
    V400,
    /// GLSL 3.30 with `GL_ARB_gpu_shader5`, which has `precise`.
    V330,
}

/// The vertex shader of every draw: one triangle that covers the viewport.
pub fn vertex_source(version: Version) -> String {
    format!(
        "{}void main() {{\n    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n    \
         gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);\n}}\n",
        header(version)
    )
}

/// The fragment shader of a program and a plan.
///
/// Operand `n` is sampler `t<n>`. The old contents of a destination that is not written whole are sampler `old`. The
/// argument words are the array `k`.
pub fn source(program: &Program, plan: &DrawPlan, version: Version) -> String {
    let live = live_for(program, &plan.stores);
    let main = match program.form {
        Form::Reduce { .. } if plan.across => column_reduction::main(program, plan, &live),
        Form::Reduce { .. } => row_reduction::main(program, plan, &live),
        // A driver refuses other forms.
        _ => map::main(program, plan, &live),
    };
    let functions = texel_reader::functions(program, plan, &main);
    let mut text = header(version).to_owned();
    if program.insts.iter().any(|inst| inst.dtype.size() == 8) {
        text += "#extension GL_ARB_gpu_shader_int64 : require\n";
    }
    if plan.word_count > 0 {
        let _ = writeln!(text, "uniform ivec4 k[{}];", plan.word_count.div_ceil(4));
    }
    for (slot, dtype) in program.operands.iter().enumerate() {
        let _ = writeln!(text, "uniform {} t{slot};", sampler(*dtype));
    }
    if plan.reads_old() {
        let dtype = program.dests[plan.stores[0] as usize];
        let _ = writeln!(text, "uniform {} old;", sampler(dtype));
    }
    for (location, dest) in plan.stores.iter().enumerate() {
        let dtype = raw(program.dests[*dest as usize]);
        let name = Glsl.type_name(dtype, Width::Four);
        let _ = writeln!(text, "layout(location = {location}) out {name} o{location};");
    }
    let body = [functions, main].concat();
    text += &texel_reader::definitions(&body);
    text += &definitions(&Glsl, &body);
    text + &body
}

fn header(version: Version) -> &'static str {
    match version {
        Version::V400 => "#version 400 core\n",
        Version::V330 => "#version 330 core\n#extension GL_ARB_gpu_shader5 : require\n",
    }
}

/// The sampler of a block's texture.
fn sampler(dtype: DType) -> &'static str {
    match raw(dtype) {
        DType::F32 => "sampler2D",
        DType::I32 => "isampler2D",
        _ => "usampler2D",
    }
}
