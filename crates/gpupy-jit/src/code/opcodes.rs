//! The table of vector instructions.
//!
//! Owns the rows, and [`LaneWidth`], which selects among rows that differ in the width of lanes.
//! Invariant: a row is right for both encodings, if an instruction has both.
//!
//! Not here: encoding (`encode.rs`), instruction selection (`lower/`).

use crate::code::encode::Opcode;
use gpupy_core::DType;

/// Bits of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LaneWidth {
    W32,
    W64,
}

impl LaneWidth {
    /// The width of a value's lanes. A bool is a lane of 32 bits, all set or all clear. A narrower integer is
    /// extended to int32, a float16 to float32. `None` for dtypes without lanes.
    pub fn of(dtype: DType) -> Option<LaneWidth> {
        match dtype {
            DType::I64 | DType::U64 | DType::F64 => Some(LaneWidth::W64),
            DType::C64 | DType::C128 => None,
            _ => Some(LaneWidth::W32),
        }
    }

    /// Bytes of a lane.
    pub fn bytes(self) -> usize {
        match self {
            LaneWidth::W32 => 4,
            LaneWidth::W64 => 8,
        }
    }
}

const fn row(prefix: u8, map: u8, wide: bool, code: u8) -> Opcode {
    Opcode { prefix, map, wide, code }
}

/// A float instruction of map 0F: `ps` for 32 bits, `pd` for 64.
const fn float(width: LaneWidth, code: u8) -> Opcode {
    match width {
        LaneWidth::W32 => row(0, 1, false, code),
        LaneWidth::W64 => row(1, 1, true, code),
    }
}

/// An instruction with prefix 66. Its bit W selects the width.
const fn lanes(width: LaneWidth, map: u8, code: u8) -> Opcode {
    row(1, map, matches!(width, LaneWidth::W64), code)
}

macro_rules! by_width {
    ($($name:ident = $kind:ident($($arg:literal),+);)*) => {
        $(#[allow(missing_docs)] pub const fn $name(width: LaneWidth) -> Opcode { by_width!(@ $kind width $($arg),+) })*
    };
    (@ float $width:ident $code:literal) => { float($width, $code) };
    (@ lanes $width:ident $map:literal, $code:literal) => { lanes($width, $map, $code) };
    (@ pair $width:ident $map:literal, $narrow:literal, $wide:literal) => {
        match $width {
            LaneWidth::W32 => lanes($width, $map, $narrow),
            LaneWidth::W64 => lanes($width, $map, $wide),
        }
    };
}

by_width! {
    move_load = float(0x10);
    move_store = float(0x11);
    move_register = float(0x28);
    sqrt = float(0x51);
    add_float = float(0x58);
    mul_float = float(0x59);
    sub_float = float(0x5c);
    min_float = float(0x5d);
    div_float = float(0x5e);
    max_float = float(0x5f);
    compare_float = float(0xc2);
    round = pair(3, 0x08, 0x09);
    and = lanes(1, 0xdb);
    and_not = lanes(1, 0xdf);
    or = lanes(1, 0xeb);
    xor = lanes(1, 0xef);
    add_int = pair(1, 0xfe, 0xd4);
    sub_int = pair(1, 0xfa, 0xfb);
    mul_int = lanes(2, 0x40);
    abs_int = pair(2, 0x1e, 0x1f);
    min_signed = lanes(2, 0x39);
    min_unsigned = lanes(2, 0x3b);
    max_signed = lanes(2, 0x3d);
    max_unsigned = lanes(2, 0x3f);
    shift_left = lanes(2, 0x47);
    shift_right = lanes(2, 0x45);
    shift_right_signed = lanes(2, 0x46);
    // By an immediate. The kind (a `Shift`) is in place of the first register.
    shift_immediate = pair(1, 0x72, 0x73);
    // AVX-512 only.
    compare_signed = lanes(3, 0x1f);
    compare_unsigned = lanes(3, 0x1e);
    blend_masked = lanes(2, 0x65);
    test_bits = lanes(2, 0x27);
    ternary_logic = lanes(3, 0x25);
    fix_up = lanes(3, 0x54);
    // Lanes of two registers, by indices in the register that the result overwrites.
    choose_lanes = lanes(2, 0x77);
    shift_immediate_signed = lanes(1, 0x72);
    // In both encodings, by 32-bit indices.
    gather = lanes(2, 0x92);
}

/// Sets all bits of equal lanes; AVX2 only, like the next two.
pub const fn equal_lanes(width: LaneWidth) -> Opcode {
    match width {
        LaneWidth::W32 => row(1, 1, false, 0x76),
        LaneWidth::W64 => row(1, 2, false, 0x29),
    }
}

/// Sets all bits of lanes that are greater, as signed numbers.
pub const fn greater_lanes(width: LaneWidth) -> Opcode {
    match width {
        LaneWidth::W32 => row(1, 1, false, 0x66),
        LaneWidth::W64 => row(1, 2, false, 0x37),
    }
}

/// Selects lanes by the highest bits of the lanes of a fourth register.
pub const fn blend_lanes(width: LaneWidth) -> Opcode {
    match width {
        LaneWidth::W32 => row(1, 3, false, 0x4a),
        LaneWidth::W64 => row(1, 3, false, 0x4b),
    }
}

/// Broadcasts one element of memory to all lanes.
pub const fn broadcast(width: LaneWidth, evex: bool) -> Opcode {
    match width {
        LaneWidth::W32 => row(1, 2, false, 0x58),
        LaneWidth::W64 => row(1, 2, evex, 0x59),
    }
}

/// The kinds of shifts by an immediate.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Shift {
    Right = 2,
    RightSigned = 4,
    Left = 6,
}

/// Rows without variants, named by source and result.
#[allow(missing_docs)]
pub mod only {
    use super::{Opcode, row};

    pub const BROADCAST_BYTE: Opcode = row(1, 2, false, 0x78);
    pub const BROADCAST_WORD: Opcode = row(1, 2, false, 0x79);
    // Between bytes or words and lanes of 32 bits.
    pub const U8_TO_I32: Opcode = row(1, 2, false, 0x31);
    pub const U16_TO_I32: Opcode = row(1, 2, false, 0x33);
    pub const I8_TO_I32: Opcode = row(1, 2, false, 0x21);
    pub const I16_TO_I32: Opcode = row(1, 2, false, 0x23);
    pub const LANES_TO_BYTES: Opcode = row(2, 2, false, 0x31);
    pub const LANES_TO_WORDS: Opcode = row(2, 2, false, 0x33);
    pub const PACK_LANES: Opcode = row(1, 2, false, 0x2b);
    pub const PACK_BYTES: Opcode = row(1, 1, false, 0x67);
    // Between float16 and float32. The second writes its result to its last operand.
    pub const HALVES_TO_LANES: Opcode = row(1, 2, false, 0x13);
    pub const LANES_TO_HALVES: Opcode = row(1, 3, false, 0x1d);
    pub const STORE_8: Opcode = row(1, 1, false, 0xd6);
    pub const STORE_4: Opcode = row(1, 1, false, 0x7e);
    // Between general, mask and vector registers.
    pub const GENERAL_TO_LANES: Opcode = row(1, 2, false, 0x7c);
    pub const GENERAL_TO_VECTOR: Opcode = row(1, 1, false, 0x6e);
    pub const GENERAL_TO_MASK: Opcode = row(0, 1, false, 0x92);
    pub const MASK_TO_LANES: Opcode = row(2, 2, false, 0x38);
    pub const LANES_TO_MASK: Opcode = row(2, 2, false, 0x39);
    // Sets the processor's flags if any bit is set.
    pub const TEST_MASK: Opcode = row(0, 1, false, 0x98);
    // The equal bits of a mask and itself: all of them.
    pub const ALL_OF_MASK: Opcode = row(0, 1, false, 0x46);
    pub const TEST_ALL: Opcode = row(1, 2, false, 0x17);
    // Parts of registers.
    pub const UPPER_128: Opcode = row(1, 3, false, 0x39);
    pub const UPPER_256: Opcode = row(1, 3, true, 0x3b);
    pub const JOIN_128: Opcode = row(1, 3, false, 0x38);
    pub const JOIN_256: Opcode = row(1, 3, true, 0x3a);
    pub const SHUFFLE: Opcode = row(0, 1, false, 0xc6);
    // The product of the lower halves of 64-bit lanes.
    pub const MUL_HALVES: Opcode = row(1, 1, true, 0xf4);
    // Between integers of 32 and 64 bits.
    pub const I32_TO_I64: Opcode = row(1, 2, false, 0x25);
    pub const U32_TO_U64: Opcode = row(1, 2, false, 0x35);
    pub const I64_TO_I32: Opcode = row(2, 2, false, 0x35);
    // Between integers and floats. Conversions from 64 bits, and to floats from i64, are AVX-512 only.
    pub const I32_TO_F32: Opcode = row(0, 1, false, 0x5b);
    pub const U32_TO_F32: Opcode = row(3, 1, false, 0x7a);
    pub const I64_TO_F32: Opcode = row(0, 1, true, 0x5b);
    pub const U64_TO_F32: Opcode = row(3, 1, true, 0x7a);
    pub const I32_TO_F64: Opcode = row(2, 1, false, 0xe6);
    pub const U32_TO_F64: Opcode = row(2, 1, false, 0x7a);
    pub const I64_TO_F64: Opcode = row(2, 1, true, 0xe6);
    pub const U64_TO_F64: Opcode = row(2, 1, true, 0x7a);
    pub const F32_TO_I32: Opcode = row(2, 1, false, 0x5b);
    pub const F32_TO_U32: Opcode = row(0, 1, false, 0x78);
    pub const F32_TO_I64: Opcode = row(1, 1, false, 0x7a);
    pub const F64_TO_I32: Opcode = row(1, 1, true, 0xe6);
    pub const F64_TO_U32: Opcode = row(0, 1, true, 0x78);
    pub const F64_TO_I64: Opcode = row(1, 1, true, 0x7a);
    pub const F32_TO_F64: Opcode = row(0, 1, false, 0x5a);
    pub const F64_TO_F32: Opcode = row(1, 1, true, 0x5a);
    /// `vzeroupper`: clears the upper halves, without which SSE code runs slowly.
    pub const ZERO_UPPER: [u8; 3] = [0xc5, 0xf8, 0x77];
}
