//! Closing: a forked process without contexts has no state of OpenGL, so that both sides can open a context.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::Config;

/// The threads of this process by name, if the system lists them.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
}

/// Whether a driver opens in a process that is forked from this one.
fn opens_in_a_fork() -> bool {
    // SAFETY: the child uses only the driver, and ends without running this process's exit handlers.
    unsafe {
        match libc::fork() {
            0 => {
                let opened = driver_gl::new().init(&Config::default());
                libc::_exit(i32::from(opened.is_err()))
            }
            child => {
                let mut status = -1;
                child > 0 && libc::waitpid(child, &mut status, 0) == child && status == 0
            }
        }
    }
}

#[test]
fn a_fork_without_contexts_ends_the_implementations_threads_and_both_sides_open_again() {
    let before = threads();
    for _ in 0..3 {
        let mut drivers = [driver_gl::new(), driver_gl::new()];
        for driver in &mut drivers {
            if let Err(error) = driver.init(&Config::default()) {
                return gpupy_conformance::skipped(error);
            }
        }
        let [mut first, mut second] = drivers;
        first.cleanup();
        // The other driver still works.
        let spec = gpupy_core::driver::BlockSpec::new(gpupy_core::DType::I32, 3);
        let block = second.block_alloc(spec).unwrap();
        second.block_write(block, 0, &[7; 12]).unwrap();
        let mut out = [0; 12];
        second.block_read(block, 0, &mut out).unwrap();
        assert_eq!(out, [7; 12]);
        second.cleanup();
        assert!(opens_in_a_fork());
        assert_eq!(threads(), before);
    }
}
