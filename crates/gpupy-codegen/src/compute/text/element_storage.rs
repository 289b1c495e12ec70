//! Conversion between elements as blocks store them and values in registers.
//!
//! Not here: bytes of stored elements (`kernel_features.rs`), access to blocks (`kernel_text.rs`).

use crate::compute::text::kernel_text::KernelText;
use crate::dialect::Width;
use crate::emit::operations::emit;
use gpupy_core::DType;
use gpupy_core::op::Op;

impl KernelText<'_> {
    /// Converts stored elements, one or four, to a value of the dtype.
    pub fn value_of(&self, dtype: DType, width: Width, value: &str) -> String {
        let d = self.dialect;
        let held = held(dtype);
        let value = match self.narrow(dtype) {
            true => d.convert(held, width, value),
            false => value.to_owned(),
        };
        match dtype {
            DType::Bool => {
                d.compare(Op::Ne, DType::U32, width, &value, &d.splat(DType::U32, width, "0u"))
            }
            DType::F16 => {
                emit(d, Op::Bitcast, DType::U16, DType::F16, width, &[&value]).unwrap_or_default()
            }
            _ => value,
        }
    }

    /// Converts a value of the dtype to stored elements.
    pub fn stored_of(&self, dtype: DType, width: Width, value: &str) -> String {
        let d = self.dialect;
        let value = match dtype {
            DType::Bool => d.convert(DType::U32, width, value),
            DType::F16 => {
                emit(d, Op::Bitcast, DType::F16, DType::U16, width, &[value]).unwrap_or_default()
            }
            _ => value.to_owned(),
        };
        match self.narrow(dtype) {
            true => format!("{}({value})", self.stored_type(dtype, width)),
            false => value,
        }
    }

    /// True for dtypes that this device stores in fewer than 32 bits.
    fn narrow(&self, dtype: DType) -> bool {
        self.device.stored(dtype).is_some_and(|bytes| bytes < 4)
    }

    /// The type of a stored element, or of a vector of four.
    pub fn stored_type(&self, dtype: DType, width: Width) -> &'static str {
        match (dtype, width) {
            _ if !self.narrow(dtype) => self.dialect.type_name(held(dtype), width),
            (DType::I8, Width::One) => "int8_t",
            (DType::I8, Width::Four) => "i8vec4",
            (DType::I16, Width::One) => "int16_t",
            (DType::I16, Width::Four) => "i16vec4",
            (DType::U16 | DType::F16, Width::One) => "uint16_t",
            (DType::U16 | DType::F16, Width::Four) => "u16vec4",
            (_, Width::One) => "uint8_t",
            (_, Width::Four) => "u8vec4",
        }
    }
}

/// The dtype that holds an element on its way between a block and a value.
fn held(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::U8 | DType::U16 | DType::F16 => DType::U32,
        DType::I8 | DType::I16 => DType::I32,
        wide => wide,
    }
}
