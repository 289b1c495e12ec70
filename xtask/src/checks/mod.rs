//! Checks of the sources, and of the product under sanitizers.
//!
//! `lint.rs` has the list, `types.rs` the checks of Python's types, `targets.rs` the compiler's check for other
//! machines, `sanitize.rs` and `guarded_memory.rs` the runs under sanitizers. The tests in `pages.rs`,
//! `imports.rs`, `python_imports.rs`, `folders.rs`, `unique_names.rs`, `comment_width.rs` and `shared_build.rs` check
//! documents, imports, folders, names, comments and features; `strict_list.rs` reads their lists of exceptions.
//!
//! Imports `machine`, `develop.rs` and `suites`.

#[cfg(test)]
mod comment_width;
#[cfg(test)]
mod folders;
pub mod guarded_memory;
#[cfg(test)]
mod imports;
pub mod lint;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod python_imports;
pub mod sanitize;
#[cfg(test)]
mod shared_build;
#[cfg(test)]
mod strict_list;
pub mod targets;
pub mod types;
#[cfg(test)]
mod unique_names;
