//! gpupy's side: expressions on one driver, recorded anew for each run.
//!
//! Owns [`Ours`]. Not here: sizes and inputs (`work.rs`).

use crate::work::{Scene, Work, points};
use crate::{Api, Outcome};
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Arg, Array, Context, Placement, Registry, Settings};

/// A context whose work is all one driver's.
pub struct Ours {
    context: Context,
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
        Ok(Ours { context })
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

    /// Computes a program on so many elements each way; returns element 0 of the first result.
    pub fn run(&self, work: Work, side: usize, inputs: &[Array]) -> Result<f32> {
        let results = self.record(work, side, inputs)?;
        self.context.evaluate(&results.iter().collect::<Vec<_>>())?;
        let first = vec![0; results[0].ndim()];
        Ok(self.context.item(&results[0], &first)?.as_f32())
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
            let shade = is_lit.select(Arg::Array(&bright.array), ambient)?;
            Ok(hits.select(Arg::Array(&shade.array), background)?.with(Op::Mul, 255.0)?.array)
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
        Ok(self.of(self.context.apply(op, &[Arg::Array(&self.array)])?))
    }

    fn with(&self, op: Op, scalar: f32) -> Result<Expression<'c>> {
        let args = [Arg::Array(&self.array), Arg::Scalar(Scalar::f32(scalar))];
        Ok(self.of(self.context.apply(op, &args)?))
    }

    fn and(&self, op: Op, other: &Expression<'c>) -> Result<Expression<'c>> {
        let args = [Arg::Array(&self.array), Arg::Array(&other.array)];
        Ok(self.of(self.context.apply(op, &args)?))
    }

    /// `chosen` where this, a bool, holds; otherwise a scalar.
    fn select(&self, chosen: Arg<'_>, other: f32) -> Result<Expression<'c>> {
        let args = [Arg::Array(&self.array), chosen, Arg::Scalar(Scalar::f32(other))];
        Ok(self.of(self.context.apply(Op::Select, &args)?))
    }
}
