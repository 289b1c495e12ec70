//! A driver table of a plug-in, as a driver of this process.
//!
//! Owns [`Imported`]. Invariants: a function of the table is called only between `init` and `cleanup`; an answer is
//! checked before it is used; `cleanup` is called once for each successful `init`, at the latest when the driver is
//! dropped.
//!
//! Not here: where tables come from (`load.rs`).

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Costs, Driver, Evaluated, HostMemory, Launch,
    Lent, Method, Part, Resources,
};
use gpupy_core::ir::{Form, FormKind, Program, REDUCE_CHUNK};
use gpupy_core::op::{Op, Rule};
use gpupy_core::plugin::Growing;
use gpupy_core::plugin::driver_table::{
    GPUPY_LOWERED, GPUPY_NAME, GPUPY_NATIVE, GPUPY_PART_DEST, GPUPY_PART_INDEX, GPUPY_PART_OP,
    GPUPY_PART_OPERAND, GPUPY_PART_PARAM, GPUPY_ROUTINE, RawBlockSpec, RawCapabilities, RawCheck,
    RawConfig, RawError, RawEvaluated, RawPart, RawProgram, Table,
};
use gpupy_core::plugin::fixed_strings::{get, heard, put, text};
use gpupy_core::plugin::program::{self, read_program, with_numbered_launch, with_program};
use gpupy_core::routines::Routine;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::ffi::c_void;
use std::ptr;

/// The source of the table when the driver is opened.
type TableSource = Box<dyn Fn() -> Result<Table> + Send>;

/// A driver behind a table.
pub struct Imported {
    source: TableSource,
    /// The functions; none before `init` and after `cleanup`.
    table: Table,
    state: *mut c_void,
    /// The driver's numbers for the routines that it offers.
    numbers: Vec<(Routine, u32)>,
    /// Room for the fixed_strings of an error.
    error: Box<RawError>,
}

// SAFETY: the contract lets the functions be called from any thread, one at a time; `state` is only
// given to them.
unsafe impl Send for Imported {}

impl Imported {
    /// A driver, closed. Its `init` asks for the table first.
    ///
    /// # Safety
    /// The functions of the tables keep the contract in `rewrite_rules.rs`, for as long as the process
    /// lives.
    pub unsafe fn new(source: impl Fn() -> Result<Table> + Send + 'static) -> Imported {
        Imported {
            source: Box::new(source),
            table: Table::cleared(),
            state: ptr::null_mut(),
            numbers: Vec::new(),
            error: Box::new(RawError::cleared()),
        }
    }

    /// The fixed_strings of the error that a function returned.
    fn heard(&mut self, code: i32, function: &'static str) -> Result<()> {
        let result = heard(code, function, &self.error);
        if result.is_err() {
            *self.error = RawError::cleared();
        }
        result
    }
}

/// The number of a form's operation in a program of a driver with these numbers.
fn number(numbers: &[(Routine, u32)], form: Form) -> u32 {
    let own = |routine| numbers.iter().find(|(known, _)| *known == routine);
    match form {
        Form::Routine { routine } => own(routine).map_or(u32::MAX, |(_, number)| *number),
        form => form.number(),
    }
}

impl Imported {
    /// The routines that the driver has for operands of these dtypes.
    fn routines(&self, dtypes: &[DType]) -> Vec<(Routine, DType)> {
        let Some(get_method) = self.table.get_method else { return Vec::new() };
        let has = |number: u32, dtype: DType| {
            let mut raw = ptr::null();
            let op = GPUPY_ROUTINE + number;
            // SAFETY: the driver is open, and the pointer is to a variable of ours.
            unsafe { get_method(self.state, op, dtype as u32, &mut raw) == GPUPY_NATIVE }
        };
        let of_one = |(routine, number): &(Routine, u32)| {
            let (routine, number) = (*routine, *number);
            let taken = routine.info().dtypes.iter().filter(|(from, to)| {
                dtypes.contains(from) && dtypes.contains(to) && has(number, *from)
            });
            taken.map(move |(from, _)| (routine, *from)).collect::<Vec<_>>()
        };
        self.numbers.iter().flat_map(of_one).collect()
    }
}

/// The driver's numbers for the routines that it offers. Names that this version does not know are left out, and
/// numbers that none can have.
fn numbers(raw: &RawCapabilities) -> Vec<(Routine, u32)> {
    let named = raw.routine_names.iter().zip(raw.routine_numbers);
    let known =
        |(name, number): (&[_; GPUPY_NAME], u32)| Some((Routine::from_name(&get(name))?, number));
    let mut found: Vec<(Routine, u32)> =
        named.take(raw.routine_count as usize).filter_map(known).collect();
    found.retain(|(_, number)| *number < GPUPY_ROUTINE);
    found
}

fn closed() -> Error {
    Error::new(ErrorKind::Invalid, "plugin").says("the driver is not open")
}

impl Driver for Imported {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.table.init.is_some() {
            return Err(Error::new(ErrorKind::Invalid, "init").says("the driver is open already"));
        }
        let table = (self.source)()?;
        let mut raw = RawConfig {
            block_bytes: config.block_bytes,
            device_bytes: config.device_bytes,
            resources: config.resources.0,
            threads: config.threads,
            hardware: config.hardware.into(),
            share: config.share.into(),
            ..RawConfig::cleared()
        };
        put(&config.device, &mut raw.device_name);
        let mut found = RawCapabilities::cleared();
        let mut state = ptr::null_mut();
        let init = table.init.ok_or_else(closed)?;
        // SAFETY: the pointers are to whole structs of ours.
        let code = unsafe { init(&mut state, &raw, &mut found, &mut *self.error) };
        self.heard(code, "init")?;
        (self.table, self.state) = (table, state);
        let caps = capabilities(&found).inspect_err(|_| self.cleanup())?;
        self.numbers = numbers(&found);
        Ok(Capabilities { routines: self.routines(&caps.dtypes), ..caps })
    }

    fn cleanup(&mut self) {
        let table = std::mem::replace(&mut self.table, Table::cleared());
        let state = std::mem::replace(&mut self.state, ptr::null_mut());
        if let Some(cleanup) = table.cleanup {
            // SAFETY: the state comes from the table's `init`, and was just taken, so that it is not used again.
            unsafe { cleanup(state) };
        }
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        let Some(get_method) = self.table.get_method else { return Method::Absent };
        let mut raw = ptr::null();
        // SAFETY: the driver is open, and the pointer is to a variable of ours.
        match unsafe { get_method(self.state, op as u32, dtype as u32, &mut raw) } {
            GPUPY_NATIVE => Method::Native,
            // SAFETY: null, or the driver's program, which stays as it is until `cleanup`.
            GPUPY_LOWERED => match unsafe { read_program(raw) } {
                Ok(program) if lowers(&program, op, dtype) => Method::Lowered(program),
                _ => Method::Absent,
            },
            _ => Method::Absent,
        }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let spec = RawBlockSpec {
            dtype: spec.dtype as u32,
            len: spec.len as u64,
            memory: spec.memory.map_or(ptr::null_mut(), HostMemory::as_ptr),
            ..RawBlockSpec::cleared()
        };
        let mut block = 0;
        let block_alloc = self.table.block_alloc.ok_or_else(closed)?;
        // SAFETY: the driver is open, and the pointers are to variables of ours.
        let code = unsafe { block_alloc(self.state, &spec, &mut block, &mut *self.error) };
        self.heard(code, "block_alloc").map(|()| BlockId(block))
    }

    fn block_free(&mut self, block: BlockId) {
        if let Some(block_free) = self.table.block_free {
            // SAFETY: the driver is open, and the core frees only living blocks.
            unsafe { block_free(self.state, block.0) };
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let (at, bytes, offset) = (out.as_mut_ptr(), out.len(), offset as u64);
        let block_read = self.table.block_read.ok_or_else(closed)?;
        // SAFETY: the driver is open, and writes `bytes` bytes at most.
        let code = unsafe { block_read(self.state, block.0, offset, at, bytes, &mut *self.error) };
        self.heard(code, "block_read")
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let (at, bytes, offset) = (data.as_ptr(), data.len(), offset as u64);
        let block_write = self.table.block_write.ok_or_else(closed)?;
        // SAFETY: the driver is open, and reads `bytes` bytes at most.
        let code = unsafe { block_write(self.state, block.0, offset, at, bytes, &mut *self.error) };
        self.heard(code, "block_write")
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let mut check = RawCheck::cleared();
        let check_ir = self.table.check_ir.ok_or_else(closed)?;
        let form_op = number(&self.numbers, program.form);
        let code = with_program(program, |program| {
            let program = &RawProgram { form_op, ..*program };
            // SAFETY: the driver is open, and the pointers are to whole structs of ours.
            unsafe { check_ir(self.state, program, &mut check, &mut *self.error) }
        });
        self.heard(code, "check_ir")?;
        Ok(Check { fits: check.fits != 0, resources: Resources(check.resources) })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let mut evaluated = RawEvaluated::cleared();
        let eval_ir = self.table.eval_ir.ok_or_else(closed)?;
        let (numbers, state, error) = (&self.numbers, self.state, &mut *self.error);
        let code = with_numbered_launch(
            launch,
            |form| number(numbers, form),
            // SAFETY: the driver is open, and the pointers are to whole structs of ours.
            |launch| unsafe { eval_ir(state, launch, &mut evaluated, error) },
        )?;
        let done = (evaluated.done as usize).min(launch.all().count() - 1);
        self.heard(code, "eval_ir").map_err(|error| error.after(done))?;
        Ok(Evaluated {
            compiled: evaluated.compiled,
            specialised: evaluated.specialised,
            launches: evaluated.launches.max(1),
            // SAFETY: null, or the driver's fixed_strings, which stay as they are until the next call.
            code: unsafe { text(evaluated.code) },
            lent: (evaluated.lent_name != 0).then_some(Lent {
                name: evaluated.lent_name,
                target: evaluated.lent_target,
                format: evaluated.lent_format,
                width: evaluated.lent_width,
                height: evaluated.lent_height,
                row: evaluated.lent_row,
            }),
        })
    }

    fn resource_get(&self, part: Part) -> Resources {
        let (kind, op, dtype) = match part {
            Part::Op(op, dtype) => (GPUPY_PART_OP, op as u32, dtype),
            Part::Operand(dtype) => (GPUPY_PART_OPERAND, 0, dtype),
            Part::Param(dtype) => (GPUPY_PART_PARAM, 0, dtype),
            Part::Index => (GPUPY_PART_INDEX, 0, DType::I32),
            Part::Dest(dtype) => (GPUPY_PART_DEST, 0, dtype),
        };
        let part = RawPart { kind, op, dtype: dtype as u32, ..RawPart::cleared() };
        let mut counts = Resources::default();
        if let Some(resource_get) = self.table.resource_get {
            // SAFETY: the driver is open, and writes 8 counts.
            unsafe { resource_get(self.state, &part, counts.0.as_mut_ptr()) };
        }
        counts
    }

    fn resource_zero(&self) -> Resources {
        let mut counts = Resources::default();
        if let Some(resource_zero) = self.table.resource_zero {
            // SAFETY: the driver is open, and writes 8 counts.
            unsafe { resource_zero(self.state, counts.0.as_mut_ptr()) };
        }
        counts
    }

    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        if let Some(resource_add) = self.table.resource_add {
            // SAFETY: the driver is open, and both have 8 counts.
            unsafe { resource_add(self.state, total.0.as_mut_ptr(), other.0.as_ptr()) };
        }
    }

    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        if let Some(resource_sub) = self.table.resource_sub {
            // SAFETY: the driver is open, and both have 8 counts.
            unsafe { resource_sub(self.state, total.0.as_mut_ptr(), other.0.as_ptr()) };
        }
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        // SAFETY: the driver is open, and reads 8 counts.
        self.table.resource_check.is_some_and(|resource_check| unsafe {
            resource_check(self.state, resources.0.as_ptr()) != 0
        })
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        self.cleanup();
    }
}

/// The capabilities that `init` found, checked. Dtypes that this version does not know are left out.
fn capabilities(raw: &RawCapabilities) -> Result<Capabilities> {
    let nonsense = |said: String| {
        let said = format!("the plug-in's capabilities make no sense: {said}");
        Err(Error::new(ErrorKind::Unavailable, "init").says(said))
    };
    if raw.dtype_count as usize > raw.dtypes.len() {
        return nonsense(format!("`{}` dtypes, of at most {}", raw.dtype_count, raw.dtypes.len()));
    }
    let mut dtypes = Vec::new();
    for code in raw.dtypes.iter().take(raw.dtype_count as usize) {
        match program::dtype(*code) {
            Ok(dtype) if dtypes.contains(&dtype) => {
                return nonsense(format!("`{dtype}` stands there twice"));
            }
            Ok(dtype) => dtypes.push(dtype),
            Err(_) => {}
        }
    }
    if dtypes.is_empty() {
        return nonsense("there is no dtype that gpupy knows".into());
    }
    if raw.resource_count as usize > raw.resource_names.len() {
        let (count, most) = (raw.resource_count, raw.resource_names.len());
        return nonsense(format!("`{count}` counts of resources, of at most {most}"));
    }
    if raw.max_block_len < REDUCE_CHUNK as u64 {
        let len = raw.max_block_len;
        return nonsense(format!("the largest block has `{len}` elements, not {REDUCE_CHUNK}"));
    }
    if raw.max_dests == 0 {
        return nonsense("a program may have no destination".into());
    }
    let names = raw.resource_names.iter().map(|name| get(name).into());
    let has = |form: &FormKind| raw.forms & 1 << *form as u32 != 0;
    let findings = raw.finding_names.iter().zip(&raw.findings);
    let findings = findings.map(|(name, finding)| (get(name).into(), get(finding)));
    // The bytes of a block have to be a number.
    let longest = (isize::MAX as usize) / DType::C128.size();
    Ok(Capabilities {
        device: get(&raw.device),
        hardware: raw.hardware != 0,
        dtypes,
        max_block_len: usize::try_from(raw.max_block_len).map_or(longest, |len| len.min(longest)),
        max_dests: raw.max_dests as usize,
        forms: FormKind::OFFERED.into_iter().filter(has).collect(),
        flushes_subnormals: raw.flushes_subnormals != 0,
        host_memory: raw.host_memory != 0,
        import_alignment: import_alignment(raw),
        in_place: raw.in_place != 0,
        resources: names.zip(raw.resource_limits).take(raw.resource_count as usize).collect(),
        devices: raw.devices.iter().take(raw.device_count as usize).map(|name| get(name)).collect(),
        findings: findings.take(raw.finding_count as usize).collect(),
        costs: (raw.has_costs != 0).then(|| costs(raw)).filter(are_costs),
        max_reductions: usize::try_from(raw.max_reductions).unwrap_or(usize::MAX),
        memory_launches: raw.memory_launches != 0,
        lends: raw.lends,
        pieces: raw.pieces != 0,
        max_launches: usize::try_from(raw.max_launches).unwrap_or(usize::MAX),
        routines: Vec::new(),
    })
}

fn costs(raw: &RawCapabilities) -> Costs {
    Costs { round_trip: raw.round_trip, upload: raw.upload, download: raw.download }
}

/// The alignment of imported memory, if it can be one.
fn import_alignment(raw: &RawCapabilities) -> usize {
    let told = usize::try_from(raw.import_alignment).unwrap_or_default();
    if told.is_power_of_two() && raw.host_memory == 0 { told } else { 0 }
}

/// Whether these can be measured nanoseconds.
fn are_costs(costs: &Costs) -> bool {
    let all = [costs.round_trip, costs.upload, costs.download];
    all.into_iter().all(|cost| cost.is_finite() && cost >= 0.0)
}

/// True for a program that may stand in the place of an operation (see [`Method::Lowered`]).
fn lowers(program: &Program, op: Op, dtype: DType) -> bool {
    let is_plain = program.form == Form::Map
        && program.rank == 1
        && program.operands.is_empty()
        && program.accesses.is_empty()
        && program.dests.len() == 1;
    let first = match op.info().rule {
        Rule::Cast | Rule::Bitcast | Rule::Select => program.dests.first(),
        _ => program.params.first(),
    };
    is_plain
        && program.verify().is_ok()
        && first == Some(&dtype)
        && op.result_dtype(&program.params, dtype).as_ref() == program.dests.first()
}
