//! Turns a launch into draws, and the programs of draws into kernels.
//!
//! Owns [`Evaluator`]. Invariants: destinations that are written whole and with equal accesses go in one draw,
//! all others in one each; all kernels of a launch are compiled before its first draw, so that a refusal leaves
//! all blocks unchanged.
//!
//! Not here: addressing (`gpupy_codegen::fragment`), the draw itself (`gpu.rs`).

use crate::blocks::Blocks;
use crate::column_reduce;
use crate::context::gpu::{Draw, KernelId, TextureId};
use crate::context::thread::GlThread;
use crate::errors::NAME;
use crate::interleaved::{Component, InterleavedDests};
use gpupy_codegen::fragment::{
    self, DrawDeclined, DrawPlan, DrawRequest, DrawTarget, PlannedDraw, TextureLayout,
};
use gpupy_codegen::kernel_cache::{KernelCache, KernelMaker};
use gpupy_core::driver::{Access, BlockId, BlockSpec, Dest, Evaluated, Launch};
use gpupy_core::ir::{AccessKind, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::sync::Arc;

/// The parts of an open driver that an evaluation uses.
pub struct Evaluator<'a> {
    /// The context's thread.
    pub thread: &'a GlThread,
    /// The blocks.
    pub blocks: &'a mut Blocks,
    /// The compiled kernels.
    pub kernels: &'a mut KernelCache<DrawPlan, Compiled>,
    /// The name of the newest kernel.
    pub newest: &'a mut KernelId,
    /// The dialect of shaders.
    pub glsl: fragment::Version,
    /// The most destinations of one draw.
    pub draw_buffers: usize,
}

impl Evaluator<'_> {
    /// Evaluates a launch; may return before the device is done.
    ///
    /// # Errors
    /// - `Refused`: the compiler does not take a shader. Nothing has been drawn.
    /// - `Invalid`: a dead handle.
    /// - `DeviceLost`: the context is gone.
    pub fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        // Dead handles are reported before any block changes its layout.
        for block in launch.operands.iter().chain(launch.dests.iter().map(|dest| &dest.block)) {
            self.blocks.get(*block)?;
        }
        if let Some(detour) = column_reduce::ColumnDetour::of(launch) {
            return self.eval_across(launch, &detour);
        }
        let len = match launch.dests {
            [dest, ..] => self.blocks.get(dest.block)?.spec.len,
            [] => 0,
        };
        match InterleavedDests::of(launch, len) {
            Some(dests) => self.eval_interleaved(launch, &dests),
            None => self.eval_as_it_is(launch),
        }
    }

    fn eval_as_it_is(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        self.suit(launch)?;
        let mut textures = Vec::with_capacity(launch.operands.len());
        let mut layouts = Vec::with_capacity(launch.operands.len());
        for block in launch.operands {
            let (texture, layout) = self.blocks.texture(self.thread, *block, None)?;
            textures.push(texture);
            layouts.push(layout);
        }
        let groups = self.groups(launch);
        // Blocks move before the first draw, because two destinations may be one block.
        for stores in &groups {
            let targets = self.targets(launch, &layouts, stores)?;
            if !targets[0].1.is_padded() {
                continue;
            }
            let part =
                DrawGroup { launch, textures: &textures, layouts: &layouts, stores, targets };
            if matches!(fragment::plan(&part.request(&part.all())), Err(DrawDeclined::Padded)) {
                for store in stores {
                    self.blocks.unpad(self.thread, launch.dests[*store as usize].block)?;
                }
            }
        }
        let mut evaluated = Evaluated::default();
        let mut draws = Vec::new();
        for stores in &groups {
            let targets = self.targets(launch, &layouts, stores)?;
            let part =
                DrawGroup { launch, textures: &textures, layouts: &layouts, stores, targets };
            self.prepare(&part, &mut draws, &mut evaluated)?;
        }
        evaluated.launches = draws.len() as u32;
        self.thread.post(move |gpu| draws.iter().for_each(|draw| gpu.draw(draw)))?;
        Ok(evaluated)
    }

    /// Reduces the columns of an array next to each other, into temporary blocks whose rows are chunks of all
    /// columns, and copies these to the destinations, where chunks of a column are neighbours.
    fn eval_across(
        &mut self,
        launch: &Launch<'_>,
        detour: &column_reduce::ColumnDetour,
    ) -> Result<Evaluated> {
        let specs: Vec<BlockSpec> = launch
            .dests
            .iter()
            .map(|dest| self.blocks.get(dest.block).map(|block| block.spec))
            .collect::<Result<_>>()?;
        let mut blocks = Vec::with_capacity(specs.len());
        for spec in &specs {
            let layout = self.blocks.any_rows(spec.len, detour.columns);
            let room = layout.and_then(|_| self.blocks.alloc(self.thread, *spec).ok());
            blocks.extend(room.map(|block| (block, layout)));
        }
        let outcome = match blocks.len() == specs.len() {
            true => self.eval_over(launch, detour, &specs, &blocks),
            false => self.eval_as_it_is(launch),
        };
        blocks.into_iter().for_each(|(block, _)| self.blocks.free(self.thread, block));
        outcome
    }

    /// Reduces into temporary blocks, and copies them to the destinations.
    fn eval_over(
        &mut self,
        launch: &Launch<'_>,
        detour: &column_reduce::ColumnDetour,
        specs: &[BlockSpec],
        blocks: &[(BlockId, Option<TextureLayout>)],
    ) -> Result<Evaluated> {
        let mut dests = Vec::with_capacity(blocks.len());
        for (block, layout) in blocks {
            self.blocks.texture(self.thread, *block, *layout)?;
            dests.push(Dest { block: *block, access: detour.across.clone(), whole: true });
        }
        let mut evaluated = self.eval_as_it_is(&Launch { dests: &dests, ..launch.clone() })?;
        let dtypes: Vec<DType> = specs.iter().map(|spec| spec.dtype).collect();
        let program = column_reduce::copy(&dtypes);
        let copied = self.eval_as_it_is(&Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &[detour.columns, detour.chunks],
            operands: &blocks.iter().map(|(block, _)| *block).collect::<Vec<_>>(),
            params: &[],
            accesses: std::slice::from_ref(&detour.across),
            dests: launch.dests,
            memory: &[],
            lend: None,
            rest: None,
        })?;
        evaluated.compiled += copied.compiled;
        evaluated.launches += copied.launches;
        Ok(evaluated)
    }

    /// Draws components into temporary blocks, and puts them together; only the latter if they are in blocks already.
    fn eval_interleaved(
        &mut self,
        launch: &Launch<'_>,
        dests: &InterleavedDests,
    ) -> Result<Evaluated> {
        if let Some(components) = InterleavedDests::copied(launch) {
            let dtypes = &launch.program.operands;
            return self.put_together(dests, dtypes, launch.operands, &components);
        }
        let components = dests.apart();
        let spec = BlockSpec::new(dests.dtype, launch.shape.iter().product());
        let mut blocks = Vec::with_capacity(components.len());
        for _ in &components {
            blocks.extend(self.blocks.alloc(self.thread, spec));
        }
        let outcome = match blocks.len() == components.len() {
            true => self.eval_apart(launch, dests, &blocks, &components),
            false => self.eval_as_it_is(launch),
        };
        blocks.into_iter().for_each(|block| self.blocks.free(self.thread, block));
        outcome
    }

    /// Draws components into blocks of their own, and puts them together.
    fn eval_apart(
        &mut self,
        launch: &Launch<'_>,
        dests: &InterleavedDests,
        blocks: &[BlockId],
        components: &[Component],
    ) -> Result<Evaluated> {
        let own = blocks.iter().zip(components);
        let own = own.map(|(block, (_, access))| Dest {
            block: *block,
            access: access.clone(),
            whole: true,
        });
        let own: Vec<Dest> = own.collect();
        let mut evaluated = self.eval_as_it_is(&Launch { dests: &own, ..launch.clone() })?;
        let dtypes = vec![dests.dtype; blocks.len()];
        let together = self.put_together(dests, &dtypes, blocks, components)?;
        evaluated.compiled += together.compiled;
        evaluated.launches += together.launches;
        Ok(evaluated)
    }

    /// Puts components of some blocks together.
    fn put_together(
        &mut self,
        dests: &InterleavedDests,
        dtypes: &[DType],
        operands: &[BlockId],
        components: &[Component],
    ) -> Result<Evaluated> {
        let (program, accesses) = dests.program(dtypes, components);
        self.eval_as_it_is(&Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &dests.shape,
            operands,
            params: &[],
            accesses: &accesses,
            dests: std::slice::from_ref(&dests.dest),
            memory: &[],
            lend: None,
            rest: None,
        })
    }

    /// Changes the layout of blocks whose rows do not suit the launch's accesses.
    fn suit(&mut self, launch: &Launch<'_>) -> Result<()> {
        if launch.shape.len() < 2 || launch.program.form != Form::Map {
            return Ok(());
        }
        for inst in launch.program.insts.iter().filter(|inst| inst.op == Op::Load) {
            let (operand, access) = (inst.args[0] as usize, inst.args[1] as usize);
            if launch.program.accesses[access] == AccessKind::Affine {
                let (block, walk) = (launch.operands[operand], &launch.accesses[access]);
                self.blocks.suit(self.thread, block, walk, launch.shape)?;
            }
        }
        for dest in launch.dests.iter().filter(|dest| !dest.whole) {
            self.blocks.suit(self.thread, dest.block, &dest.access, launch.shape)?;
        }
        Ok(())
    }

    /// The destinations of each draw.
    fn groups(&self, launch: &Launch<'_>) -> Vec<Vec<u32>> {
        let all: Vec<u32> = (0..launch.dests.len() as u32).collect();
        if launch.dests.iter().all(|dest| dest.whole) {
            all.chunks(self.draw_buffers).map(<[u32]>::to_vec).collect()
        } else {
            all.into_iter().map(|dest| vec![dest]).collect()
        }
    }

    /// The textures that a draw writes, all with one layout.
    fn targets(
        &mut self,
        launch: &Launch<'_>,
        operands: &[TextureLayout],
        stores: &[u32],
    ) -> Result<Vec<(TextureId, TextureLayout)>> {
        let mut targets: Vec<(TextureId, TextureLayout)> = Vec::with_capacity(stores.len());
        for store in stores {
            let dest = &launch.dests[*store as usize];
            let block = self.blocks.get(dest.block)?;
            let target = match (block.texture, targets.first()) {
                (Some(texture), None) => texture,
                (_, Some((_, layout))) => self.blocks.relay(self.thread, dest.block, *layout)?,
                (None, None) => {
                    let layout = self.choose_layout(launch, operands, *store, block.spec.len);
                    self.blocks.texture(self.thread, dest.block, layout)?
                }
            };
            targets.push(target);
        }
        Ok(targets)
    }

    /// A layout for a block that has no texture yet, or `None` for the usual one.
    fn choose_layout(
        &self,
        launch: &Launch<'_>,
        operands: &[TextureLayout],
        store: u32,
        len: usize,
    ) -> Option<TextureLayout> {
        let dest = &launch.dests[store as usize];
        let axes = launch.shape.len();
        if !dest.whole {
            let row = (axes >= 2).then(|| dest.access.strides.get(axes - 2)).flatten()?;
            return self.blocks.rows(len, usize::try_from(*row).ok()?);
        }
        if launch.program.form != Form::Map {
            return None;
        }
        if axes >= 2 && uses_coordinates(launch.program) {
            // If rows of texels are rows of the array, no division is needed, even if they are padded.
            let rows = self.blocks.rows(len, launch.shape[axes - 1]);
            if rows.is_some() {
                return rows;
            }
        }
        // With the layout of an operand of equal length, each fragment reads at its own position.
        operands.iter().copied().find(|layout| layout.len == len)
    }

    /// Plans and compiles one draw, or several where one cannot be planned.
    fn prepare(
        &mut self,
        part: &DrawGroup<'_>,
        draws: &mut Vec<Draw>,
        evaluated: &mut Evaluated,
    ) -> Result<()> {
        let mut todo = vec![part.all()];
        while let Some(points) = todo.pop() {
            let request = part.request(&points);
            match fragment::plan(&request) {
                Ok(planned) => {
                    let mut maker = KernelBuilder {
                        request: &request,
                        thread: self.thread,
                        newest: self.newest,
                        glsl: self.glsl,
                    };
                    let (kernel, planned) =
                        self.kernels.provide(&mut maker, part.launch, planned, evaluated)?;
                    evaluated.code = Some(kernel.code);
                    draws.push(Draw {
                        kernel: kernel.id,
                        operands: part.textures.to_vec(),
                        targets: part.targets.iter().map(|(texture, _)| *texture).collect(),
                        reads_old: planned.plan.reads_old(),
                        whole: part.whole(),
                        words: planned.words,
                        area: planned.area,
                    });
                }
                Err(reason) => todo.extend(part.slices(&points).ok_or_else(|| {
                    Error::new(ErrorKind::Unsupported, "eval_ir")
                        .says("the strides of a destination cannot be taken apart")
                        .with("driver", NAME)
                        .with("reason", format!("{reason:?}"))
                })?),
            }
        }
        Ok(())
    }
}

/// The bytes of a kernel, and more for each byte of its text: what the process grew by with Mesa's llvmpipe, for 120
/// kernels of 4 operations and 120 of 16.
const KERNEL_BYTES: usize = 1 << 20;
const TEXT_BYTES: usize = 200;

/// Makes the kernels of a launch.
struct KernelBuilder<'a> {
    request: &'a DrawRequest<'a>,
    thread: &'a GlThread,
    newest: &'a mut KernelId,
    glsl: fragment::Version,
}

impl KernelMaker for KernelBuilder<'_> {
    type Planned = PlannedDraw;
    type Plan = DrawPlan;
    type Kernel = Compiled;

    fn plan(planned: &PlannedDraw) -> &DrawPlan {
        &planned.plan
    }

    fn literals(&self, _: &PlannedDraw) -> Option<PlannedDraw> {
        fragment::plan(&DrawRequest { specialise: true, ..self.request.clone() }).ok()
    }

    fn compile(&mut self, planned: &PlannedDraw) -> Result<Compiled> {
        *self.newest += 1;
        let id = *self.newest;
        let source = fragment::source(self.request.program, &planned.plan, self.glsl);
        let operands = self.request.program.operands.len();
        let mut samplers: Vec<String> = (0..operands).map(|slot| format!("t{slot}")).collect();
        samplers.push("old".to_owned());
        self.thread
            .ask(|gpu| gpu.compile(id, &source, &samplers).map(|()| source))?
            .map(|source| Compiled { id, code: source.into() })
    }

    fn bytes(kernel: &Compiled) -> usize {
        KERNEL_BYTES + kernel.code.len() * TEXT_BYTES
    }

    fn retire(&mut self, kernel: Compiled) {
        // A thread that has ended has no kernels.
        let _ = self.thread.post(move |gpu| gpu.forget_kernel(kernel.id));
    }
}

/// A compiled kernel, as the caller's side knows it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its name.
    pub id: KernelId,
    /// The text of its fragment shader.
    pub code: Arc<str>,
}

/// The state that the draws of one group of destinations share.
struct DrawGroup<'a> {
    launch: &'a Launch<'a>,
    textures: &'a [TextureId],
    layouts: &'a [TextureLayout],
    stores: &'a [u32],
    targets: Vec<(TextureId, TextureLayout)>,
}

/// A part of a launch's points.
#[derive(Clone)]
struct DrawPoints {
    shape: Vec<usize>,
    accesses: Vec<Access>,
    place: Access,
}

impl DrawGroup<'_> {
    fn all(&self) -> DrawPoints {
        DrawPoints {
            shape: self.launch.shape.to_vec(),
            accesses: self.launch.accesses.to_vec(),
            place: self.launch.dests[self.stores[0] as usize].access.clone(),
        }
    }

    fn whole(&self) -> bool {
        self.stores.iter().all(|store| self.launch.dests[*store as usize].whole)
    }

    fn request<'r>(&'r self, points: &'r DrawPoints) -> DrawRequest<'r> {
        DrawRequest {
            program: self.launch.program,
            shape: &points.shape,
            accesses: &points.accesses,
            operands: self.layouts,
            params: self.launch.params,
            stores: self.stores,
            target: DrawTarget {
                layout: self.targets[0].1,
                access: &points.place,
                whole: self.whole(),
            },
            specialise: false,
        }
    }

    /// One slice of the points for each coordinate of the first axis that has several, or `None` when no such
    /// axis is left. A reduction keeps its last axis.
    fn slices(&self, points: &DrawPoints) -> Option<Vec<DrawPoints>> {
        let keep = usize::from(self.launch.program.form != Form::Map);
        let axis = points.shape[..points.shape.len() - keep].iter().position(|n| *n > 1)?;
        let slice = |i: usize| {
            let at = |access: &Access| {
                let mut access = access.clone();
                access.offset += access.strides.get(axis).copied().unwrap_or(0) * i as i64;
                access
            };
            let mut shape = points.shape.clone();
            shape[axis] = 1;
            let accesses = points.accesses.iter().map(at).collect();
            DrawPoints { shape, accesses, place: at(&points.place) }
        };
        Some((0..points.shape[axis]).map(slice).collect())
    }
}

/// Whether a program depends on the coordinates of its points.
fn uses_coordinates(program: &Program) -> bool {
    program.accesses.contains(&AccessKind::Affine)
        || program.insts.iter().any(|i| i.op == Op::Index)
}
