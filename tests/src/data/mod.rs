//! Programs with their inputs and expected bits, as documents that any language can read.
//!
//! Owns [`Case`], [`FILES`] and [`cases`]; `tests/data/README.md` describes the documents. Invariant:
//! the documents are what `make.rs` writes, and their bits are the oracle's.
//!
//! The other files of this folder are there for tests alone.
//!
//! Not here: their replay on a driver (`cases/data.rs`), and in another language
//! (`tests/data/replay.py`).

#[cfg(test)]
mod forms;
#[cfg(test)]
mod make;
#[cfg(test)]
mod named;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod pieces;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod reductions;
#[cfg(test)]
mod regions;
#[cfg(test)]
mod views;
#[cfg(test)]
mod write;

use crate::expect::oracle::{Run, Target, affine, contiguous};
use crate::reporting::outcome::{Outcome, ensure, fail};
use gpupy_core::driver::Access;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Scalar};
use serde::{Deserialize, Serialize};

macro_rules! files {
    ($($name:literal)*) => {
        /// The documents' names and texts, without a folder beside the program.
        pub const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../data/", $name, ".json"))),)*];
    };
}

files! {
    "accesses" "casts" "destinations" "forms" "functions" "operations-bool" "operations-float32"
    "operations-int32" "operations-uint32" "pieces" "programs" "reductions" "regions"
}

/// A document.
#[derive(Serialize, Deserialize)]
struct File {
    cases: Vec<Case>,
}

/// A launch and its expected results.
#[derive(Serialize, Deserialize)]
pub struct Case {
    pub name: String,
    program: Program,
    text: Vec<String>,
    fingerprint: String,
    shape: Vec<usize>,
    operands: Vec<Operand>,
    params: Vec<String>,
    accesses: Vec<Numbers>,
    pub dests: Vec<Dest>,
    /// How far results may be from the expected ones.
    pub ulp: f32,
}

#[derive(Serialize, Deserialize)]
struct Operand {
    dtype: DType,
    bits: String,
}

#[derive(Serialize, Deserialize)]
struct Numbers {
    offset: i64,
    strides: Vec<i64>,
}

/// A destination block before and after the launch.
#[derive(Serialize, Deserialize)]
pub struct Dest {
    dtype: DType,
    length: usize,
    fill: String,
    offset: i64,
    strides: Vec<i64>,
    bits: String,
    /// Elements that a device that flushes subnormals may compute differently.
    pub subnormal: Vec<usize>,
}

/// The cases of a document.
pub fn cases(text: &str) -> Outcome<Vec<Case>> {
    match serde_json::from_str::<File>(text) {
        Ok(file) => Ok(file.cases),
        Err(error) => fail(format!("the document cannot be read: {error}")),
    }
}

impl Case {
    /// The launch; fails where the program's three descriptions are not of one program.
    pub fn run(&self) -> Outcome<Run> {
        let text = self.text.join("\n");
        let parsed = text.parse::<Program>().or_else(|error| fail(error.to_string()))?;
        ensure(parsed == self.program, || "the text is another program".into())?;
        let fingerprint = parsed.fingerprint().to_string();
        ensure(fingerprint == self.fingerprint, || format!("the fingerprint is {fingerprint}"))?;
        let operands = self.operands.iter().map(|block| scalars(block.dtype, &block.bits));
        let params = self.program.params.iter().zip(&self.params);
        let params = params.map(|(dtype, bits)| scalar(*dtype, bits));
        let mut run = Run::new(parsed, &self.shape);
        run.operands = operands.collect::<Outcome<_>>()?;
        run.params = params.collect::<Outcome<_>>()?;
        run.accesses = self.accesses.iter().map(|a| affine(a.offset, &a.strides)).collect();
        let out = run.out_shape();
        run.targets = self.dests.iter().map(|dest| dest.target(&out)).collect();
        Ok(run)
    }
}

impl Dest {
    fn target(&self, out: &[usize]) -> Target {
        let access: Access = affine(self.offset, &self.strides);
        let whole = self.length == out.iter().product::<usize>() && access == contiguous(out);
        Target { len: self.length, access, whole }
    }

    /// The value of each element of the block before the launch.
    pub fn fill(&self) -> Outcome<Scalar> {
        scalar(self.dtype, &self.fill)
    }

    /// The contents of the block after the launch.
    pub fn after(&self) -> Outcome<Vec<Scalar>> {
        scalars(self.dtype, &self.bits)
    }
}

fn scalars(dtype: DType, words: &str) -> Outcome<Vec<Scalar>> {
    words.split_whitespace().map(|word| scalar(dtype, word)).collect()
}

fn scalar(dtype: DType, word: &str) -> Outcome<Scalar> {
    match u64::from_str_radix(word, 16) {
        Ok(bits) => Ok(Scalar::new(dtype, bits)),
        Err(_) => fail(format!("`{word}` stands where hexadecimal bits should be")),
    }
}
