//! Writes the documents, and tests that they are up to date.
//!
//! `GPUPY_BLESS=1` rewrites them. Invariant: their bytes depend only on the code.
//!
//! Not here: the cases (`make.rs`).

#![allow(clippy::unwrap_used)]

use super::make;
use super::named::Named;
use super::{Case, Dest, FILES, File, Numbers, Operand};
use crate::expect::oracle::expected;
use gpupy_core::op::{OPS, Op};
use gpupy_core::{DType, Scalar};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::collections::BTreeSet;
use std::io::{self, Write};

#[test]
fn the_documents_are_what_the_oracle_says() {
    for (name, cases) in make::files() {
        let path = format!("{}/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = print(&File { cases: cases.into_iter().map(case).collect() });
        if std::env::var_os("GPUPY_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
            continue;
        }
        let stored = FILES.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| text);
        assert!(text == stored, "{path} is out of date; GPUPY_BLESS=1 rewrites it");
    }
}

#[test]
fn every_document_of_the_folder_is_embedded() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<_> =
        names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    assert_eq!(found, FILES.iter().map(|(name, _)| name.to_string()).collect());
}

#[test]
fn every_instruction_occurs() {
    let runs = make::files().into_iter().flat_map(|(_, cases)| cases);
    let seen: BTreeSet<Op> =
        runs.flat_map(|case| case.run.program.insts).map(|inst| inst.op).collect();
    // Complex numbers have no form in these files, and routines have bounds instead of bits.
    let real = OPS.iter().filter(|row| !row.is_of_complex() && row.op != Op::Routine);
    let missing = real.filter(|row| !seen.contains(&row.op)).map(|row| row.name);
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

fn case(Named { name, run, ulp }: Named) -> Case {
    run.program.verify().unwrap_or_else(|error| panic!("{name}: {error}\n{}", run.program));
    let dests = expected(&run).into_iter().zip(&run.targets).zip(&run.program.dests);
    let dests = dests.map(|((elements, target), dtype)| {
        let fill = match dtype {
            DType::Bool => Scalar::bool(true),
            DType::F32 => Scalar::f32(-12345.5),
            _ => Scalar::new(*dtype, 0x5a5a_5a5a),
        };
        let mut after = vec![fill; target.len];
        let mut subnormal = Vec::new();
        for element in elements {
            assert!(!element.undefined, "{name}: element {}", element.at);
            after[element.at] = element.value;
            if element.open || !element.flushed.is_empty() {
                subnormal.push(element.at);
            }
        }
        subnormal.sort_unstable();
        Dest {
            dtype: *dtype,
            length: target.len,
            fill: words(&[fill]),
            offset: target.access.offset,
            strides: target.access.strides.to_vec(),
            bits: words(&after),
            subnormal,
        }
    });
    let operands = run.program.operands.iter().zip(&run.operands);
    Case {
        dests: dests.collect(),
        text: run.program.to_string().lines().map(str::to_owned).collect(),
        fingerprint: run.program.fingerprint().to_string(),
        operands: operands
            .map(|(dtype, data)| Operand { dtype: *dtype, bits: words(data) })
            .collect(),
        params: run.params.iter().map(|param| words(&[*param])).collect(),
        accesses: run
            .accesses
            .iter()
            .map(|access| Numbers { offset: access.offset, strides: access.strides.to_vec() })
            .collect(),
        shape: run.shape,
        program: run.program,
        name,
        ulp,
    }
}

fn words(data: &[Scalar]) -> String {
    let words: Vec<_> = data.iter().map(|x| format!("{:x}", x.bits)).collect();
    words.join(" ")
}

fn print(file: &File) -> String {
    let mut text = Vec::new();
    file.serialize(&mut Serializer::with_formatter(&mut text, Lines::default())).unwrap();
    text.push(b'\n');
    String::from_utf8(text).unwrap()
}

/// One line for each part of a case, so that differences can be read.
#[derive(Default)]
struct Lines {
    depth: usize,
}

impl Lines {
    /// Between the items of lists and objects.
    fn separate<W: ?Sized + Write>(&self, to: &mut W, first: bool) -> io::Result<()> {
        let line = matches!(self.depth, 2 | 3);
        to.write_all(match (first, line) {
            (true, true) => b"\n",
            (false, true) => b",\n",
            (true, false) => b"",
            (false, false) => b", ",
        })
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.separate(to, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.separate(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}
