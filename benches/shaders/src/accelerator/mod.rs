//! Shaders by hand of the article's programs, controlled by another process.
//!
//! Owns [`serve`] and its protocol, one request a line on standard input, one answer a line on standard output:
//! `prepare NAME SIZE FOLDER` uploads `FOLDER/0.f32` and so on, compiles, runs once and answers with the
//! seconds of all but the upload; `run TIMES` answers with the seconds of a run, and the processor time of all
//! processors; `result FILE` writes the last result and answers `done`; `launches` answers with their number. A
//! failure is answered by `error: ` and the reason. A run ends when element 0 of the result has been read, as
//! on the other side. Not here: the texts (`programs.rs`), their translation to shaders (`stages.rs`), the
//! comparison (`benches/accelerator/`).

mod on_gl;
mod on_vulkan;
mod programs;
mod stages;

use std::fs;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::time::Instant;

use crate::Outcome;
use crate::clock::Span;
use stages::Program;

/// An API that runs programs.
trait Runs {
    /// Makes arrays of the given elements.
    fn upload(&mut self, texels: [usize; 2], given: &[Vec<f32>]) -> Outcome<()>;

    /// Compiles a program for the arrays that were uploaded last.
    fn compile(&mut self, program: &Program) -> Outcome<()>;

    /// Runs the program that was compiled last, to its end.
    fn run(&mut self) -> Outcome<()>;

    /// The results of the last stage, one array after the other.
    fn results(&mut self) -> Outcome<Vec<f32>>;
}

/// Answers requests until there are no more.
///
/// # Errors
/// The API does not start, or is none.
pub fn serve(api: &str) -> Outcome<()> {
    let mut device: Box<dyn Runs> = match api {
        driver_gl::NAME => Box::new(on_gl::open()?),
        driver_vulkan::NAME => Box::new(on_vulkan::open()?),
        _ => return Err(format!("there are no shaders by hand for `{api}`").into()),
    };
    let mut launches = 0;
    for line in stdin().lock().lines() {
        let words: Vec<String> = line?.split_whitespace().map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = answer(&mut *device, &words, &mut launches);
        println!("{}", answer.unwrap_or_else(|error| format!("error: {error}")));
        stdout().flush()?;
    }
    Ok(())
}

fn answer(device: &mut dyn Runs, words: &[&str], launches: &mut usize) -> Outcome<String> {
    match words {
        ["prepare", name, size, folder] => {
            let program = programs::named(name, size.parse()?).ok_or("there is no such program")?;
            device.upload(program.texels, &given(Path::new(folder))?)?;
            let start = Instant::now();
            device.compile(&program)?;
            device.run()?;
            *launches = program.stages.len();
            Ok(start.elapsed().as_secs_f64().to_string())
        }
        ["run", times] => {
            let times: u32 = times.parse()?;
            let (span, done) = Span::of(|| (0..times).try_for_each(|_| device.run()));
            done?;
            let [wall, cpu] = [span.wall, span.cpu].map(|seconds| seconds / f64::from(times));
            Ok(format!("{wall} {cpu}"))
        }
        ["result", file] => {
            fs::write(file, bytemuck::cast_slice(&device.results()?))?;
            Ok("done".to_owned())
        }
        ["launches"] => Ok(launches.to_string()),
        _ => Err(format!("`{}` is no request", words.join(" ")).into()),
    }
}

/// The arrays in a folder.
fn given(folder: &Path) -> Outcome<Vec<Vec<f32>>> {
    let files = (0..).map(|n| folder.join(format!("{n}.f32"))).take_while(|file| file.exists());
    let read =
        |file| Ok(fs::read(file)?.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect());
    files.map(read).collect()
}
