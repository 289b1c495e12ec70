//! Definitions of the functions that a kernel calls, as text.
//!
//! Owns [`definitions`]. Invariant: a definition precedes every call of it.
//!
//! Not here: the functions as programs (`library/`), calls (`library_calls.rs`).

use crate::analysis::uses::live_for;
use crate::dialect::{Dialect, Width};
use crate::emit::body::{Body, Leaves};
use crate::emit::library::FUNCTIONS;
use crate::emit::library_calls::full_name;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Scalar};

/// Definitions of the library functions and [`Helper`](crate::dialect::Helper)s that `text` calls.
pub fn definitions(d: &dyn Dialect, text: &str) -> String {
    let mut wanted: Vec<String> = Vec::new();
    let calls = |wanted: &[String], name: &str| {
        let call = format!("{name}(");
        let whole =
            |text: &str| text.match_indices(&call).any(|(at, _)| !text[..at].ends_with(is_of_name));
        whole(text) || wanted.iter().any(|definition| whole(definition))
    };
    for function in FUNCTIONS.iter().rev() {
        for width in [Width::One, Width::Four] {
            let name = full_name(function.name, function.dtype, width);
            if calls(&wanted, &name) {
                wanted.push(define(d, &name, &function.program, width));
            }
        }
    }
    for helper in d.helpers().iter().rev() {
        if calls(&wanted, helper.name) {
            wanted.push(helper.text.to_owned());
        }
    }
    wanted.reverse();
    wanted.concat()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The definition of one function.
fn define(d: &dyn Dialect, name: &str, program: &Program, width: Width) -> String {
    let live = live_for(program, &[0]);
    let mut body = Body::new(program, d, &live, false);
    body.depth = 0;
    let params: Vec<(&str, DType)> = PARAMS.into_iter().zip(program.params.clone()).collect();
    body.open(&d.function(name, &params, program.dests[0], width));
    // Parameters are the first instructions, and have the function's width.
    for (at, name) in PARAMS.iter().take(params.len()).enumerate() {
        body.set_name(at as u32, (*name).to_owned());
    }
    body.instructions(params.len()..program.insts.len(), width, &Arguments(d));
    body.close();
    body.finish()
}

/// The names of parameters.
const PARAMS: [&str; 2] = ["a", "b"];

/// The leaves of a library function: literals alone, since it has no accesses.
struct Arguments<'a>(&'a dyn Dialect);

impl Leaves for Arguments<'_> {
    fn constant(&self, value: Scalar) -> String {
        self.0.literal(value)
    }
    fn store(&self, _: u32, value: &str) -> String {
        format!("return {value};")
    }
    fn param(&self, _: u32, _: DType) -> String {
        String::new()
    }
    fn index(&self, _: u32) -> String {
        String::new()
    }
    fn load(&self, _: u32, _: u32) -> String {
        String::new()
    }
    fn gather(&self, _: u32, _: &str) -> String {
        String::new()
    }
}
