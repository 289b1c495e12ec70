//! The software driver as a library: `GPUPY_DRIVER=target/release/libgpupy_soft.so` loads it.
//!
//! Owns the exported symbol, which `driver-soft` itself cannot have: a program may link several
//! drivers. This line is all that a driver written in Rust needs to become a plug-in.
//!
//! Not here: the driver (`driver-soft`), the table (`gpupy_core::plugin`).

gpupy_core::export_driver!(driver_soft::NAME, driver_soft::new);
