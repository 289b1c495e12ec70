//! The core of gpupy: values, views, partitioning, the IR, and the driver contract.

pub mod driver;
pub mod dtype;
pub mod error;
pub mod ir;
pub mod op;
pub mod op_eval;
pub mod registry;
pub mod scalar;

pub use dtype::DType;
pub use error::{Error, ErrorKind, Result};
pub use scalar::Scalar;
