//! Runs typed code operation by operation: the oracle of the machine code, and what runs where there is none.
//!
//! Owns [`interpret`]. Not here: machine code (`machine`).

use crate::code::{Block, BlockEnd, Code, FloatFunction, Floating, Integer, Operation, Slot};
use crate::kinds::{ElementType, SlotClass};
use crate::pause::Pause;

/// The left of an operation that fails.
struct HasLeft;

/// Runs code on its state; gives the number of the exit.
///
/// # Safety
///
/// The state describes arrays that live and are not written by others meanwhile.
pub unsafe fn interpret(code: &Code, state: &mut [u64], pause: &mut Pause) -> usize {
    let mut machine = Machine { slots: vec![0; code.slots.len()], code, state, pause };
    let mut block = &code.blocks[0];
    loop {
        if machine.block(block).is_err() {
            break;
        }
        block = match block.end {
            BlockEnd::Jump(next) => &code.blocks[next],
            BlockEnd::Branch(test, inside, beside) => {
                &code.blocks[if machine.slots[test as usize] != 0 { inside } else { beside }]
            }
            BlockEnd::Leave => break,
        };
    }
    let exit = &code.exits[block.exit];
    for &(word, slot) in &exit.saved {
        machine.state[word as usize] = machine.slots[slot as usize];
    }
    for &(word, kind) in &exit.kinds {
        machine.state[word as usize] = kind as u64;
    }
    block.exit
}

struct Machine<'a, 'b> {
    slots: Vec<u64>,
    code: &'a Code,
    state: &'a mut [u64],
    pause: &'a mut Pause<'b>,
}

impl Machine<'_, '_> {
    fn class(&self, slot: Slot) -> SlotClass {
        self.code.slots[slot as usize]
    }

    fn int(&self, slot: Slot) -> i64 {
        self.slots[slot as usize] as i64
    }

    fn double(&self, slot: Slot) -> f64 {
        f64::from_bits(self.slots[slot as usize])
    }

    fn single(&self, slot: Slot) -> f32 {
        f32::from_bits(self.slots[slot as usize] as u32)
    }

    /// A floating-point number of either class.
    fn float(&self, slot: Slot) -> f64 {
        if self.class(slot) == SlotClass::Single {
            self.single(slot).into()
        } else {
            self.double(slot)
        }
    }

    fn put_int(&mut self, slot: Slot, value: i64) {
        self.slots[slot as usize] = value as u64;
    }

    fn put_double(&mut self, slot: Slot, value: f64) {
        self.slots[slot as usize] = value.to_bits();
    }

    fn put_single(&mut self, slot: Slot, value: f32) {
        self.slots[slot as usize] = value.to_bits().into();
    }

    fn block(&mut self, block: &Block) -> Result<(), HasLeft> {
        block.operations.iter().try_for_each(|one| self.operation(one))
    }

    fn operation(&mut self, operation: &Operation) -> Result<(), HasLeft> {
        match *operation {
            Operation::Int(to, value) => self.put_int(to, value),
            Operation::Double(to, value) => self.put_double(to, value),
            Operation::Copy(to, from) | Operation::Bits(to, from) => {
                self.slots[to as usize] = self.slots[from as usize];
            }
            Operation::Integer(does, to, a, b) => {
                let found = integer(does, self.int(a), self.int(b));
                self.put_int(to, found);
            }
            Operation::Checked(does, to, a, b) => {
                let (a, b) = (self.int(a), self.int(b));
                let found = match does {
                    Integer::Add => a.checked_add(b),
                    Integer::Sub => a.checked_sub(b),
                    _ => a.checked_mul(b),
                };
                self.put_int(to, found.ok_or(HasLeft)?);
            }
            Operation::Compare(test, to, a, b) => {
                let holds = match self.class(a) {
                    SlotClass::Integer => test.holds(&self.int(a), &self.int(b)),
                    _ => test.holds(&self.float(a), &self.float(b)),
                };
                self.put_int(to, holds.into());
            }
            Operation::Floating(does, to, a, b) => {
                if self.class(to) == SlotClass::Single {
                    let (a, b) = (self.single(a), self.single(b));
                    self.put_single(to, floating(does, a, b));
                } else {
                    let (a, b) = (self.double(a), self.double(b));
                    self.put_double(to, floating(does, a, b));
                }
            }
            Operation::Plain(does, to, from) => match (self.class(to), does) {
                (SlotClass::Single, FloatFunction::Neg) => self.put_single(to, -self.single(from)),
                (SlotClass::Single, FloatFunction::Abs) => {
                    self.put_single(to, self.single(from).abs())
                }
                (SlotClass::Single, FloatFunction::Sqrt) => {
                    self.put_single(to, self.single(from).sqrt())
                }
                (_, FloatFunction::Neg) => self.put_double(to, -self.double(from)),
                (_, FloatFunction::Abs) => self.put_double(to, self.double(from).abs()),
                (_, FloatFunction::Sqrt) => self.put_double(to, self.double(from).sqrt()),
            },
            Operation::ToDouble(to, from) => self.put_double(to, self.int(from) as f64),
            Operation::ToSingle(to, from) => self.put_single(to, self.double(from) as f32),
            Operation::Widen(to, from) => self.put_double(to, self.single(from).into()),
            Operation::ToInteger(to, from) => self.put_int(to, self.double(from) as i64),
            Operation::Call1(function, to, a) => {
                let found = function.function()(self.double(a));
                self.put_double(to, found);
            }
            Operation::Call2(function, to, a, b) => {
                let found = function.function()(self.double(a), self.double(b));
                self.put_double(to, found);
            }
            Operation::CallIntegers(function, to, a, b) => {
                let found = function.function()(self.int(a), self.int(b));
                self.put_int(to, found);
            }
            Operation::CallRow(function, to, given) => {
                let [a, b, c, d, e] = given.map(|one| self.int(one));
                self.put_int(to, function(a, b, c, d, e));
            }
            Operation::Select(to, test, a, b) => {
                let from = if self.int(test) != 0 { a } else { b };
                self.slots[to as usize] = self.slots[from as usize];
            }
            Operation::Require(slot) => {
                if self.int(slot) == 0 {
                    return Err(HasLeft);
                }
            }
            Operation::Quiet(result, from) => {
                let (result, from) = (self.float(result), from.map(|one| self.float(one)));
                let is_quiet = if result.is_nan() {
                    from.iter().any(|one| one.is_nan())
                } else {
                    result.is_finite() || from.iter().any(|one| one.is_infinite())
                };
                if !is_quiet {
                    return Err(HasLeft);
                }
            }
            Operation::QuietAll(root, ref all) => {
                if !self.float(root).is_finite() {
                    for &(result, from) in all {
                        self.operation(&Operation::Quiet(result, from))?;
                    }
                }
            }
            Operation::Fetch(to, word) => self.slots[to as usize] = self.state[word as usize],
            Operation::Within(to, index, extent) => {
                let (index, extent) = (self.int(index), self.int(extent));
                let place = if index < 0 { index.wrapping_add(extent) } else { index };
                if place < 0 || place >= extent {
                    return Err(HasLeft);
                }
                self.put_int(to, place);
            }
            Operation::Inside(index, extent) => {
                if self.int(index) >= self.int(extent) {
                    return Err(HasLeft);
                }
            }
            Operation::Address(to, base, ref terms, side) => {
                let mut address = self.int(base);
                for &(place, stride) in terms {
                    address = address.wrapping_add(self.int(place).wrapping_mul(self.int(stride)));
                }
                if let Some((place, bytes)) = side {
                    address = address.wrapping_add(self.int(place) * bytes);
                }
                self.put_int(to, address);
            }
            Operation::Read(element, to, place) => self.read(element, to, place),
            Operation::Write(element, place, value) => self.write(element, place, value),
            Operation::Take(to, rounds) => {
                let is_taken = self.pause.take(rounds);
                self.put_int(to, is_taken.into());
            }
            Operation::IsFinite(to, from) => self.put_int(to, self.float(from).is_finite().into()),
            Operation::IsBelow(to, index, extent) => {
                let is_below = (self.int(index) as u64) < self.int(extent) as u64;
                self.put_int(to, is_below.into());
            }
            Operation::Poll => {
                if !self.pause.step() {
                    return Err(HasLeft);
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, element: ElementType, to: Slot, place: Slot) {
        let address = self.int(place) as usize;
        // SAFETY: the place was found within the extents of an array that lives while the code runs.
        unsafe {
            match element {
                ElementType::Bool | ElementType::U8 => {
                    self.put_int(to, (*(address as *const u8)).into())
                }
                ElementType::I32 => {
                    self.put_int(to, (address as *const i32).read_unaligned().into())
                }
                ElementType::I64 => self.put_int(to, (address as *const i64).read_unaligned()),
                ElementType::F32 => self.put_single(to, (address as *const f32).read_unaligned()),
                ElementType::F64 => self.put_double(to, (address as *const f64).read_unaligned()),
            }
        }
    }

    fn write(&mut self, element: ElementType, place: Slot, value: Slot) {
        let address = self.int(place) as usize;
        // SAFETY: as in `read`; the array may be written.
        unsafe {
            match element {
                ElementType::Bool | ElementType::U8 => {
                    *(address as *mut u8) = self.int(value) as u8
                }
                ElementType::I32 => (address as *mut i32).write_unaligned(self.int(value) as i32),
                ElementType::I64 => (address as *mut i64).write_unaligned(self.int(value)),
                ElementType::F32 => (address as *mut f32).write_unaligned(self.single(value)),
                ElementType::F64 => (address as *mut f64).write_unaligned(self.double(value)),
            }
        }
    }
}

fn integer(does: Integer, a: i64, b: i64) -> i64 {
    match does {
        Integer::Add => a.wrapping_add(b),
        Integer::Sub => a.wrapping_sub(b),
        Integer::Mul => a.wrapping_mul(b),
        Integer::And => a & b,
        Integer::Or => a | b,
        Integer::Xor => a ^ b,
        Integer::Shl => a.wrapping_shl(b as u32),
        Integer::Shr => a.wrapping_shr(b as u32),
        Integer::FloorDiv => {
            let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
            quotient - i64::from(rest != 0 && (rest < 0) != (b < 0))
        }
        Integer::Mod | Integer::ModBelowTwice | Integer::ModFromMinus => {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
    }
}

fn floating<T>(does: Floating, a: T, b: T) -> T
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>,
{
    match does {
        Floating::Add => a + b,
        Floating::Sub => a - b,
        Floating::Mul => a * b,
        Floating::Div => a / b,
    }
}
