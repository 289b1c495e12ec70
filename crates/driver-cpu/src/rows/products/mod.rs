//! Matrix products of rows: of skinny matrices (`gemv.rs`), of small ones (`row_products.rs`), of whole numbers
//! (`whole_numbers.rs`).
//!
//! Imports `simd.rs`. Not here: how products are cut (`library_ops`).

mod gemv;
mod row_products;
mod whole_numbers;

pub use gemv::{SHORT_COLUMN, Strip};
pub use row_products::RowProducts;
pub use whole_numbers::{Terms, WholeProducts};
