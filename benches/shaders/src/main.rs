//! `cargo run --release -p gpupy-shaders`: gpupy beside shaders by hand, on the same API; with the word `second`,
//! what a second process takes to find the kernels of a first one; with `accelerator` and an API, the shaders by hand
//! of the article's programs, for `benches/accelerator/`.
//!
//! Owns the table. Both sides are warm, have their data on the device, compute the same, and wait once, so that the
//! work is done: by hand, as one element is read back. gpupy records its expression anew each time. The sides run
//! in turns. Invariant: it judges nothing but values: a difference beyond rounding is an error, a
//! time is printed.
//!
//! Not here: what is computed (`work.rs`, `ours.rs`), the APIs (`gl.rs`, `webgpu.rs`, `vulkan.rs`), second
//! processes (`second.rs`), the article's programs (`accelerator/mod.rs`).

mod accelerator;
mod clock;
mod compute;
mod gl;
mod ours;
mod second;
mod vulkan;
mod webgpu;
mod work;

use clock::Span;
use gpupy_core::driver::Driver;
use ours::Ours;
use std::error::Error;
use work::Work;

/// The result of a side.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// Rounds of both sides; the median is shown.
const ROUNDS: usize = 41;

/// Shaders by hand on one API.
trait ByHand {
    /// Uploads what a program reads on so many elements each way, at least 256, and compiles it.
    fn prepare(&mut self, work: Work, side: usize, inputs: &[Vec<f32>]) -> Outcome<()>;

    /// Computes what was prepared; returns element 0 of the (first) result.
    fn run(&mut self) -> Outcome<f32>;

    /// All elements of the first result.
    fn result(&mut self) -> Outcome<Vec<f32>>;
}

/// An API: gpupy's driver, and how shaders by hand get at it.
struct Api {
    /// One word.
    name: &'static str,
    driver: fn() -> Box<dyn Driver>,
    open: fn() -> Outcome<Box<dyn ByHand>>,
}

/// The APIs of this build.
fn apis() -> Vec<Api> {
    vec![
        Api { name: driver_vulkan::NAME, driver: driver_vulkan::new, open: vulkan::open },
        #[cfg(feature = "shaderc")]
        Api { name: "vulkan-naga", driver: by_naga, open: vulkan::open },
        Api { name: driver_wgpu::NAME, driver: driver_wgpu::new, open: webgpu::open },
        Api { name: driver_gl::NAME, driver: driver_gl::new, open: gl::open },
    ]
}

/// The driver of Vulkan as it is in a build without shaderc.
#[cfg(feature = "shaderc")]
fn by_naga() -> Box<dyn Driver> {
    driver_vulkan::new_trial(driver_vulkan::Trial { naga: true, ..driver_vulkan::Trial::default() })
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [] => beside_shaders_by_hand(),
        [word, api] if word == "accelerator" => accelerator::serve(api),
        words if second::run(words, &apis())? => Ok(()),
        words => {
            Err(format!("`{}` is nothing; `second` and `accelerator API` are", words.join(" "))
                .into())
        }
    }
}

fn beside_shaders_by_hand() -> Outcome<()> {
    for api in apis() {
        let opened = (api.open)().and_then(|by_hand| Ok((by_hand, Ours::open(&api)?)));
        let (mut by_hand, ours) = match opened {
            Ok(both) => both,
            Err(error) => {
                println!("{}: cannot start: {error}\n", api.name);
                continue;
            }
        };
        println!("{}: {}", api.name, ours.device()?);
        println!("{:32}{:>12}{:>12}{:>12}{:>12}", "", "by hand", "gpupy", "ratio", "CPU ratio");
        for work in Work::ALL {
            let (theirs, mine) = compare(&mut *by_hand, &ours, work)?;
            let (ratio, of_cpu) = (theirs.wall / mine.wall, theirs.cpu / mine.cpu);
            let [theirs, mine] = [theirs, mine].map(|span| format!("{:.3} ms", span.wall * 1e3));
            let name = format!("{}, {}²", work.name(), work.side());
            println!("{name:32}{theirs:>12}{mine:>12}{ratio:>12.2}{of_cpu:>12.2}");
        }
        println!();
    }
    Ok(())
}

/// The median times of a program by hand and by gpupy.
fn compare(by_hand: &mut dyn ByHand, ours: &Ours, work: Work) -> Outcome<(Span, Span)> {
    let side = work.side();
    let inputs = work.inputs(side);
    by_hand.prepare(work, side, &inputs)?;
    let arrays = ours.prepare(&inputs)?;
    by_hand.run()?;
    // A driver may take some launches to settle on a kernel.
    for _ in 0..ROUNDS {
        ours.run(work, side, &arrays)?;
    }
    work.check(&by_hand.result()?, &ours.result(work, side, &arrays)?)?;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let (span, done) = Span::of(|| by_hand.run());
        done?;
        times[0].push(span);
        let (span, done) = Span::of(|| ours.run(work, side, &arrays));
        done?;
        times[1].push(span);
    }
    let [theirs, mine] = times.map(|times| Span::median(&times));
    Ok((theirs, mine))
}
