//! Sequences of launches: a command buffer that is recorded once, and submitted again.
//!
//! Owns the evaluation of sequences. A sequence is recorded among other commands when it comes for the first time, and
//! by itself from the second time on. Where its blocks and scalars are those of a recording, that is submitted as it
//! is: nothing is planned, and no launch is looked at.
//!
//! Not here: the recordings (`commands/recordings.rs`), one launch (`eval.rs`), submission (`commands/queue.rs`).

use super::commands::launch_arguments::ArgumentBuffer;
use super::commands::recordings::{KEPT_RECORDINGS, KnownSequence, Recording};
use super::open::OpenDriver;
use gpupy_core::Result;
use gpupy_core::driver::{Evaluated, Launch, Sequence};

impl OpenDriver {
    /// Evaluates a launch and those behind it.
    ///
    /// # Errors
    /// As of each; all but the loss of the device come before anything is done, or say how much is.
    pub fn eval_all(&mut self, launch: &Launch<'_>, rest: Sequence<'_>) -> Result<Evaluated> {
        let launches: Vec<&Launch<'_>> = launch.all().collect();
        let mut known = self.recordings.0.pop(&rest.fingerprint);
        let is_new = known.is_none();
        let mut sequence = known.take().unwrap_or_else(|| KnownSequence::of(launch));
        let done = self.eval_known(&launches, &mut sequence, is_new);
        if let Some((_, old)) = self.recordings.0.push(rest.fingerprint, sequence) {
            old.recordings.into_iter().for_each(|old| old.retire(&mut self.queue));
        }
        done
    }

    fn eval_known(
        &mut self,
        launches: &[&Launch<'_>],
        sequence: &mut KnownSequence,
        is_new: bool,
    ) -> Result<Evaluated> {
        let mut buffers = Vec::with_capacity(sequence.blocks.len());
        for (block, _) in sequence.blocks(launches) {
            buffers.push(self.blocks.get(block)?.buffer.handle);
        }
        let params: Vec<u64> = launches.iter().flat_map(|launch| launch.params).copied().collect();
        let retired = self.queue.pipelines_retired;
        let is_same = |kept: &Recording| {
            kept.buffers == buffers && kept.params == params && kept.pipelines == retired
        };
        if let Some(at) = sequence.recordings.iter().position(is_same) {
            let kept = &sequence.recordings[at];
            self.queue.again(kept.commands, kept.launches, kept.work)?;
            for (block, touch) in sequence.blocks(launches) {
                self.queue.note(&mut self.blocks.get_mut(block)?.touched, touch);
            }
            self.queue.submit_if_worth_it()?;
            self.queue.collect(&mut self.memory)?;
            let (launches, code) = (kept.launches, kept.code.clone());
            sequence.in_vain = 0;
            return Ok(Evaluated { launches, code, ..Evaluated::default() });
        }
        let (prepared, mut evaluated) = self.prepare_all(launches, is_new)?;
        evaluated.launches = prepared.iter().map(|of| of.dispatches.len() as u32).sum();
        let is_kept = !is_new && sequence.is_worth_it();
        sequence.in_vain += 1;
        let mut arguments = ArgumentBuffer::kept();
        if is_kept {
            self.queue.begin_kept()?;
            std::mem::swap(&mut self.arguments, &mut arguments);
        }
        let work = self.queue.work();
        let mut done = Ok(());
        for (number, (launch, prepared)) in launches.iter().zip(&prepared).enumerate() {
            done = self.dispatch_all(launch, prepared).map_err(|error| error.after(number));
            if done.is_err() {
                break;
            }
        }
        let work = self.queue.work() - work;
        evaluated.code = prepared.last().and_then(|of| of.code());
        if is_kept {
            std::mem::swap(&mut self.arguments, &mut arguments);
            let kept = self.queue.kept()?;
            if let Some(commands) = kept {
                let (launches, code) = (evaluated.launches, evaluated.code.clone());
                let pipelines = retired;
                sequence.recordings.push(Recording {
                    commands,
                    buffers,
                    params,
                    arguments,
                    pipelines,
                    launches,
                    work,
                    code,
                });
            }
            let most = if done.is_ok() { KEPT_RECORDINGS } else { 0 };
            while sequence.recordings.len() > most {
                let old = sequence.recordings.remove(0);
                old.retire(&mut self.queue);
            }
        }
        done?;
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)?;
        Ok(evaluated)
    }
}
