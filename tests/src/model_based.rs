//! Model-based tests: a simulated user performs random operations on arrays, and keeps a model beside every
//! array.
//!
//! Owns [`ModelBasedUser`]. Invariant: every read equals the model, to the bit.
//!
//! Not here: the drivers and limits (`cases/arrays.rs`, `cases/faults/`).

use crate::expect::compare::{accepts, may_flush};
use crate::expect::model::{self, Model};
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, Stop, fail, skip};
use crate::reporting::trace::trace;
use gpupy_core::ir::FormKind;
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside};

const DTYPES: [DType; 3] = [DType::F32, DType::I32, DType::Bool];

/// An array and its model.
#[derive(Clone)]
struct Pair {
    array: Array,
    model: Model,
    /// How the log names it.
    name: usize,
}

/// A random user.
pub struct ModelBasedUser<'a> {
    context: &'a Context,
    rng: Rng,
    flushes: bool,
    reduces: bool,
    /// The number of attempts for an operation that fails.
    tries: usize,
    /// Errors that are ignored, if there are any.
    forgiven: Option<Vec<ErrorKind>>,
    pairs: Vec<Pair>,
    log: Vec<String>,
}

/// Asked in each pause: nothing has to stop.
fn go_on() -> bool {
    false
}

fn failure(error: Error) -> Stop {
    match error.kind() {
        ErrorKind::OutOfMemory => Stop::Skip("too little memory for one launch".into()),
        _ => Stop::Fail(error.to_string()),
    }
}

impl<'a> ModelBasedUser<'a> {
    /// A user of this context that tries a failing operation up to `tries` times. Evaluations pause, like those
    /// of a front end that handles signals.
    pub fn new(context: &'a Context, seed: u64, tries: usize) -> Outcome<ModelBasedUser<'a>> {
        context.set_interrupt(go_on);
        let caps = context.driver().map_err(failure)?.1;
        let (flushes, reduces) = (caps.flushes_subnormals, caps.has(FormKind::Reduce));
        let (rng, pairs, log, forgiven) = (Rng::new(seed), Vec::new(), Vec::new(), None);
        Ok(ModelBasedUser { context, rng, flushes, reduces, tries, forgiven, pairs, log })
    }

    /// Reads that fail with one of these kinds are skipped.
    pub fn forgive(&mut self, kinds: Vec<ErrorKind>) {
        self.forgiven = Some(kinds);
    }

    /// Takes so many random steps; then everything is read.
    pub fn live(&mut self, steps: usize) -> Outcome {
        let outcome = self.steps(steps);
        outcome.map_err(|stop| match stop {
            Stop::Fail(said) => Stop::Fail(format!("{said}\nafter\n  {}", self.log.join("\n  "))),
            skip => skip,
        })
    }

    fn steps(&mut self, steps: usize) -> Outcome {
        for _ in 0..3 {
            self.create()?;
        }
        for _ in 0..steps {
            match self.rng.below(22) {
                0 | 1 => self.create()?,
                2..=7 => self.operate()?,
                8..=10 => self.look()?,
                11 | 12 => self.reduce()?,
                13..=15 => self.write()?,
                16 => self.copy()?,
                20 => self.join()?,
                21 => self.pick()?,
                17 => self.read_one()?,
                18 if self.drivers()?.len() > 1 => self.change_driver()?,
                18 => {
                    let pair = self.any();
                    self.read(&pair)?;
                }
                _ if self.pairs.len() > 4 => {
                    let at = self.rng.below(self.pairs.len());
                    let gone = self.pairs.swap_remove(at);
                    self.note(format!("drop x{}", gone.name));
                }
                _ => {}
            }
        }
        for pair in self.pairs.clone() {
            self.read(&pair)?;
        }
        Ok(())
    }

    /// Writes a line of the log.
    fn note(&mut self, line: String) {
        trace(|| line.clone());
        self.log.push(line);
    }

    fn any(&mut self) -> Pair {
        self.pairs[self.rng.below(self.pairs.len())].clone()
    }

    fn add(&mut self, array: Array, model: Model, how: String) {
        let name = self.log.len();
        self.note(format!("x{name} = {how}  # {} {:?}", model.dtype, model.shape));
        self.pairs.push(Pair { array, model, name });
    }

    fn create(&mut self) -> Outcome {
        let shapes: [&[usize]; 10] =
            [&[], &[1], &[7], &[40], &[300], &[5, 8], &[4, 1], &[3, 4, 5], &[2, 30], &[0, 3]];
        let shape = self.rng.one_of(&shapes);
        let size: usize = shape.iter().product();
        let dtype = self.rng.one_of(&DTYPES);
        let (array, model, how) = match self.rng.below(5) {
            0 => {
                let scalar = self.rng.ordinary(dtype);
                let model = Model::new(dtype, shape, vec![scalar; size]);
                (Array::full(shape, scalar), model, format!("full {scalar}"))
            }
            1 if !shape.is_empty() => {
                let axis = self.rng.below(shape.len());
                let coordinate = |p: Vec<usize>| Scalar::i32(p[axis] as i32);
                let elements = crate::expect::oracle::points(shape).map(coordinate).collect();
                let model = Model::new(DType::I32, shape, elements);
                (self.context.index(shape, axis), model, format!("index of axis {axis}"))
            }
            _ => {
                let elements: Vec<_> = (0..size).map(|_| self.rng.ordinary(dtype)).collect();
                let bytes: Vec<u8> = elements
                    .iter()
                    .flat_map(|x| x.bytes().into_iter().take(dtype.size()))
                    .collect();
                let array = Array::from_bytes(dtype, shape, &bytes);
                (array, Model::new(dtype, shape, elements), "given".to_string())
            }
        };
        self.add(array.map_err(failure)?, model, how);
        Ok(())
    }

    fn operate(&mut self) -> Outcome {
        for _ in 0..50 {
            let row = &OPS[self.rng.below(OPS.len())];
            let skipped = matches!(row.rule, Rule::Special | Rule::Bitcast | Rule::FloatTest);
            if skipped || row.is_of_complex() || row.ulp > 0.0 || row.op == Op::Copysign {
                continue;
            }
            let args: Vec<_> = (0..row.arity).map(|_| self.any()).collect();
            let dtypes: Vec<_> = args.iter().map(|pair| pair.model.dtype).collect();
            let to = self.rng.one_of(&DTYPES);
            let from_float = row.op == Op::Cast && dtypes[0] == DType::F32 && to == DType::I32;
            let Some(dtype) = row.op.result_dtype(&dtypes, to).filter(|_| !from_float) else {
                continue;
            };
            let asked = if matches!(row.op, Op::Cast | Op::Select) { dtype } else { dtypes[0] };
            if !self.context.supports(row.op, asked) {
                continue;
            }
            let models: Vec<_> = args.iter().map(|pair| pair.model.clone()).collect();
            let Some(model) = model::apply(row.op, to, &models) else { continue };
            if model.size() > 2000 || (self.flushes && model.elements().into_iter().any(may_flush))
            {
                continue;
            }
            let array = if row.op == Op::Cast {
                self.context.cast(&args[0].array, to)
            } else {
                let arrays: Vec<_> =
                    args.iter().map(|pair| ArrayOrScalar::Array(&pair.array)).collect();
                self.context.apply(row.op, &arrays)
            };
            let names: Vec<_> = args.iter().map(|pair| format!("x{}", pair.name)).collect();
            self.add(array.map_err(failure)?, model, format!("{} {}", row.name, names.join(" ")));
            return Ok(());
        }
        Ok(())
    }

    /// A view of an array.
    fn look(&mut self) -> Outcome {
        let Pair { array, model, name } = self.any();
        let rank = model.shape.len();
        let kind = self.rng.below(6);
        if rank == 0 && kind < 4 {
            return Ok(());
        }
        let axis = self.rng.below(rank);
        let n = model.shape.get(axis).copied().unwrap_or(0);
        match kind {
            0 | 1 => {
                let step = self.rng.one_of(&[1, 1, 2, -1, -2, 3]);
                let start = self.rng.below(n);
                let room = if step > 0 { n - start } else { (start + 1).min(n) };
                let most = room.div_ceil(isize::unsigned_abs(step));
                let len = if n == 0 { 0 } else { self.rng.below(most + 1) };
                let how = format!("x{name}[axis {axis}: {len} from {start} by {step}]");
                let view = array.slice_axis(axis, start, len, step);
                self.add(view, model.slice_axis(axis, start, len, step), how);
            }
            2 if n > 0 => {
                let index = self.rng.below(n);
                let how = format!("x{name}[axis {axis}: {index}]");
                self.add(array.index_axis(axis, index), model.index_axis(axis, index), how);
            }
            3 => {
                let mut order: Vec<_> = (0..rank).collect();
                order.rotate_left(axis);
                let view = array.transpose(&order);
                self.add(view, model.transpose(&order), format!("x{name} transposed {order:?}"));
            }
            4 if rank < 4 => {
                let at = self.rng.below(rank + 1);
                let how = format!("x{name} with a new axis {at}");
                self.add(array.insert_axis(at), model.insert_axis(at), how);
            }
            5 => {
                let size = model.size();
                let shapes = [vec![size], vec![size / 2, 2], vec![2, size / 2], vec![1, size, 1]];
                let shape = &shapes[self.rng.below(4)];
                if shape.iter().product::<usize>() != size {
                    return Ok(());
                }
                if let Some(view) = array.reshape(shape) {
                    let reshaped = model.reshape(shape, view.strides());
                    // The strides are the core's own, so the order of elements is checked here.
                    let same = |(a, b): (Scalar, Scalar)| a.bits == b.bits;
                    if !reshaped.elements().into_iter().zip(model.elements()).all(same) {
                        return fail(format!("x{name} reshaped to {shape:?} has another order"));
                    }
                    self.add(view, reshaped, format!("x{name} reshaped {shape:?}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn reduce(&mut self) -> Outcome {
        let Pair { array, model, name } = self.any();
        let op = self.rng.one_of(&[Op::Add, Op::Min, Op::Max, Op::Mul, Op::And]);
        if !self.reduces || model.shape.is_empty() || !op.reduces(model.dtype) {
            return Ok(());
        }
        let axis = self.rng.below(model.shape.len());
        if model.shape[axis] == 0 {
            return Ok(());
        }
        let Some(reduced) = model.reduce(op, axis) else { return Ok(()) };
        // Intermediate results must not be flushed either, and products soon are.
        let products = self.flushes && op == Op::Mul && model.dtype == DType::F32;
        if products || (self.flushes && reduced.elements().into_iter().any(may_flush)) {
            return Ok(());
        }
        let array = self.context.reduce(op, &array, &[axis], false).map_err(failure)?;
        self.add(array, reduced, format!("{} of x{name} over axis {axis}", op.info().name));
        Ok(())
    }

    fn write(&mut self) -> Outcome {
        let dest = self.any();
        if !dest.model.is_writable() {
            return Ok(());
        }
        let source = self.any();
        if source.model.dtype != dest.model.dtype || self.rng.below(3) == 0 {
            let scalar = self.rng.ordinary(dest.model.dtype);
            self.note(format!("x{}[...] = {scalar}", dest.name));
            self.context.assign(&dest.array, ArrayOrScalar::Scalar(scalar)).map_err(failure)?;
            let all = Model::new(dest.model.dtype, &[], vec![scalar]);
            if let Some(all) = all.broadcast_to(&dest.model.shape) {
                dest.model.assign(&all);
            }
        } else if let Some(all) = source.model.broadcast_to(&dest.model.shape) {
            self.note(format!("x{}[...] = x{}", dest.name, source.name));
            self.context
                .assign(&dest.array, ArrayOrScalar::Array(&source.array))
                .map_err(failure)?;
            dest.model.assign(&all);
        }
        Ok(())
    }

    fn drivers(&self) -> Outcome<Vec<&'static str>> {
        self.context.driver_names().map_err(failure)
    }

    /// Changes to another driver; arrays keep their values.
    fn change_driver(&mut self) -> Outcome {
        let names = self.drivers()?;
        let name = names[self.rng.below(names.len())];
        self.note(format!("use {name}"));
        match self.context.use_driver(name) {
            // A driver that does not start is not chosen.
            Err(error) if error.kind() == ErrorKind::Unavailable && self.forgiven.is_some() => {
                Ok(())
            }
            other => other.map_err(failure),
        }
    }

    /// Repeats an operation while it fails and attempts are left; returns `None` when the error is ignored.
    fn insist<T>(&mut self, what: impl Fn(&Context) -> Result<T>) -> Outcome<Option<T>> {
        for _ in 0..self.tries {
            match what(self.context) {
                Ok(done) => return Ok(Some(done)),
                Err(error) => self.note(format!("  {error}")),
            }
        }
        match (what(self.context), &self.forgiven) {
            (Ok(done), _) => Ok(Some(done)),
            (Err(error), Some(kinds)) if kinds.contains(&error.kind()) => {
                self.note(format!("  {error}"));
                Ok(None)
            }
            (Err(error), Some(_)) => fail(format!("{error}, which nothing excuses")),
            (Err(error), None) => Err(failure(error)),
        }
    }

    /// Arrays one behind the other; where no two fit, parts of one.
    fn join(&mut self) -> Outcome {
        let first = self.any();
        let rank = first.model.shape.len();
        if rank == 0 {
            return Ok(());
        }
        let axis = self.rng.below(rank);
        let others = |model: &Model| {
            let mut shape = model.shape.clone();
            shape.remove(axis);
            (model.dtype, shape)
        };
        let mut parts = vec![first.clone()];
        for _ in 0..1 + self.rng.below(3) {
            let pair = self.any();
            let fits =
                pair.model.shape.len() == rank && others(&pair.model) == others(&first.model);
            let Pair { array, model, name } = if fits { pair } else { first.clone() };
            let n = model.shape[axis];
            let start = self.rng.below(n + 1);
            let (array, model) = match self.rng.below(3) {
                0 if n > 0 => {
                    (array.slice_axis(axis, n - 1, n, -1), model.slice_axis(axis, n - 1, n, -1))
                }
                _ => {
                    let len = n - start;
                    (array.slice_axis(axis, start, len, 1), model.slice_axis(axis, start, len, 1))
                }
            };
            parts.push(Pair { array, model, name });
        }
        let arrays: Vec<_> = parts.iter().map(|part| part.array.clone()).collect();
        let models: Vec<_> = parts.iter().map(|part| &part.model).collect();
        let joined = Model::join(axis, &models);
        if joined.size() > 2000 {
            return Ok(());
        }
        let names: Vec<_> = parts.iter().map(|part| format!("of x{}", part.name)).collect();
        let array = self.context.join(axis, &arrays).map_err(failure)?;
        self.add(array, joined, format!("join along {axis} {}", names.join(", ")));
        Ok(())
    }

    /// Elements along an axis at positions that another array gives, or a new one.
    fn pick(&mut self) -> Outcome {
        let Pair { array, model, name } = self.any();
        let (rank, dtype) = (model.shape.len(), model.dtype);
        let axis = self.rng.below(rank.max(1));
        let n = model.shape.get(axis).copied().unwrap_or(0);
        let needed = [(Op::Gather, dtype), (Op::Mod, DType::I32), (Op::Select, DType::I32)];
        if n == 0 || !needed.iter().all(|(op, dtype)| self.context.supports(*op, *dtype)) {
            return Ok(());
        }
        let other = self.any();
        let is_given = other.model.dtype != DType::I32;
        let (index, numbers, how) = if !is_given {
            (other.array, other.model, format!("x{}", other.name))
        } else {
            let len = 1 + self.rng.below(9);
            let any = (0..len).map(|_| self.rng.below(2 * n) as i32 - n as i32);
            let elements: Vec<_> = any.map(Scalar::i32).collect();
            let bytes: Vec<u8> =
                elements.iter().flat_map(|x| x.bytes().into_iter().take(4)).collect();
            let index = Array::from_bytes(DType::I32, &[len], &bytes).map_err(failure)?;
            let how = format!("{:?}", elements.iter().map(|x| x.as_i32()).collect::<Vec<_>>());
            (index, Model::new(DType::I32, &[len], elements), how)
        };
        let all = numbers.elements().into_iter().map(Scalar::as_i32);
        let inside = all.clone().all(|i| i >= -(n as i32) && i < n as i32);
        let outside = match self.rng.below(3) {
            // To check that all indices are inside, a pending index may have to be evaluated, which would
            // fail here, where nothing is repeated.
            0 if inside && is_given => Outside::Refuse,
            1 => Outside::Clip,
            _ => Outside::Wrap,
        };
        let placed = all.map(|i| match outside {
            Outside::Clip => Scalar::i32(i.clamp(0, n as i32 - 1)),
            Outside::Wrap | Outside::Refuse => Scalar::i32(i.rem_euclid(n as i32)),
        });
        let placed = Model::new(DType::I32, &numbers.shape, placed.collect());
        let indices: Vec<_> = (0..rank).map(|k| (k == axis).then_some(&index)).collect();
        if model.is_writable() && self.rng.below(4) == 0 {
            let scalar = self.rng.ordinary(dtype);
            self.note(format!("x{name}[axis {axis}: {how}] = {scalar} ({outside:?})"));
            let put =
                self.context.put(&array, &indices, axis, outside, ArrayOrScalar::Scalar(scalar));
            put.map_err(failure)?;
            model.put(axis, &placed, scalar);
            return Ok(());
        }
        let picked = model.pick(axis, &placed);
        if picked.size() > 2000 {
            return Ok(());
        }
        let array = self.context.fancy_index(&array, &indices, axis, outside).map_err(failure)?;
        self.add(array, picked, format!("x{name}[axis {axis}: {how}] ({outside:?})"));
        Ok(())
    }

    fn copy(&mut self) -> Outcome {
        let Pair { array, model, name } = self.any();
        let copied = self.context.copy(&array).map_err(failure)?;
        self.add(copied, model.copy(), format!("copy of x{name}"));
        Ok(())
    }

    fn read(&mut self, pair: &Pair) -> Outcome {
        let Pair { array, model, name } = pair;
        self.note(format!("read x{name}"));
        if array.shape() != model.shape || array.dtype() != model.dtype {
            let (shape, dtype) = (array.shape(), array.dtype());
            let wanted = (&model.shape, model.dtype);
            return fail(format!("x{name} is {dtype} {shape:?}, not {wanted:?}"));
        }
        let Some(bytes) = self.insist(|context| context.read(array))? else { return Ok(()) };
        let bytes = bytes.to_vec().map_err(failure)?;
        let size = model.dtype.size();
        let got = bytes.chunks_exact(size).filter_map(|bytes| Scalar::read(model.dtype, bytes));
        let wanted = model.elements();
        if bytes.len() != wanted.len() * size {
            return fail(format!("x{name} has {} bytes for {}", bytes.len(), wanted.len()));
        }
        for (at, (got, wanted)) in got.zip(wanted).enumerate() {
            self.same(*name, at, got, wanted)?;
        }
        Ok(())
    }

    fn read_one(&mut self) -> Outcome {
        let Pair { array, model, name } = self.any();
        if model.size() == 0 {
            return Ok(());
        }
        let point: Vec<_> = model.shape.iter().map(|n| self.rng.below(*n)).collect();
        self.note(format!("read x{name}{point:?}"));
        match self.insist(|context| context.item(&array, &point))? {
            Some(got) => self.same(name, 0, got, model.get(&point)),
            None => Ok(()),
        }
    }

    fn same(&self, name: usize, at: usize, got: Scalar, wanted: Scalar) -> Outcome {
        if accepts(got, wanted, 0.0) {
            return Ok(());
        }
        if self.flushes && may_flush(wanted) {
            return skip("a subnormal was met");
        }
        let (g, w) = (got.bits, wanted.bits);
        fail(format!("x{name}: element {at} is {got} ({g:#x}), not {wanted} ({w:#x})"))
    }
}
