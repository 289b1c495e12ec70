//! Kernels of the matrix product.
//!
//! Owns `main` and the workgroup memory of tiles. Floats are summed in order within each chunk, in float32 at least,
//! and may be fused; other dtypes use their own operations.
//!
//! Not here: tiles and their arguments (`plan/tiles.rs`).

use crate::compute::plan::form_plan::FormDetails;
use crate::compute::plan::tiles::{
    CHUNK, COLUMNS, DEPTH, Matrix, TERMS, TILES, brought, chunks, most_terms, rows,
};
use crate::compute::text::kernel_text::KernelText;
use crate::dialect::{COMPONENTS, Width};
use crate::emit::accumulator_lanes::{accumulating_op, accumulator};
use crate::emit::loop_bounds::{LoopHead, MOST_STEPS, StepCount};
use crate::emit::operations::emit;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// Declares the workgroup memory of tiles.
pub(crate) fn group_memory(text: &KernelText<'_>) -> String {
    let dtype = text.block_dtype(0);
    let kind = text.dialect.type_name(summed(dtype), Width::Four);
    let left = text.shared("left", kind, DEPTH * rows(text.device) / 4);
    left + &text.shared("right", kind, DEPTH * COLUMNS)
}

/// The dtype in which products are summed.
fn summed(dtype: DType) -> DType {
    if dtype == DType::F16 { DType::F32 } else { accumulator(dtype) }
}

/// The entry point.
pub(crate) fn main(text: &KernelText<'_>) -> String {
    let FormDetails::Product(product) = &text.plan.form else { return String::new() };
    let (d, rows) = (text.dialect, rows(text.device));
    let dtype = text.block_dtype(0);
    let sum = summed(dtype);
    let int =
        |name: &str, value: &str| format!("    {}\n", text.declare_int(Width::One, name, value));
    let number = |n: u16| text.number(n);
    let [m, n, k] = product.extents.map(number);
    let [down, along] = product.tiles.map(number);
    let mut main = text.open_main();
    main += &int("tiles", &text.group_number());
    main += &int("tile", &format!("tiles % {along}"));
    main += &int("column", &format!("{} * tile", 4 * COLUMNS));
    main += &int("above", &format!("tiles / {along}"));
    main += &int("row", &format!("{rows} * (above % {down})"));
    let mut rest = format!("above / {down}");
    for axis in (0..product.stack.len()).rev() {
        let extent = number(product.stack[axis]);
        main += &int(&format!("stack{axis}"), &rest);
        main += &int(&format!("i{axis}"), &format!("stack{axis} % {extent}"));
        rest = format!("stack{axis} / {extent}");
    }
    main += &int("x", &format!("local % {COLUMNS}"));
    main += &int("y", &format!("local / {COLUMNS}"));
    let zero = d.literal(Scalar::zero(sum));
    let zeros = d.splat(sum, Width::Four, &zero);
    let sums = |main: &mut String, indent: &str, name: &str| {
        for r in 0..4 {
            let variable = text.plain_variable(sum, Width::Four, &format!("{name}{r}"));
            *main += &format!("{indent}{variable} = {zeros};\n");
        }
    };
    sums(&mut main, "    ", "total");
    main += &int("terms", &k);
    // Both factors may be one operand with two accesses.
    let mut loads = text.program.insts.iter().filter(|inst| inst.op == Op::Load);
    let [left, right] = [(); 2].map(|()| loads.next().map_or(0, |load| load.args[0] as usize));
    let [add, multiply] = [Op::Add, Op::Mul].map(|op| accumulating_op(op, dtype));
    let taken = |value: String| match dtype {
        DType::Bool => d.convert(sum, Width::One, &value),
        _ => value,
    };
    let element = |block: usize, matrix: &Matrix, row: &str, column: &str| {
        let element = text.element(block, &at(matrix, text, row, column));
        taken(text.value_of(dtype, Width::One, &element))
    };
    let mut steps = StepCount::default();
    let chunks = chunks(most_terms(text.device) as u64);
    steps.enter_loop(&chunks);
    main += &format!("    {}\n", chunks.head(d));
    sums(&mut main, "        ", "sum");
    main += &format!("    {}", int("until", &format!("min(terms, first + {CHUNK})")));
    steps.enter_loop(&TILES);
    main += &format!("        {}\n", TILES.head(d));
    let size = text.device.group;
    let mut fill = |name: &str, len: u32, places: [String; 4], inside: &str, value: &str| {
        let [row, column, slot, component] = places;
        let below = len.to_string();
        let most = brought(len, size);
        let each = LoopHead { counter: "e", from: "local", below: &below, step: size, most };
        steps.enter_loop(&each);
        steps.leave();
        main += &format!(
            "            {}\n                {}\n                {}\n                \
             {} = {zero};\n                if ({inside}) {{ value = {value}; }}\n                \
             {name}[{slot}][{component}] = value;\n            }}\n",
            each.head(d),
            text.declare_int(Width::One, "r", &row),
            text.declare_int(Width::One, "c", &column),
            text.plain_variable(sum, Width::One, "value"),
        );
    };
    fill(
        "left",
        rows * DEPTH,
        [
            format!("e / {DEPTH}"),
            format!("e % {DEPTH}"),
            format!("c * {} + r / 4", rows / 4),
            "r % 4".to_owned(),
        ],
        &format!("row + r < {m} && base + c < terms"),
        &element(left, &product.left, "row + r", "base + c"),
    );
    fill(
        "right",
        4 * COLUMNS * DEPTH,
        [
            format!("e / {}", 4 * COLUMNS),
            format!("e % {}", 4 * COLUMNS),
            format!("r * {COLUMNS} + c / 4"),
            "c % 4".to_owned(),
        ],
        &format!("base + r < terms && column + c < {n}"),
        &element(right, &product.right, "base + r", "column + c"),
    );
    main += &format!("            {}\n", text.barrier());
    steps.enter_loop(&TERMS);
    main += &format!("            {}\n", TERMS.head(d));
    let kind = d.type_name(sum, Width::Four);
    main += &format!(
        "                {}\n",
        text.declare_stored(kind, "a", &format!("left[z * {} + y]", rows / 4))
    );
    main += &format!(
        "                {}\n",
        text.declare_stored(kind, "b", &format!("right[z * {COLUMNS} + x]"))
    );
    for (r, component) in COMPONENTS.iter().enumerate() {
        let a = d.splat(sum, Width::Four, &format!("a.{component}"));
        let into = format!("sum{r}");
        let value = match sum.is_float() {
            true => format!("{into} + {a} * b"),
            false => {
                let op = |op, x: &str, y: &str| {
                    emit(d, op, sum, sum, Width::Four, &[x, y]).unwrap_or_default()
                };
                op(add, &into, &op(multiply, &a, "b"))
            }
        };
        main += &format!("                {into} = {value};\n");
    }
    main += &format!("            }}\n            {}\n        }}\n", text.barrier());
    let added =
        |width: Width, a: &str, b: &str| emit(d, add, sum, sum, width, &[a, b]).unwrap_or_default();
    for r in 0..4 {
        let (total, part) = (format!("total{r}"), format!("sum{r}"));
        main += &format!("        {total} = {};\n", added(Width::Four, &total, &part));
    }
    main += "    }\n";
    debug_assert!(steps.all() <= MOST_STEPS, "{main}");
    let adds = number(product.adds);
    for r in 0..4 {
        for (c, component) in COMPONENTS.iter().enumerate() {
            let (row, column) = (format!("row + 4 * y + {r}"), format!("column + 4 * x + {c}"));
            let value = emit(d, Op::Cast, sum, dtype, Width::One, &["value"]).unwrap_or_default();
            let target = text
                .element(text.program.operands.len(), &at(&product.result, text, &row, &column));
            main += &format!(
                "    if ({row} < {m} && {column} < {n}) {{\n        {} = total{r}.{component};\n        \
                 if ({adds} != 0) {{ value = {}; }}\n        {target} = {};\n    }}\n",
                text.plain_variable(sum, Width::One, "value"),
                added(Width::One, "value", &taken(text.value_of(dtype, Width::One, &target))),
                text.stored_of(dtype, Width::One, &value)
            );
        }
    }
    main + "}\n"
}

/// The element at a row and a column.
fn at(matrix: &Matrix, text: &KernelText<'_>, row: &str, column: &str) -> String {
    let [down, along] = matrix.steps.map(|step| text.number(step));
    let stack = matrix.stack.iter().enumerate();
    let stack: String =
        stack.map(|(k, step)| format!(" + {} * i{k}", text.number(*step))).collect();
    format!("({}{stack} + {down} * ({row}) + {along} * ({column}))", text.number(matrix.offset))
}
