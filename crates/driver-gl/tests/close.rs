//! Closing: the last context takes everything of OpenGL's with it, so that a process can fork.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::Config;

/// The threads of this process by name, where the system tells.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
}

#[test]
fn the_last_context_ends_the_implementations_threads_and_another_can_be_opened() {
    let before = threads();
    for _ in 0..3 {
        let mut drivers = [driver_gl::new(), driver_gl::new()];
        for driver in &mut drivers {
            if let Err(error) = driver.init(&Config::default()) {
                return println!("skipped: {error}");
            }
        }
        let [mut first, mut second] = drivers;
        first.cleanup();
        // The other one still works.
        let spec = gpupy_core::driver::BlockSpec::new(gpupy_core::DType::I32, 3);
        let block = second.block_alloc(spec).unwrap();
        second.block_write(block, 0, &[7; 12]).unwrap();
        let mut out = [0; 12];
        second.block_read(block, 0, &mut out).unwrap();
        assert_eq!(out, [7; 12]);
        second.cleanup();
        assert_eq!(threads(), before);
    }
}
