//! The number of threads that the process sets holds for drivers that are open. One test, as the number is the
//! whole process's.

#![cfg(target_os = "linux")]

use gpupy_core::{DType, Op};
use gpupy_engine::{Context, Registry, Settings};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// How often each thread of the driver was given a processor, by its number, once there are so many and none of
/// them runs. A thread has its name from when it first runs.
fn turns(wanted: usize) -> BTreeMap<String, String> {
    let mut before = BTreeMap::new();
    for _ in 0..500 {
        let mut found = BTreeMap::new();
        for task in fs::read_dir("/proc/self/task").expect("the process's threads").flatten() {
            let read = |file| fs::read_to_string(task.path().join(file)).unwrap_or_default();
            if read("comm").trim() == "gpupy-cpu" {
                found.insert(task.file_name().to_string_lossy().into_owned(), read("schedstat"));
            }
        }
        if found == before && found.len() == wanted {
            return found;
        }
        before = found;
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("there are other threads than {wanted} that rest: {before:?}");
}

#[test]
fn a_number_that_is_set_holds_for_an_open_driver_from_its_next_launch_on() {
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, Settings { threads: 5, ..Settings::default() });
    let sum = |extent: usize| {
        let index = context.index(&[1000, extent], 1).expect("coordinates");
        let index = context.cast(&index, DType::F32).expect("a cast");
        let sum = context.reduce(Op::Add, &index, &[0, 1], false).expect("a sum");
        context.read(&sum).expect("an element").to_vec().expect("there is memory")
    };
    let all = sum(1001);
    let five = turns(4);
    assert_eq!(driver_cpu::threads(5), 5);

    driver_cpu::set_threads(1);
    assert_eq!(sum(1002).len(), all.len());
    assert_eq!(sum(1001), all);
    assert_eq!(
        (turns(4), driver_cpu::threads(5)),
        (five.clone(), 1),
        "none of the others was woken"
    );

    driver_cpu::set_threads(3);
    assert_eq!(sum(1001), all);
    assert_eq!((turns(2).len(), driver_cpu::threads(5)), (2, 3));

    driver_cpu::set_threads(0);
    assert_eq!(sum(1001), all);
    assert_eq!((turns(4).len(), driver_cpu::threads(5)), (4, 5));
}
