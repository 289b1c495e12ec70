//! Failed allocations: whichever allocation fails, the program gets an error, every value stays, and the same
//! work succeeds afterwards. Tested on the driver that works on host memory and on the reference.
#![allow(clippy::unwrap_used)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpupy_core::{DType, ErrorKind, Op, Result, Scalar, memory};
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside, Placement, Registry, Settings};

/// The arrays that a program starts with.
struct Given {
    /// More elements than lie in a base, computed at once.
    small: Array,
    /// Enough elements that operations are recorded.
    large: Array,
    matrix: Array,
    index: Array,
    mask: Array,
    context: Context,
}

/// The process has one count of allocations (`memory::fail_at`): tests allocate one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

type Program = fn(&Given) -> Result<Vec<Array>>;

fn floats(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>();
    let bytes: Vec<u8> =
        (0..count).flat_map(|k| ((k * 7 % 31) as f32 - 9.0).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

impl Given {
    fn new(driver: &str, placement: Placement) -> Given {
        let registry = Registry::new()
            .register_host(driver_cpu::NAME, driver_cpu::new)
            .register(driver_soft::NAME, driver_soft::new);
        let settings = Settings { driver: driver.into(), placement, ..Settings::default() };
        let context = Context::new(registry, settings);
        context.driver().unwrap();
        let index: Vec<u8> = (0..300i32).flat_map(|k| (k * 11 % 500).to_ne_bytes()).collect();
        let mask: Vec<u8> = (0..500u32).map(|k| u8::from(k % 3 == 0)).collect();
        Given {
            small: floats(&[500]),
            large: floats(&[40_000]),
            matrix: floats(&[40, 50]),
            index: Array::from_bytes(DType::I32, &[300], &index).unwrap(),
            mask: Array::from_bytes(DType::Bool, &[500], &mask).unwrap(),
            context,
        }
    }

    fn two(&self, op: Op, a: &Array, b: &Array) -> Result<Array> {
        self.context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)])
    }

    /// The bytes of all arrays from before.
    fn bytes(&self) -> Vec<Vec<u8>> {
        let all = [&self.small, &self.large, &self.matrix, &self.index, &self.mask];
        all.iter().map(|array| self.context.read(array).unwrap().to_vec().unwrap()).collect()
    }
}

/// Programs that together ask for memory in every way.
const PROGRAMS: [(&str, Program); 16] = [
    ("a sum of few", |g| Ok(vec![g.two(Op::Add, &g.small, &g.small)?])),
    ("a chain of many", |g| {
        let sum = g.two(Op::Add, &g.large, &g.large)?;
        let product = g.two(Op::Mul, &sum, &g.large)?;
        Ok(vec![
            g.context
                .apply(Op::Sqrt, &[ArrayOrScalar::Array(&g.two(Op::Mul, &product, &product)?)])?,
        ])
    }),
    ("reductions", |g| {
        Ok(vec![
            g.context.reduce(Op::Add, &g.large, &[0], false)?,
            g.context.reduce(Op::Max, &g.matrix, &[0], false)?,
            g.context.reduce(Op::Add, &g.matrix.transpose(&[1, 0]), &[0], true)?,
        ])
    }),
    ("scans", |g| {
        Ok(vec![g.context.scan(Op::Add, &g.large, 0)?, g.context.scan(Op::Max, &g.matrix, 0)?])
    }),
    ("sorts", |g| {
        Ok(vec![
            g.context.sort(&g.large, 0)?,
            g.context.argsort(&g.small, 0)?,
            g.context.sort(&g.matrix, 0)?,
        ])
    }),
    ("products", |g| {
        let turned = g.matrix.transpose(&[1, 0]);
        let whole = g.context.cast(&g.matrix, DType::I32)?;
        Ok(vec![
            g.context.matmul(&g.matrix, &turned)?,
            g.context.matmul(&whole, &whole.transpose(&[1, 0]))?,
            g.context.matmul(&g.matrix, &g.small.slice_axis(0, 0, 50, 2).insert_axis(1))?,
        ])
    }),
    ("joined parts", |g| {
        let parts = [g.small.clone(), g.two(Op::Add, &g.small, &g.small)?, g.large.clone()];
        Ok(vec![g.context.join(0, &parts)?])
    }),
    ("picked elements", |g| {
        let indices = [Some(&g.index)];
        let picked = g.context.fancy_index(&g.small, &indices, 0, Outside::Refuse)?;
        Ok(vec![g.context.fancy_index(&g.large, &indices, 0, Outside::Wrap)?, picked])
    }),
    ("put elements", |g| {
        let copied = g.context.copy(&g.large)?;
        g.context.put(&copied, &[Some(&g.index)], 0, Outside::Refuse, Scalar::f32(5.0).into())?;
        Ok(vec![copied])
    }),
    ("a mask's positions", |g| {
        let large =
            g.context.apply(Op::Lt, &[ArrayOrScalar::Array(&g.large), Scalar::f32(0.0).into()])?;
        Ok(vec![g.context.where_true(&g.mask)?, g.context.where_true(&large)?])
    }),
    ("writes", |g| {
        let copied = g.context.copy(&g.large)?;
        let part = copied.slice_axis(0, 100, 20_000, 1);
        g.context
            .assign(&part, ArrayOrScalar::Array(&g.large.slice_axis(0, 39_999, 20_000, -1)))?;
        g.context.assign(&copied.slice_axis(0, 1, 900, 3), Scalar::f32(2.5).into())?;
        let few = g.context.copy(&g.small)?;
        g.context.assign(
            &few.slice_axis(0, 0, 250, 2),
            ArrayOrScalar::Array(&g.small.slice_axis(0, 0, 250, 1)),
        )?;
        Ok(vec![copied, few])
    }),
    ("casts", |g| {
        Ok(vec![g.context.cast(&g.large, DType::I32)?, g.context.cast(&g.small, DType::Bool)?])
    }),
    ("faces", |g| {
        let copied = g.context.copy(&g.small)?;
        let dtype_view = g.context.dtype_view(&copied, DType::U32, 0);
        g.context
            .assign(&dtype_view.slice_axis(0, 0, 100, 1), Scalar::new(DType::U32, 7).into())?;
        Ok(vec![dtype_view, copied])
    }),
    ("constants", |g| {
        let full = g.context.full(&[50_000], Scalar::f32(2.5))?;
        let few = g.context.full(&[300], Scalar::f32(1.5))?;
        Ok(vec![full.clone(), few, g.context.reduce(Op::Add, &full, &[0], false)?])
    }),
    ("copies of what lies otherwise", |g| {
        let turned = g.matrix.transpose(&[1, 0]);
        Ok(vec![g.context.copy(&turned)?, turned, g.large.slice_axis(0, 39_999, 10_000, -4)])
    }),
    ("places of extremes", |g| {
        Ok(vec![g.context.place(Op::Max, &g.large, 0)?, g.context.place(Op::Min, &g.matrix, 1)?])
    }),
];

fn run(given: &Given, program: Program) -> Result<Vec<Vec<u8>>> {
    let results = program(given)?;
    results.iter().map(|array| given.context.read(array)?.to_vec()).collect()
}

#[test]
fn whichever_allocation_is_refused_nothing_is_lost() {
    let _alone = alone();
    let mut refused = 0;
    for (driver, placement) in [
        (driver_cpu::NAME, Placement::Auto),
        (driver_cpu::NAME, Placement::Strict),
        (driver_soft::NAME, Placement::Strict),
    ] {
        for (name, program) in PROGRAMS {
            let given = Given::new(driver, placement);
            let (before, wanted) = (given.bytes(), run(&given, program).unwrap());
            for n in 1.. {
                let case = format!("{driver} {placement:?}, {name}, allocation {n}");
                let given = Given::new(driver, placement);
                // Free memory is released, so that it must be allocated again.
                given.context.trim().unwrap();
                memory::fail_at(n);
                let done = run(&given, program);
                let left = memory::fail_at(0);
                match &done {
                    // The work may succeed in another way.
                    Ok(got) => assert_eq!(*got, wanted, "{case}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{case}: {error}")
                    }
                }
                assert_eq!(given.bytes(), before, "{case}: what was there");
                assert_eq!(run(&given, program).unwrap(), wanted, "{case}: the next time");
                if left > 0 {
                    assert!(done.is_ok(), "{case}");
                    break;
                }
                refused += u32::from(done.is_err());
            }
        }
    }
    assert!(refused > 100, "only {refused} refusals were seen");
}

#[test]
fn more_than_the_system_has_is_refused_in_numpys_words() {
    let _alone = alone();
    for driver in [driver_cpu::NAME, driver_soft::NAME] {
        let given = Given::new(driver, Placement::Strict);
        let full = given.context.full(&[1 << 23, 1 << 22], Scalar::f32(2.0)).unwrap();
        let more = given.two(Op::Add, &full, &full).unwrap();
        // Nothing is computed for which there is no memory.
        let rows = given.context.index(&[1 << 23, 1 << 22], 0).unwrap();
        let ramp = given.context.cast(&rows, DType::F32).unwrap();
        let all = "128. TiB for an array with shape (8388608, 4194304)";
        // A part is read by itself.
        let part = "16.0 TiB for an array with shape (1048576, 4194304)";
        let rows = full.slice_axis(0, 0, 1 << 20, 1);
        for (array, much) in [(&full, all), (&more, all), (&rows, part), (&ramp, all)] {
            let error = given.context.read(array).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::OutOfMemory);
            let words = format!("Unable to allocate {much} and data type float32");
            assert_eq!(error.message(), words, "{driver}");
        }
        assert!(run(&given, PROGRAMS[0].1).is_ok());
    }
}
