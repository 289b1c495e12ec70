//! Matrix products of rows: of skinny matrices (`gemv.rs`), and of small ones (`row_products.rs`).
//!
//! Imports `simd.rs`. Not here: how products are cut (`library_ops`).

mod gemv;
mod row_products;

pub use gemv::{SHORT_COLUMN, Strip};
pub use row_products::RowProducts;
