//! Interleaved destinations: components of a point that lie beside each other in one block.
//!
//! Owns [`InterleavedDests`]. A texel holds four elements that follow each other. A draw of one component writes some
//! of them and reads the others again to keep them, element by element, so that three components take ten times as
//! long as one. Instead they are drawn together into temporary blocks of their own, and one more draw puts these
//! together. Components that are loaded from blocks as they are need that draw only.
//!
//! Not here: the draws (`eval.rs`).

use gpupy_core::driver::{Access, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::shape::contiguous_strides;
use gpupy_core::{DType, Scalar};
use smallvec::SmallVec;

/// The most components. A fragment chooses between all of them.
const MOST: usize = 4;
/// The most axes of a launch, so that the arguments of all accesses fit in any kernel.
const MOST_AXES: usize = 8;

/// The destinations of a launch as one, with an axis more.
#[derive(Clone, Debug, PartialEq)]
pub struct InterleavedDests {
    /// The dtype of all.
    pub dtype: DType,
    /// The shape of the launch, and the number of components.
    pub shape: SmallVec<[usize; 4]>,
    /// Where the components go.
    pub dest: Dest,
}

/// An operand of a launch, by number, and the access that its elements are read by.
pub type Component = (u32, Access);

impl InterleavedDests {
    /// Those of a launch, if it has any. `len` is the length of the destinations' block.
    pub fn of(launch: &Launch<'_>, len: usize) -> Option<InterleavedDests> {
        let [first, others @ ..] = launch.dests else { return None };
        let count = launch.dests.len();
        let is_next = |(k, dest): (i64, &Dest)| {
            dest.block == first.block
                && dest.access.offset == first.access.offset + k
                && dest.access.strides == first.access.strides
        };
        let is_map = launch.program.form == Form::Map && !launch.operands.contains(&first.block);
        let are_few = (2..=MOST).contains(&count) && launch.shape.len() <= MOST_AXES;
        if !is_map || !are_few || !(1..).zip(others).all(is_next) {
            return None;
        }
        let mut shape: SmallVec<[usize; 4]> = launch.shape.into();
        shape.push(count);
        let mut access = first.access.clone();
        access.strides.push(1);
        let points: usize = shape.iter().product();
        let whole = access.offset == 0 && points == len && access.strides == in_order(&shape);
        let dest = Dest { block: first.block, access, whole };
        Some(InterleavedDests { dtype: launch.program.dests[0], shape, dest })
    }

    /// The launch's components, if it only copies them.
    pub fn copied(launch: &Launch<'_>) -> Option<Vec<Component>> {
        let insts = &launch.program.insts;
        let mut components = vec![None; launch.dests.len()];
        for store in insts.iter().filter(|inst| inst.op == Op::Store) {
            let load = insts.get(store.args[1] as usize).filter(|inst| inst.op == Op::Load)?;
            let access = launch.accesses.get(load.args[1] as usize)?;
            *components.get_mut(store.args[0] as usize)? = Some((load.args[0], access.clone()));
        }
        components.into_iter().collect()
    }

    /// The components, if each is a whole block of its own.
    pub fn apart(&self) -> Vec<Component> {
        let access = Access { offset: 0, strides: in_order(&self.shape[..self.shape.len() - 1]) };
        (0..self.shape[self.shape.len() - 1] as u32).map(|k| (k, access.clone())).collect()
    }

    /// The program that puts components of these operands together, and its accesses.
    pub fn program(&self, operands: &[DType], components: &[Component]) -> (Program, Vec<Access>) {
        let rank = self.shape.len();
        let mut builder = Builder::new(Form::Map, rank as u32);
        let mut number = Access { offset: 0, strides: SmallVec::from_elem(0, rank) };
        number.strides[rank - 1] = 1;
        let access = builder.access(AccessKind::Affine);
        let number_of_component = builder.index(access);
        let mut accesses = vec![number];
        for dtype in operands {
            builder.operand(*dtype);
        }
        let mut values = Vec::with_capacity(components.len());
        for (operand, access) in components {
            let mut access = access.clone();
            // The same for all components. Accesses that are uniform may have no strides.
            access.strides.resize(rank, 0);
            accesses.push(access);
            let access = builder.access(AccessKind::Affine);
            values.push(builder.load(*operand, access));
        }
        let last = values.len() - 1;
        let mut chosen = values[last];
        for (k, value) in values[..last].iter().enumerate().rev() {
            let number = builder.constant(Scalar::i32(k as i32));
            let is_it = builder.op(Op::Le, &[number_of_component, number]);
            chosen = builder.op(Op::Select, &[is_it, *value, chosen]);
        }
        builder.store(chosen);
        (builder.finish(), accesses)
    }
}

/// The strides of a shape in C order.
fn in_order(shape: &[usize]) -> SmallVec<[i64; 4]> {
    contiguous_strides(shape).iter().map(|stride| *stride as i64).collect()
}
