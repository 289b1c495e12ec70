//! The assembler: writes x86-64 vector instructions in either encoding, and the few scalar ones of a loop over rows.
//!
//! Owns [`Asm`] and the operands [`Rm`] and [`Mem`]. One [`Opcode`] serves both encodings of an instruction: VEX on
//! machines with AVX2, EVEX on machines with AVX-512. The assembler chooses between them, so that its callers need not.
//!
//! An assembler crate would need one code for each pair of instruction and encoding, a minute to build, and its own
//! operand types; the bytes themselves are few. The tests disassemble them with such a crate.
//!
//! Not here: the instructions (`opcodes.rs`), register allocation (`register_allocation.rs`).

use crate::isa::Isa;

/// A 64-bit general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpr(pub u8);

/// General registers by their usual names.
#[allow(missing_docs)]
pub mod gpr {
    use super::Gpr;
    pub const RAX: Gpr = Gpr(0);
    pub const RCX: Gpr = Gpr(1);
    pub const RDX: Gpr = Gpr(2);
    pub const RBX: Gpr = Gpr(3);
    pub const RBP: Gpr = Gpr(5);
    pub const RSI: Gpr = Gpr(6);
    pub const RDI: Gpr = Gpr(7);
    pub const R8: Gpr = Gpr(8);
    pub const R9: Gpr = Gpr(9);
    pub const R10: Gpr = Gpr(10);
    pub const R11: Gpr = Gpr(11);
    pub const R12: Gpr = Gpr(12);
    pub const R13: Gpr = Gpr(13);
    pub const R14: Gpr = Gpr(14);
    pub const R15: Gpr = Gpr(15);
}

/// A place in memory: `base + index · scale + disp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    /// The base register.
    pub base: Gpr,
    /// The index register, and the logarithm of its scale.
    pub index: Option<(Gpr, u8)>,
    /// The displacement in bytes.
    pub disp: i32,
    /// The number of bytes that the instruction accesses.
    pub bytes: u8,
    /// Whether one element is broadcast to all lanes; EVEX only.
    pub broadcast: bool,
}

impl Mem {
    /// `bytes` bytes at `base + disp`.
    pub fn at(base: Gpr, disp: i32, bytes: usize) -> Mem {
        Mem { base, index: None, disp, bytes: bytes as u8, broadcast: false }
    }
}

/// The operand of an instruction that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A vector or mask register.
    Reg(u8),
    /// Memory.
    Mem(Mem),
}

/// An instruction without operands, for both encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The mandatory prefix: none, 66, F3 or F2.
    pub prefix: u8,
    /// The opcode map: 0F, 0F38 or 0F3A.
    pub map: u8,
    /// The bit W: usually, whether lanes have 64 bits.
    pub wide: bool,
    /// The opcode byte.
    pub code: u8,
}

/// The vector width of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[allow(missing_docs)]
pub enum Bits {
    B128 = 0,
    B256 = 1,
    B512 = 2,
}

impl Bits {
    /// The vector width for this many bytes, at least the smallest.
    pub fn of_bytes(bytes: usize) -> Bits {
        match bytes {
            64 => Bits::B512,
            32 => Bits::B256,
            _ => Bits::B128,
        }
    }

    /// Bytes of a register of this width.
    pub fn bytes(self) -> usize {
        16 << self as usize
    }
}

/// The condition of a jump, as the low bits of its opcode.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum If {
    Below = 2,
    NotZero = 5,
    BelowOrEqual = 6,
    LessOrEqual = 14,
}

/// A forward jump, to be patched once its target is known.
#[derive(Debug)]
#[must_use]
pub struct Jump(usize);

impl Jump {
    /// This jump, after its code moved by `by` bytes.
    pub fn moved(self, by: usize) -> Jump {
        Jump(self.0 + by)
    }
}

/// Code under construction.
pub struct Asm {
    /// The bytes.
    pub code: Vec<u8>,
    evex: bool,
}

impl Asm {
    /// An assembler for an instruction set.
    pub fn new(isa: Isa) -> Asm {
        Asm { code: Vec::with_capacity(4096), evex: isa == Isa::Avx512 }
    }

    /// A vector instruction `reg, first, rm`.
    pub fn vector(&mut self, op: Opcode, bits: Bits, reg: u8, first: u8, rm: Rm) {
        self.masked(op, bits, reg, first, rm, 0);
    }

    /// A masked vector instruction. Lanes outside mask register `mask` are zeroed (loads, moves) or unchanged (stores,
    /// comparisons). Mask 0 means all lanes. VEX has no masks.
    pub fn masked(&mut self, op: Opcode, bits: Bits, reg: u8, first: u8, rm: Rm, mask: u8) {
        if !self.evex {
            debug_assert!(mask == 0 && bits != Bits::B512);
            // Processors ignore the bit in this map, but valgrind refuses it.
            let wide = op.wide && op.map != 1;
            self.vex(Opcode { wide, ..op }, bits, reg, first, rm);
            return;
        }
        let (x, b) = extensions(rm);
        let (broadcast, unit) = match rm {
            Rm::Mem(mem) => (mem.broadcast, i32::from(mem.bytes)),
            Rm::Reg(_) => (false, 1),
        };
        let stores = matches!(rm, Rm::Mem(_)) && is_store(op);
        let zeroing = mask != 0 && !stores;
        self.code.extend([
            0x62,
            inverted(reg >> 3, 7)
                | inverted(x, 6)
                | inverted(b, 5)
                | inverted(reg >> 4, 4)
                | op.map,
            u8::from(op.wide) << 7 | (!first & 15) << 3 | 4 | op.prefix,
            u8::from(zeroing) << 7
                | (bits as u8) << 5
                | u8::from(broadcast) << 4
                | inverted(first >> 4, 3)
                | mask,
            op.code,
        ]);
        self.operand(reg, rm, unit);
    }

    /// A merging EVEX instruction. Lanes outside mask register `mask` come from the second operand (blends) or are
    /// unchanged (comparisons into a mask register).
    pub fn merged(&mut self, op: Opcode, bits: Bits, reg: u8, first: u8, rm: Rm, mask: u8) {
        let at = self.code.len();
        self.masked(op, bits, reg, first, rm, mask);
        self.code[at + 3] &= 0x7f;
    }

    /// An instruction in VEX encoding on every machine: instructions on mask registers have no other.
    pub fn vex(&mut self, op: Opcode, bits: Bits, reg: u8, first: u8, rm: Rm) {
        let (x, b) = extensions(rm);
        self.code.extend([
            0xc4,
            inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | op.map,
            u8::from(op.wide) << 7 | (!first & 15) << 3 | (bits as u8 & 1) << 2 | op.prefix,
            op.code,
        ]);
        self.operand(reg, rm, 1);
    }

    /// A gather into `to` from a base register at indices in a vector register, which are scaled by a logarithm. The
    /// mask, a mask register or with VEX a vector register, is cleared.
    pub fn gather(&mut self, op: Opcode, bits: Bits, to: u8, from: (Gpr, u8, u8), mask: u8) {
        let (base, index, scale) = from;
        let high = |reg: u8, at| inverted(reg >> 3, at);
        let registers = high(to, 7) | high(index, 6) | high(base.0, 5) | op.map;
        let wide = u8::from(op.wide) << 7;
        if self.evex {
            self.code.extend([
                0x62,
                registers | inverted(to >> 4, 4),
                wide | 15 << 3 | 4 | op.prefix,
                (bits as u8) << 5 | inverted(index >> 4, 3) | mask,
            ]);
        } else {
            self.code.extend([
                0xc4,
                registers,
                wide | (!mask & 15) << 3 | (bits as u8) << 2 | op.prefix,
            ]);
        }
        // Without a displacement: the base is not rbp or r13.
        debug_assert!(base.0 & 7 != 5);
        self.code.extend([op.code, (to & 7) << 3 | 4, scale << 6 | (index & 7) << 3 | base.0 & 7]);
    }

    /// The immediate byte that ends some instructions.
    pub fn imm(&mut self, byte: u8) {
        self.code.push(byte);
    }

    /// The bytes after the opcode. `unit` is the unit of a one-byte displacement.
    fn operand(&mut self, reg: u8, rm: Rm, unit: i32) {
        let reg = (reg & 7) << 3;
        let mem = match rm {
            Rm::Reg(r) => return self.code.push(0xc0 | reg | r & 7),
            Rm::Mem(mem) => mem,
        };
        let short = (mem.disp % unit == 0).then(|| i8::try_from(mem.disp / unit).ok()).flatten();
        let base = mem.base.0 & 7;
        // Without a displacement, the encoding of rbp and r13 has another meaning.
        let mode = match short {
            Some(0) if base != 5 => 0,
            Some(_) => 0x40,
            None => 0x80,
        };
        match mem.index {
            Some((index, scale)) => {
                self.code.extend([mode | reg | 4, scale << 6 | (index.0 & 7) << 3 | base]);
            }
            // The encoding of rsp and r12 means that a second byte follows.
            None if base == 4 => self.code.extend([mode | reg | 4, 0x24]),
            None => self.code.push(mode | reg | base),
        }
        match (mode, short) {
            (0x40, Some(disp)) => self.code.push(disp as u8),
            (0x80, _) => self.code.extend(mem.disp.to_le_bytes()),
            _ => {}
        }
    }

    /// A scalar instruction on 64-bit registers (`wide`) or 32-bit ones.
    fn scalar(&mut self, wide: bool, code: &[u8], reg: u8, rm: Rm) {
        let (x, b) = extensions(rm);
        self.code.push(0x40 | u8::from(wide) << 3 | (reg >> 3 & 1) << 2 | (x & 1) << 1 | b & 1);
        self.code.extend(code);
        self.operand(reg, rm, 1);
    }

    /// `to = [mem]`, 64 bits.
    pub fn load(&mut self, to: Gpr, mem: Mem) {
        self.scalar(true, &[0x8b], to.0, Rm::Mem(mem));
    }

    /// `to = from`.
    pub fn copy(&mut self, to: Gpr, from: Gpr) {
        self.scalar(true, &[0x8b], to.0, Rm::Reg(from.0));
    }

    /// `to -= by`.
    pub fn sub(&mut self, to: Gpr, by: Gpr) {
        self.scalar(true, &[0x2b], to.0, Rm::Reg(by.0));
    }

    /// Compares two registers.
    pub fn compare(&mut self, a: Gpr, b: Gpr) {
        self.scalar(true, &[0x3b], a.0, Rm::Reg(b.0));
    }

    /// `to = from + by`.
    pub fn add(&mut self, to: Gpr, from: Gpr, by: i32) {
        self.scalar(true, &[0x8d], to.0, Rm::Mem(Mem::at(from, by, 1)));
    }

    /// `to = 2 * from`.
    pub fn twice(&mut self, to: Gpr, from: Gpr) {
        self.sum(to, from, from);
    }

    /// `to = a + b`.
    pub fn sum(&mut self, to: Gpr, a: Gpr, b: Gpr) {
        let sum = Mem { index: Some((b, 0)), ..Mem::at(a, 0, 1) };
        self.scalar(true, &[0x8d], to.0, Rm::Mem(sum));
    }

    /// `to = 0`.
    pub fn zero(&mut self, to: Gpr) {
        self.scalar(false, &[0x33], to.0, Rm::Reg(to.0));
    }

    /// `to = value`, sign-extended.
    pub fn set(&mut self, to: Gpr, value: i32) {
        self.scalar(true, &[0xc7], 0, Rm::Reg(to.0));
        self.code.extend(value.to_le_bytes());
    }

    /// `to >>= by`.
    pub fn shift_right(&mut self, to: Gpr, by: u8) {
        self.scalar(true, &[0xc1], 5, Rm::Reg(to.0));
        self.code.push(by);
    }

    /// Shifts a register to the left.
    pub fn shift_left(&mut self, to: Gpr, by: u8) {
        self.scalar(true, &[0xc1], 4, Rm::Reg(to.0));
        self.code.push(by);
    }

    /// `to` = the lowest `count` bits of `from`. The count is the register's lowest byte.
    pub fn low_bits(&mut self, to: Gpr, from: Gpr, count: Gpr) {
        let bzhi = Opcode { prefix: 0, map: 2, wide: true, code: 0xf5 };
        self.vex(bzhi, Bits::B128, to.0, count.0, Rm::Reg(from.0));
    }

    /// Pushes a register onto the stack.
    pub fn push(&mut self, reg: Gpr) {
        self.code.extend([0x40 | reg.0 >> 3, 0x50 | reg.0 & 7]);
    }

    /// Pops a register from the stack.
    pub fn pop(&mut self, reg: Gpr) {
        self.code.extend([0x40 | reg.0 >> 3, 0x58 | reg.0 & 7]);
    }

    /// Returns to the caller.
    pub fn ret(&mut self) {
        self.code.push(0xc3);
    }

    /// The position of the next instruction.
    pub fn here(&self) -> usize {
        self.code.len()
    }

    /// A conditional forward jump.
    pub fn jump_if(&mut self, condition: If) -> Jump {
        self.code.extend([0x0f, 0x80 | condition as u8, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// An unconditional forward jump.
    pub fn jump(&mut self) -> Jump {
        self.code.extend([0xe9, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// A conditional backward jump.
    pub fn jump_back_if(&mut self, condition: If, to: usize) {
        let jump = self.jump_if(condition);
        self.patch(jump.0, to);
    }

    /// An unconditional backward jump.
    pub fn jump_back(&mut self, to: usize) {
        let jump = self.jump();
        self.patch(jump.0, to);
    }

    /// Patches a jump to end here.
    pub fn land(&mut self, jump: Jump) {
        self.patch(jump.0, self.code.len());
    }

    /// Patches a jump to end at a position.
    pub fn land_at(&mut self, jump: Jump, to: usize) {
        self.patch(jump.0, to);
    }

    fn patch(&mut self, from: usize, to: usize) {
        let distance = (to as i64 - from as i64) as i32;
        self.code[from - 4..from].copy_from_slice(&distance.to_le_bytes());
    }
}

/// Whether an instruction is a store, with the register as its source.
fn is_store(op: Opcode) -> bool {
    matches!((op.map, op.prefix, op.code), (1, 0 | 1, 0x11) | (2, 2, 0x31 | 0x33) | (3, 1, 0x1d))
}

/// An upper bit of a register number, inverted as in prefixes.
fn inverted(bit: u8, at: u8) -> u8 {
    (!bit & 1) << at
}

/// Bits X and B of the prefixes.
fn extensions(rm: Rm) -> (u8, u8) {
    match rm {
        Rm::Reg(r) => (r >> 4, r >> 3),
        Rm::Mem(mem) => (mem.index.map_or(0, |(index, _)| index.0 >> 3), mem.base.0 >> 3),
    }
}
