//! Closing: no thread is left, and devices open again.
#![allow(clippy::unwrap_used)]

use gpupy_core::DType;
use gpupy_core::driver::{BlockSpec, Config};

/// The threads of this process by name, if the system lists them.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
}

#[test]
fn closed_devices_leave_no_threads_and_open_again() {
    for device in ["", "OpenGL"] {
        let before = threads();
        for _ in 0..2 {
            let mut drivers = [driver_wgpu::new_on(device), driver_wgpu::new_on(device)];
            for driver in &mut drivers {
                if let Err(error) = driver.init(&Config::default()) {
                    return gpupy_conformance::skipped(error);
                }
            }
            let [mut first, mut second] = drivers;
            first.cleanup();
            // The other driver still works.
            let block = second.block_alloc(BlockSpec::new(DType::I32, 3)).unwrap();
            second.block_write(block, 0, &[7; 12]).unwrap();
            let mut out = [0; 12];
            second.block_read(block, 0, &mut out).unwrap();
            assert_eq!(out, [7; 12]);
            second.cleanup();
            assert_eq!(threads(), before, "{device}");
        }
    }
}
