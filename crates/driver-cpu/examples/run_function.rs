//! Calls a function that `gpupy.jit` recorded in Python and `f.save` wrote into a file, from Rust and without Python.
//!
//! `cargo run --release -p driver-cpu --example run_function -- FILE in.npy … out.npy`: the function's arrays, float32
//! or float64, in their order, then a file for each array of its result.

use gpupy_core::{DType, Error, ErrorKind, Result};
use gpupy_engine::registry::Registry;
use gpupy_engine::saved::file::Saved;
use gpupy_engine::{Array, Context, Settings};
use npyz::{NpyFile, WriterBuilder};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::process::ExitCode;

fn wrong(path: &str, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, "run_function").says(format!("{path}: {error}"))
}

/// The array of a file of NumPy's.
fn load(path: &str) -> Result<Array> {
    let file = File::open(path).map_err(|error| wrong(path, error))?;
    let npy = NpyFile::new(BufReader::new(file)).map_err(|error| wrong(path, error))?;
    let shape: Vec<usize> = npy.shape().iter().map(|extent| *extent as usize).collect();
    let kind = npy.dtype().descr();
    if kind.contains("<f4") {
        let elements = npy.into_vec::<f32>().map_err(|error| wrong(path, error))?;
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_ne_bytes()).collect();
        Array::from_bytes(DType::F32, &shape, &bytes)
    } else {
        let elements = npy.into_vec::<f64>().map_err(|error| wrong(path, error))?;
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_ne_bytes()).collect();
        Array::from_bytes(DType::F64, &shape, &bytes)
    }
}

/// Writes an array into a file of NumPy's, as float64.
fn save(context: &Context, path: &str, array: &Array) -> Result<()> {
    let wide = context.read(&context.cast(array, DType::F64)?)?.to_vec()?;
    let elements = wide.chunks_exact(8).map(|bytes| {
        let mut element = [0; 8];
        element.copy_from_slice(bytes);
        f64::from_ne_bytes(element)
    });
    let shape: Vec<u64> = array.shape().iter().map(|extent| *extent as u64).collect();
    let file = File::create(path).map_err(|error| wrong(path, error))?;
    let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
    let mut writer =
        options.writer(BufWriter::new(file)).begin_nd().map_err(|error| wrong(path, error))?;
    writer.extend(elements).map_err(|error| wrong(path, error))?;
    writer.finish().map_err(|error| wrong(path, error))
}

fn run(file: &str, words: &[String]) -> Result<()> {
    let function = Saved::read(&fs::read(file).map_err(|error| wrong(file, error))?)?;
    let takes = function.looks().first().map_or(0, |look| look.arrays().len());
    if words.len() < takes {
        return Err(wrong(file, format!("{} takes {takes} arrays", function.name())));
    }
    let (inputs, outputs) = words.split_at(takes);
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, Settings::from_env()?);
    let given = inputs.iter().map(|path| load(path)).collect::<Result<Vec<Array>>>()?;
    let results = function.run(&context, &given)?;
    println!("{} gives {} arrays", function.name(), results.len());
    results.iter().zip(outputs).try_for_each(|(array, path)| save(&context, path, array))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((file, words)) = words.split_first() else {
        eprintln!("run_function FILE in.npy … out.npy");
        return ExitCode::from(2);
    };
    match run(file, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("run_function: {error}");
            ExitCode::FAILURE
        }
    }
}
