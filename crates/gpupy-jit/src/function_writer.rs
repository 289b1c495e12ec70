//! Writes the function around the code: its entry, the loop over the row, and its end.
//!
//! Owns [`write()`] and [`FunctionWriter`], the state of code under construction. The function takes the
//! address of a `CallArguments` (`compiled_kernel.rs`) and returns nothing.
//!
//! | register | what it holds |
//! |---|---|
//! | `rcx` | points done |
//! | `rdx` | points of the row |
//! | `rsi`, `r11` | walks of accesses, walks of destinations |
//! | `rdi` | the frame: values that have no register |
//! | `r10` | constants |
//! | `r8`, `r9`, `rbx`, `rbp`, `r12`, `r13` | starts of the first accesses and destinations |
//! | `r14` | operands of gathers; without these, a start as before |
//! | `rax`, `r15` | temporaries |
//! | `k1`–`k4` | AVX-512: masks of existing points, one for each vector of a pass |
//! | `k5` | AVX-512: temporary |
//! | `k6`, `k7` | AVX-512: masks of existing points, one for each pair of vectors |
//!
//! After its end come the detours: the first branches of `if`s, outlined as cold code, which run only if a point takes
//! them. Otherwise a detour costs its test, and a jump that is not taken.
//!
//! With AVX-512 a row may have any number of points: its last pass is masked. With AVX2, and for split complex
//! numbers, the caller passes whole passes only.

use crate::code::encode::gpr::*;
use crate::code::encode::{Asm, Bits, Gpr, If, Jump, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::compiled_kernel::{Kernel, KernelRows, RowBinding};
use crate::constant_pool::ConstantPool;
use crate::isa::Isa;
use crate::plan::{CodePlan, CodeTask, Duty};
use crate::register_allocation::RegisterAllocator;
use crate::{KernelStrides, RowStride};
use gpupy_core::DType;
use gpupy_core::ir::{Inst, Program, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use gpupy_core::op_eval::element::Half;

/// Callee-saved registers.
const SAVED: [Gpr; 6] = [RBX, RBP, R12, R13, R14, R15];
/// Registers for the starts of accesses and destinations.
const POINTERS: [Gpr; 7] = [R8, R9, RBX, RBP, R12, R13, R14];
/// The register with the address of the operands of gathers, in programs that have any.
pub const TABLES: Gpr = R14;
/// The mask register of a comparison.
pub const TEST: u8 = 5;
/// The mask register of the first pair of vectors.
const PAIRS: u8 = 6;

/// A function under construction, and the current task.
pub struct FunctionWriter<'a> {
    pub asm: Asm,
    pub plan: CodePlan<'a>,
    pub isa: Isa,
    pool: ConstantPool,
    registers: RegisterAllocator,
    /// The registers of the starts of accesses, then of destinations.
    pointers: Vec<Option<Gpr>>,
    task: CodeTask,
    args: Vec<u32>,
    /// The code of detours, which is placed after the main code.
    aside: Asm,
    detours: Vec<Detour>,
}

/// A detour: cold code, outlined from the loop.
struct Detour {
    /// The jump from the main code.
    leave: Jump,
    /// Its begin and end in the code of detours.
    start: usize,
    back: Jump,
    /// The position in the main code where it returns.
    to: usize,
}

/// Writes the code of a program.
pub fn write(program: &Program, variant: &KernelStrides, isa: Isa) -> Option<Kernel> {
    let plan = CodePlan::new(program, variant, isa)?;
    let registers = RegisterAllocator::new(&plan, isa);
    let mut writer = FunctionWriter {
        asm: Asm::new(isa),
        plan,
        isa,
        pool: ConstantPool::new(isa),
        registers,
        pointers: Vec::new(),
        task: CodeTask { inst: 0, group: 0, duty: Duty::Value },
        args: Vec::new(),
        aside: Asm::new(isa),
        detours: Vec::new(),
    };
    writer.function(variant)?;
    let FunctionWriter { asm, plan, pool, registers, .. } = writer;
    if registers.are_overfull() {
        return None;
    }
    let pass = plan.lanes * plan.groups as usize;
    let in_parts = variant.accesses.iter().chain(&variant.dests).any(|step| step.is_of_parts());
    // Masks count single parts.
    let granule = if isa == Isa::Avx512 && !in_parts { 1 } else { pass };
    let slot = |step: &RowStride, bytes| RowBinding { step: *step, bytes };
    let insts = KernelStrides::walks(program).map(|at| &program.insts[at]);
    let accesses = variant.accesses.iter().zip(insts).map(|(step, inst)| match (inst.op, step) {
        (Op::Index, RowStride::Unit | RowStride::Zero | RowStride::Any) => slot(step, 0),
        _ => slot(step, inst.dtype.size()),
    });
    let dests = variant.dests.iter().zip(&program.dests);
    let dests = dests.map(|(step, dtype)| slot(step, dtype.size())).collect();
    let rows = KernelRows { accesses: accesses.collect(), dests, gathers: plan.gathers() };
    Kernel::new(&asm.code, pool.finish(), registers.frame(), granule, rows)
}

impl FunctionWriter<'_> {
    fn function(&mut self, variant: &KernelStrides) -> Option<()> {
        for reg in SAVED {
            self.asm.push(reg);
        }
        // The parameters stay in rcx until the loop begins.
        let fields = [(RDX, 0), (RSI, 8), (R11, 16), (RCX, 24), (TABLES, 32), (R10, 40), (RDI, 48)];
        for (reg, at) in fields {
            self.asm.load(reg, Mem::at(RDI, at, 8));
        }
        self.place_constants();
        for task in std::mem::take(&mut self.plan.before) {
            self.perform(task)?;
        }
        let pressure = self.plan.pressure;
        self.registers.begin_body(&mut self.asm, pressure);
        self.load_pointers(variant);
        self.asm.zero(RCX);
        let body = std::mem::take(&mut self.plan.body);
        match self.isa {
            Isa::Avx512 => self.masked_loop(&body)?,
            Isa::Avx2 => self.whole_loop(&body)?,
        }
        self.asm.code.extend(only::ZERO_UPPER);
        for reg in SAVED.into_iter().rev() {
            self.asm.pop(reg);
        }
        self.asm.ret();
        self.place_detours();
        Some(())
    }

    fn place_detours(&mut self) {
        let base = self.asm.here();
        self.asm.code.append(&mut self.aside.code);
        for Detour { leave, start, back, to } in std::mem::take(&mut self.detours) {
            self.asm.land_at(leave, base + start);
            self.asm.land_at(back.moved(base), to);
        }
    }

    fn place_constants(&mut self) {
        for at in 0..self.plan.program.insts.len() as u32 {
            let inst = self.plan.inst(at);
            let Some(width) = LaneWidth::of(inst.dtype).filter(|_| inst.op == Op::Const) else {
                continue;
            };
            let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
            // A bool's lane has equal bits; narrow integers are extended to int32.
            let bits = match inst.dtype {
                DType::Bool => bits.wrapping_neg() & 0xffff_ffff,
                DType::I8 => u64::from(i32::from(bits as i8) as u32),
                DType::I16 => u64::from(i32::from(bits as i16) as u32),
                DType::F16 => u64::from(f32::from(Half(bits as u16)).to_bits()),
                _ => bits,
            };
            let value = self.plan.value(at, 0);
            let bytes = self.plan.lanes_of_value(value) * width.bytes();
            let home = self.pool.constant(width, bits, Bits::of_bytes(bytes).bytes());
            self.registers.set_home(value, home);
        }
    }

    fn load_pointers(&mut self, variant: &KernelStrides) {
        let accesses = variant.accesses.len();
        let gathers = self.plan.gathers();
        let mut free = POINTERS.into_iter().filter(|reg| !(gathers && *reg == TABLES));
        self.pointers = vec![None; accesses + variant.dests.len()];
        let mut walks: Vec<(usize, Gpr, usize)> = Vec::new();
        for (number, at) in KernelStrides::walks(self.plan.program).enumerate() {
            let varies =
                !matches!(variant.accesses[number], RowStride::Zero | RowStride::Imaginary);
            let in_memory = self.plan.inst(at as u32).op == Op::Load
                || variant.accesses[number] == RowStride::Listed;
            if varies && in_memory {
                walks.push((number, RSI, number));
            }
        }
        let dests = (0..variant.dests.len()).filter(|k| variant.dests[*k] != RowStride::Imaginary);
        walks.extend(dests.map(|dest| (accesses + dest, R11, dest)));
        for (pointer, list, number) in walks {
            let Some(reg) = free.next() else { break };
            self.asm.load(reg, Mem::at(list, 16 * number as i32, 8));
            self.pointers[pointer] = Some(reg);
        }
    }

    fn masked_loop(&mut self, body: &[CodeTask]) -> Option<()> {
        let pass = (self.plan.lanes * self.plan.groups as usize) as i32;
        self.asm.set(RAX, -1);
        self.set_masks();
        self.asm.add(RAX, RCX, pass);
        self.asm.compare(RDX, RAX);
        let short = self.asm.jump_if(If::Below);
        let start = self.asm.here();
        self.pass(body)?;
        self.asm.add(RCX, RCX, pass);
        self.asm.add(RAX, RCX, pass);
        self.asm.compare(RAX, RDX);
        self.asm.jump_back_if(If::BelowOrEqual, start);
        self.asm.land(short);
        self.asm.copy(RAX, RDX);
        self.asm.sub(RAX, RCX);
        let done = self.asm.jump_if(If::LessOrEqual);
        self.asm.set(R15, -1);
        self.asm.low_bits(RAX, R15, RAX);
        self.set_masks();
        self.asm.jump_back(start);
        self.asm.land(done);
        Some(())
    }

    /// Sets the masks of a pass from the bits of rax.
    fn set_masks(&mut self) {
        for group in 0..self.plan.groups as u8 {
            if group > 0 {
                self.asm.shift_right(RAX, self.plan.lanes as u8);
            }
            self.asm.vex(only::GENERAL_TO_MASK, Bits::B128, group + 1, 0, Rm::Reg(RAX.0));
            if self.plan.span == 2 && group.is_multiple_of(2) {
                let of_pair = PAIRS + group / 2;
                self.asm.vex(only::GENERAL_TO_MASK, Bits::B128, of_pair, 0, Rm::Reg(RAX.0));
            }
        }
    }

    fn whole_loop(&mut self, body: &[CodeTask]) -> Option<()> {
        let pass = (self.plan.lanes * self.plan.groups as usize) as i32;
        let start = self.asm.here();
        self.pass(body)?;
        self.asm.add(RCX, RCX, pass);
        self.asm.compare(RCX, RDX);
        self.asm.jump_back_if(If::Below, start);
        Some(())
    }

    /// The tasks of a pass.
    fn pass(&mut self, body: &[CodeTask]) -> Option<()> {
        let mut rest = body;
        while let [task, behind @ ..] = rest {
            self.perform(*task)?;
            rest = behind;
            if let Duty::Leave(len) = task.duty {
                let (detour, behind) = behind.split_at(len as usize);
                self.detour(detour)?;
                rest = behind;
            }
        }
        Some(())
    }

    /// Writes a detour and the jump to it, on the condition of the current task.
    fn detour(&mut self, tasks: &[CodeTask]) -> Option<()> {
        let leave = self.asm.jump_if(If::NotZero);
        let to = self.asm.here();
        let before = self.registers.clone();
        self.registers.pass_over(&self.plan, tasks);
        std::mem::swap(&mut self.asm, &mut self.aside);
        let mut main = std::mem::replace(&mut self.registers, before);
        let start = self.asm.here();
        for task in tasks {
            self.perform(*task)?;
        }
        self.registers.return_to(&mut self.asm, &mut main);
        let back = self.asm.jump();
        self.registers = main;
        std::mem::swap(&mut self.asm, &mut self.aside);
        self.detours.push(Detour { leave, start, back, to });
        Some(())
    }

    fn perform(&mut self, task: CodeTask) -> Option<()> {
        self.task = task;
        self.args.clear();
        self.args.extend(self.plan.operands(task).iter());
        self.registers.begin_task(self.plan.lanes_of(task));
        let inst = self.plan.inst(task.inst);
        let has_result = match task.duty {
            Duty::Value => inst.op != Op::Store,
            Duty::Join | Duty::Split => true,
            Duty::Leave(_) | Duty::Merge => false,
        };
        match task.duty {
            Duty::Value => self.lower(inst)?,
            Duty::Leave(_) => self.leave(inst)?,
            Duty::Merge => self.merge(inst)?,
            Duty::Join => self.join(),
            Duty::Split => self.split(),
        }
        let result = has_result.then(|| self.plan.result(task));
        self.registers.end_task(&mut self.asm, &self.args, result);
        Some(())
    }

    /// The index of the task's access in the row.
    pub fn walk(&self) -> usize {
        self.plan.walk(self.task.inst)
    }

    /// The task's first point in the pass.
    pub fn first(&self) -> usize {
        self.task.group as usize * self.plan.lanes
    }

    /// The points that the task computes.
    pub fn lanes(&self) -> usize {
        self.plan.lanes_of(self.task)
    }

    /// The mask register of the task's existing points; 0 means all, which AVX2's passes always have.
    pub fn existing(&self) -> u8 {
        match self.isa {
            Isa::Avx512 if self.lanes() > self.plan.lanes => PAIRS + self.task.group as u8 / 2,
            Isa::Avx512 => self.task.group as u8 + 1,
            Isa::Avx2 => 0,
        }
    }

    /// Whether the task's value is uniform: equal at all points.
    pub fn is_uniform(&self) -> bool {
        self.plan.is_uniform(self.task.inst)
    }

    /// The elements of the task's points. `number` is that of an access, or after the accesses of a destination.
    pub fn elements(&mut self, number: usize, size: usize) -> Mem {
        let base = self.start(number);
        let first = (self.first() * size) as i32;
        let index = Some((RCX, size.trailing_zeros() as u8));
        Mem { index, ..Mem::at(base, first, self.lanes() * size) }
    }

    /// The lanes, of `size` bytes each, in which a destination of `Lanes` sums the task's points.
    pub fn lanes_of_chunk(&mut self, number: usize, size: usize) -> Mem {
        let lanes = REDUCE_LANES.trailing_zeros() as u8;
        self.asm.copy(R15, RCX);
        self.asm.shift_right(R15, REDUCE_CHUNK.trailing_zeros() as u8);
        self.asm.shift_left(R15, lanes);
        if !(self.plan.groups as usize * self.plan.lanes).is_multiple_of(REDUCE_LANES) {
            // A pass shorter than the lanes continues where the previous one ended.
            self.asm.copy(RAX, RCX);
            self.asm.shift_left(RAX, 64 - lanes);
            self.asm.shift_right(RAX, 64 - lanes);
            self.asm.sum(R15, R15, RAX);
        }
        // This may take rax.
        let base = self.start(number);
        let first = self.first() % REDUCE_LANES * size;
        let index = Some((R15, size.trailing_zeros() as u8));
        Mem { index, ..Mem::at(base, first as i32, self.lanes() * size) }
    }

    /// The complex numbers of the task's points, in two vectors. `number` is that of their real parts, and `size` is
    /// the size of a part.
    pub fn complex_elements(&mut self, number: usize, size: usize) -> [Mem; 2] {
        let base = self.start(number);
        // A complex number may be longer than the largest scale of an index.
        self.asm.twice(R15, RCX);
        let vector = self.lanes() * size;
        let first = 2 * self.first() * size;
        let index = Some((R15, size.trailing_zeros() as u8));
        [first, first + vector].map(|at| Mem { index, ..Mem::at(base, at as i32, vector) })
    }

    /// A register with the start of an access or destination.
    fn start(&mut self, number: usize) -> Gpr {
        let accesses = self.accesses();
        self.pointers[number].unwrap_or_else(|| {
            let (list, at) =
                if number < accesses { (RSI, number) } else { (R11, number - accesses) };
            self.asm.load(RAX, Mem::at(list, 16 * at as i32, 8));
            RAX
        })
    }

    /// A vector of lane indices, as the last operand of an instruction.
    pub fn places(&mut self, width: LaneWidth, numbers: impl Iterator<Item = u64>) -> Rm {
        Rm::Mem(self.pool.places(width, numbers))
    }

    /// The number of accesses of the row.
    pub fn accesses(&self) -> usize {
        self.pointers.len() - self.plan.program.dests.len()
    }

    /// The part of registers that holds lanes of this width.
    pub fn bits(&self, width: LaneWidth) -> Bits {
        self.registers.bits(width)
    }

    /// The task's operand in a register.
    pub fn reg(&mut self, k: usize) -> u8 {
        self.registers.register(&mut self.asm, self.args[k])
    }

    /// The task's operand, as the last operand of an instruction.
    pub fn rm(&mut self, k: usize) -> Rm {
        self.registers.operand(&mut self.asm, self.args[k])
    }

    /// The task's first two operands, in either order: for commutative instructions.
    pub fn symmetric(&mut self) -> (u8, Rm) {
        let swap = !self.registers.is_in_register(self.args[0])
            && self.registers.is_in_register(self.args[1]);
        let (a, b) = if swap { (1, 0) } else { (0, 1) };
        let rm = self.rm(b);
        (self.reg(a), rm)
    }

    /// The task's operand in a register that may be overwritten, for `done_in`.
    pub fn overwritable(&mut self, k: usize) -> u8 {
        self.registers.overwritable(&mut self.asm, self.args[k])
    }

    /// Whether the task is a load, a parameter or a store of float16 that keeps all bits.
    pub fn keeps_bits(&self) -> bool {
        self.plan.keeps_bits(self.task.inst)
    }

    /// A temporary register.
    pub fn temporary(&mut self) -> u8 {
        self.registers.temporary(&mut self.asm)
    }

    /// The register of the task's result, for its last instruction.
    pub fn result(&mut self) -> u8 {
        let value = self.plan.result(self.task);
        self.registers.result(&mut self.asm, value, &self.args)
    }

    /// The register of the task's finished result.
    pub fn result_register(&mut self) -> u8 {
        let value = self.plan.result(self.task);
        self.registers.register(&mut self.asm, value)
    }

    /// Makes a temporary register the task's result.
    pub fn done_in(&mut self, reg: u8) {
        let value = self.plan.result(self.task);
        self.registers.result_is(reg, value);
    }

    /// Overwrites the task's value, in a detour.
    pub fn rewrite(&mut self, from: u8) {
        let value = self.plan.value(self.task.inst, self.task.group);
        self.registers.rewrite(&mut self.asm, value, from);
    }

    /// A constant as the last operand of an instruction on lanes of this width.
    pub fn constant(&mut self, width: LaneWidth, bits: u64) -> Rm {
        let bytes = self.bits(width).bytes();
        Rm::Mem(self.pool.constant(width, bits, bytes))
    }

    /// The numbers 0, 1, 2, … as int32, as the last operand of an instruction.
    pub fn numbers(&mut self) -> Rm {
        let bytes = self.bits(LaneWidth::W32).bytes();
        Rm::Mem(self.pool.numbers(bytes))
    }

    /// Broadcasts one element to all lanes of a register.
    pub fn broadcast(&mut self, width: LaneWidth, to: u8, from: Mem) {
        let row = opcodes::broadcast(width, self.isa == Isa::Avx512);
        let bits = self.bits(width);
        self.asm.vector(row, bits, to, 0, Rm::Mem(Mem { bytes: width.bytes() as u8, ..from }));
    }

    /// An instruction on whole lanes of this width.
    pub fn emit(
        &mut self,
        row: crate::code::encode::Opcode,
        width: LaneWidth,
        to: u8,
        first: u8,
        rm: Rm,
    ) {
        let bits = self.bits(width);
        self.asm.vector(row, bits, to, first, rm);
    }

    /// The dtype of an operand of an instruction of the program.
    pub fn dtype(&self, inst: &Inst, k: usize) -> DType {
        self.plan.inst(inst.args[k]).dtype
    }
}
