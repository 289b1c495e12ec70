//! Many random programs leave no host memory behind.
//!
//! The longer test is run by itself:
//! `cargo test --release -p gpupy-conformance --test leaks -- --ignored --nocapture`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::Instant;

/// The system's allocator, which counts the bytes that are in use.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is passed to the system allocator; counting touches no memory of its callers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, which is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tables and pools have grown to their size after so many programs.
const WARM: u64 = 100;

/// The bytes that may be in use beyond that: tables that grow once more, blocks that are kept for reuse.
const SLACK: isize = 256 << 10;

fn stress(programs: u64) {
    let begin = Instant::now();
    let (mut warm, mut most, mut last) = (0, isize::MIN, 0);
    let mut launches = 0;
    let outcome = gpupy_conformance::stress(driver_soft::new, programs, |done, stats| {
        last = IN_USE.load(Ordering::Relaxed);
        launches = stats.launches;
        if done == WARM {
            warm = last;
        } else if done > WARM {
            most = most.max(last);
        }
    });
    if let Err(said) = outcome {
        panic!("{said}");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{programs} programs, {launches} launches, {seconds:.1} s");
    println!("bytes in use: {warm} after {WARM} programs, then {most} at most, {last} in the end");
    assert!(most - warm < SLACK, "{most} bytes are in use, {warm} were");
}

#[test]
fn three_hundred_programs_leave_no_memory_behind() {
    stress(300);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_programs_leave_no_memory_behind() {
    stress(100_000);
}
