//! Routines, the rows of the table of library operations: each that a driver offers, within the bound of its row.
//!
//! Not here: the references (`gpupy_core::routines`).

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, ensure, fail, fine, skip};
use gpupy_core::driver::{Access, BlockSpec, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::routines::{Routine, RoutineCall};
use gpupy_core::shape::contiguous_strides;
use gpupy_core::{DType, ErrorKind};

pub const GROUP: &str = "routines";

/// Extents before and behind the whole axis.
const BATCHES: [(usize, usize); 5] = [(1, 1), (3, 1), (1, 5), (2, 3), (17, 2)];

pub fn run(suite: &mut Suite<'_>) {
    for routine in Routine::all() {
        for (dtype, _) in routine.info().dtypes {
            suite.case(GROUP, &format!("{routine} of {dtype} within its bound"), |device| {
                need(device, routine, *dtype)?;
                let mut rng = Rng::new(171);
                for call in calls(routine) {
                    for (outer, inner) in BATCHES {
                        RoutineRun::new(call, *dtype, [outer, inner], &mut rng).check(device)?;
                    }
                }
                Ok(())
            });
            suite.case(GROUP, &format!("{routine} of {dtype} from the end, into part"), |device| {
                need(device, routine, *dtype)?;
                let mut rng = Rng::new(172);
                for call in calls(routine) {
                    let run = RoutineRun::new(call, *dtype, [2, 3], &mut rng);
                    RoutineRun { is_backwards: true, room: 5, ..run }.check(device)?;
                }
                Ok(())
            });
        }
        suite.case(GROUP, &format!("{routine} that is not offered is refused"), |device| {
            let absent =
                routine.info().dtypes.iter().find(|(from, _)| !device.caps.offers(routine, *from));
            let Some((from, _)) = absent else { return skip("every dtype is offered") };
            let Some(call) = calls(routine).pop() else { return Ok(()) };
            match device.driver.check_ir(&program(&call, *from, AccessKind::Affine)) {
                Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
                other => fail(format!("check_ir says {other:?}")),
            }
        });
    }
}

fn need(device: &Device, routine: Routine, dtype: DType) -> Outcome {
    match device.caps.offers(routine, dtype) {
        true => Ok(()),
        false => skip("routines that are not offered, which the core has done elsewhere"),
    }
}

/// Calls of a routine along the middle of three axes, for several lengths.
fn calls(routine: Routine) -> Vec<RoutineCall> {
    let attributes = routine.info().attributes;
    let mut all = Vec::new();
    for n in [1u64, 2, 3, 4, 5, 7, 8, 12, 15, 16, 30, 31, 64, 97, 100, 101, 210, 257, 384] {
        for given in [n, n / 2 + 1, n.div_ceil(3)] {
            for inverse in [0, 1] {
                let value = |(name, _): &(&str, DType)| match *name {
                    "axis" => 1,
                    "given" => given,
                    "inverse" => inverse,
                    "scale" => if given == n { 1f64 } else { 1.0 / n as f64 }.to_bits(),
                    _ => n,
                };
                let values: Vec<u64> = attributes.iter().map(value).collect();
                all.extend(RoutineCall::new(routine, &values, 3));
            }
        }
    }
    all.dedup();
    all
}

fn program(call: &RoutineCall, from: DType, kind: AccessKind) -> gpupy_core::ir::Program {
    let routine = call.routine();
    let mut b = Builder::new(Form::Routine { routine }, 3);
    let (operand, access) = (b.operand(from), b.access(kind));
    let load = b.load(operand, access);
    let result = b.routine(routine, load, routine.result_dtype(from).unwrap_or(from));
    b.store(result);
    b.finish()
}

/// A launch of a routine on numbers drawn by chance.
struct RoutineRun {
    call: RoutineCall,
    from: DType,
    to: DType,
    shape: [usize; 3],
    operand: Vec<f64>,
    /// Whether the operand is read from the end along every axis.
    is_backwards: bool,
    /// Elements of the destination before and behind the results.
    room: usize,
}

impl RoutineRun {
    fn new(
        call: RoutineCall,
        from: DType,
        [outer, inner]: [usize; 2],
        rng: &mut Rng,
    ) -> RoutineRun {
        let to = call.routine().result_dtype(from).unwrap_or(from);
        let shape = [outer, call.points().result, inner];
        let count: usize = call.operand_shape(&shape).iter().product::<usize>() * parts(from);
        let operand = (0..count).map(|_| f64::from(rng.float())).collect();
        RoutineRun { call, from, to, shape, operand, is_backwards: false, room: 0 }
    }

    fn check(&self, device: &mut Device) -> Outcome {
        let given = self.call.operand_shape(&self.shape);
        let count: usize = given.iter().product();
        let mut strides = contiguous_strides(&given);
        let mut access = Access::default();
        if self.is_backwards {
            access.offset = count as i64 - 1;
            strides.iter_mut().for_each(|stride| *stride = -*stride);
        }
        access.strides = strides.iter().map(|stride| *stride as i64).collect();
        // In the order in which they are read.
        let width = parts(self.from);
        let mut seen: Vec<f64> = self.operand.clone();
        if self.is_backwards {
            seen = self.operand.chunks(width).rev().flatten().copied().collect();
        }
        let wanted = self.call.evaluated(self.from, &bytes(self.from, &seen), &self.shape);
        let wanted = numbers(self.to, &fine(wanted, "the reference")?);
        let results: usize = self.shape.iter().product();
        let all = results + 2 * self.room;
        if count.max(all) > device.caps.max_block_len {
            return skip("larger than the largest block");
        }
        let from =
            fine(device.driver.block_alloc(BlockSpec::new(self.from, count)), "block_alloc")?;
        let to = fine(device.driver.block_alloc(BlockSpec::new(self.to, all)), "block_alloc")?;
        let before = vec![0.25; all * parts(self.to)];
        fine(device.driver.block_write(from, 0, &bytes(self.from, &self.operand)), "block_write")?;
        fine(device.driver.block_write(to, 0, &bytes(self.to, &before)), "block_write")?;
        let kind = if self.is_backwards { AccessKind::Affine } else { AccessKind::Contiguous };
        let program = program(&self.call, self.from, kind);
        program.verify().or_else(|error| fail(format!("the suite's own program: {error}")))?;
        let steps = contiguous_strides(&self.shape);
        let written = Access {
            offset: self.room as i64,
            strides: steps.iter().map(|stride| *stride as i64).collect(),
        };
        let launched = device.driver.eval_ir(&Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &self.shape,
            operands: &[from],
            params: self.call.attributes(),
            accesses: &[access],
            dests: &[Dest { block: to, access: written, whole: self.room == 0 }],
            memory: &[],
            lend: None,
            rest: None,
        });
        fine(launched, "eval_ir")?;
        let mut found = vec![0; all * self.to.size()];
        fine(device.driver.block_read(to, 0, &mut found), "block_read")?;
        device.driver.block_free(from);
        device.driver.block_free(to);
        let found = numbers(self.to, &found);
        let inside = self.room * parts(self.to)..(self.room + results) * parts(self.to);
        let outside = found[..inside.start].iter().chain(&found[inside.end..]);
        ensure(outside.into_iter().all(|x| *x == 0.25), || "other elements have changed".into())?;
        self.compare(&found[inside], &wanted)
    }

    /// Compares row by row with the reference.
    fn compare(&self, found: &[f64], wanted: &[f64]) -> Outcome {
        let (epsilon, width) = match self.to {
            DType::F32 | DType::C64 => (f64::from(f32::EPSILON), parts(self.to)),
            _ => (f64::EPSILON, parts(self.to)),
        };
        let [outer, n, inner] = self.shape;
        for row in 0..outer * inner {
            let at = |k: usize| ((row / inner * n + k) * inner + row % inner) * width;
            let every = || (0..n).flat_map(|k| at(k)..at(k) + width);
            let squares: f64 = every().map(|at| wanted[at] * wanted[at]).sum();
            let most = self.call.bound() * epsilon * (squares / n as f64).sqrt();
            for at in every() {
                let error = (found[at] - wanted[at]).abs();
                ensure(error <= most, || {
                    let (call, got, want) = (&self.call, found[at], wanted[at]);
                    format!("{call:?} over {:?}: {got} for {want}, most {most}", self.shape)
                })?;
            }
        }
        Ok(())
    }
}

/// Real numbers of an element.
fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

fn bytes(dtype: DType, numbers: &[f64]) -> Vec<u8> {
    match dtype {
        DType::F32 | DType::C64 => numbers.iter().flat_map(|x| (*x as f32).to_ne_bytes()).collect(),
        _ => numbers.iter().flat_map(|x| x.to_ne_bytes()).collect(),
    }
}

fn numbers(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let (singles, doubles) = (bytes.as_chunks::<4>().0, bytes.as_chunks::<8>().0);
    match dtype {
        DType::F32 | DType::C64 => singles.iter().map(|b| f32::from_ne_bytes(*b).into()).collect(),
        _ => doubles.iter().map(|b| f64::from_ne_bytes(*b)).collect(),
    }
}
