//! The loops of kernels do not exceed the most steps of devices: the test parses the loops of printed kernels and
//! counts their steps.
//!
//! The snapshots have a kernel of every kind. Matrix products are printed here for workgroups of every size too.
#![allow(clippy::unwrap_used)]

use gpupy_codegen::MOST_STEPS;
use gpupy_codegen::compute::{self, DispatchRequest, KernelFeatures, Language};
use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockId, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, LOOP_STEPS, Program, REDUCE_CHUNK};
use gpupy_core::op::Op;
use std::path::{Path, PathBuf};

/// The steps of a kernel's loops: iterations, and one for each end of a loop. A matrix product in the kernel has at
/// most `terms` terms.
fn steps(text: &str, terms: u64) -> u64 {
    let mut all = 0u64;
    // For each open brace, the number of runs of its block, and whether the block is inside a region.
    let mut open = vec![(1u64, false)];
    for line in text.lines().map(str::trim) {
        assert!(!["while", "do {", "loop {"].iter().any(|word| line.starts_with(word)), "{line}");
        let (runs, region) = *open.last().unwrap();
        let mut inside = (runs, region);
        if let Some(head) = line.strip_prefix("for (") {
            let (most, of_region) = most(head, text, terms);
            // The steps of all regions of a point are bounded together.
            let added = if of_region { most * u64::from(!region) } else { most + 1 };
            all += runs * added;
            inside = (runs * if of_region { 1 } else { most }, region || of_region);
        }
        for c in line.chars() {
            match c {
                '{' => open.push(inside),
                '}' => drop(open.pop().unwrap()),
                _ => {}
            }
        }
    }
    assert_eq!(open.len(), 1, "{text}");
    all
}

/// The most iterations of a loop, and whether it is the loop of a region, with a count from the program.
fn most(head: &str, text: &str, terms: u64) -> (u64, bool) {
    let parts: Vec<&str> = head.strip_suffix(") {").unwrap().split("; ").collect();
    let [first, test, next] = parts[..] else { panic!("{head}") };
    let (counter, below) = test.split_once(" < ").unwrap();
    let step: u64 = next.strip_prefix(&format!("{counter} += ")).unwrap().parse().unwrap();
    let from = first.split(" = ").nth(1).unwrap();
    // Other starts are at least 0.
    let from: u64 =
        if ["part", "local", "first"].contains(&from) { 0 } else { from.parse().unwrap() };
    let defined = |name: &str, as_what: &str| {
        let definition = text.lines().find(|line| line.contains(&format!("{name} = ")));
        let line =
            text.lines().find(|line| line.contains(&format!("{name}: i32 = "))).or(definition);
        assert!(line.is_some_and(|line| line.contains(as_what)), "{name} in {text}");
    };
    let below = match below {
        _ if counter.starts_with('r') => return (LOOP_STEPS.into(), true),
        "count" => {
            defined("count", " - base, 256)");
            256
        }
        "min(4, count - n)" => 4,
        "terms" => terms,
        "until" => {
            defined("until", &format!("min(terms, first + {REDUCE_CHUNK})"));
            // From the first of the chunk.
            REDUCE_CHUNK as u64
        }
        number => number.parse().unwrap(),
    };
    ((below - from).div_ceil(step), false)
}

fn files(folder: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, into) } else { into.push(path) }
        }
    }
    let mut all = Vec::new();
    walk(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
    all
}

#[test]
fn no_printed_loop_is_longer_than_a_device_takes() {
    let mut loops = 0;
    for file in files("tests/snapshots") {
        let text = std::fs::read_to_string(&file).unwrap();
        loops += text.matches("for (").count();
        let steps = steps(&text, most_terms(&device(256)) as u64);
        assert!(steps <= MOST_STEPS, "{steps} steps in {}", file.display());
    }
    assert!(loops > 20, "{loops} loops");
}

#[test]
fn one_function_prints_the_heads_of_all_loops() {
    let heads = ["\"for (", "for ({", "\"while", "\"loop", "while ("];
    for file in files("src").iter().filter(|file| !file.ends_with("loop_bounds.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let printed = text.lines().find(|line| heads.iter().any(|head| line.contains(head)));
        assert_eq!(printed, None, "in {}", file.display());
    }
}

fn device(group: u32) -> KernelFeatures {
    KernelFeatures {
        language: Language::Glsl,
        addresses: false,
        int64: true,
        float64: true,
        bytes: true,
        halves: true,
        group,
        group_bytes: 16_384,
        groups: 65_535,
        push_bytes: 128,
        guards: false,
        shares: true,
    }
}

fn product(dtype: DType) -> Program {
    let mut b = Builder::new(Form::MatMul, 3);
    let loads = [(); 2].map(|()| {
        let (operand, access) = (b.operand(dtype), b.access(AccessKind::Affine));
        b.load(operand, access)
    });
    let result = b.library_op(Op::MatMul, &loads);
    b.store(result);
    b.finish()
}

/// The accesses of two rows of terms and of their dot product.
fn accesses() -> [Access; 3] {
    let access = |last| Access { offset: 5, strides: [0, 0, last].as_slice().into() };
    [access(1), access(-2), access(0)]
}

/// The terms and offsets of the slices of a product of `terms` terms.
fn sliced(device: &KernelFeatures, terms: usize) -> Option<Vec<(usize, [i64; 2])>> {
    let (program, [a, b, c]) = (product(DType::F32), accesses());
    let accesses = [a, b];
    let launch = Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[1, 1, terms],
        operands: &[BlockId(0), BlockId(0)],
        params: &[],
        accesses: &accesses,
        dests: &[Dest { block: BlockId(0), access: c, whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    };
    let slices = compute::slices(device, &launch)?;
    Some(slices.iter().map(|(shape, at)| (shape[2], [at[0].offset, at[1].offset])).collect())
}

fn most_terms(device: &KernelFeatures) -> usize {
    sliced(device, 1 << 30).unwrap()[0].0
}

#[test]
fn products_of_groups_of_every_size_are_within_what_a_device_takes() {
    for group in [32, 64, 128, 256, 512, 1024] {
        let device = device(group);
        let most = most_terms(&device);
        for (dtype, terms) in [(DType::F32, most), (DType::U8, 1), (DType::F64, most - 1)] {
            let (program, [a, b, target]) = (product(dtype), accesses());
            let request = DispatchRequest {
                program: &program,
                shape: &[1, 1, terms],
                accesses: &[a, b],
                params: &[],
                lengths: &[1 << 20; 2],
                stores: &[0],
                targets: &[(&target, true)],
                specialise: false,
                adds: false,
            };
            let planned = compute::plan(&device, &request).unwrap();
            let text = compute::source(&program, &planned.plan, &device);
            let steps = steps(&text, most as u64);
            assert!(steps <= MOST_STEPS, "{steps} steps of groups of {group}");
            let longer = DispatchRequest { shape: &[1, 1, most + 1], ..request };
            assert!(compute::plan(&device, &longer).is_err(), "{group}");
        }
    }
}

#[test]
fn slices_follow_each_other_and_name_all_terms() {
    let device = device(64);
    let most = most_terms(&device);
    for terms in [1, most - 1, most] {
        assert_eq!(sliced(&device, terms), None);
    }
    for terms in [most + 1, 2 * most, 3 * most + 7] {
        let mut next = 0;
        for (n, offsets) in sliced(&device, terms).unwrap() {
            assert!(n > 0 && n <= most);
            assert_eq!(offsets, [5 + next as i64, 5 - 2 * next as i64]);
            next += n;
        }
        assert_eq!(next, terms);
    }
}
