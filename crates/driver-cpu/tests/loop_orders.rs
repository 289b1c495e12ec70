//! In every loop order, a launch has the bits of the reference driver.

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Op};

/// Elements of each operand.
const LEN: usize = 40_000;

/// A launch over two operands, or one, of float32.
struct Case {
    program: Program,
    shape: Vec<usize>,
    accesses: Vec<Access>,
    /// Elements of the destination, which the launch need not fill.
    len: usize,
    dest: Access,
}

fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

/// The destination after `times` launches, all but the last with other elements.
fn run(driver: &mut dyn Driver, case: &Case, times: usize) -> Vec<u8> {
    run_on(driver, case, times, &|k| (k as f32 * 0.37).sin())
}

/// The destination after a launch with other elements of the first operand.
fn run_on(
    driver: &mut dyn Driver,
    case: &Case,
    times: usize,
    first: &dyn Fn(usize) -> f32,
) -> Vec<u8> {
    let mut block = |len: usize, at: &dyn Fn(usize) -> f32| -> BlockId {
        let block = driver.block_alloc(BlockSpec::new(DType::F32, len)).expect("a block");
        let bytes: Vec<u8> = (0..len).flat_map(|k| at(k).to_le_bytes()).collect();
        driver.block_write(block, 0, &bytes).expect("a write");
        block
    };
    let operands = [block(LEN, first), block(LEN, &|k| 1.0 + (k % 1013) as f32 * 1e-3)];
    let dest = block(case.len, &|k| -(k as f32));
    let launch = Launch {
        program: &case.program,
        fingerprint: case.program.fingerprint(),
        shape: &case.shape,
        operands: &operands[..case.program.operands.len()],
        params: &[],
        accesses: &case.accesses,
        dests: &[Dest { block: dest, access: case.dest.clone(), whole: false }],
        memory: &[],
        lend: None,
        rest: None,
    };
    for _ in 0..times {
        driver.eval_ir(&launch).expect("an evaluation");
    }
    let mut bytes = vec![0; 4 * case.len];
    driver.block_read(dest, 0, &mut bytes).expect("a read");
    operands.into_iter().chain([dest]).for_each(|block| driver.block_free(block));
    bytes
}

fn check(cases: impl IntoIterator<Item = Case>) {
    let (mut cpu, mut soft) = (driver_cpu::new(), driver_soft::new());
    for driver in [&mut cpu, &mut soft] {
        driver.init(&Config::default()).expect("an open driver");
    }
    for case in cases {
        let want = run(&mut *soft, &case, 1);
        compare(&mut *cpu, &case, &want);
    }
}

/// Compares the destination with the expected elements.
fn compare(driver: &mut dyn Driver, case: &Case, want: &[u8]) {
    // Interpreted at first, as machine code later.
    for times in [1, 3] {
        let got = run(driver, case, times);
        let differs = got.chunks(4).zip(want.chunks(4)).position(|(got, want)| got != want);
        assert_eq!(
            differs, None,
            "element, after {times}: {:?} {:?} to {:?}\n{}",
            case.shape, case.accesses, case.dest, case.program
        );
    }
}

/// A map of two operands at two accesses.
fn map(shape: &[usize], first: Access, second: Access, len: usize, dest: Access) -> Case {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (walk, other) = (b.access(AccessKind::Affine), b.access(AccessKind::Affine));
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (x, y) = (b.load(x, walk), b.load(y, other));
    let sum = b.op(Op::Div, &[x, y]);
    b.store(sum);
    Case { program: b.finish(), shape: shape.to_vec(), accesses: vec![first, second], len, dest }
}

#[test]
fn maps_with_short_rows() {
    let mut cases = Vec::new();
    for (rows, columns) in [(700, 3), (1000, 2), (301, 10), (50, 41), (20, 128), (15, 200), (1, 9)]
    {
        let (r, c) = (rows as i64, columns as i64);
        let len = rows * columns;
        // A row for all, a column for all, a transposed matrix, every other element, backwards.
        let others = [
            access(5, &[0, 1]),
            access(7, &[1, 0]),
            access(0, &[0, 0]),
            access(0, &[1, r]),
            access(3, &[2 * c, 2]),
            access(LEN as i64 - 1, &[-c, -1]),
            access(c - 1, &[c, -1]),
        ];
        for other in others {
            let straight = access(2, &[c, 1]);
            let whole = access(0, &[c, 1]);
            cases.push(map(&[rows, columns], straight.clone(), other.clone(), len, whole));
            // Into a transposed destination, and one with gaps.
            cases.push(map(
                &[rows, columns],
                other.clone(),
                straight.clone(),
                len,
                access(0, &[1, r]),
            ));
            let gaps = access(1, &[c + 2, 1]);
            cases.push(map(&[rows, columns], straight, other, len + 2 * rows + 1, gaps));
        }
        let whole = access(0, &[5 * c, c, 1]);
        let other = access(1, &[1, 0, 3]);
        cases.push(map(&[3, 5, columns], access(0, &[0, c, 1]), other, 15 * columns, whole));
    }
    check(cases);
}

#[test]
fn maps_of_many_short_rows_in_three_axes() {
    let strides = [60 * 7, 7, 1];
    let whole = access(0, &strides);
    let others = [&[0, 0, 1], &[1, 0, 7], &[7, 0, 1], &[0, 1, 0], &[1, 20, 0]];
    check(others.map(|other| {
        map(&[20, 60, 7], whole.clone(), access(4, other), 20 * 60 * 7, whole.clone())
    }));
}

#[test]
fn maps_of_images_into_blocks() {
    let mut cases = Vec::new();
    for (rows, columns, b) in [(12, 20, 8), (3, 50, 16), (9, 31, 5), (2, 2, 100), (40, 3, 128)] {
        let (r, c, side) = (rows as i64, columns as i64, b as i64);
        let width = c * side;
        let image = access(3, &[width * 2, side, width, 1]);
        let shape = [rows, columns, 2, b];
        let len = rows * columns * 2 * b;
        let whole = access(0, &[c * 2 * side, 2 * side, side, 1]);
        // Another image, one number for all, and an operand that is contiguous nowhere.
        for other in [image.clone(), access(5, &[0; 4]), access(0, &[1, 0, 3, 1])] {
            cases.push(map(&shape, image.clone(), other.clone(), len, whole.clone()));
            let across = access(0, &[1, r, r * c * side, r * c]);
            cases.push(map(&shape, image.clone(), other, len, across));
        }
    }
    check(cases);
}

#[test]
fn reductions_along_and_across() {
    let mut cases = Vec::new();
    for op in [Op::Add, Op::Min] {
        for (outer, n) in [
            (1, 1usize),
            (1, 300),
            (1, 30_000),
            (700, 3),
            (3, 700),
            (300, 64),
            (90, 256),
            (70, 257),
            (20, 1100),
            (5, 1),
            (1500, 20),
        ] {
            let (o, m) = (outer as i64, n as i64);
            let chunks = n.div_ceil(256);
            let walks = [
                access(0, &[m, 1]),
                access(0, &[1, o]),
                access(9, &[0, 1]),
                access(9, &[1, 0]),
                access(o * m - 1, &[-m, -1]),
            ];
            for walk in walks {
                let mut b = Builder::new(Form::Reduce { op }, 2);
                let slot = b.access(AccessKind::Affine);
                let operand = b.operand(DType::F32);
                let x = b.load(operand, slot);
                let result = b.reduce(x);
                b.store(result);
                let (program, shape) = (b.finish(), vec![outer, n]);
                let len = outer * chunks;
                let c = chunks as i64;
                for dest in [access(0, &[c, 1]), access(0, &[1, o])] {
                    let (program, shape) = (program.clone(), shape.clone());
                    cases.push(Case { program, shape, accesses: vec![walk.clone()], len, dest });
                }
            }
        }
    }
    check(cases);
}

#[test]
fn reductions_with_much_before_and_something_after() {
    const ROWS: usize = 4900;
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (mut accesses, mut value) = (Vec::new(), None);
    for at in 0..24 {
        let slot = b.access(AccessKind::Affine);
        accesses.push(access(3 * at, &[8, 1]));
        let loaded = b.load(if at % 2 == 0 { x } else { y }, slot);
        value = Some(value.map_or(loaded, |quotient| b.op(Op::Div, &[quotient, loaded])));
    }
    let sum = b.reduce(value.expect("there are loads"));
    let root = b.op(Op::Sqrt, &[sum]);
    let value = b.op(Op::Div, &[root, sum]);
    b.store(value);
    let (first, second) = (|k: usize| 2.0 + (k as f32).sin(), |k| 1.0 + (k % 1013) as f32 * 1e-3);
    let quotient = |k: usize| {
        let load = |at: usize| if at & 1 == 0 { first(k + 3 * at) } else { second(k + 3 * at) };
        (1..24).fold(load(0), |quotient, at| quotient / load(at))
    };
    let want = (0..ROWS).flat_map(|row| {
        // The tree of eight elements.
        let mut lanes: Vec<f32> = (0..8).map(|k| quotient(8 * row + k)).collect();
        for half in [4, 2, 1] {
            (0..half).for_each(|lane| lanes[lane] += lanes[lane + half]);
        }
        (lanes[0].sqrt() / lanes[0]).to_le_bytes()
    });
    let want: Vec<u8> = want.collect();
    let (shape, dest) = (vec![ROWS, 8], access(0, &[1, 1]));
    let case = Case { program: b.finish(), shape, accesses, len: ROWS, dest };
    let mut cpu = driver_cpu::new();
    cpu.init(&Config::default()).expect("an open driver");
    for times in [1, 3] {
        assert!(run_on(&mut *cpu, &case, times, &first) == want, "after {times}");
    }
}

/// A reduction along the last of three axes: of an operand, or of a quotient as of `map`.
fn reduction(op: Op, shape: [usize; 3], walks: &[Access]) -> Case {
    let mut b = Builder::new(Form::Reduce { op }, 3);
    let slots: Vec<u32> = walks.iter().map(|_| b.access(AccessKind::Affine)).collect();
    let operands: Vec<u32> = walks.iter().map(|_| b.operand(DType::F32)).collect();
    let loads: Vec<u32> = slots.iter().zip(operands).map(|(slot, x)| b.load(x, *slot)).collect();
    let value = if let [x, y] = loads[..] { b.op(Op::Div, &[x, y]) } else { loads[0] };
    let result = b.reduce(value);
    b.store(result);
    let [rows, columns, chunks] = [shape[0], shape[1], shape[2].div_ceil(256)];
    let dest = access(0, &[(columns * chunks) as i64, chunks as i64, 1]);
    let (accesses, len) = (walks.to_vec(), rows * columns * chunks);
    Case { program: b.finish(), shape: shape.to_vec(), accesses, len, dest }
}

#[test]
fn reductions_of_what_is_computed() {
    let (mut cpu, mut soft) = (driver_cpu::new(), driver_soft::new());
    for driver in [&mut cpu, &mut soft] {
        driver.init(&Config::default()).expect("an open driver");
    }
    let blocks = [[3, 40, 4], [20, 30, 5], [60, 70, 8], [30, 60, 16], [9, 7, 100]];
    let long = [[1, 1, 39_000], [2, 3, 5000], [1, 30, 1024], [3, 2, 300]];
    for shape in blocks.into_iter().chain(long) {
        let [_, c, m] = shape.map(|extent| extent as i64);
        let whole = access(0, &[c * m, m, 1]);
        let following = access(5, &whole.strides);
        for other in [whole.clone(), access(1, &[0, 0, 1]), access(2, &[1, 3, 0])] {
            // The reference evaluates one operation at a time.
            let len = shape.iter().product();
            let quotients = map(&shape, following.clone(), other.clone(), len, whole.clone());
            let quotients = run(&mut *soft, &quotients, 1);
            let quotients: Vec<f32> =
                quotients.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
            let quotient = |k: usize| quotients.get(k).copied().unwrap_or(0.0);
            for op in [Op::Add, Op::Max] {
                let alone = reduction(op, shape, std::slice::from_ref(&whole));
                let want = run_on(&mut *soft, &alone, 1, &quotient);
                let walks = [following.clone(), other.clone()];
                compare(&mut *cpu, &reduction(op, shape, &walks), &want);
            }
        }
    }
}

#[test]
fn maps_whose_results_repeat() {
    let mut cases = Vec::new();
    for shape in [[6, 5, 40, 3], [100, 2, 50, 2], [1, 300, 1, 17], [9, 64, 70, 1], [3, 4, 5, 600]] {
        // Every choice of the axes along which neither operand varies.
        for same in 0..1usize << shape.len() {
            let varies = |axis: usize| same >> axis & 1 == 0;
            let along = |steps: [i64; 4]| -> Vec<i64> {
                (0..4).map(|axis| if varies(axis) { steps[axis] } else { 0 }).collect()
            };
            let [_, b, c, d] = shape.map(|extent| extent as i64);
            let (first, second) = (along([7, 5, 3, 1]), along([1, 0, 2, -1]));
            let len = shape.iter().product::<usize>();
            let whole = [b * c * d, c * d, d, 1];
            // All in order; each second row; transposed planes.
            let dests = [
                (len, access(0, &whole)),
                (2 * len + 3, access(3, &[2 * b * c * d, 2 * c * d, d, 1])),
                (len, access(0, &[c * d, shape[0] as i64 * c * d, d, 1])),
            ];
            for (len, dest) in dests {
                let (x, y) = (access(2, &first), access(700, &second));
                cases.push(map(&shape, x, y, len, dest));
            }
        }
    }
    check(cases);
}
