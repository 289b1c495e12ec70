//! gpupy's side: expressions on one driver, recorded anew for each run.
//!
//! Owns [`Ours`]. Not here: sizes and inputs (`work.rs`).

use crate::work::{Scene, TURNS, Work, plane, points};
use crate::{Api, Outcome};
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, Registry, ScalarFunction, Settings};
use std::cell::OnceCell;
use std::sync::Arc;

/// Which part of a point's state the count is.
const COUNT: usize = 2;

/// A context whose work is all one driver's.
pub struct Ours {
    context: Context,
    /// The turns of a point, once they were asked for.
    turns: OnceCell<Arc<ScalarFunction>>,
}

impl Ours {
    /// Opens an API's driver.
    ///
    /// # Errors
    /// It does not start.
    pub fn open(api: &Api) -> Outcome<Ours> {
        let registry = Registry::new().register(api.name, api.driver);
        let settings = Settings {
            driver: api.name.into(),
            placement: Placement::Strict,
            driver_fallback: false,
            ..Settings::from_env()?
        };
        let context = Context::new(registry, settings);
        context.driver()?;
        Ok(Ours { context, turns: OnceCell::new() })
    }

    /// The device's name.
    pub fn device(&self) -> Result<String> {
        Ok(self.context.driver()?.1.device)
    }

    /// The inputs as arrays, on the device.
    pub fn prepare(&self, inputs: &[Vec<f32>]) -> Result<Vec<Array>> {
        let array = |values: &Vec<f32>| {
            Array::from_bytes(DType::F32, &[values.len()], bytemuck::cast_slice(values))
        };
        inputs.iter().map(array).collect()
    }

    /// Computes a program on so many elements each way, and waits for the device.
    pub fn run(&self, work: Work, side: usize, inputs: &[Array]) -> Result<()> {
        let results = self.record(work, side, inputs)?;
        self.context.evaluate(&results.iter().collect::<Vec<_>>())
    }

    /// All elements of the first result.
    pub fn result(&self, work: Work, side: usize, inputs: &[Array]) -> Result<Vec<f32>> {
        let results = self.record(work, side, inputs)?;
        let bytes = self.context.read(&results[0])?.to_vec()?;
        Ok(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect())
    }

    fn record(&self, work: Work, side: usize, inputs: &[Array]) -> Result<Vec<Array>> {
        Ok(match work {
            Work::DistanceMap => vec![self.distance_map(side)?.array],
            Work::Sphere => self.sphere(side)?,
            Work::Scaled => {
                let [x, y] = [0, 1].map(|which| self.expression(&inputs[which]));
                vec![x.with(Op::Mul, 2.5)?.and(Op::Add, &y)?.array]
            }
            Work::EscapeTimes => vec![self.escape_times(side)?.array],
            Work::Sum => vec![self.context.reduce(Op::Add, &inputs[0], &[0], false)?],
        })
    }

    fn expression(&self, array: &Array) -> Expression<'_> {
        Expression { context: &self.context, array: array.clone() }
    }

    /// The coordinates of a square's elements along an axis.
    fn coordinates(&self, side: usize, axis: usize) -> Result<Expression<'_>> {
        let index = self.context.index(&[side, side], axis)?;
        Ok(self.expression(&self.context.cast(&index, DType::F32)?))
    }

    fn distance_map(&self, side: usize) -> Result<Expression<'_>> {
        let (i, j) = (self.coordinates(side, 0)?, self.coordinates(side, 1)?);
        let mut nearest: Option<Expression<'_>> = None;
        for [row, column] in points(side) {
            let (dx, dy) = (i.with(Op::Sub, row)?, j.with(Op::Sub, column)?);
            let square = dx.and(Op::Mul, &dx)?.and(Op::Add, &dy.and(Op::Mul, &dy)?)?;
            let distance = square.apply(Op::Sqrt)?;
            nearest = Some(match nearest {
                None => distance,
                Some(nearest) => nearest.and(Op::Min, &distance)?,
            });
        }
        Ok(nearest.unwrap_or(i))
    }

    fn escape_times(&self, side: usize) -> Result<Expression<'_>> {
        let [left, top, apart] = plane(side);
        let at =
            |axis, first| self.coordinates(side, axis)?.with(Op::Mul, apart)?.with(Op::Add, first);
        let (y, x) = (at(0, top)?, at(1, left)?);
        if self.turns.get().is_none() {
            let made = Arc::new(self.turns_of_a_point()?);
            self.turns.get_or_init(|| made);
        }
        let Some(function) = self.turns.get() else { return Ok(x) };
        let args = [ArrayOrScalar::Array(&x.array), ArrayOrScalar::Array(&y.array)];
        Ok(self.expression(&self.context.call(function, COUNT, &args)?))
    }

    /// The turns that a point takes, as `gpupy.kernel` would record it: a state of the point, the count and the number
    /// of the turn.
    fn turns_of_a_point(&self) -> Result<ScalarFunction> {
        let float = || self.expression(&Array::argument(DType::F32));
        let (x, y, re, im, count) = (float(), float(), float(), float(), float());
        let turn = self.expression(&Array::argument(DType::I32));
        let [zero, begin, end] =
            [Scalar::f32(0.0), Scalar::i32(1), Scalar::i32(0)].map(ArrayOrScalar::Scalar);
        let given = [&x, &y].map(|argument| argument.array.clone());
        let entry = ScalarFunction::recorded(&given, &[zero, zero, zero, end, begin])?;
        let (square_re, square_im) = (re.and(Op::Mul, &re)?, im.and(Op::Mul, &im)?);
        let near = square_re.and(Op::Add, &square_im)?.with(Op::Le, 4.0)?;
        let last = [ArrayOrScalar::Array(&turn.array), ArrayOrScalar::Scalar(Scalar::i32(TURNS))];
        let more = turn.of(self.context.apply(Op::Lt, &last)?);
        let inside = near.and(Op::And, &more)?;
        let next_re = square_re.and(Op::Sub, &square_im)?.and(Op::Add, &x)?;
        let next_im = re.with(Op::Mul, 2.0)?.and(Op::Mul, &im)?.and(Op::Add, &y)?;
        let next_count = count.with(Op::Add, 1.0)?;
        let one = [ArrayOrScalar::Array(&turn.array), ArrayOrScalar::Scalar(Scalar::i32(1))];
        let next_turn = turn.of(self.context.apply(Op::Add, &one)?);
        let kept = |new: &Expression<'_>, old: &Expression<'_>| {
            let args = [&inside, new, old].map(|of| ArrayOrScalar::Array(&of.array));
            self.context.apply(Op::Select, &args)
        };
        let state = [
            kept(&next_re, &re)?,
            kept(&next_im, &im)?,
            kept(&next_count, &count)?,
            kept(&next_turn, &turn)?,
            self.context.apply(Op::Select, &[ArrayOrScalar::Array(&inside.array), begin, end])?,
        ];
        let taken = [x, y, re, im, count, turn].map(|argument| argument.array);
        let segment =
            ScalarFunction::recorded(&taken, &state.each_ref().map(ArrayOrScalar::Array))?;
        ScalarFunction::of_segments(2, Some(&entry), &[Arc::new(segment)], TURNS as u32 + 1)
    }

    fn sphere(&self, side: usize) -> Result<Vec<Array>> {
        let Scene { radius, eye, z, toward, constant } = Scene::of(side);
        let dx = self.coordinates(side, 0)?.with(Op::Sub, eye)?;
        let dy = self.coordinates(side, 1)?.with(Op::Sub, eye)?;
        let square = |e: &Expression<'_>| e.and(Op::Mul, e).map(|e| e.array);
        let (xx, yy) = (self.expression(&square(&dx)?), self.expression(&square(&dy)?));
        let a = xx.and(Op::Add, &yy)?.with(Op::Add, z * z)?;
        let discriminant = a.with(Op::Mul, -4.0 * constant)?.with(Op::Add, toward * toward)?;
        let root = discriminant.apply(Op::Sqrt)?.apply(Op::Neg)?.with(Op::Add, -toward)?;
        let t = root.and(Op::Div, &a.with(Op::Mul, 2.0)?)?;
        let [nx, ny] = [&dx, &dy].map(|d| t.and(Op::Mul, d)?.with(Op::Div, radius));
        let nz = t.with(Op::Mul, -z)?.with(Op::Add, z)?.with(Op::Div, radius)?;
        let lit = ny?.and(Op::Sub, &nx?)?.and(Op::Add, &nz)?;
        let (is_lit, hits) = (lit.with(Op::Gt, 0.0)?, discriminant.with(Op::Gt, 0.0)?);
        let channel = |[background, ambient, diffuse]: [f32; 3]| {
            let bright = lit.with(Op::Mul, diffuse)?.with(Op::Add, ambient)?;
            let shade = is_lit.select(ArrayOrScalar::Array(&bright.array), ambient)?;
            Ok(hits
                .select(ArrayOrScalar::Array(&shade.array), background)?
                .with(Op::Mul, 255.0)?
                .array)
        };
        Scene::CHANNELS.into_iter().map(channel).collect()
    }
}

/// An array whose operations are short to write.
struct Expression<'c> {
    context: &'c Context,
    array: Array,
}

impl<'c> Expression<'c> {
    fn of(&self, array: Array) -> Expression<'c> {
        Expression { context: self.context, array }
    }

    fn apply(&self, op: Op) -> Result<Expression<'c>> {
        Ok(self.of(self.context.apply(op, &[ArrayOrScalar::Array(&self.array)])?))
    }

    fn with(&self, op: Op, scalar: f32) -> Result<Expression<'c>> {
        let args = [ArrayOrScalar::Array(&self.array), ArrayOrScalar::Scalar(Scalar::f32(scalar))];
        Ok(self.of(self.context.apply(op, &args)?))
    }

    fn and(&self, op: Op, other: &Expression<'c>) -> Result<Expression<'c>> {
        let args = [ArrayOrScalar::Array(&self.array), ArrayOrScalar::Array(&other.array)];
        Ok(self.of(self.context.apply(op, &args)?))
    }

    /// `chosen` where this, a bool, holds; otherwise a scalar.
    fn select(&self, chosen: ArrayOrScalar<'_>, other: f32) -> Result<Expression<'c>> {
        let args =
            [ArrayOrScalar::Array(&self.array), chosen, ArrayOrScalar::Scalar(Scalar::f32(other))];
        Ok(self.of(self.context.apply(Op::Select, &args)?))
    }
}
