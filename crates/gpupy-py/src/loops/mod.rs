//! Loops of the program that run as compiled code (`gpupy-loops`).
//!
//! `entry_values.rs` makes words of objects and objects of words; `loop_nest.rs` is the class whose `run` is called in
//! front of a loop. Not here: which loops are compiled, where Python goes on (`python/gpupy/_loops`).

mod entry_values;
pub mod loop_nest;
