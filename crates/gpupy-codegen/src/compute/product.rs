//! Kernels of the matrix product: a group computes a tile of the result, of which each invocation
//! keeps four by four elements, and brings the operands in tiles through its memory.
//!
//! Owns `Product`, and [`slices`]: a dispatch takes so many terms that no loop is too long, and adds its sums
//! to what the one before gave. The invocations of a group stand in rows of 16. Floats are summed in order, in
//! float32 at least, and may be fused, chunk by chunk; other dtypes by their operations.
//!
//! Not here: how operands larger than a block are cut (the core).

use super::device::Device;
use super::frame::Frame;
use super::plan::{Formed, Parts, Request};
use super::text::Text;
use crate::analysis::numbers::Words;
use crate::analysis::space::{Walk, merge};
use crate::dialect::{COMPONENTS, Width};
use crate::spell::loops::{Each, MOST_STEPS, Steps};
use crate::spell::operations::spell;
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, PRODUCT_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// Invocations in a row of a group; each has four columns.
const COLUMNS: u32 = 16;
/// Steps along the summed axis that a tile of an operand holds.
const DEPTH: u32 = 16;

/// The loop over the chunks of a dispatch's terms.
fn chunks(terms: u64) -> Each<'static> {
    let most = terms.div_ceil(PRODUCT_CHUNK as u64);
    Each { step: PRODUCT_CHUNK as u32, ..Each::below("first", "terms", most) }
}

/// The loop over the tiles of a chunk.
const TILES: Each<'static> = Each {
    counter: "base",
    from: "first",
    below: "until",
    step: DEPTH,
    most: PRODUCT_CHUNK as u64 / DEPTH as u64,
};
/// The loop over the terms of a tile.
const TERMS: Each<'static> = Each::below("z", "16", DEPTH as u64);

/// How often each invocation of a group brings an element of a tile of so many.
fn brought(elements: u32, group: u32) -> u64 {
    elements.div_ceil(group).into()
}

/// The most terms of a dispatch, whole chunks: all its loops together are no longer than a device takes.
fn most_terms(device: &Device) -> usize {
    let chunk = TILES.most * (1 + TERMS.most + 1
        + brought(DEPTH * rows(device), device.group) + 1
        + brought(4 * COLUMNS * DEPTH, device.group) + 1)
        // The chunk itself, and the end of its loop.
        + 2;
    PRODUCT_CHUNK * ((MOST_STEPS - 1) / chunk) as usize
}

/// The parts of a product that has more terms than one dispatch takes: the shape and the accesses of each.
/// All but the first add to the results.
pub fn slices(device: &Device, launch: &Launch<'_>) -> Option<Vec<(Vec<usize>, Vec<Access>)>> {
    let (most, (terms, rest)) = (most_terms(device), launch.shape.split_last()?);
    if launch.program.form != Form::MatMul || *terms <= most {
        return None;
    }
    let slice = |first: usize| {
        let shape = rest.iter().copied().chain([most.min(terms - first)]).collect();
        let access = |access: &Access| {
            let along = access.strides.last().copied().unwrap_or_default();
            let offset = access.offset + first as i64 * along;
            Access { offset, strides: access.strides.clone() }
        };
        (shape, launch.accesses.iter().map(access).collect())
    };
    Some((0..*terms).step_by(most).map(slice).collect())
}

/// The numbers of a matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Product {
    /// The words of how many rows and columns the results have, and how many products a sum.
    extents: [u16; 3],
    /// The words of how many tiles there are from row to row and from column to column.
    tiles: [u16; 2],
    /// The word that is not 0 where results are added to what is there.
    adds: u16,
    /// The word of each axis of the stack of matrices.
    stack: Vec<u16>,
    left: Matrix,
    right: Matrix,
    result: Matrix,
}

/// Where the elements of matrices are: words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Matrix {
    offset: u16,
    /// Steps of the two axes.
    steps: [u16; 2],
    stack: Vec<u16>,
}

impl Matrix {
    fn new(words: &mut Words, walk: &Walk, axes: [usize; 2]) -> Matrix {
        let last = walk.strides.len() - 3;
        let stack = &walk.strides[..last];
        Matrix {
            offset: words.int(walk.offset),
            steps: axes.map(|axis| words.int(walk.strides[last + axis])),
            stack: stack.iter().map(|stride| words.int(*stride)).collect(),
        }
    }

    /// The element at a row and a column.
    fn at(&self, text: &Text<'_>, row: &str, column: &str) -> String {
        let [down, along] = self.steps.map(|step| text.number(step));
        let stack = self.stack.iter().enumerate();
        let stack: String =
            stack.map(|(k, step)| format!(" + {} * i{k}", text.number(*step))).collect();
        format!("({}{stack} + {down} * ({row}) + {along} * ({column}))", text.number(self.offset))
    }
}

/// Rows of a tile.
fn rows(device: &Device) -> u32 {
    4 * device.group / COLUMNS
}

/// Plans a product; `None` for more results than can be counted, or more terms than a dispatch takes.
pub(super) fn plan(words: &mut Words, request: &Request<'_>, device: &Device) -> Option<Parts> {
    let rank = request.shape.len();
    let mut shape: Vec<i64> = request.shape.iter().map(|n| *n as i64).collect();
    let load = |which: usize| {
        let loads = request.program.insts.iter().filter(|inst| inst.op == Op::Load);
        let access = loads.map(|inst| inst.args[1] as usize).nth(which).unwrap_or(0);
        Walk::of(&request.accesses[access], rank)
    };
    let (mut left, mut right) = (load(0), load(1));
    let mut result = Walk::of(request.targets[0].0, rank);
    merge(&mut shape, 3, &mut [&mut left, &mut right, &mut result]);
    let (stack, matrix) = shape.split_at(shape.len() - 3);
    let tiles = |n: i64, of: u32| (n as u64).div_ceil(of.into());
    let (down, along) = (tiles(matrix[0], rows(device)), tiles(matrix[1], 4 * COLUMNS));
    let product = Product {
        extents: [0, 1, 2].map(|axis: usize| words.int(matrix[axis])),
        tiles: [down, along].map(|n| words.int(n as i64)),
        adds: words.int(request.adds.into()),
        stack: stack.iter().map(|n| words.int(*n)).collect(),
        left: Matrix::new(words, &left, [0, 2]),
        right: Matrix::new(words, &right, [2, 1]),
        result: Matrix::new(words, &result, [0, 1]),
    };
    let groups = down * along * stack.iter().product::<i64>() as u64;
    let places = shape.iter().try_fold(1i64, |all, n| all.checked_mul(*n))? / matrix[2];
    let (frame, groups) = Frame::of_groups(words, groups, device);
    let fits = places <= i64::from(i32::MAX) && matrix[2] <= most_terms(device) as i64;
    fits.then_some(Parts {
        width: Width::One,
        frame,
        groups,
        fetches: Vec::new(),
        indices: Vec::new(),
        late_fetches: Vec::new(),
        late_indices: Vec::new(),
        targets: Vec::new(),
        form: Formed::Product(product),
        rank: shape.len(),
        places,
    })
}

/// The memory that a group shares.
pub(super) fn group_memory(text: &Text<'_>, dtype: DType) -> String {
    let kind = text.dialect.type_name(summed(dtype), Width::Four);
    let left = text.shared("left", kind, DEPTH * rows(text.device) / 4);
    left + &text.shared("right", kind, DEPTH * COLUMNS)
}

/// The dtype in which products are summed.
fn summed(dtype: DType) -> DType {
    if dtype == DType::F16 { DType::F32 } else { dtype }
}

/// The entry point.
pub(super) fn main(text: &Text<'_>) -> String {
    let Formed::Product(product) = &text.plan.form else { return String::new() };
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
    // Both may be one operand, by two accesses.
    let mut loads = text.program.insts.iter().filter(|inst| inst.op == Op::Load);
    let [left, right] = [(); 2].map(|()| loads.next().map_or(0, |load| load.args[0] as usize));
    let element = |block: usize, matrix: &Matrix, row: &str, column: &str| {
        text.value_of(dtype, Width::One, &text.element(block, &matrix.at(text, row, column)))
    };
    let mut steps = Steps::default();
    let chunks = chunks(most_terms(text.device) as u64);
    steps.enter_loop(&chunks);
    main += &format!("    {}\n", chunks.head(d));
    sums(&mut main, "        ", "sum");
    main += &format!("    {}", int("until", &format!("min(terms, first + {PRODUCT_CHUNK})")));
    steps.enter_loop(&TILES);
    main += &format!("        {}\n", TILES.head(d));
    let size = text.device.group;
    let mut fill = |name: &str, len: u32, places: [String; 4], inside: &str, value: &str| {
        let [row, column, slot, component] = places;
        let below = len.to_string();
        let most = brought(len, size);
        let each = Each { counter: "e", from: "local", below: &below, step: size, most };
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
                    spell(d, op, sum, sum, Width::Four, &[x, y]).unwrap_or_default()
                };
                op(Op::Add, &into, &op(Op::Mul, &a, "b"))
            }
        };
        main += &format!("                {into} = {value};\n");
    }
    main += &format!("            }}\n            {}\n        }}\n", text.barrier());
    let added = |width: Width, a: &str, b: &str| {
        spell(d, Op::Add, sum, sum, width, &[a, b]).unwrap_or_default()
    };
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
            let value = spell(d, Op::Cast, sum, dtype, Width::One, &["value"]).unwrap_or_default();
            let target =
                text.element(text.program.operands.len(), &product.result.at(text, &row, &column));
            main += &format!(
                "    if ({row} < {m} && {column} < {n}) {{\n        {} = total{r}.{component};\n        \
                 if ({adds} != 0) {{ value = {}; }}\n        {target} = {};\n    }}\n",
                text.plain_variable(sum, Width::One, "value"),
                added(Width::One, "value", &text.value_of(dtype, Width::One, &target)),
                text.stored_of(dtype, Width::One, &value)
            );
        }
    }
    main + "}\n"
}
