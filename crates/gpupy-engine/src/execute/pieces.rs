//! Pieces: a walk goes through a device, launch by launch.
//!
//! Owns how a walk gets to its destinations: by the pieces that it is cut into, as one like it was where that is known. A
//! piece
//! that the device refuses is cut again, until it is accepted or a single operation is refused; so is one whose operands
//! find no room together, when tiles are as small as they get. Invariant: what a failed piece was for is as it was;
//! what was launched before it is kept.
//!
//! Not here: which pieces there are (`schedule/partition.rs`), one launch (`launch.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::trace::{Event, subject};
use crate::memory::access;
use crate::schedule::again::Passes;
use crate::schedule::destination::Destination;
use crate::schedule::device::Device;
use crate::schedule::partition::{Partition, Piece};
use crate::schedule::program::emit;
use crate::schedule::program::kernel::{Emitted, Kernel, Target};
use crate::schedule::program::plans::{Plan, Planned, Structure};
use crate::schedule::walk::{Child, Flow, Start, Walk};
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, REDUCE_CHUNK};
use gpupy_core::memory;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// How a walk goes: through which device, in which form, to where.
pub(crate) struct Run<'r> {
    pub device: usize,
    pub form: Form,
    /// Of reductions, the operations of the roots behind the first.
    pub further: &'r [Op],
    /// One for each root.
    pub dests: &'r [Destination],
}

impl Engine {
    /// Takes a walk through a device into its destination.
    ///
    /// # Errors
    /// Any error of the driver; what it did not take was cut as small as it gets.
    pub fn run(
        &mut self,
        walk: Walk,
        form: Form,
        dest: Destination,
        device: usize,
    ) -> Result<Flow> {
        let run = Run { device, form, further: &[], dests: &[dest] };
        let open = self.device(device)?;
        let passes = Passes::of(&walk, open);
        open.steps.leave_to(&walk);
        let structure = open.plans.structure(&open.blocks, &walk, (form, &[]), run.dests);
        let plan = structure.as_ref().and_then(|structure| open.plans.find(structure));
        let plan = plan.filter(|plan| plan.is_for(&open.blocks, &walk));
        let mut partition = Partition::new(walk, self.slice.cut.take());
        let flow = self.run_pieces(&mut partition, &run, structure, plan);
        match flow {
            Ok(Flow::Done) => passes.note(),
            _ => {
                if let Ok(open) = self.device(device) {
                    open.steps.keep(&partition.walk);
                }
            }
        }
        flow
    }

    /// Walks from a start over a space and takes that to its destination, unless something has to be computed first.
    ///
    /// # Errors
    /// As of a walk, and as `run`.
    pub fn run_from(
        &mut self,
        start: Start<'_>,
        (at, space): (Access, Shape),
        form: Form,
        dest: Destination,
        device: usize,
    ) -> Result<Flow> {
        match Walk::new(self.device(device)?, &[start], at, space)? {
            Ok(walk) => self.run(walk, form, dest, device),
            Err(needs) => Ok(Flow::Needs(needs)),
        }
    }

    /// Launches a walk with several roots as one kernel; gives it back when it does not fit in one, or one of the roots
    /// cannot be computed so.
    pub fn run_together(&mut self, walk: Walk, run: &Run<'_>) -> Result<Option<Walk>> {
        let open = self.device(run.device)?;
        let passes = Passes::of(&walk, open);
        let ends = (run.form, run.further);
        let structure = open.plans.structure(&open.blocks, &walk, ends, run.dests);
        let plan = structure.as_ref().and_then(|structure| open.plans.find(structure));
        let mut partition = Partition::new(walk, None);
        let launched = match plan.as_ref().and_then(|plan| plan.only()) {
            Some(planned) => self.replay(&mut partition, planned, run),
            None => self.run_whole(&mut partition, run, structure),
        };
        match launched {
            Ok(true) => {
                passes.note();
                Ok(None)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DeviceLost | ErrorKind::Interrupted | ErrorKind::Invalid
                ) =>
            {
                Err(error)
            }
            // Whatever one of them lacks, another alone may not need it.
            Ok(false) | Err(_) => Ok(Some(partition.walk)),
        }
    }

    /// Launches the walk as one piece; false when that does not fit.
    fn run_whole(
        &mut self,
        partition: &mut Partition,
        run: &Run<'_>,
        structure: Option<Structure>,
    ) -> Result<bool> {
        let piece = partition.as_one();
        let Some(kernel) = self.kernel_of_all(partition, &piece, run)? else { return Ok(false) };
        self.launch_piece(partition, &piece, &kernel, (run.device, run.dests))?;
        let planned =
            self.planned((&partition.walk, None, &piece.order[..]), &kernel, run.device)?;
        if let (Some(structure), Some(planned)) = (structure, planned) {
            let plan = Plan { pieces: vec![planned] };
            self.device(run.device)?.plans.insert(structure, plan);
        }
        Ok(true)
    }

    /// The kernel of a walk as one piece, if it fits.
    fn kernel_of_all(
        &mut self,
        partition: &Partition,
        piece: &Piece,
        run: &Run<'_>,
    ) -> Result<Option<Kernel>> {
        let open = self.device(run.device)?;
        let kernel = kernel_of(open, &partition.walk, piece, (run.form, run.further), run.dests);
        let fits = open.driver.check_ir(&kernel.program).is_ok_and(|check| check.fits);
        Ok(fits.then_some(kernel))
    }

    /// Whether a walk fits as one piece.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is no longer open.
    pub fn fits_whole(&mut self, walk: Walk, run: &Run<'_>) -> Result<bool> {
        let mut partition = Partition::new(walk, None);
        let piece = partition.as_one();
        Ok(self.kernel_of_all(&partition, &piece, run)?.is_some())
    }

    /// Launches a walk that is one kernel by its plan; false where the device does not take it so.
    fn replay(
        &mut self,
        partition: &mut Partition,
        planned: &Planned,
        run: &Run<'_>,
    ) -> Result<bool> {
        let Some(kernel) = planned.kernel(&partition.walk) else { return Ok(false) };
        let piece = Piece { node: None, order: planned.order.clone() };
        match self.launch_piece(partition, &piece, &kernel, (run.device, run.dests)) {
            Err(error) if may_be_split(&error, &partition.walk, run.form) => Ok(false),
            Err(error) => Err(error),
            Ok(()) => {
                self.counts[run.device].plans_replayed += 1;
                Ok(true)
            }
        }
    }

    /// Cuts the walk into pieces, as the plan of one like it says where there is one, and launches them, one after
    /// another.
    fn run_pieces(
        &mut self,
        partition: &mut Partition,
        run: &Run<'_>,
        mut structure: Option<Structure>,
        mut plan: Option<Arc<Plan>>,
    ) -> Result<Flow> {
        match &plan {
            Some(plan) => partition.cut_like(plan),
            None => {
                if let Err(needs) = partition.cut(self.device(run.device)?, run.form)? {
                    return Ok(Flow::Needs(needs));
                }
            }
        }
        let mut last_cut = partition.last_cut();
        let (mut count, mut made) = (0, Plan::default());
        while let Some(piece) = partition.pieces.pop_front() {
            let planned = plan.as_ref().and_then(|plan| plan.pieces.get(count));
            match self.run_piece(partition, &piece, run, planned) {
                Ok(kernel) => {
                    count += 1;
                    if plan.is_none() && structure.is_some() {
                        let walk = (&partition.walk, piece.node, &piece.order[..]);
                        match self.planned(walk, &kernel, run.device)? {
                            Some(planned) => made.pieces.push(planned),
                            None => structure = None,
                        }
                    }
                    drop(kernel);
                    last_cut = partition.signature_of(&piece).or(last_cut);
                    if !partition.is_one() {
                        partition.release(self.device(run.device)?, &piece);
                    }
                }
                Err(error) if may_be_split(&error, &partition.walk, form_of(&piece, run)) => {
                    let open = self.device(run.device)?;
                    if let (Some(structure), Some(_)) = (&structure, plan.take()) {
                        open.plans.remove(structure);
                    }
                    // What is refused is refused again, but there may be room the next time.
                    if error.kind() != ErrorKind::Refused || count > made.pieces.len() {
                        structure = None;
                    }
                    partition.pieces.push_front(piece);
                    if let Err(needs) = partition.split(open, run.form, error)? {
                        return Ok(Flow::Needs(needs));
                    }
                }
                Err(error) => {
                    if error.kind() == ErrorKind::Interrupted && piece.node.is_some() {
                        self.slice.cut = last_cut;
                    }
                    return Err(error);
                }
            }
        }
        match (structure, plan) {
            (_, Some(_)) => self.counts[run.device].plans_replayed += 1,
            (Some(structure), None) => self.device(run.device)?.plans.insert(structure, made),
            (None, None) => {}
        }
        Ok(Flow::Done)
    }

    /// Launches one of several pieces, as it was planned where it was, and gives the kernel that it was.
    fn run_piece(
        &mut self,
        partition: &mut Partition,
        piece: &Piece,
        run: &Run<'_>,
        planned: Option<&Planned>,
    ) -> Result<Kernel> {
        let open = self.device(run.device)?;
        let further = if piece.node.is_some() { &[] } else { run.further };
        let form = (form_of(piece, run), further);
        let own = piece.node.map(|node| &partition.walk.nodes[node as usize]).and_then(|node| {
            let tile = open.own_tile(&node.value, &node.access, &partition.walk.space)?;
            open.tracer.event(|| Event::Cut(subject(&node.value)));
            Some([Destination::Tile { value: node.value.clone(), tile }])
        });
        let dests = own.as_ref().map_or(run.dests, |own| &own[..]);
        let known = planned.and_then(|planned| planned.kernel(&partition.walk));
        let kernel = known.unwrap_or_else(|| kernel_of(open, &partition.walk, piece, form, dests));
        self.launch_piece(partition, piece, &kernel, (run.device, dests))?;
        Ok(kernel)
    }

    /// Launches the kernel of a piece, into the block of an operand where one may be taken.
    fn launch_piece(
        &mut self,
        partition: &mut Partition,
        piece: &Piece,
        kernel: &Kernel,
        (device, dests): (usize, &[Destination]),
    ) -> Result<()> {
        let open = self.device(device)?;
        let computes = match open.tracer.listens() {
            true => partition.values_of(piece),
            false => Vec::new(),
        };
        let taken = partition.operand_to_take(open, piece, kernel, dests);
        self.launch(device, kernel, dests, taken, computes)
    }

    /// The plan of a kernel of a walk that stores a node or the roots, whose nodes are emitted in this order.
    fn planned(
        &mut self,
        (walk, node, order): (&Walk, Option<u32>, &[Emitted]),
        kernel: &Kernel,
        device: usize,
    ) -> Result<Option<Planned>> {
        Ok(Planned::of(&self.device(device)?.blocks, walk, (node, order), kernel))
    }
}

/// The form of a piece: all but the last are maps.
fn form_of(piece: &Piece, run: &Run<'_>) -> Form {
    if piece.node.is_some() { Form::Map } else { run.form }
}

/// Whether smaller pieces may be the remedy of an error: the device refused one, or had no room for its operands when
/// tiles are as small as they get.
fn may_be_split(error: &Error, walk: &Walk, form: Form) -> bool {
    let small = size_of(&walk.space) <= REDUCE_CHUNK;
    let is_cramped = error.kind() == ErrorKind::OutOfMemory && !memory::is_refusal(error);
    error.kind() == ErrorKind::Refused || is_cramped && form == Form::Map && small
}

/// The kernel of a piece for these destinations.
fn kernel_of(
    device: &Device,
    walk: &Walk,
    piece: &Piece,
    (form, further): (Form, &[Op]),
    dests: &[Destination],
) -> Kernel {
    let out = form.out_shape(&walk.space);
    let walked = dests.iter().map(|dest| match dest {
        Destination::Block { access, .. } => access.clone(),
        Destination::Tile { .. } => access::access(0, &contiguous_strides(&out)),
    });
    let walked: SmallVec<[Access; 1]> = walked.collect();
    let own = piece.node.map(Child::Node);
    let roots = own.as_ref().map_or(&walk.roots[..], std::slice::from_ref);
    emit::build(device, walk, roots, &piece.order, &Target { form, further, dests: &walked })
}
