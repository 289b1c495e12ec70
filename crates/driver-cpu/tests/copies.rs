//! Launches that only copy put each element where it belongs, and write nothing beside.
#![allow(clippy::unwrap_used)] // of a test

use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockSpec, Config, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form};

/// Numbers below a limit, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// A view of every element of a box, with axes left out, repeated, backwards and apart: its access, and the elements
/// of memory that it needs.
fn view(numbers: &mut Numbers, shape: &[usize], repeats: bool) -> (Access, usize) {
    let mut strides = vec![0i64; shape.len()];
    let (mut offset, mut room) = (0, 1i64);
    let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
    if numbers.below(4) == 0 {
        axes.reverse();
    }
    for axis in axes {
        if repeats && numbers.below(4) == 0 {
            continue;
        }
        let stride = room + if numbers.below(4) == 0 { numbers.below(3) as i64 } else { 0 };
        let far = stride * (shape[axis] as i64 - 1);
        room += far;
        let is_backwards = numbers.below(6) == 0;
        offset += if is_backwards { far } else { 0 };
        strides[axis] = if is_backwards { -stride } else { stride };
    }
    (Access { offset, strides: strides.into() }, room as usize)
}

/// The element of a view at a point, by its number in C order.
fn at(access: &Access, shape: &[usize], mut point: usize) -> usize {
    let mut position = access.offset;
    for (extent, stride) in shape.iter().zip(&access.strides).rev() {
        position += (point % extent) as i64 * stride;
        point /= extent;
    }
    position as usize
}

#[test]
fn elements_of_any_view_are_copied_to_any_other_and_no_more() {
    let mut driver = driver_cpu::new();
    driver.init(&Config::default()).unwrap();
    let mut numbers = Numbers(1);
    let extents = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65];
    for round in 0..3000 {
        let dtypes = [DType::Bool, DType::U8, DType::I16, DType::F32, DType::F64, DType::C128];
        let dtype = dtypes[numbers.below(dtypes.len())];
        let mut shape: Vec<usize> = Vec::new();
        for _ in 0..=numbers.below(4) {
            shape.push(extents[numbers.below(extents.len())]);
        }
        if round % 50 == 0 {
            shape = vec![1 + numbers.below(3), 100_000 + numbers.below(90_000)];
        }
        let points: usize = shape.iter().product();
        if points > 200_000 {
            continue;
        }
        let (from, source_len) = view(&mut numbers, &shape, true);
        let (to, dest_len) = view(&mut numbers, &shape, false);
        let mut b = Builder::new(Form::Map, shape.len() as u32);
        let walk = b.access(AccessKind::Affine);
        let x = b.operand(dtype);
        let x = b.load(x, walk);
        b.store(x);
        let program = b.finish();
        let size = dtype.size();
        let of = |k: usize| {
            if dtype == DType::Bool { k.is_multiple_of(3).into() } else { (k % 251) as u8 }
        };
        let given: Vec<u8> = (0..source_len * size).map(of).collect();
        let before: Vec<u8> = (0..dest_len * size).map(|k| of(k + 1)).collect();
        let source = driver.block_alloc(BlockSpec::new(dtype, source_len)).unwrap();
        let dest = driver.block_alloc(BlockSpec::new(dtype, dest_len)).unwrap();
        driver.block_write(source, 0, &given).unwrap();
        driver.block_write(dest, 0, &before).unwrap();
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &shape,
            operands: &[source],
            params: &[],
            accesses: std::slice::from_ref(&from),
            dests: &[Dest { block: dest, access: to.clone(), whole: false }],
            memory: &[],
            lend: None,
            rest: None,
        };
        driver.eval_ir(&launch).unwrap();
        let mut found = vec![0; dest_len * size];
        driver.block_read(dest, 0, &mut found).unwrap();
        let mut wanted = before;
        for point in 0..points {
            let (a, b) = (at(&from, &shape, point) * size, at(&to, &shape, point) * size);
            wanted[b..b + size].copy_from_slice(&given[a..a + size]);
        }
        assert!(found == wanted, "{dtype:?} over {shape:?} from {from:?} to {to:?}");
        driver.block_free(source);
        driver.block_free(dest);
    }
}
