//! Programs and launches as a C caller passes them: flat arrays of integers, which may be wrong, with counts
//! that are right. (Whether memory exists cannot be checked.)
//!
//! An input is the numbers of [`Flat`] in the order of its fields, each list after its length.

use crate::bytes::Bytes;
use crate::{Reached, exported, follow, programs};
use gpupy_core::driver::Launch;
use gpupy_core::ir::{AccessKind, Program};
use gpupy_core::plugin::driver_table::{GPUPY_DEVICE_LOST, RawInst, RawLaunch, RawProgram};
use gpupy_core::plugin::{
    Growing, ProgramCache, read_launch, read_program, with_launch, with_program,
};
use gpupy_core::{Error, ErrorKind};
use std::ptr;

/// The numbers of a program, and memory for them.
pub struct Flat {
    /// The damage to sizes and pointers: mostly none.
    spoiled: u8,
    form: u32,
    form_op: u32,
    rank: u32,
    operands: Vec<u8>,
    params: Vec<u8>,
    accesses: Vec<u8>,
    dests: Vec<u8>,
    insts: Vec<RawInst>,
    extra: Vec<u32>,
}

impl Flat {
    /// The program that bytes describe.
    pub fn read(bytes: &mut Bytes) -> Flat {
        let spoiled = bytes.u8();
        let (form, form_op, rank) = (bytes.u16().into(), bytes.u16().into(), bytes.u16().into());
        let mut codes = || {
            let len = bytes.below(64);
            bytes.list(len, Bytes::u8)
        };
        let [operands, params, accesses, dests] = [codes(), codes(), codes(), codes()];
        let len = bytes.below(64);
        let insts = bytes.list(len, |bytes| RawInst {
            op: bytes.u16(),
            dtype: bytes.u8(),
            args: [bytes.u32(), bytes.u32(), bytes.u32()],
        });
        let len = bytes.below(64);
        let extra = bytes.list(len, Bytes::u32);
        Flat { spoiled, form, form_op, rank, operands, params, accesses, dests, insts, extra }
    }

    /// The C form, which points into this.
    pub fn raw(&self) -> RawProgram {
        let mut raw = RawProgram {
            form: self.form,
            form_op: self.form_op,
            rank: self.rank,
            operand_count: self.operands.len() as u32,
            param_count: self.params.len() as u32,
            access_count: self.accesses.len() as u32,
            dest_count: self.dests.len() as u32,
            inst_count: self.insts.len() as u32,
            extra_count: self.extra.len() as u32,
            operands: self.operands.as_ptr(),
            params: self.params.as_ptr(),
            accesses: self.accesses.as_ptr(),
            dests: self.dests.as_ptr(),
            insts: self.insts.as_ptr(),
            extra: self.extra.as_ptr(),
            ..RawProgram::cleared()
        };
        match self.spoiled {
            1 => raw.size -= 1,
            2 => raw.size = 0,
            3 => raw.insts = ptr::null(),
            4 => raw.insts = raw.insts.wrapping_byte_add(1),
            5 => raw.operands = ptr::null(),
            6 => raw.extra = raw.extra.wrapping_byte_add(2),
            // Lists that are refused before they are read.
            7 => raw.inst_count = u32::MAX,
            8 => raw.dest_count = (1 << 24) + 1,
            _ => {}
        }
        raw
    }

    /// The bytes that describe a program.
    pub fn write(program: &Program) -> Vec<u8> {
        let mut bytes = vec![0];
        let (form, op) = (program.form.kind() as u16, program.form.number() as u16);
        for number in [form, op, program.rank as u16] {
            bytes.extend(number.to_le_bytes());
        }
        let mut codes = |codes: Vec<u8>| {
            bytes.push(codes.len() as u8);
            bytes.extend(codes);
        };
        codes(program.operands.iter().map(|dtype| *dtype as u8).collect());
        codes(program.params.iter().map(|dtype| *dtype as u8).collect());
        codes(program.accesses.iter().map(|kind: &AccessKind| *kind as u8).collect());
        codes(program.dests.iter().map(|dtype| *dtype as u8).collect());
        bytes.push(program.insts.len() as u8);
        for inst in &program.insts {
            bytes.extend((inst.op as u16).to_le_bytes());
            bytes.push(inst.dtype as u8);
            inst.args.iter().for_each(|arg| bytes.extend(arg.to_le_bytes()));
        }
        bytes.push(program.extra.len() as u8);
        program.extra.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    }
}

/// Valid programs, and numbers for launches behind them.
pub fn seeds() -> Vec<Vec<u8>> {
    let fitting = |program: &&Program| program.insts.len() < 64 && program.extra.len() < 64;
    let launched = |program: &Program| {
        let mut bytes = Flat::write(program);
        bytes.extend([0, 3, 1, 4, 1, 5, 9, 2, 6]);
        bytes
    };
    programs::all().iter().filter(fitting).map(launched).collect()
}

/// Reads a program and a launch. Passing them to C again and reading them gives the same.
pub fn run(input: &[u8]) -> Reached {
    let mut bytes = Bytes::new(input);
    let flat = Flat::read(&mut bytes);
    let raw = flat.raw();
    // SAFETY: the lists are as long as the counts say, or null, or refused before they are read.
    let program = match unsafe { read_program(&raw) } {
        Ok(program) => program,
        Err(error) => return refused(&error),
    };
    // SAFETY: the form is a whole one, of the program.
    let again = with_program(&program, |raw| unsafe { read_program(raw) });
    assert!(again.as_ref().is_ok_and(|again| *again == program), "{again:?}\n{program}");
    let verified = follow::read(&program, follow::text);
    Reached::value((verified, launch(&raw, &program, &mut bytes)))
}

fn refused(error: &Error) -> Reached {
    assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported), "{error:?}");
    Reached::words(&error.to_string())
}

fn launch(raw: &RawProgram, program: &Program, bytes: &mut Bytes) -> Reached {
    let spoiled = bytes.u8();
    let (rank, accesses, dests) =
        (program.rank as usize, program.accesses.len(), program.dests.len());
    let shape = bytes.list(rank, |bytes| usize::from(bytes.u8()));
    let operands = bytes.list(program.operands.len(), Bytes::u64);
    let params = bytes.list(program.params.len(), Bytes::u64);
    let signed = |bytes: &mut Bytes| bytes.u64() as i64;
    let access_offsets = bytes.list(accesses, signed);
    let access_strides = bytes.list(accesses * rank, signed);
    let blocks = bytes.list(dests, Bytes::u64);
    let dest_offsets = bytes.list(dests, signed);
    let dest_strides = bytes.list(dests * rank, signed);
    let dest_whole = bytes.list(dests, Bytes::u8);
    // Mostly there is none, and its contents are never read.
    let brought = bytes.below(4);
    let memory = bytes.list(brought, |bytes| ptr::without_provenance_mut(bytes.u64() as usize));
    let memory_lens = bytes.list(brought, Bytes::u64);
    let mut launch = RawLaunch {
        program: raw,
        fingerprint: [bytes.u64(), bytes.u64()],
        shape: shape.as_ptr(),
        operands: operands.as_ptr(),
        params: params.as_ptr(),
        access_offsets: access_offsets.as_ptr(),
        access_strides: access_strides.as_ptr(),
        dests: blocks.as_ptr(),
        dest_offsets: dest_offsets.as_ptr(),
        dest_strides: dest_strides.as_ptr(),
        dest_whole: dest_whole.as_ptr(),
        memory_count: brought as u32,
        memory: memory.as_ptr(),
        memory_lens: memory_lens.as_ptr(),
        ..RawLaunch::cleared()
    };
    match spoiled {
        1 => launch.size /= 2,
        2 => launch.program = ptr::null(),
        3 => launch.shape = ptr::null(),
        4 => launch.access_strides = launch.access_strides.wrapping_byte_add(4),
        5 => launch.dest_whole = ptr::null(),
        6 => (launch.memory_count, launch.memory) = (1, ptr::null()),
        7 => launch.memory_lens = launch.memory_lens.wrapping_byte_add(1),
        // A list that is refused before it is read.
        8 => launch.memory_count = u32::MAX,
        _ => {}
    }
    let results = exported::call(&launch, bytes);
    assert!(!results.contains(&GPUPY_DEVICE_LOST), "something panicked: {results:?}");
    // SAFETY: the lists are as long as the program's counts say, or null.
    let told = unsafe {
        read_launch(&launch, &mut ProgramCache::default(), |launch| Ok(format!("{launch:?}")))
    };
    match told {
        Ok(told) => {
            // SAFETY: the lists are as long as the counts say, or null; the launch that is passed again is a
            // whole one.
            let again = unsafe {
                read_launch(&launch, &mut ProgramCache::default(), |launch| Ok(given_again(launch)))
            };
            assert!(again.is_ok_and(|again| again == told), "{told}");
            Reached::value(results)
        }
        Err(error) => refused(&error),
    }
}

/// The launch that is read back after it was passed to C.
fn given_again(launch: &Launch<'_>) -> String {
    // SAFETY: the form is a whole one, of the launch.
    let told = with_launch(launch, |raw| unsafe {
        read_launch(raw, &mut ProgramCache::default(), |launch| Ok(format!("{launch:?}")))
    });
    told.and_then(|told| told).unwrap_or_else(|error| error.to_string())
}
