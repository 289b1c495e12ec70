//! Turns a launch into dispatches, and the programs of dispatches into kernels.
//!
//! Owns [`Evaluator`]. Invariants: destinations in different blocks go in one dispatch; all kernels of a launch
//! are compiled before its first command is recorded, so that a refusal leaves all blocks unchanged.
//!
//! Not here: addressing (`gpupy_codegen::compute`), recording (`queue.rs`).

use crate::blocks::Blocks;
use crate::gpu_device::Gpu;
use crate::kernel_compiler::{Compiler, Kernel};
use crate::queue::{Dispatch, Queue};
use gpupy_codegen::compute::{
    self, DispatchDeclined, DispatchPlan, DispatchRequest, PlannedDispatch,
};
use gpupy_codegen::kernel_cache::{KernelCache, KernelMaker};
use gpupy_core::driver::{Access, Evaluated, Launch};
use gpupy_core::{Error, ErrorKind, Result};

/// The parts of an open driver that an evaluation uses.
pub struct Evaluator<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// Its queue.
    pub queue: &'a mut Queue,
    /// The blocks.
    pub blocks: &'a mut Blocks,
    /// The compiled kernels.
    pub kernels: &'a mut KernelCache<DispatchPlan, Kernel>,
    /// The compiler of kernels.
    pub compiler: &'a mut Compiler,
    /// The target of kernels.
    pub shaping: &'a compute::KernelFeatures,
}

impl Evaluator<'_> {
    /// Evaluates a launch; may return before the device has finished.
    ///
    /// # Errors
    /// - `Refused`: the compiler rejects a kernel. Nothing was recorded.
    /// - `OutOfMemory`: no memory for the objects of a dispatch.
    /// - `Invalid`: a dead handle.
    /// - `DeviceLost`: the device is gone.
    pub fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let length = |block| self.blocks.get(block).map(|block| block.spec.len);
        for dest in launch.dests {
            length(dest.block)?;
        }
        let lengths: Vec<usize> =
            launch.operands.iter().map(|block| length(*block)).collect::<Result<_>>()?;
        let mut evaluated = Evaluated::default();
        let mut prepared = Vec::new();
        for stores in groups(launch) {
            let targets: Vec<(&Access, bool)> = stores
                .iter()
                .map(|store| &launch.dests[*store as usize])
                .map(|dest| (&dest.access, dest.whole))
                .collect();
            let mut request = DispatchRequest::of(launch, &lengths, &stores, &targets);
            let slices = compute::slices(self.shaping, launch);
            for (shape, accesses) in slices.as_deref().unwrap_or_default() {
                (request.shape, request.accesses) = (shape, accesses);
                let (kernel, planned) = self.prepare(launch, &request, &mut evaluated)?;
                prepared.push((kernel, planned, stores.clone()));
                request.adds = true;
            }
            if slices.is_none() {
                let (kernel, planned) = self.prepare(launch, &request, &mut evaluated)?;
                prepared.push((kernel, planned, stores));
            }
        }
        evaluated.launches = prepared.len() as u32;
        for (kernel, planned, stores) in prepared {
            self.dispatch(launch, &kernel, &planned, &stores)?;
        }
        Ok(evaluated)
    }

    /// Plans a dispatch, and finds or compiles its kernel.
    fn prepare(
        &mut self,
        launch: &Launch<'_>,
        request: &DispatchRequest<'_>,
        evaluated: &mut Evaluated,
    ) -> Result<(Kernel, PlannedDispatch)> {
        let planned = compute::plan(self.shaping, request).map_err(declined)?;
        let (gpu, shaping) = (self.gpu, self.shaping);
        let mut maker = KernelBuilder { request, gpu, shaping, compiler: self.compiler };
        let (kernel, planned) = self.kernels.provide(&mut maker, launch, planned, evaluated)?;
        evaluated.code = Some(kernel.code.clone());
        Ok((kernel, planned))
    }

    fn dispatch(
        &mut self,
        launch: &Launch<'_>,
        kernel: &Kernel,
        planned: &PlannedDispatch,
        stores: &[u32],
    ) -> Result<()> {
        let dests = stores.iter().map(|store| launch.dests[*store as usize].block);
        let ids: Vec<_> = launch.operands.iter().copied().chain(dests).collect();
        // Room is made first, so that all blocks of the dispatch are used in one batch.
        self.queue.make_room(self.gpu, planned.words.len())?;
        let batch = self.queue.batch();
        for id in &ids {
            self.blocks.get_mut(*id)?.batch = batch;
        }
        let buffers: Vec<&wgpu::Buffer> = ids
            .iter()
            .map(|id| self.blocks.get(*id).map(|block| &block.buffer))
            .collect::<Result<_>>()?;
        self.queue.dispatch(
            self.gpu,
            &Dispatch {
                kernel,
                buffers: &buffers,
                words: &planned.words,
                groups: planned.groups,
                elements: launch.shape.iter().product(),
            },
        )
    }
}

/// The bytes of a kernel, and more for each byte of its text: what the process grew by with Mesa's lavapipe, for 120
/// kernels of 4 operations and 120 of 16.
const KERNEL_BYTES: usize = 256 << 10;
const TEXT_BYTES: usize = 150;

/// Makes the kernels of a launch.
struct KernelBuilder<'a> {
    request: &'a DispatchRequest<'a>,
    gpu: &'a Gpu,
    shaping: &'a compute::KernelFeatures,
    compiler: &'a mut Compiler,
}

impl KernelMaker for KernelBuilder<'_> {
    type Planned = PlannedDispatch;
    type Plan = DispatchPlan;
    type Kernel = Kernel;

    fn plan(planned: &PlannedDispatch) -> &DispatchPlan {
        &planned.plan
    }

    fn literals(&self, _: &PlannedDispatch) -> Option<PlannedDispatch> {
        let request = DispatchRequest { specialise: true, ..self.request.clone() };
        compute::plan(self.shaping, &request).ok()
    }

    fn compile(&mut self, planned: &PlannedDispatch) -> Result<Kernel> {
        let program = self.request.program;
        let source = compute::source(program, &planned.plan, self.shaping);
        let blocks = (program.operands.len(), planned.plan.stores.len());
        self.compiler.compile(self.gpu, &source, blocks)
    }

    fn bytes(kernel: &Kernel) -> usize {
        KERNEL_BYTES + kernel.code.len() * TEXT_BYTES
    }

    /// wgpu keeps the kernel until the device has finished with it.
    fn retire(&mut self, _: Kernel) {}
}

/// The destinations of each dispatch: no two in one block, because a buffer may be bound for writing only once.
fn groups(launch: &Launch<'_>) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (store, dest) in launch.dests.iter().enumerate() {
        let is_free = |group: &&mut Vec<u32>| {
            group.iter().all(|other| launch.dests[*other as usize].block != dest.block)
        };
        match groups.iter_mut().find(is_free) {
            Some(group) => group.push(store as u32),
            None => groups.push(vec![store as u32]),
        }
    }
    groups
}

fn declined(reason: DispatchDeclined) -> Error {
    Error::new(ErrorKind::Refused, "eval_ir")
        .says("there is no kernel for this launch")
        .with("driver", crate::NAME)
        .with("reason", format!("{reason:?}"))
}
