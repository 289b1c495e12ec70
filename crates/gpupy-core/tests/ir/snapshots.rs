//! Snapshots of the text form of three programs.
//!
//! `GPUPY_BLESS=1` rewrites them.

use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

fn check(name: &str, program: &Program) {
    program.verify().unwrap();
    let path = format!("{}/tests/snapshots/{name}.ir", env!("CARGO_MANIFEST_DIR"));
    let text = program.to_string();
    if std::env::var_os("GPUPY_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, stored, "{path} is out of date; GPUPY_BLESS=1 rewrites it");
    assert_eq!(stored.parse::<Program>().unwrap(), *program);
}

#[test]
fn a_map_of_indices_and_an_operand_prints_as_stored() {
    let mut b = Builder::new(Form::Map, 2);
    let operand = b.operand(DType::F32);
    let (same, column) = (b.access(AccessKind::Contiguous), b.access(AccessKind::Affine));
    let x = b.index(column);
    let x = b.convert(Op::Cast, x, DType::F32);
    let y = b.load(operand, same);
    let scale = b.param(DType::F32);
    let two = b.constant(Scalar::f32(2.0));
    let scaled = b.op(Op::Mul, &[x, scale]);
    let sum = b.op(Op::Add, &[scaled, y]);
    let inside = b.op(Op::Lt, &[sum, two]);
    let chosen = b.op(Op::Select, &[inside, sum, two]);
    b.store(chosen);
    b.store(inside);
    check("map", &b.finish());
}

#[test]
fn a_reduction_with_prologue_and_epilogue_prints_as_stored() {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
    let operand = b.operand(DType::F32);
    let access = b.access(AccessKind::Contiguous);
    let x = b.load(operand, access);
    let square = b.op(Op::Mul, &[x, x]);
    let sum = b.reduce(square);
    let root = b.op(Op::Sqrt, &[sum]);
    b.store(root);
    check("reduce", &b.finish());
}

#[test]
fn several_reductions_print_as_stored() {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::I32));
    let access = b.access(AccessKind::Contiguous);
    let (x, y) = (b.load(x, access), b.load(y, access));
    let square = b.op(Op::Mul, &[x, x]);
    let sum = b.reduce(x);
    let squares = b.reduce_by(Op::Add, square);
    let most = b.reduce_by(Op::Max, y);
    b.store(sum);
    b.store(squares);
    b.store(most);
    check("reductions", &b.finish());
}

#[test]
fn regions_print_as_stored() {
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Affine);
    let table = b.operand(DType::F32);
    let n = b.index(access);
    let zero = b.constant(Scalar::f32(0.0));
    let sum = b.begin_loop(n, &[zero]);
    let (k, so_far) = (b.iter(sum), b.carry(sum, 0));
    let term = b.gather(table, k);
    let negative = b.op(Op::SignBit, &[term]);
    let choice = b.begin_if(negative);
    let less = b.op(Op::Sub, &[so_far, term]);
    b.begin_else(choice, &[less]);
    let more = b.op(Op::Add, &[so_far, term]);
    b.end(choice, &[more]);
    let next = b.result(choice, 0, DType::F32);
    b.end(sum, &[next]);
    let total = b.result(sum, 0, DType::F32);
    b.store(total);
    check("regions", &b.finish());
}
