//! Register allocation: linear scan over vector registers, with spilling to the frame.
//!
//! Owns [`RegisterAllocator`]. Values get registers in the order of the code. If none is free, the value with the
//! furthest next use is evicted: spilled to the frame, unless it is in memory already. That is Bélády's choice, which
//! is optimal for code without branches. A detour starts with a copy of the allocator's state; at its end it reloads
//! the registers that the code after its return expects.
//!
//! Invariants: the registers of a task do not change until the task ends. At the start of the loop only residents are
//! in registers, and they are never moved.
//!
//! Not here: the order of the code (`plan/`).

use crate::code::encode::{Asm, Bits, Mem, Rm, gpr};
use crate::code::opcodes::{self, LaneWidth};
use crate::isa::Isa;
use crate::plan::{CodePlan, CodeTask, Duty};
use std::rc::Rc;

const NOBODY: u32 = u32::MAX;
const NEVER: u32 = u32::MAX;
/// Registers that residents leave free for the temporaries of a task.
const SPARE: usize = 7;

#[derive(Clone, Copy)]
struct ValueLocation {
    reg: Option<u8>,
    /// The memory that it can be reloaded from.
    home: Option<Mem>,
    /// Its remaining uses, as a range of `uses`.
    next: u32,
    end: u32,
    width: LaneWidth,
    bits: Bits,
    /// Its uses outside detours.
    usual: u32,
    /// True if it stays live after its last use, for the next pass.
    uniform: bool,
}

/// The state of registers and the location of each value.
#[derive(Clone)]
pub struct RegisterAllocator {
    isa: Isa,
    /// The points of the current task.
    lanes: usize,
    holds: [u32; 32],
    /// Registers of the current task, as bits.
    pinned: u32,
    /// Registers that keep their value in all passes, as bits.
    resident: u32,
    values: Vec<ValueLocation>,
    /// The tasks that use values, grouped by value.
    uses: Rc<[u32]>,
    /// The index of the current task.
    now: u32,
    free_slots: Vec<i32>,
    frame: usize,
    /// True if a task needed more registers than there are.
    overfull: bool,
}

impl RegisterAllocator {
    /// An allocator with all registers free, for the uses in a plan.
    pub fn new(plan: &CodePlan<'_>, isa: Isa) -> RegisterAllocator {
        let mut values: Vec<ValueLocation> = (0..plan.values() as u32)
            .map(|value| {
                let inst = plan.inst_of(value);
                let width = LaneWidth::of(plan.inst(inst).dtype).unwrap_or(LaneWidth::W32);
                let bits = Bits::of_bytes(plan.lanes_of_value(value) * width.bytes());
                let uniform = plan.is_uniform(inst);
                let (reg, home) = (None, None);
                ValueLocation { reg, home, next: 0, end: 0, width, bits, usual: 0, uniform }
            })
            .collect();
        let tasks = || plan.before.iter().chain(&plan.body).zip(0u32..);
        let mut all = 0;
        let mut detour = 0;
        for (task, _) in tasks() {
            for value in plan.operands(*task).iter() {
                let value = &mut values[*value as usize];
                value.end += 1;
                value.usual += u32::from(detour == 0);
                all += 1;
            }
            detour = match task.duty {
                Duty::Leave(tasks) => tasks,
                _ => detour.saturating_sub(1),
            };
        }
        let mut start = 0;
        for value in &mut values {
            (value.next, start) = (start, start + value.end);
            value.end = value.next;
        }
        let mut uses = vec![0; all];
        for (task, at) in tasks() {
            for value in plan.operands(*task).iter() {
                let value = &mut values[*value as usize];
                uses[value.end as usize] = at;
                value.end += 1;
            }
        }
        RegisterAllocator {
            isa,
            lanes: plan.lanes,
            holds: [NOBODY; 32],
            pinned: 0,
            resident: 0,
            values,
            uses: uses.into(),
            now: 0,
            free_slots: Vec::new(),
            frame: 0,
            overfull: false,
        }
    }

    /// Records that a value is in memory from the start.
    pub fn set_home(&mut self, value: u32, home: Mem) {
        self.values[value as usize].home = Some(home);
    }

    /// True if the code is unusable, because a task needed more registers than there are.
    pub fn are_overfull(&self) -> bool {
        self.overfull
    }

    /// Bytes of the frame.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Begins a task that computes this many points.
    pub fn begin_task(&mut self, lanes: usize) {
        self.lanes = lanes;
    }

    /// The part of registers that the current task's lanes of this width take.
    pub fn bits(&self, width: LaneWidth) -> Bits {
        Bits::of_bytes(self.lanes * width.bytes())
    }

    /// The register of a value, which is loaded if necessary.
    pub fn register(&mut self, asm: &mut Asm, value: u32) -> u8 {
        let location = self.values[value as usize];
        let reg = match (location.reg, location.home) {
            (Some(reg), _) => reg,
            (None, Some(home)) => {
                let reg = self.take(asm);
                self.fetch(asm, reg, home, location);
                self.hold(reg, value);
                reg
            }
            (None, None) => unreachable!("a value that is used is somewhere"),
        };
        self.pinned |= 1 << reg;
        reg
    }

    /// A value as the last operand of an instruction: its register, or its memory, of which the current task may need
    /// the lower half only.
    pub fn operand(&mut self, asm: &mut Asm, value: u32) -> Rm {
        match self.values[value as usize] {
            ValueLocation { reg: None, home: Some(home), .. } if home.broadcast => Rm::Mem(home),
            ValueLocation { reg: None, home: Some(home), width, .. } => {
                Rm::Mem(Mem { bytes: self.bits(width).bytes() as u8, ..home })
            }
            _ => Rm::Reg(self.register(asm, value)),
        }
    }

    /// Whether a value is in a register.
    pub fn is_in_register(&self, value: u32) -> bool {
        self.values[value as usize].reg.is_some()
    }

    /// A temporary register, until the task ends.
    pub fn temporary(&mut self, asm: &mut Asm) -> u8 {
        let reg = self.take(asm);
        self.pinned |= 1 << reg;
        reg
    }

    /// The register of the task's result. Operands without later uses are released, so that the last instruction of a
    /// task may overwrite one.
    pub fn result(&mut self, asm: &mut Asm, value: u32, args: &[u32]) -> u8 {
        for arg in args {
            self.release(*arg);
        }
        let reg = self.take(asm);
        self.hold(reg, value);
        self.pinned |= 1 << reg;
        reg
    }

    /// A register with this value for an instruction that overwrites an operand: the value's own register if the
    /// value has no later use, otherwise a copy. It becomes the task's result.
    pub fn overwritable(&mut self, asm: &mut Asm, value: u32) -> u8 {
        let from = self.register(asm, value);
        if self.resident >> from & 1 == 0 && self.is_last_use(value) {
            self.vacate(from);
            return from;
        }
        let to = self.temporary(asm);
        let ValueLocation { width, bits, .. } = self.values[value as usize];
        asm.vector(opcodes::move_register(width), bits, to, 0, Rm::Reg(from));
        to
    }

    /// Makes a temporary register the result of the task.
    pub fn result_is(&mut self, reg: u8, value: u32) {
        self.hold(reg, value);
    }

    /// Ends the task.
    pub fn end_task(&mut self, asm: &mut Asm, args: &[u32], result: Option<u32>) {
        for arg in args {
            self.used(*arg);
        }
        if let Some(result) = result.filter(|value| self.values[*value as usize].uniform) {
            self.spill(asm, result);
        }
        self.pinned = 0;
        self.now += 1;
    }

    /// Skips the tasks of a detour, which a copy of the state allocates.
    pub fn pass_over(&mut self, plan: &CodePlan<'_>, tasks: &[CodeTask]) {
        self.now += tasks.len() as u32 - 1;
        for task in tasks {
            for value in plan.operands(*task).iter() {
                self.used(*value);
            }
        }
        self.now += 1;
    }

    /// In a detour: stores a new value to the memory of an old one.
    pub fn rewrite(&mut self, asm: &mut Asm, value: u32, from: u8) {
        let ValueLocation { reg, width, bits, home, .. } = self.values[value as usize];
        let home = home.unwrap_or_else(|| self.slot(bits));
        asm.vector(opcodes::move_store(width), bits, from, 0, Rm::Mem(home));
        self.values[value as usize].home = Some(home);
        if let Some(reg) = reg {
            self.vacate(reg);
        }
    }

    /// Ends a detour: reloads the registers that the main code expects.
    pub fn return_to(&mut self, asm: &mut Asm, main: &mut RegisterAllocator) {
        for (reg, value) in (0u8..).zip(main.holds) {
            if value == NOBODY || self.holds[reg as usize] == value {
                continue;
            }
            // A value without memory has no more uses.
            let location = self.values[value as usize];
            if let Some(home) = location.home {
                self.fetch(asm, reg, home, location);
            }
        }
        main.frame = main.frame.max(self.frame);
        main.overfull |= self.overfull;
    }

    /// Begins the loop: the most used uniform values become residents, in the registers that the other values leave.
    pub fn begin_body(&mut self, asm: &mut Asm, pressure: usize) {
        for reg in 0..self.isa.registers() as u8 {
            self.vacate(reg);
        }
        let left = self.isa.registers().saturating_sub(pressure + SPARE);
        // Uses before the loop have been counted down.
        let count = |value: &ValueLocation| value.usual.min(value.end - value.next);
        let mut uniform: Vec<u32> = (0..self.values.len() as u32)
            .filter(|value| {
                let value = &self.values[*value as usize];
                value.uniform && count(value) > 0
            })
            .collect();
        uniform.sort_by_key(|value| std::cmp::Reverse(count(&self.values[*value as usize])));
        for value in uniform.into_iter().take(left) {
            let reg = self.register(asm, value);
            self.resident |= 1 << reg;
        }
        self.pinned = 0;
    }

    /// Whether no task after the current one uses a value.
    fn is_last_use(&self, value: u32) -> bool {
        let value = &self.values[value as usize];
        let uses = &self.uses[value.next as usize..value.end as usize];
        uses.iter().all(|at| *at <= self.now)
    }

    /// Counts down the uses of a value, up to this task.
    fn used(&mut self, value: u32) {
        self.release(value);
        let ValueLocation { mut next, end, .. } = self.values[value as usize];
        while next < end && self.uses[next as usize] <= self.now {
            next += 1;
        }
        let it = &mut self.values[value as usize];
        it.next = next;
        // The slot is not released earlier, because the task's last instruction may read it.
        if next == end && !it.uniform {
            self.free_slots.extend(it.home.take().map(|home| home.disp));
        }
    }

    /// Releases the register of a value without uses after this task.
    fn release(&mut self, value: u32) {
        let reg = self.values[value as usize].reg.filter(|r| self.resident >> r & 1 == 0);
        if let Some(reg) = reg.filter(|_| self.is_last_use(value)) {
            self.vacate(reg);
            self.pinned &= !(1 << reg);
        }
    }

    fn hold(&mut self, reg: u8, value: u32) {
        self.holds[reg as usize] = value;
        self.values[value as usize].reg = Some(reg);
    }

    fn vacate(&mut self, reg: u8) {
        let value = std::mem::replace(&mut self.holds[reg as usize], NOBODY);
        if value != NOBODY {
            self.values[value as usize].reg = None;
        }
    }

    /// A free register, after evicting a value if necessary.
    fn take(&mut self, asm: &mut Asm) -> u8 {
        let mut last = None;
        for reg in 0..self.isa.registers() as u8 {
            if (self.pinned | self.resident) >> reg & 1 == 1 {
                continue;
            }
            let value = self.holds[reg as usize];
            if value == NOBODY {
                return reg;
            }
            let ValueLocation { next, end, .. } = self.values[value as usize];
            let next = if next < end { self.uses[next as usize] } else { NEVER };
            if last.is_none_or(|(latest, _)| next >= latest) {
                last = Some((next, reg));
            }
        }
        let Some((_, reg)) = last else {
            self.overfull = true;
            return 0;
        };
        self.spill(asm, self.holds[reg as usize]);
        self.vacate(reg);
        reg
    }

    /// Spills a value in a register, unless it is in memory already.
    fn spill(&mut self, asm: &mut Asm, value: u32) {
        let location = self.values[value as usize];
        let ValueLocation { reg, home: None, width, bits, next, end, .. } = location else {
            return;
        };
        let Some(reg) = reg.filter(|_| next < end) else { return };
        let home = self.slot(bits);
        asm.vector(opcodes::move_store(width), bits, reg, 0, Rm::Mem(home));
        self.values[value as usize].home = Some(home);
    }

    /// A free slot of the frame.
    fn slot(&mut self, bits: Bits) -> Mem {
        let size = self.isa.bytes();
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.frame += size;
            (self.frame - size) as i32
        });
        Mem::at(gpr::RDI, slot, bits.bytes())
    }

    fn fetch(&self, asm: &mut Asm, reg: u8, home: Mem, of: ValueLocation) {
        let ValueLocation { width, bits, .. } = of;
        if home.broadcast {
            let element = Mem { broadcast: false, ..home };
            asm.vector(opcodes::broadcast(width, true), bits, reg, 0, Rm::Mem(element));
        } else {
            asm.vector(opcodes::move_load(width), bits, reg, 0, Rm::Mem(home));
        }
    }
}
