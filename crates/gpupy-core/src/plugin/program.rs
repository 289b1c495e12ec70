//! Programs and launches as flat arrays of integers.
//!
//! Owns the conversion both ways. A program is passed without copies: its memory form is the same in Rust and C.
//! Invariant: reading converts only known integers to Rust values; nothing is reinterpreted.
//!
//! Not here: whether a program is well formed (`Program::verify`).

use super::driver_table::{
    GPUPY_ACCESS_AFFINE, GPUPY_ACCESS_CONTIGUOUS, GPUPY_ACCESS_UNIFORM, GPUPY_FORM_MAP,
    GPUPY_FORM_MATMUL, GPUPY_FORM_REDUCE, GPUPY_FORM_ROUTINE, GPUPY_FORM_SCAN, GPUPY_FORM_SORT,
    GPUPY_LEND_BUFFER, GPUPY_LEND_TEXTURE, GPUPY_RANK, RawInst, RawLaunch, RawProgram,
};
use super::growing::Growing;
use crate::driver::{
    Access, BlockId, Dest, HostBlock, HostMemory, Launch, Lend, LendKind, Sequence,
};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{AccessKind, Fingerprint, Form, FormKind, Inst, Program};
use crate::op::Op;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::mem::offset_of;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};
use std::sync::Arc;

// The memory form of an instruction is the same on both sides.
const _: () = {
    assert!(size_of::<Inst>() == size_of::<RawInst>());
    assert!(offset_of!(Inst, op) == offset_of!(RawInst, op));
    assert!(offset_of!(Inst, dtype) == offset_of!(RawInst, dtype));
    assert!(offset_of!(Inst, args) == offset_of!(RawInst, args));
    assert!(AccessKind::Contiguous as u8 == GPUPY_ACCESS_CONTIGUOUS);
    assert!(AccessKind::Uniform as u8 == GPUPY_ACCESS_UNIFORM);
    assert!(AccessKind::Affine as u8 == GPUPY_ACCESS_AFFINE);
    assert!(FormKind::Map as u32 == GPUPY_FORM_MAP);
    assert!(FormKind::Reduce as u32 == GPUPY_FORM_REDUCE);
    assert!(FormKind::Scan as u32 == GPUPY_FORM_SCAN);
    assert!(FormKind::Sort as u32 == GPUPY_FORM_SORT);
    assert!(FormKind::MatMul as u32 == GPUPY_FORM_MATMUL);
    assert!(FormKind::Routine as u32 == GPUPY_FORM_ROUTINE);
};

/// The most elements of a list. A longer one is rejected as nonsense.
const LONGEST: usize = 1 << 24;

fn invalid(said: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, "program").says(said)
}

fn unknown(what: &str, code: impl Into<u64>) -> Error {
    let code = code.into();
    Error::new(ErrorKind::Unsupported, "program").says(format!("{what} `{code}` is not known here"))
}

/// Calls `call` with the C form of a program, which lives as long as the call.
pub fn with_program<R>(program: &Program, call: impl FnOnce(&RawProgram) -> R) -> R {
    call(&raw_program(program))
}

/// The C form, which points into the program.
pub(super) fn raw_program(program: &Program) -> RawProgram {
    RawProgram {
        form: program.form.kind() as u32,
        form_op: program.form.number(),
        rank: program.rank,
        operand_count: program.operands.len() as u32,
        param_count: program.params.len() as u32,
        access_count: program.accesses.len() as u32,
        dest_count: program.dests.len() as u32,
        inst_count: program.insts.len() as u32,
        extra_count: program.extra.len() as u32,
        operands: program.operands.as_ptr().cast(),
        params: program.params.as_ptr().cast(),
        accesses: program.accesses.as_ptr().cast(),
        dests: program.dests.as_ptr().cast(),
        insts: program.insts.as_ptr().cast(),
        extra: program.extra.as_ptr(),
        ..RawProgram::cleared()
    }
}

/// Copies a program from its C form. It need not be well formed.
///
/// # Errors
/// - `Invalid`: a pointer is null, or a count out of bounds.
/// - `Unsupported`: an operation, dtype, form or kind that this version does not know.
///
/// # Safety
/// Pointers are null, or point to as many elements as the counts say.
pub unsafe fn read_program(raw: *const RawProgram) -> Result<Program> {
    // SAFETY: each pointer is null, or to as many elements as its count.
    unsafe {
        let raw = RawProgram::take(raw)?;
        let kind = FormKind::from_code(raw.form).ok_or_else(|| unknown("form", raw.form))?;
        let form = kind.with(raw.form_op).ok_or_else(|| unknown("operation", raw.form_op))?;
        if raw.rank == 0 || raw.rank > GPUPY_RANK {
            let rank = raw.rank;
            return Err(invalid(format!("rank `{rank}` is not between 1 and {GPUPY_RANK}")));
        }
        let dtypes =
            |from, len| list(from, len)?.iter().map(|code| dtype(*code)).collect::<Result<_>>();
        let kinds = list(raw.accesses, raw.access_count)?;
        let insts = list(raw.insts, raw.inst_count)?;
        Ok(Program {
            form,
            rank: raw.rank,
            operands: dtypes(raw.operands, raw.operand_count)?,
            params: dtypes(raw.params, raw.param_count)?,
            accesses: kinds.iter().map(|code| access_kind(*code)).collect::<Result<_>>()?,
            dests: dtypes(raw.dests, raw.dest_count)?,
            insts: insts.iter().map(inst).collect::<Result<_>>()?,
            extra: list(raw.extra, raw.extra_count)?.to_vec(),
        })
    }
}

fn inst(raw: &RawInst) -> Result<Inst> {
    Ok(Inst { op: op(raw.op.into())?, dtype: dtype(raw.dtype)?, args: raw.args })
}

/// The operation of a code.
pub(super) fn op(code: u32) -> Result<Op> {
    let known = u16::try_from(code).ok().and_then(Op::from_code);
    known.ok_or_else(|| unknown("operation", code))
}

/// The dtype of a code.
///
/// # Errors
/// - `Invalid`: no dtype has this code.
pub fn dtype(code: impl Into<u32>) -> Result<DType> {
    let code = code.into();
    let known = u8::try_from(code).ok().and_then(DType::from_code);
    known.ok_or_else(|| unknown("dtype", code))
}

fn access_kind(code: u8) -> Result<AccessKind> {
    match code {
        GPUPY_ACCESS_CONTIGUOUS => Ok(AccessKind::Contiguous),
        GPUPY_ACCESS_UNIFORM => Ok(AccessKind::Uniform),
        GPUPY_ACCESS_AFFINE => Ok(AccessKind::Affine),
        code => Err(unknown("kind of access", code)),
    }
}

/// A list from the other side.
///
/// # Safety
/// The pointer is null, or points to `len` elements, which live and do not change for `'a`.
pub(super) unsafe fn list<'a, T>(from: *const T, len: impl TryInto<usize>) -> Result<&'a [T]> {
    let len = len.try_into().unwrap_or(usize::MAX);
    if len == 0 {
        return Ok(&[]);
    }
    if len > LONGEST {
        return Err(invalid(format!("a list has {len} elements, of at most {LONGEST}")));
    }
    if from.is_null() || !from.is_aligned() {
        return Err(invalid("a pointer to a list is null or not aligned"));
    }
    // SAFETY: the pointer is neither null nor misaligned, the list is not too long, and its elements live for `'a`.
    Ok(unsafe { std::slice::from_raw_parts(from, len) })
}

/// Calls `call` with the C form of a launch, which lives as long as the call.
///
/// # Errors
/// - `Invalid`: the lists of the launch do not have the lengths that its program requires.
pub fn with_launch<R>(launch: &Launch<'_>, call: impl FnOnce(&RawLaunch) -> R) -> Result<R> {
    with_numbered_launch(launch, Form::number, call)
}

/// Like [`with_launch`], for a driver that has numbers of its own for the operations of forms.
///
/// # Errors
/// As of `with_launch`.
pub fn with_numbered_launch<R>(
    launch: &Launch<'_>,
    number: impl Fn(Form) -> u32,
    call: impl FnOnce(&RawLaunch) -> R,
) -> Result<R> {
    let lists = launch.all().map(LaunchLists::of).collect::<Result<Vec<_>>>()?;
    let program = |launch: &Launch<'_>| {
        let form_op = number(launch.program.form);
        RawProgram { form_op, ..raw_program(launch.program) }
    };
    let programs: Vec<RawProgram> = launch.all().map(program).collect();
    let parts = launch.all().zip(&lists).zip(&programs);
    let raws: Vec<RawLaunch> =
        parts.map(|((launch, lists), program)| lists.raw(launch, program)).collect();
    let mut pointers = raws.iter().map(ptr::from_ref);
    let first = pointers.next().ok_or_else(|| invalid("there is no launch"))?;
    let rest: Vec<*const RawLaunch> = pointers.collect();
    let sequence = launch.rest.map_or(Fingerprint(0), |rest| rest.fingerprint);
    let (rest_count, rest_list) = (rest.len() as u64, rest.as_ptr());
    // SAFETY: the pointer is to the first of the launches, which live until the end.
    let first = unsafe { &*first };
    Ok(call(&RawLaunch { rest_count, rest: rest_list, sequence: halves(sequence), ..*first }))
}

/// The halves of a fingerprint, the low one first.
fn halves(Fingerprint(name): Fingerprint) -> [u64; 2] {
    [name as u64, (name >> 64) as u64]
}

/// The fingerprint of two halves.
fn whole([low, high]: [u64; 2]) -> Fingerprint {
    Fingerprint(u128::from(low) | u128::from(high) << 64)
}

/// The lists of a launch in C.
struct LaunchLists {
    operands: Vec<u64>,
    accesses: (Vec<i64>, Vec<i64>),
    dests: Vec<u64>,
    dest_accesses: (Vec<i64>, Vec<i64>),
    dest_whole: Vec<u8>,
    memory: Vec<*mut u8>,
    memory_lens: Vec<u64>,
}

impl LaunchLists {
    fn of(launch: &Launch<'_>) -> Result<LaunchLists> {
        let program = launch.program;
        let rank = program.rank as usize;
        let strided = |access: &Access| access.strides.len() == rank;
        let complete = launch.shape.len() == rank
            && launch.operands.len() == program.operands.len()
            && launch.params.len() == program.params.len()
            && launch.accesses.len() == program.accesses.len()
            && launch.dests.len() == program.dests.len()
            && launch.accesses.iter().all(strided)
            && launch.dests.iter().all(|dest| strided(&dest.access));
        if !complete {
            return Err(invalid("the launch has not the numbers that its program asks for"));
        }
        Ok(LaunchLists {
            operands: launch.operands.iter().map(|block| block.0).collect(),
            accesses: flat(launch.accesses.iter()),
            dests: launch.dests.iter().map(|dest| dest.block.0).collect(),
            dest_accesses: flat(launch.dests.iter().map(|dest| &dest.access)),
            dest_whole: launch.dests.iter().map(|dest| u8::from(dest.whole)).collect(),
            memory: launch.memory.iter().map(|block| block.memory.as_ptr()).collect(),
            memory_lens: launch.memory.iter().map(|block| block.len as u64).collect(),
        })
    }

    /// The launch in C, which points into the lists.
    fn raw(&self, launch: &Launch<'_>, program: &RawProgram) -> RawLaunch {
        RawLaunch {
            program,
            fingerprint: halves(launch.fingerprint),
            shape: launch.shape.as_ptr(),
            operands: self.operands.as_ptr(),
            params: launch.params.as_ptr(),
            access_offsets: self.accesses.0.as_ptr(),
            access_strides: self.accesses.1.as_ptr(),
            dests: self.dests.as_ptr(),
            dest_offsets: self.dest_accesses.0.as_ptr(),
            dest_strides: self.dest_accesses.1.as_ptr(),
            dest_whole: self.dest_whole.as_ptr(),
            memory_count: self.memory.len() as u32,
            memory: self.memory.as_ptr(),
            memory_lens: self.memory_lens.as_ptr(),
            lend: launch.lend.map_or(0, |lend| if lend.back.is_some() { 2 } else { 1 }),
            lend_kind: launch.lend.map_or(0, |lend| lend.kind as u32),
            lend_writes: launch.lend.is_some_and(|lend| lend.writes).into(),
            lend_name: launch.lend.and_then(|lend| lend.back).unwrap_or_default(),
            ..RawLaunch::cleared()
        }
    }
}

/// The offsets, and the concatenated strides.
fn flat<'a>(accesses: impl Iterator<Item = &'a Access>) -> (Vec<i64>, Vec<i64>) {
    let (mut offsets, mut strides) = (Vec::new(), Vec::new());
    for access in accesses {
        offsets.push(access.offset);
        strides.extend_from_slice(&access.strides);
    }
    (offsets, strides)
}

/// A cache of read programs, by fingerprint: reading a program takes longer than many launches of it. The least
/// recently used one goes first.
pub struct ProgramCache(LruCache<Fingerprint, Arc<Program>, FxBuildHasher>);

impl Default for ProgramCache {
    fn default() -> ProgramCache {
        ProgramCache(LruCache::with_hasher(ProgramCache::KEPT, FxBuildHasher))
    }
}

impl ProgramCache {
    /// The most programs in the cache.
    const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

    /// The program of a fingerprint. It is read if it is new, or its counts differ from the cached one's.
    ///
    /// # Safety
    /// The conditions of [`read_program`].
    unsafe fn get(
        &mut self,
        fingerprint: Fingerprint,
        from: *const RawProgram,
    ) -> Result<Arc<Program>> {
        // SAFETY: the conditions are those of this function.
        let (raw, read) = unsafe { (RawProgram::take(from)?, || read_program(from).map(Arc::new)) };
        let known = self.0.try_get_or_insert_mut(fingerprint, read)?;
        // The caller reads as many numbers as these counts.
        if !raw_program(known).counts_as(&raw) {
            *known = read()?;
        }
        Ok(known.clone())
    }
}

impl RawProgram {
    /// Whether form, rank and counts equal those of another program.
    fn counts_as(&self, other: &RawProgram) -> bool {
        let counts = |p: &RawProgram| {
            [
                p.form,
                p.form_op,
                p.rank,
                p.operand_count,
                p.param_count,
                p.access_count,
                p.dest_count,
                p.inst_count,
                p.extra_count,
            ]
        };
        counts(self) == counts(other)
    }
}

/// Reads a launch from its C form, with those behind it, and calls `call` with it.
///
/// # Errors
/// - The errors of [`read_program`] and of `call`.
/// - `Invalid`: a pointer is null, an axis is empty, or a launch behind another one has some behind it.
///
/// # Safety
/// Pointers are null, or point to as many elements as the program's counts, and the count of launches, say.
pub unsafe fn read_launch<R>(
    raw: *const RawLaunch,
    programs: &mut ProgramCache,
    call: impl FnOnce(&Launch<'_>) -> Result<R>,
) -> Result<R> {
    // SAFETY: the pointer is null or to a launch, and its list is null or of so many pointers to launches.
    let (first, rest) = unsafe {
        let raw = RawLaunch::take(raw)?;
        let rest = list(raw.rest, raw.rest_count)?.iter().map(|rest| RawLaunch::take(*rest));
        (raw, rest.collect::<Result<Vec<_>>>()?)
    };
    if rest.iter().any(|raw| raw.rest_count > 0) {
        return Err(invalid("launches behind others have some behind them"));
    }
    // SAFETY: the conditions of each launch are those of this function.
    let (read, behind) = unsafe {
        let behind = rest.iter().map(|raw| ReadLaunch::of(raw, programs));
        let behind = behind.collect::<Result<Vec<_>>>()?;
        (ReadLaunch::of(&first, programs)?, behind)
    };
    let launches: Vec<Launch<'_>> = behind.iter().map(|read| read.launch()).collect();
    let is_one = first.rest_count == 0 && first.sequence == [0; 2];
    let sequence = Sequence { launches: &launches, fingerprint: whole(first.sequence) };
    call(&Launch { rest: (!is_one).then_some(sequence), ..read.launch() })
}

/// The parts of a launch that was read from its C form.
struct ReadLaunch<'a> {
    program: Arc<Program>,
    fingerprint: Fingerprint,
    shape: &'a [usize],
    operands: Vec<BlockId>,
    params: &'a [u64],
    accesses: Vec<Access>,
    dests: Vec<Dest>,
    memory: Vec<HostBlock>,
    lend: Option<Lend>,
}

impl ReadLaunch<'_> {
    /// # Safety
    /// The conditions of [`read_launch`].
    unsafe fn of<'a>(raw: &RawLaunch, programs: &mut ProgramCache) -> Result<ReadLaunch<'a>> {
        let fingerprint = whole(raw.fingerprint);
        // SAFETY: the pointers of the program are null, or to as many elements as its counts.
        let program = unsafe { programs.get(fingerprint, raw.program)? };
        let rank = program.rank as usize;
        let (accesses, dests) = (program.accesses.len(), program.dests.len());
        // SAFETY: each pointer is null, or to as many elements as the program's counts, which `get` has compared.
        let (shape, operands, params, accesses, access, block, whole, memory, lens) = unsafe {
            (
                list(raw.shape, rank)?,
                list(raw.operands, program.operands.len())?,
                list(raw.params, program.params.len())?,
                steps(raw.access_offsets, raw.access_strides, accesses, rank)?,
                steps(raw.dest_offsets, raw.dest_strides, dests, rank)?,
                list(raw.dests, dests)?,
                list(raw.dest_whole, dests)?,
                list(raw.memory, raw.memory_count)?,
                list(raw.memory_lens, raw.memory_count)?,
            )
        };
        if shape.contains(&0) {
            return Err(invalid("an axis of a launch has no points"));
        }
        let operands = operands.iter().map(|block| BlockId(*block)).collect();
        let dest = |(access, (block, whole)): (Access, (&u64, &u8))| Dest {
            block: BlockId(*block),
            access,
            whole: *whole != 0,
        };
        let dests = access.into_iter().zip(block.iter().zip(whole)).map(dest).collect();
        let memory = memory.iter().zip(lens).map(|(start, len)| host_block(*start, *len));
        let memory = memory.collect::<Result<_>>()?;
        let lend = read_lend(raw)?;
        Ok(ReadLaunch {
            program,
            fingerprint,
            shape,
            operands,
            params,
            accesses,
            dests,
            memory,
            lend,
        })
    }

    fn launch(&self) -> Launch<'_> {
        Launch {
            program: &self.program,
            fingerprint: self.fingerprint,
            shape: self.shape,
            operands: &self.operands,
            params: self.params,
            accesses: &self.accesses,
            dests: &self.dests,
            memory: &self.memory,
            lend: self.lend,
            rest: None,
        }
    }
}

/// The lending of a block in a launch, if there is one.
fn read_lend(raw: &RawLaunch) -> Result<Option<Lend>> {
    let back = match raw.lend {
        0 => return Ok(None),
        1 => None,
        2 => Some(raw.lend_name),
        _ => return Err(invalid("a block neither goes nor comes back")),
    };
    let kind = match raw.lend_kind {
        GPUPY_LEND_TEXTURE => LendKind::Texture,
        GPUPY_LEND_BUFFER => LendKind::Buffer,
        // The kind of a newer host.
        kind => {
            return Err(Error::new(ErrorKind::Unsupported, "eval_ir")
                .says("blocks are not lent as this")
                .with("kind", kind));
        }
    };
    Ok(Some(Lend { kind, writes: raw.lend_writes != 0, back }))
}

/// Host memory in place of a block.
fn host_block(start: *mut u8, len: u64) -> Result<HostBlock> {
    let start = NonNull::new(start).ok_or_else(|| invalid("host memory of a launch is null"))?;
    let len = usize::try_from(len).map_err(|_| invalid("host memory of a launch is too long"))?;
    Ok(HostBlock { memory: HostMemory::new(start), len })
}

/// # Safety
/// The conditions of [`list`], for `count` offsets and `count · rank` strides.
unsafe fn steps(
    offsets: *const i64,
    strides: *const i64,
    count: usize,
    rank: usize,
) -> Result<Vec<Access>> {
    // SAFETY: the conditions of both lists are those of this function.
    let (offsets, strides) = unsafe { (list(offsets, count)?, list(strides, count * rank)?) };
    let strides = strides.chunks_exact(rank);
    Ok(offsets
        .iter()
        .zip(strides)
        .map(|(offset, strides)| Access { offset: *offset, strides: strides.into() })
        .collect())
}
