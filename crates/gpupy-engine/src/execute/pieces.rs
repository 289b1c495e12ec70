//! Pieces: the kernels of a walk go through a device, launch by launch.
//!
//! Owns how they get to their destinations. A piece that the device refuses is cut again, until it is accepted or a
//! single operation is refused; so is one whose operands find no room together, when tiles are as small as they get.
//! Invariant: what a failed piece was for is as it was; what was launched before it is kept.
//!
//! Not here: which kernels there are (`schedule/kernels.rs`), one launch (`launch.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::trace::{Event, subject};
use crate::schedule::again::Passes;
use crate::schedule::destination::{Destination, Ends};
use crate::schedule::kernels::Kernels;
use crate::schedule::partition::Piece;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::walk::{Flow, Start, Walk};
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::shape::Shape;
use gpupy_core::{ErrorKind, Result};

impl Engine {
    /// Takes the kernels of a walk through a device into their destinations, one for each root.
    ///
    /// # Errors
    /// Any error of the driver; what it did not take was cut as small as it gets.
    pub fn run(
        &mut self,
        mut kernels: Kernels,
        dests: &[Destination],
        device: usize,
    ) -> Result<Flow> {
        let open = self.device(device)?;
        let passes = Passes::of(&kernels.partition.walk, open);
        open.steps.leave_to(&kernels.partition.walk);
        let flow = self.run_pieces(&mut kernels, dests, device);
        match flow {
            Ok(Flow::Done) => {
                self.counts[device].plans_replayed += u64::from(kernels.is_replay);
                self.capture(|capture| capture.walked(passes.names()));
                passes.note();
            }
            _ => {
                if let Ok(open) = self.device(device) {
                    open.steps.keep(&kernels.partition.walk);
                }
            }
        }
        flow
    }

    /// Takes a walk through a device into its destination.
    ///
    /// # Errors
    /// As of kernels, and as `run`.
    pub fn run_walk(
        &mut self,
        walk: Walk,
        ends: Ends,
        dest: Destination,
        device: usize,
    ) -> Result<Flow> {
        match Kernels::of(self.device(device)?, walk, ends)? {
            Ok(kernels) => self.run(kernels, &[dest], device),
            Err(needs) => Ok(Flow::Needs(needs)),
        }
    }

    /// Walks from a start over a space and takes that to its destination, unless something has to be computed first.
    ///
    /// # Errors
    /// As of a walk, and as `run_walk`.
    pub fn run_from(
        &mut self,
        start: Start<'_>,
        (at, space): (Access, Shape),
        form: Form,
        dest: Destination,
        device: usize,
    ) -> Result<Flow> {
        match Walk::new(self.device(device)?, &[start], at, space)?.complete() {
            Ok(walk) => self.run_walk(walk, dest.ends(form), dest, device),
            Err(needs) => Ok(Flow::Needs(needs)),
        }
    }

    /// Launches a walk with several roots as one kernel; gives it back when it does not fit in one, or one of the roots
    /// cannot be computed so.
    pub fn run_together(
        &mut self,
        walk: Walk,
        ends: Ends,
        dests: &[Destination],
        device: usize,
    ) -> Result<Option<Walk>> {
        let open = self.device(device)?;
        let passes = Passes::of(&walk, open);
        let mut kernels = match Kernels::as_one(open, walk, ends) {
            Ok(kernels) => kernels,
            Err(walk) => return Ok(Some(*walk)),
        };
        let Some((piece, kernel)) = kernels.next() else { return Ok(Some(kernels.partition.walk)) };
        match self.launch_piece(&mut kernels, &piece, &kernel, (device, dests)) {
            Ok(()) => {
                self.counts[device].plans_replayed += u64::from(kernels.is_replay);
                self.capture(|capture| capture.walked(passes.names()));
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
            Err(_) => {
                kernels.forget(self.device(device)?);
                Ok(Some(kernels.partition.walk))
            }
        }
    }

    /// Launches kernels one after another.
    fn run_pieces(
        &mut self,
        kernels: &mut Kernels,
        dests: &[Destination],
        device: usize,
    ) -> Result<Flow> {
        while let Some((piece, kernel)) = kernels.next() {
            let done = self.run_piece(kernels, &piece, &kernel, (device, dests));
            drop(kernel);
            match done {
                Ok(()) => {
                    let gone = kernels.launched(self.device(device)?, &piece);
                    self.capture(|capture| capture.lost(&gone));
                }
                Err(error) if kernels.may_be_split(&piece, &error) => {
                    if let Err(needs) = kernels.split(self.device(device)?, piece, error)? {
                        return Ok(Flow::Needs(needs));
                    }
                }
                Err(error) => {
                    if error.kind() == ErrorKind::Interrupted && piece.node.is_some() {
                        self.device(device)?.last_cut = kernels.last_cut;
                    }
                    return Err(error);
                }
            }
        }
        Ok(Flow::Done)
    }

    /// Launches one of several pieces, into a tile of its own where it is not the last.
    fn run_piece(
        &mut self,
        kernels: &mut Kernels,
        piece: &Piece,
        kernel: &Kernel,
        (device, dests): (usize, &[Destination]),
    ) -> Result<()> {
        let open = self.device(device)?;
        let partition = &kernels.partition;
        let own = piece.node.map(|node| &partition.walk.nodes[node as usize]).and_then(|node| {
            let tile = open.own_tile(&node.value, &node.access, &partition.walk.space)?;
            open.tracer.event(|| Event::Cut(subject(&node.value)));
            Some([Destination::Tile { value: node.value.clone(), tile }])
        });
        let dests = own.as_ref().map_or(dests, |own| &own[..]);
        self.launch_piece(kernels, piece, kernel, (device, dests))
    }

    /// Launches the kernel of a piece, into the block of an operand where one may be taken.
    fn launch_piece(
        &mut self,
        kernels: &mut Kernels,
        piece: &Piece,
        kernel: &Kernel,
        (device, dests): (usize, &[Destination]),
    ) -> Result<()> {
        let open = self.device(device)?;
        let partition = &mut kernels.partition;
        let computes = match open.tracer.listens() {
            true => partition.values_of(piece),
            false => Vec::new(),
        };
        let taken = partition.operand_to_take(open, piece, kernel, dests);
        let place = taken.as_ref().map(|taken| taken.operand);
        self.launch(device, kernel, dests, taken, computes)?;
        self.capture(|capture| {
            capture.launch(
                Some((&kernels.partition.walk, kernels.planned()?)),
                kernel,
                dests,
                place,
            )
        });
        Ok(())
    }
}
