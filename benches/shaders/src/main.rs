//! `cargo run --release -p gpupy-shaders`: gpupy beside shaders by hand, on the same API.
//!
//! Owns the table. Both sides are warm, have their data on the device, compute the same, and read one
//! element back, so that the work is done. gpupy records its expression anew each time. The sides run
//! in turns. Invariant: it judges nothing but values: a difference beyond rounding is an error, a
//! time is printed.
//!
//! Not here: what is computed (`work.rs`, `ours.rs`), the APIs (`gl.rs`, `webgpu.rs`, `vulkan.rs`).

mod compute;
mod gl;
mod ours;
#[cfg(feature = "vulkan")]
mod vulkan;
mod webgpu;
mod work;

use ours::Ours;
use std::error::Error;
use std::time::{Duration, Instant};
use work::Work;

/// What a side can fail by.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// Rounds of both sides; the median is shown.
const ROUNDS: usize = 41;

/// Shaders by hand on one API.
trait ByHand {
    /// Uploads what a program reads, and compiles it.
    fn prepare(&mut self, work: Work, inputs: &[Vec<f32>]) -> Outcome<()>;

    /// Computes what was prepared; returns element 0 of the (first) result.
    fn run(&mut self) -> Outcome<f32>;

    /// All elements of the first result.
    fn result(&mut self) -> Outcome<Vec<f32>>;
}

/// An API: gpupy's driver, and how shaders by hand get at it.
struct Api {
    driver: &'static str,
    open: fn() -> Outcome<Box<dyn ByHand>>,
}

/// The APIs of this build.
fn apis() -> Vec<Api> {
    vec![
        #[cfg(feature = "vulkan")]
        Api { driver: driver_vulkan::NAME, open: vulkan::open },
        Api { driver: driver_wgpu::NAME, open: webgpu::open },
        Api { driver: driver_gl::NAME, open: gl::open },
    ]
}

fn main() -> Outcome<()> {
    for api in apis() {
        let opened = (api.open)().and_then(|by_hand| Ok((by_hand, Ours::open(api.driver)?)));
        let (mut by_hand, ours) = match opened {
            Ok(both) => both,
            Err(error) => {
                println!("{}: cannot start: {error}\n", api.driver);
                continue;
            }
        };
        println!("{}: {}", api.driver, ours.device()?);
        println!("{:32}{:>12}{:>12}{:>12}", "", "by hand", "gpupy", "ratio");
        for work in Work::ALL {
            let (theirs, mine) = compare(&mut *by_hand, &ours, work)?;
            let ratio = theirs.as_secs_f64() / mine.as_secs_f64();
            let [theirs, mine] =
                [theirs, mine].map(|time| format!("{:.3} ms", time.as_secs_f64() * 1e3));
            println!("{:32}{theirs:>12}{mine:>12}{ratio:>12.2}", work.name());
        }
        println!();
    }
    Ok(())
}

/// The median times of a program by hand and by gpupy.
fn compare(by_hand: &mut dyn ByHand, ours: &Ours, work: Work) -> Outcome<(Duration, Duration)> {
    let inputs = work.inputs();
    by_hand.prepare(work, &inputs)?;
    let arrays = ours.prepare(&inputs)?;
    by_hand.run()?;
    work.check(&by_hand.result()?, &ours.result(work, &arrays)?)?;
    // A driver may take some launches to settle on a kernel.
    for _ in 0..ROUNDS {
        ours.run(work, &arrays)?;
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        by_hand.run()?;
        times[0].push(start.elapsed());
        let start = Instant::now();
        ours.run(work, &arrays)?;
        times[1].push(start.elapsed());
    }
    let [theirs, mine] = times.map(|mut times| {
        times.sort();
        times[ROUNDS / 2]
    });
    Ok((theirs, mine))
}
