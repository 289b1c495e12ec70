//! Plans of matrix products.
//!
//! Owns `plan`. Not here: tiles (`tiles.rs`), the text (`text/matmul.rs`).

use crate::analysis::axis_coalescing::{AffineWalk, coalesce_axes};
use crate::analysis::kernel_arguments::ArgumentWords;
use crate::compute::kernel_features::KernelFeatures;
use crate::compute::plan::form_plan::{FormDetails, FormPlan};
use crate::compute::plan::point_mapping::InvocationMapping;
use crate::compute::plan::request::DispatchRequest;
use crate::compute::plan::tiles::{COLUMNS, Matrix, TiledMatmul, most_terms, rows};
use crate::dialect::Width;
use gpupy_core::op::Op;

/// Plans a matrix product. `None` for too many results to count, or more terms than a dispatch takes.
pub(crate) fn plan(
    words: &mut ArgumentWords,
    request: &DispatchRequest<'_>,
    device: &KernelFeatures,
) -> Option<FormPlan> {
    let rank = request.shape.len();
    let mut shape: Vec<i64> = request.shape.iter().map(|n| *n as i64).collect();
    let load = |which: usize| {
        let loads = request.program.insts.iter().filter(|inst| inst.op == Op::Load);
        let access = loads.map(|inst| inst.args[1] as usize).nth(which).unwrap_or(0);
        AffineWalk::of(&request.accesses[access], rank)
    };
    let (mut left, mut right) = (load(0), load(1));
    let mut result = AffineWalk::of(request.targets[0].0, rank);
    coalesce_axes(&mut shape, 3, &mut [&mut left, &mut right, &mut result]);
    let (stack, matrix) = shape.split_at(shape.len() - 3);
    let tiles = |n: i64, of: u32| (n as u64).div_ceil(of.into());
    let (down, along) = (tiles(matrix[0], rows(device)), tiles(matrix[1], 4 * COLUMNS));
    let product = TiledMatmul {
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
    let (frame, groups) = InvocationMapping::of_groups(words, groups, device);
    let fits = places <= i64::from(i32::MAX) && matrix[2] <= most_terms(device) as i64;
    fits.then_some(FormPlan {
        width: Width::One,
        frame,
        groups,
        fetches: Vec::new(),
        windows: Vec::new(),
        indices: Vec::new(),
        late_fetches: Vec::new(),
        late_indices: Vec::new(),
        targets: Vec::new(),
        form: FormDetails::Product(product),
        rank: shape.len(),
        places,
    })
}
