//! Times the driver alone, without the core: `cargo run --release -p driver-gl --example timing`.
//!
//! Prints, for each program, the first evaluation (with compilation) and the median of warm ones,
//! with nanoseconds an element. Set `MESA_SHADER_CACHE_DISABLE=1` and an empty `XDG_CACHE_HOME` to
//! see what compiling costs.

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar};
use std::time::{Duration, Instant};

/// A program with all arguments of a launch but blocks.
struct Work {
    name: String,
    program: Program,
    shape: Vec<usize>,
    operands: usize,
    params: Vec<u64>,
    accesses: Vec<Access>,
    out: usize,
}

fn main() -> Result<()> {
    let mut driver = driver_gl::new();
    let capabilities = driver.init(&Config::default())?;
    println!("{}", capabilities.device);
    for points in [1, 50, 100] {
        time(&mut *driver, &distance_map(512, points))?;
    }
    time(&mut *driver, &scaled_sum(1 << 24))?;
    time(&mut *driver, &scaled_sum(1 << 10))?;
    time(&mut *driver, &sphere(2048))?;
    for (name, offset, strides) in [
        ("shift by one row", 2048, [2048, 1]),
        ("shift by one column", 1, [2048, 1]),
        ("transpose", 0, [1, 2048]),
        ("every second column", 0, [2048, 2]),
        ("backwards", 2048 * 2048 - 1, [-2048, -1]),
        ("one row for all", 0, [0, 1]),
        ("one column for all", 0, [2048, 0]),
    ] {
        time(&mut *driver, &view(name, offset, strides))?;
    }
    time(&mut *driver, &laplacian(2048))?;
    time(&mut *driver, &sum(1 << 24))?;
    time(&mut *driver, &column_sums(2048))?;
    transfers(&mut *driver)
}

/// The least distance of each point of a square to some points.
fn distance_map(size: usize, points: usize) -> Work {
    let mut b = Builder::new(Form::Map, 2);
    let (row, col) = (b.access(AccessKind::Affine), b.access(AccessKind::Affine));
    let (y, x) = (b.index(row), b.index(col));
    let (y, x) = (b.convert(Op::Cast, y, DType::F32), b.convert(Op::Cast, x, DType::F32));
    let mut params = Vec::new();
    let mut least = None;
    for k in 0..points {
        let mut square = |b: &mut Builder, v: u32, step: usize| {
            params.push(Scalar::f32((k * step % size) as f32 + 0.25).bits);
            let p = b.param(DType::F32);
            let d = b.op(Op::Sub, &[v, p]);
            b.op(Op::Mul, &[d, d])
        };
        let (dx, dy) = (square(&mut b, x, 89), square(&mut b, y, 127));
        let sum = b.op(Op::Add, &[dx, dy]);
        let distance = b.op(Op::Sqrt, &[sum]);
        least = Some(match least {
            None => distance,
            Some(least) => b.op(Op::Min, &[least, distance]),
        });
    }
    b.store(least.unwrap_or(x));
    Work {
        name: format!("distance map, {size}², {points} points"),
        program: b.finish(),
        shape: vec![size, size],
        operands: 0,
        params,
        accesses: vec![access(0, &[1, 0]), access(0, &[0, 1])],
        out: size * size,
    }
}

fn scaled_sum(len: usize) -> Work {
    let mut b = Builder::new(Form::Map, 1);
    let all = b.access(AccessKind::Contiguous);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (x, y) = (b.load(x, all), b.load(y, all));
    let factor = b.param(DType::F32);
    let product = b.op(Op::Mul, &[x, factor]);
    let sum = b.op(Op::Add, &[product, y]);
    b.store(sum);
    Work {
        name: format!("2.5*x+y, {len} elements"),
        program: b.finish(),
        shape: vec![len],
        operands: 2,
        params: vec![Scalar::f32(2.5).bits],
        accesses: vec![access(0, &[1])],
        out: len,
    }
}

/// About the work of one channel of a shaded sphere.
fn sphere(size: usize) -> Work {
    let mut b = Builder::new(Form::Map, 2);
    let (row, col) = (b.access(AccessKind::Affine), b.access(AccessKind::Affine));
    let (y, x) = (b.index(row), b.index(col));
    let (y, x) = (b.convert(Op::Cast, y, DType::F32), b.convert(Op::Cast, x, DType::F32));
    let mut values = Vec::new();
    let mut param = |b: &mut Builder, value: f32| {
        values.push(Scalar::f32(value).bits);
        b.param(DType::F32)
    };
    let (half, radius) = (param(&mut b, size as f32 / 2.0), param(&mut b, size as f32 / 2.5));
    let (x, y) = (b.op(Op::Sub, &[x, half]), b.op(Op::Sub, &[y, half]));
    let (x, y) = (b.op(Op::Div, &[x, radius]), b.op(Op::Div, &[y, radius]));
    let (xx, yy) = (b.op(Op::Mul, &[x, x]), b.op(Op::Mul, &[y, y]));
    let rr = b.op(Op::Add, &[xx, yy]);
    let one = param(&mut b, 1.0);
    let inside = b.op(Op::Lt, &[rr, one]);
    let zz = b.op(Op::Sub, &[one, rr]);
    let zero = param(&mut b, 0.0);
    let zz = b.op(Op::Max, &[zz, zero]);
    let z = b.op(Op::Sqrt, &[zz]);
    let mut light = zero;
    for (value, factor) in [(x, 0.5), (y, -0.25), (z, 0.75)] {
        let factor = param(&mut b, factor);
        let product = b.op(Op::Mul, &[value, factor]);
        light = b.op(Op::Add, &[light, product]);
    }
    let light = b.op(Op::Max, &[light, zero]);
    let shine = b.op(Op::Mul, &[light, light]);
    let shine = b.op(Op::Mul, &[shine, shine]);
    let colour = b.op(Op::Add, &[light, shine]);
    let colour = b.op(Op::Select, &[inside, colour, zero]);
    b.store(colour);
    Work {
        name: format!("sphere, {size}², one channel"),
        program: b.finish(),
        shape: vec![size, size],
        operands: 0,
        params: values,
        accesses: vec![access(0, &[1, 0]), access(0, &[0, 1])],
        out: size * size,
    }
}

/// A view of 2048² elements plus the elements themselves.
fn view(name: &str, offset: i64, strides: [i64; 2]) -> Work {
    let mut b = Builder::new(Form::Map, 2);
    let (all, moved) = (b.access(AccessKind::Contiguous), b.access(AccessKind::Affine));
    let operand = b.operand(DType::F32);
    let (x, y) = (b.load(operand, all), b.load(operand, moved));
    let sum = b.op(Op::Add, &[x, y]);
    b.store(sum);
    // Smaller where the view would leave the block.
    let rows = if offset == 2048 { 2047 } else { 2048 };
    let cols = if strides[1] == 2 {
        1024
    } else if offset == 1 {
        2044
    } else {
        2048
    };
    Work {
        name: format!("x + {name}, {rows}x{cols}"),
        program: b.finish(),
        shape: vec![rows, cols],
        operands: 1,
        params: vec![],
        accesses: vec![access(0, &[cols as i64, 1]), access(offset, &strides)],
        out: rows * cols,
    }
}

/// Neighbours less the middle, over the interior of a square.
fn laplacian(size: usize) -> Work {
    let mut b = Builder::new(Form::Map, 2);
    let operand = b.operand(DType::F32);
    let (row, inner) = (size as i64, size - 2);
    let mut accesses = Vec::new();
    let mut total = None;
    for offset in [row + 1, 1, 2 * row + 1, row, row + 2] {
        accesses.push(access(offset, &[row, 1]));
        let slot = b.access(AccessKind::Affine);
        let x = b.load(operand, slot);
        total = Some(total.map_or(x, |t| b.op(Op::Sub, &[t, x])));
    }
    b.store(total.unwrap_or_default());
    Work {
        name: format!("laplacian, {inner}²"),
        program: b.finish(),
        shape: vec![inner, inner],
        operands: 1,
        params: vec![],
        accesses,
        out: inner * inner,
    }
}

fn sum(len: usize) -> Work {
    let name = format!("sum of chunks, {len} elements");
    let (shape, out) = (vec![len], len.div_ceil(256));
    let accesses = vec![access(0, &[1])];
    Work { name, shape, accesses, out, ..reduce_of_one(AccessKind::Contiguous, 1) }
}

fn reduce_of_one(kind: AccessKind, rank: u32) -> Work {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, rank);
    let (walk, x) = (b.access(kind), b.operand(DType::F32));
    let x = b.load(x, walk);
    let total = b.reduce(x);
    b.store(total);
    Work {
        name: String::new(),
        program: b.finish(),
        shape: vec![],
        operands: 1,
        params: vec![],
        accesses: vec![],
        out: 0,
    }
}

/// Sums of the chunks of each column of a square.
fn column_sums(size: usize) -> Work {
    let chunks = size.div_ceil(256);
    let shape = vec![size, size];
    let accesses = vec![access(0, &[1, size as i64])];
    let name = format!("sums of columns, {size}²");
    Work { name, shape, accesses, out: size * chunks, ..reduce_of_one(AccessKind::Affine, 2) }
}

fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

fn time(driver: &mut dyn Driver, work: &Work) -> Result<()> {
    let points: usize = work.shape.iter().product();
    let len = points.max(2048 * 2048 * usize::from(work.operands == 1));
    let data: Vec<u8> = (0..len).flat_map(|i| ((i % 1000) as f32).to_ne_bytes()).collect();
    let mut operands = Vec::new();
    for _ in 0..work.operands {
        let block = driver.block_alloc(BlockSpec::new(DType::F32, len))?;
        driver.block_write(block, 0, &data)?;
        operands.push(block);
    }
    let dest = driver.block_alloc(BlockSpec::new(DType::F32, work.out))?;
    let (first, _, _) = once(driver, work, &operands, dest)?;
    let mut times = Vec::new();
    let mut queued = Duration::MAX;
    let mut general = Duration::MAX;
    let mut specialised = None;
    for k in 0..400 {
        let (time, queueing, now_specialised) = once(driver, work, &operands, dest)?;
        if now_specialised > 0 {
            specialised = Some((k, time));
            general = times.iter().copied().min().unwrap_or_default();
            times.clear();
            continue;
        }
        queued = queued.min(queueing);
        times.push(time);
        if times.iter().sum::<Duration>() > Duration::from_millis(700) {
            break;
        }
    }
    times.sort();
    let median = times[times.len() / 2];
    print!(
        "{:44} first {:8.2} ms, warm {:8.3} ms ({:.2} ns an element), best {:.3}, queueing {:.3}",
        work.name,
        first.as_secs_f64() * 1e3,
        median.as_secs_f64() * 1e3,
        median.as_secs_f64() * 1e9 / points as f64,
        times[0].as_secs_f64() * 1e3,
        queued.as_secs_f64() * 1e3,
    );
    match specialised {
        Some((k, time)) => {
            let (time, general) = (time.as_secs_f64() * 1e3, general.as_secs_f64() * 1e3);
            println!(", specialised after {k} in {time:.1} ms, best before {general:.3}");
        }
        None => println!(),
    }
    operands.into_iter().chain([dest]).for_each(|block| driver.block_free(block));
    Ok(())
}

/// One evaluation, waited for; how long the call itself took, and how many kernels were specialised
/// for it.
fn once(
    driver: &mut dyn Driver,
    work: &Work,
    operands: &[BlockId],
    dest: BlockId,
) -> Result<(Duration, Duration, u32)> {
    let start = Instant::now();
    let mut out_shape = work.shape.clone();
    if let (Form::Reduce { .. }, Some(last)) = (work.program.form, out_shape.last_mut()) {
        *last = last.div_ceil(256);
    }
    let mut strides = vec![1; out_shape.len()];
    for k in (1..strides.len()).rev() {
        strides[k - 1] = strides[k] * out_shape[k] as i64;
    }
    let evaluated = driver.eval_ir(&Launch {
        program: &work.program,
        fingerprint: work.program.fingerprint(),
        shape: &work.shape,
        operands,
        params: &work.params,
        accesses: &work.accesses,
        dests: &[Dest { block: dest, access: access(0, &strides), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    })?;
    let queueing = start.elapsed();
    let mut out = [0; 4];
    driver.block_read(dest, 0, &mut out)?;
    Ok((start.elapsed(), queueing, evaluated.specialised))
}

fn transfers(driver: &mut dyn Driver) -> Result<()> {
    let len = 1 << 24;
    let block = driver.block_alloc(BlockSpec::new(DType::F32, len))?;
    let mut data = vec![1u8; len * 4];
    for round in 0..3 {
        let start = Instant::now();
        driver.block_write(block, 0, &data)?;
        let up = start.elapsed();
        let start = Instant::now();
        driver.block_read(block, 0, &mut data)?;
        let down = start.elapsed();
        let rate = |time: Duration| (len * 4) as f64 / time.as_secs_f64() / 1e9;
        println!("transfer {round}: up {:.1} GB/s, down {:.1} GB/s", rate(up), rate(down));
    }
    let mut one = [0; 4];
    let start = Instant::now();
    for k in 0..1000 {
        driver.block_read(block, k * 1001, &mut one)?;
    }
    println!("one element read: {:.1} µs", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
