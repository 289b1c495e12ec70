//! Wall-clock time, and processor time of this process.
//!
//! Owns [`Span`]. On a machine that does other work as well, only processor time shows the cost of a program,
//! if the device is a processor.

use std::time::Instant;

/// Seconds that something took.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// By the wall's clock.
    pub wall: f64,
    /// Of processors, all threads together; NaN where the system does not tell.
    pub cpu: f64,
}

impl Span {
    /// Times some work.
    pub fn of<T>(work: impl FnOnce() -> T) -> (Span, T) {
        let (begun, before) = (Instant::now(), processors());
        let outcome = work();
        let wall = begun.elapsed().as_secs_f64();
        (Span { wall, cpu: processors() - before }, outcome)
    }

    /// The medians of several.
    pub fn median(spans: &[Span]) -> Span {
        let of = |which: fn(&Span) -> f64| {
            let mut all: Vec<f64> = spans.iter().map(which).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Span { wall: of(|span| span.wall), cpu: of(|span| span.cpu) }
    }
}

/// Seconds of processors that this process has taken.
#[cfg(unix)]
fn processors() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is one that every system has, and the place lives.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } {
        0 => time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9,
        _ => f64::NAN,
    }
}

#[cfg(not(unix))]
fn processors() -> f64 {
    f64::NAN
}
