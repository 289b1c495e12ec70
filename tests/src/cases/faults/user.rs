//! A simulated user of arrays that continues after failures, and knows which operations may fail.
//!
//! Owns [`User`]: every array has a model beside it. Invariants: read values equal the model, to the bit; every
//! error is one that the plan excuses, and it names the failed function; a value that is reported as lost was
//! only on the device.
//!
//! Not here: the places of values (`account.rs`), the programs (`programs.rs`), the number of failures
//! (`every.rs`).

use super::account::Account;
use super::faulty::{Log, NAME};
use super::plan::{Lasts, Plan};
use crate::expect::compare::accepts;
use crate::expect::model::{self, Model};
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, ensure, fail, fine, skip};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};

/// The drivers of a program, and the planned faults.
pub struct Stage<'a> {
    pub context: &'a Context,
    pub log: &'a Log,
    pub plan: Option<Plan>,
    /// Whether no other driver may help, so that the plan's own errors reach the user.
    pub alone: bool,
}

/// An array of the user's.
#[derive(Clone, Copy)]
pub struct Name(usize);

/// An operand.
#[derive(Clone, Copy)]
pub enum In {
    Array(Name),
    Scalar(f32),
}

impl From<Name> for In {
    fn from(name: Name) -> In {
        In::Array(name)
    }
}

impl From<f32> for In {
    fn from(scalar: f32) -> In {
        In::Scalar(scalar)
    }
}

struct Item {
    array: Array,
    model: Model,
    base: usize,
}

pub struct User<'a> {
    stage: &'a Stage<'a>,
    rng: Rng,
    items: Vec<Option<Item>>,
    account: Account,
    /// The value that each base has now.
    values: Vec<usize>,
    healed: bool,
}

impl<'a> User<'a> {
    pub fn new(stage: &'a Stage<'a>) -> User<'a> {
        let (items, account, values) = (Vec::new(), Account::default(), Vec::new());
        User { stage, rng: Rng::new(1), items, account, values, healed: false }
    }

    /// An array of random float32 elements in host memory.
    pub fn given(&mut self, shape: &[usize]) -> Outcome<Name> {
        let elements: Vec<_> =
            (0..shape.iter().product()).map(|_| Scalar::f32(self.rng.float())).collect();
        let bytes: Vec<u8> = elements.iter().flat_map(|x| x.as_f32().to_ne_bytes()).collect();
        let array = fine(Array::from_bytes(DType::F32, shape, &bytes), "an array")?;
        let name = self.add(array, Model::new(DType::F32, shape, elements), Vec::new(), false);
        self.account.set_on_host(self.value(name)?);
        Ok(name)
    }

    /// The coordinates along an axis as float32.
    pub fn index(&mut self, shape: &[usize], axis: usize) -> Outcome<Name> {
        let context = self.stage.context;
        let index = fine(context.index(shape, axis), "an index")?;
        let array = fine(context.cast(&index, DType::F32), "a cast")?;
        let elements =
            crate::expect::oracle::points(shape).map(|p| Scalar::f32(p[axis] as f32)).collect();
        Ok(self.add(array, Model::new(DType::F32, shape, elements), Vec::new(), true))
    }

    pub fn unary(&mut self, op: Op, a: Name) -> Outcome<Name> {
        self.apply(op, &[a.into()])
    }

    pub fn binary(&mut self, op: Op, a: Name, b: impl Into<In>) -> Outcome<Name> {
        self.apply(op, &[a.into(), b.into()])
    }

    fn apply(&mut self, op: Op, args: &[In]) -> Outcome<Name> {
        let (mut models, mut operands, mut needs) = (Vec::new(), Vec::new(), Vec::new());
        for arg in args {
            match arg {
                In::Array(name) => {
                    let item = self.item(*name)?;
                    models.push(item.model.clone());
                    operands.push(ArrayOrScalar::Array(&item.array));
                    needs.push(self.values[item.base]);
                }
                In::Scalar(x) => {
                    models.push(Model::new(DType::F32, &[], vec![Scalar::f32(*x)]));
                    operands.push(ArrayOrScalar::Scalar(Scalar::f32(*x)));
                }
            }
        }
        let Some(model) = model::apply(op, DType::F32, &models) else {
            return fail(format!("no model of {}", op.info().name));
        };
        let array = fine(self.stage.context.apply(op, &operands), op.info().name)?;
        Ok(self.add(array, model, needs, false))
    }

    pub fn reduce(&mut self, op: Op, name: Name, axis: usize) -> Outcome<Name> {
        let item = self.item(name)?;
        let Some(model) = item.model.reduce(op, axis) else {
            return fail(format!("no model of {} along an axis", op.info().name));
        };
        let reduced = self.stage.context.reduce(op, &item.array, &[axis], false);
        let needs = vec![self.values[item.base]];
        Ok(self.add(fine(reduced, "a reduction")?, model, needs, true))
    }

    /// A view of an array, made alike of the array and of its model.
    pub fn view(
        &mut self,
        name: Name,
        array: impl Fn(&Array) -> Array,
        model: impl Fn(&Model) -> Model,
    ) -> Outcome<Name> {
        let item = self.item(name)?;
        let view = Item { array: array(&item.array), model: model(&item.model), base: item.base };
        self.items.push(Some(view));
        Ok(Name(self.items.len() - 1))
    }

    /// `count` elements of an axis from a start, with a step.
    pub fn slice(
        &mut self,
        name: Name,
        axis: usize,
        (start, len, step): (usize, usize, isize),
    ) -> Outcome<Name> {
        self.view(
            name,
            |array| array.slice_axis(axis, start, len, step),
            |model| model.slice_axis(axis, start, len, step),
        )
    }

    /// Writes into an array.
    pub fn assign(&mut self, dest: Name, source: impl Into<In>) -> Outcome {
        let to = self.item(dest)?;
        let mut needs = vec![self.values[to.base]];
        let (arg, model) = match source.into() {
            In::Array(name) => {
                let from = self.item(name)?;
                needs.push(self.values[from.base]);
                (ArrayOrScalar::Array(&from.array), from.model.clone())
            }
            In::Scalar(x) => {
                let scalar = Scalar::f32(x);
                (ArrayOrScalar::Scalar(scalar), Model::new(DType::F32, &[], vec![scalar]))
            }
        };
        let Some(elements) = model.broadcast_to(&to.model.shape) else {
            return fail("the program's own shapes do not fit");
        };
        fine(self.stage.context.assign(&to.array, arg), "an assignment")?;
        to.model.assign(&elements);
        let base = to.base;
        self.values[base] = self.account.add(needs, false, self.stage.log.launched());
        Ok(())
    }

    pub fn drop(&mut self, name: Name) {
        self.items[name.0] = None;
    }

    /// Reads an array and compares it with its model.
    pub fn read(&mut self, name: Name) -> Outcome {
        let before = self.look();
        let got = self.stage.context.read(&self.item(name)?.array).and_then(|array| array.to_vec());
        self.happened(name, before)?;
        match got {
            Ok(bytes) => self.compare(name, &bytes),
            Err(error) => self.failed(name, &error),
        }
    }

    /// Reads one element.
    pub fn element(&mut self, name: Name, point: &[usize]) -> Outcome {
        let before = self.look();
        let item = self.item(name)?;
        let (got, wanted) = (self.stage.context.item(&item.array, point), item.model.get(point));
        self.happened(name, before)?;
        match got {
            Ok(got) => ensure(accepts(got, wanted, 0.0), || {
                format!("array {}: {point:?} is {got}, not {wanted}", name.0)
            }),
            Err(error) => self.failed(name, &error),
        }
    }

    /// Has an array computed, and waits.
    pub fn evaluate(&mut self, name: Name) -> Outcome {
        let before = self.look();
        let done = self.stage.context.evaluate(&[&self.item(name)?.array]);
        self.happened(name, before)?;
        done.or_else(|error| self.failed(name, &error))
    }

    /// Changes to another driver, if it starts.
    pub fn change_driver(&mut self, driver: &str) -> Outcome {
        self.stage.context.use_driver(driver).or_else(|error| {
            let starts = error.kind() != ErrorKind::Unavailable || driver != NAME || self.healed;
            ensure(!starts, || format!("use {driver}: {error}"))
        })
    }

    /// Reads everything when nothing fails any more; then no array is left.
    pub fn end(mut self) -> Outcome {
        self.stage.log.heal();
        self.healed = true;
        let left = (0..self.items.len()).filter(|at| self.items[*at].is_some());
        // Some in the order of their creation and some in reverse, because either order may hide an error.
        let (odd, even): (Vec<usize>, Vec<usize>) = left.partition(|at| at % 2 == 1);
        odd.into_iter().chain(even.into_iter().rev()).try_for_each(|at| self.read(Name(at)))
    }

    fn item(&self, name: Name) -> Outcome<&Item> {
        let gone = || fail("the program uses what it has dropped");
        self.items.get(name.0).and_then(Option::as_ref).map_or_else(gone, Ok)
    }

    /// The number of the value that an array shows.
    fn value(&self, name: Name) -> Outcome<usize> {
        Ok(self.values[self.item(name)?.base])
    }

    fn add(&mut self, array: Array, model: Model, needs: Vec<usize>, steps: bool) -> Name {
        self.values.push(self.account.add(needs, steps, self.stage.log.launched()));
        self.items.push(Some(Item { array, model, base: self.values.len() - 1 }));
        Name(self.items.len() - 1)
    }

    /// Notes which values are computed before a step; returns how often the plan has struck.
    fn look(&mut self) -> usize {
        let mut pending = vec![false; self.account.len()];
        for item in self.items.iter().flatten() {
            let computed = item.array.value().is_ok_and(|value| value.is_computed());
            pending[self.values[item.base]] |= !computed;
        }
        self.account.look(self.stage.log.launched(), &pending);
        self.stage.log.struck()
    }

    /// Notes which values may have been lost in a step that wanted this array.
    fn happened(&mut self, name: Name, struck_before: usize) -> Outcome {
        if let Some(said) = self.stage.log.broken() {
            return fail(format!("the core does not keep its promise: {said}"));
        }
        let loses = self.stage.plan.is_some_and(|plan| plan.loses());
        if loses && self.stage.log.struck() > struck_before {
            let wanted = self.value(name)?;
            self.account.lose(wanted);
        }
        Ok(())
    }

    /// A step fails that wanted this array.
    fn failed(&mut self, name: Name, error: &Error) -> Outcome {
        self.excuse(name, error)?;
        // Poison also spreads to values that were computed on the way.
        if error.kind() == ErrorKind::Poisoned {
            let wanted = self.value(name)?;
            self.account.lose(wanted);
        }
        Ok(())
    }

    /// Whether an error is one that the plan excuses, and says what failed.
    fn excuse(&self, name: Name, error: &Error) -> Outcome {
        let about = || format!("array {}: {error}", name.0);
        let Some(plan) = self.stage.plan else {
            return match error.kind() {
                ErrorKind::Unsupported => skip("the program needs what the driver lacks"),
                _ => fail(about()),
            };
        };
        let lost = self.account.may_be_lost(self.value(name)?);
        let fact = |wanted: &str| error.fact(wanted).is_some();
        match error.kind() {
            ErrorKind::Lost if plan.loses() => {
                ensure(lost, || format!("{}, but it was not only there", about()))?;
                ensure(fact("value"), || format!("{}, without a name", about()))
            }
            ErrorKind::Poisoned if plan.kind == ErrorKind::Poisoned => {
                ensure(lost, || format!("{}, but it was not only there", about()))
            }
            kind => {
                // A device that is lost once is opened again, without an error for the user.
                let silent = kind == ErrorKind::DeviceLost && plan.lasts == Lasts::Once;
                let planned = kind == plan.kind && self.stage.alone && !self.healed && !silent;
                ensure(planned, || format!("{}, which nothing excuses", about()))?;
                let named = fact("driver") || error.message().contains(NAME);
                ensure(named, || format!("{}, without a name", about()))
            }
        }
    }

    fn compare(&mut self, name: Name, bytes: &[u8]) -> Outcome {
        let item = self.item(name)?;
        let got = bytes.chunks_exact(4).filter_map(|bytes| Scalar::read(DType::F32, bytes));
        let wanted = item.model.elements();
        ensure(bytes.len() == wanted.len() * 4, || format!("{} bytes", bytes.len()))?;
        for (at, (got, wanted)) in got.zip(wanted).enumerate() {
            ensure(accepts(got, wanted, 0.0), || {
                format!("array {}: element {at} is {got}, not {wanted}", name.0)
            })?;
        }
        if item.array.is_whole() {
            let value = self.value(name)?;
            self.account.set_on_host(value);
        }
        Ok(())
    }
}
