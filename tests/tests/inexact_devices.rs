//! Inexact devices: deviations that they do not report are detected, and reported ones are handled.
//!
//! Owns [`InexactDevice`], the reference driver whose results are changed as such devices change them.

#![allow(clippy::unwrap_used)]

use gpupy_conformance::{Case, Options};
use gpupy_core::driver::*;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};

/// One deviation in float32.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Habit {
    /// Quotients are two numbers off.
    Division,
    /// Roots are one number off.
    Root,
    /// Subnormal results are zero.
    Flush,
    /// The least or greatest of a NaN and a number is the number.
    DropNan,
    /// There is no negative zero.
    OneZero,
    /// A comparison is the opposite of its opposite, which holds for a NaN.
    Compare,
}

impl Habit {
    /// The device's version of a correct float32 result.
    fn spoil(self, op: Op, x: f32) -> f32 {
        match self {
            Habit::Division if op == Op::Div && x.is_normal() => f32::from_bits(x.to_bits() ^ 2),
            Habit::Root if op == Op::Sqrt && x.is_normal() => f32::from_bits(x.to_bits() ^ 1),
            Habit::Flush if x.is_subnormal() => 0f32.copysign(x),
            Habit::DropNan if matches!(op, Op::Min | Op::Max) && x.is_nan() => 1.0,
            Habit::OneZero if x == 0.0 => 0.0,
            _ => x,
        }
    }
}

struct InexactDevice {
    inner: Box<dyn Driver>,
    habit: Habit,
    /// Whether the driver says so.
    reports: bool,
}

impl InexactDevice {
    fn boxed(habit: Habit, reports: bool) -> Box<dyn Driver> {
        Box::new(InexactDevice { inner: driver_soft::new(), habit, reports })
    }

    /// Operations that the driver does not claim.
    fn denies(&self, op: Op) -> bool {
        let bad = match self.habit {
            Habit::Division => op == Op::Div,
            Habit::Root => op == Op::Sqrt,
            _ => false,
        };
        self.reports && bad
    }

    /// Changes the elements of a destination that a launch has written whole.
    fn change(&mut self, dest: &Dest, len: usize, change: impl Fn(&mut [u8])) -> Result<()> {
        let mut bytes = vec![0; len];
        self.inner.block_read(dest.block, 0, &mut bytes)?;
        change(&mut bytes);
        self.inner.block_write(dest.block, 0, &bytes)
    }
}

impl Driver for InexactDevice {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut caps = self.inner.init(config)?;
        // It changes elements of blocks only.
        caps.memory_launches = false;
        caps.flushes_subnormals = self.reports && self.habit == Habit::Flush;
        Ok(caps)
    }

    fn cleanup(&mut self) {
        self.inner.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        if self.denies(op) { Method::Absent } else { self.inner.get_method(op, dtype) }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.inner.block_alloc(spec)
    }

    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.inner.block_read(block, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.inner.block_write(block, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        match program.insts.iter().find(|inst| self.denies(inst.op)) {
            Some(_) => Err(Error::new(ErrorKind::Unsupported, "check_ir")),
            None => self.inner.check_ir(program),
        }
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let computes =
            |op: &Op| op.is_scalar_op() && !matches!(op, Op::Cast | Op::Bitcast | Op::Select);
        let op = launch.program.insts.iter().map(|inst| inst.op).find(computes);
        let turned = self.habit == Habit::Compare && op == Some(Op::Lt);
        let mut program = launch.program.clone();
        if turned {
            let opposite = program.insts.iter_mut().filter(|inst| inst.op == Op::Lt);
            opposite.for_each(|inst| inst.op = Op::Ge);
        }
        let evaluated = self.inner.eval_ir(&Launch { program: &program, ..*launch })?;
        let len: usize = launch.shape.iter().product();
        for (dest, dtype) in launch.dests.iter().zip(&launch.program.dests) {
            let (true, Some(op)) = (dest.whole, op) else { continue };
            let map = launch.program.form == gpupy_core::ir::Form::Map;
            match dtype {
                DType::F32 if map => {
                    let habit = self.habit;
                    self.change(dest, len * 4, |bytes| {
                        for x in bytes.chunks_exact_mut(4) {
                            let was = f32::from_ne_bytes([x[0], x[1], x[2], x[3]]);
                            x.copy_from_slice(&habit.spoil(op, was).to_ne_bytes());
                        }
                    })?;
                }
                DType::Bool if turned => {
                    self.change(dest, len, |bytes| bytes.iter_mut().for_each(|x| *x ^= 1))?;
                }
                _ => {}
            }
        }
        Ok(evaluated)
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}

/// The elementwise cases that fail.
fn failures(habit: Habit, reports: bool) -> Vec<String> {
    let elementwise = |group: &str, _: &str| group == "elementwise";
    let options = Options { wanted: Some(&elementwise), ..Options::default() };
    let report =
        gpupy_conformance::run(move || InexactDevice::boxed(habit, reports), options).unwrap();
    report.failures().map(Case::full_name).collect()
}

#[test]
fn what_a_careless_device_does_not_report_is_caught() {
    let check = |habit: Habit, wanted: &str| {
        let failed = failures(habit, false);
        assert!(failed.iter().any(|case| case.starts_with(wanted)), "{habit:?}: {failed:#?}");
    };
    check(Habit::Division, "elementwise/div float32");
    check(Habit::Root, "elementwise/sqrt float32");
    check(Habit::Flush, "elementwise/mul float32");
    check(Habit::DropNan, "elementwise/min float32");
    check(Habit::OneZero, "elementwise/neg float32");
    check(Habit::Compare, "elementwise/lt float32");
}

#[test]
fn what_a_careless_device_reports_is_no_failure() {
    for habit in [Habit::Division, Habit::Root, Habit::Flush] {
        assert_eq!(failures(habit, true), [""; 0], "{habit:?}");
    }
}

#[test]
fn what_a_careless_device_denies_is_computed_right_by_the_next() {
    let registry = Registry::new()
        .register("sloppy", || InexactDevice::boxed(Habit::Division, true))
        .register("soft", driver_soft::new);
    let context =
        Context::new(registry, Settings { driver: "sloppy".into(), ..Settings::default() });
    let bytes: Vec<u8> = [1f32, 2.0, 10.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let x = Array::from_bytes(DType::F32, &[3], &bytes).unwrap();
    let third = context
        .apply(Op::Div, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(Scalar::f32(3.0))])
        .unwrap();
    let more =
        context.apply(Op::Add, &[ArrayOrScalar::Array(&third), ArrayOrScalar::Array(&x)]).unwrap();
    let got = context.read(&more).unwrap().to_vec().unwrap();
    let wanted: Vec<u8> =
        [1f32, 2.0, 10.0].iter().flat_map(|x| (x / 3.0 + x).to_ne_bytes()).collect();
    assert_eq!(got, wanted);
}
