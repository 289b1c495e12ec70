//! Discrete Fourier transforms of rows.
//!
//! Owns [`run`] and [`FourierPlans`], the plans that were made. Rows are gathered into planes of float64, several rows
//! beside each other, transformed, and scattered; float32 is computed in float64 too, as in NumPy. Real rows of an even
//! number of points are complex rows of half as many. A long row is a matrix, whose columns and rows are transformed.
//! Threads share rows. Invariant: bits depend on neither the threads, the processor nor the rows beside.
//!
//! Not here: plans (`plan.rs`), passes (`radix_passes.rs`), rows in memory (`moving.rs`), rows of the table
//! (`gpupy_core::routines`).

use super::long_row::{BESIDE, LongRow, plane_len, plane_of, planes_of};
use super::moving::{Float, Neighbours};
use super::plan::FourierPlan;
use super::radix_passes::{ComplexLanes, Planes};
use super::routine_launch::RoutineLaunch;
use crate::threads::executor::Executor;
use crate::traversal::iteration_space::{Point, StridedAccess, unravelled};
use gpupy_core::routines::root_of_unity;
use gpupy_core::{DType, Result};
use lru::LruCache;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// The kind of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransformKind {
    /// Of complex numbers.
    Complex { inverse: bool },
    /// Of real numbers, forward.
    OfReal,
    /// Of the half of a spectrum, inverse.
    ToReal,
}

/// Plans that are kept.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);
/// The points of all plans that are kept, each of which has some numbers for every point.
const KEPT_POINTS: usize = 1 << 22;
/// Numbers of a plane of rows beside each other, roughly: four planes stay in the second cache.
const PLANE: usize = 1 << 13;

/// The plans that were made, by whether they are of real rows and by the points of the transform.
pub struct FourierPlans {
    known: LruCache<(bool, usize), Arc<FourierRowPlan>>,
    /// The planes of the last long row: the system gives and takes so much memory slowly.
    spare: [Vec<f64>; 4],
}

impl Default for FourierPlans {
    fn default() -> FourierPlans {
        FourierPlans { known: LruCache::new(KEPT), spare: Default::default() }
    }
}

impl FourierPlans {
    fn get(&mut self, is_real: bool, n: usize) -> Result<Arc<FourierRowPlan>> {
        if let Some(plan) = self.known.get(&(is_real, n)) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(FourierRowPlan::new(is_real, n)?);
        self.known.put((is_real, n), plan.clone());
        while self.known.len() > 1
            && self.known.iter().map(|((_, n), _)| n).sum::<usize>() > KEPT_POINTS
        {
            self.known.pop_lru();
        }
        Ok(plan)
    }
}

/// The plan of the complex transform of a row.
enum ComplexPlan {
    Short(FourierPlan),
    Long(LongRow),
}

impl ComplexPlan {
    /// Numbers that a row takes in each plane.
    fn room(&self, points: usize) -> usize {
        match self {
            ComplexPlan::Short(plan) => plan.room(points),
            ComplexPlan::Long(_) => points,
        }
    }
}

/// The plan of a row, real or complex.
struct FourierRowPlan {
    n: usize,
    /// The points of the complex transform: of a real row of an even number of points, half as many.
    points: usize,
    complex: ComplexPlan,
    /// `exp(−2πi·k / n)`, for real rows of half as many complex points.
    roots: Vec<ComplexLanes>,
}

impl FourierRowPlan {
    fn new(is_real: bool, n: usize) -> Result<FourierRowPlan> {
        let halved = is_real && n.is_multiple_of(2);
        let points = if halved { n / 2 } else { n };
        let complex = match LongRow::of(points) {
            Some(long) => ComplexPlan::Long(long?),
            None => ComplexPlan::Short(FourierPlan::new(points, is_real)?),
        };
        let root = |k: u64| {
            let [c, s] = root_of_unity(k, n as u64);
            ComplexLanes { re: c, im: -s }
        };
        let roots = if halved { (0..=points as u64).map(root).collect() } else { Vec::new() };
        Ok(FourierRowPlan { n, points, complex, roots })
    }
}

/// Evaluates a launch of a transform.
///
/// # Errors
/// - `OutOfMemory`: there is no room for a plan or a row.
pub fn run(
    launch: &RoutineLaunch<'_>,
    kind: TransformKind,
    plans: &mut FourierPlans,
    executor: &mut Executor<'_>,
) -> Result<()> {
    match launch.dtype {
        DType::F32 | DType::C64 => transformed::<f32>(launch, kind, plans, executor),
        _ => transformed::<f64>(launch, kind, plans, executor),
    }
}

fn transformed<T: Float>(
    launch: &RoutineLaunch<'_>,
    kind: TransformKind,
    plans: &mut FourierPlans,
    executor: &mut Executor<'_>,
) -> Result<()> {
    let attributes = launch.call.attributes();
    let (n, scale) = (attributes[2] as usize, f64::from_bits(attributes[3]));
    let plan = plans.get(!matches!(kind, TransformKind::Complex { .. }), n)?;
    let rows = BatchRows::of(launch);
    // Four operations a nanosecond, roughly.
    let time = (launch.call.cost(launch.shape.iter().product()) / 4.0) as u64;
    // Of rows that lie side by side, more are a longer part of each page and of each line: the planes may leave the
    // second cache for that.
    let plane = if rows.are_side_by_side() { 2 * PLANE } else { PLANE };
    let work = |count: usize, spare: [Vec<f64>; 4]| {
        RowWork::<T>::new(&plan, kind, scale, [count, plane], spare)
    };
    match &plan.complex {
        ComplexPlan::Long(long) => {
            let mut work = work(1, std::mem::take(&mut plans.spare))?;
            work.each(&rows, 0..rows.count(), &mut |data, room, _| long.run(data, room, executor))?;
            if work.planes[0].len() <= KEPT_POINTS / 2 {
                plans.spare = work.planes;
            }
            Ok(())
        }
        ComplexPlan::Short(short) => executor.share(rows.count(), time, &|numbers| {
            work(numbers.len(), Default::default())?.each(
                &rows,
                numbers,
                &mut |data, room, batch| {
                    short.run(data, room, batch);
                    Ok(())
                },
            )
        }),
    }
}

/// Transforms so many rows from the first planes into them; the others are room.
type TransformRows<'t> =
    &'t mut dyn for<'a> FnMut(&mut Planes<'a>, &mut Planes<'a>, usize) -> Result<()>;

/// The rows of a launch, numbered so that neighbours lie beside each other.
struct BatchRows<'a> {
    from: StridedAccess<'a>,
    to: StridedAccess<'a>,
    axis: usize,
    /// The points of the operand along the whole axis.
    given: usize,
    /// The batch axes, and their extents: the one along which neighbours lie is the last.
    axes: Point,
    extents: Point,
    rank: usize,
}

// SAFETY: threads write different elements and read none that is written; the core does not touch any
// of them until the evaluation returns.
unsafe impl Sync for BatchRows<'_> {}

impl<'a> BatchRows<'a> {
    fn of(launch: &RoutineLaunch<'a>) -> BatchRows<'a> {
        let axis = launch.call.axis();
        let step = |axis: &usize| launch.dest.access.strides[*axis].unsigned_abs();
        let mut axes: Point =
            (0..launch.shape.len()).filter(|a| *a != axis && launch.shape[*a] > 1).collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(step(axis)));
        BatchRows {
            from: launch.read,
            to: launch.dest,
            axis,
            given: launch.call.points().operand,
            extents: axes.iter().map(|axis| launch.shape[*axis]).collect(),
            axes,
            rank: launch.shape.len(),
        }
    }

    fn count(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether a row's neighbour is nearer than its next point, in the operand and in the result.
    fn are_side_by_side(&self) -> bool {
        [&self.from, &self.to].iter().all(|line| {
            let step = |axis: usize| line.access.strides[axis].unsigned_abs();
            self.axes.last().is_some_and(|axis| step(*axis) < step(self.axis))
        })
    }

    /// The rows of the operand and of the result from a number on, and how many there are.
    fn neighbours_at(&self, number: usize) -> (Neighbours, Neighbours, usize) {
        let mut point = Point::from_elem(0, self.rank);
        for (axis, i) in self.axes.iter().zip(unravelled(number, &self.extents)) {
            point[*axis] = i;
        }
        let rows = |line: &StridedAccess<'_>| {
            let stride = self.axes.last().map_or(0, |axis| line.access.strides[*axis]);
            let apart = stride as isize * line.size as isize;
            Neighbours { first: line.walk(&point, self.axis), apart }
        };
        let rest = self.extents.last().map_or(1, |extent| extent - number % extent);
        (rows(&self.from), rows(&self.to), rest)
    }
}

/// What one thread needs to transform rows of elements whose parts are `T`.
struct RowWork<'a, T> {
    plan: &'a FourierRowPlan,
    kind: TransformKind,
    scale: f64,
    /// The most rows beside each other.
    beside: usize,
    /// Two planes of the transform and two of its room. They begin in different cache sets.
    planes: [Vec<f64>; 4],
    element: std::marker::PhantomData<T>,
}

impl<'a, T: Float> RowWork<'a, T> {
    fn new(
        plan: &'a FourierRowPlan,
        kind: TransformKind,
        scale: f64,
        [rows, plane]: [usize; 2],
        mut planes: [Vec<f64>; 4],
    ) -> Result<RowWork<'a, T>> {
        // Of half a spectrum there is one point more.
        let room = plan.complex.room(plan.points).max(plan.points + 1);
        let beside = (plane / room).clamp(1, BESIDE).min(rows);
        for plane in &mut planes {
            // There may be one from the last time, with other numbers.
            if plane.len() < plane_len(room * beside) {
                *plane = Vec::new();
                *plane = plane_of(room * beside)?;
            }
        }
        Ok(RowWork { plan, kind, scale, beside, planes, element: std::marker::PhantomData })
    }

    /// Transforms these rows.
    fn each(
        &mut self,
        rows: &BatchRows<'_>,
        numbers: Range<usize>,
        transform: TransformRows<'_>,
    ) -> Result<()> {
        let mut number = numbers.start;
        while number < numbers.end {
            number += self.run(rows, number..numbers.end, transform)?;
        }
        Ok(())
    }

    /// Transforms some of the rows, and says how many.
    fn run(
        &mut self,
        rows: &BatchRows<'_>,
        numbers: Range<usize>,
        transform: TransformRows<'_>,
    ) -> Result<usize> {
        let (from, to, rest) = rows.neighbours_at(numbers.start);
        let batch = rest.min(self.beside).min(numbers.len());
        let FourierRowPlan { n, points, roots, .. } = self.plan;
        let (n, points, given, scale) = (*n, *points, rows.given, self.scale);
        let [mut data, mut room] = planes_of(&mut self.planes);
        // SAFETY: the contract guarantees that accesses name elements that exist, of this dtype and aligned for it;
        // no other thread writes these results.
        unsafe {
            match self.kind {
                // The inverse transform is that of the parts exchanged.
                TransformKind::Complex { inverse: true } => {
                    from.load_complex::<T>(data.im, data.re, [given, n], batch);
                    transform(&mut data, &mut room, batch)?;
                    to.store_complex::<T>([&*data.im, &*data.re], scale, n, batch);
                }
                TransformKind::Complex { inverse: false } => {
                    from.load_complex::<T>(data.re, data.im, [given, n], batch);
                    transform(&mut data, &mut room, batch)?;
                    to.store_complex::<T>([&*data.re, &*data.im], scale, n, batch);
                }
                TransformKind::OfReal if roots.is_empty() => {
                    from.load_real::<T>(data.re, [given, n], batch);
                    data.im[..n * batch].fill(0.0);
                    transform(&mut data, &mut room, batch)?;
                    to.store_complex::<T>([&*data.re, &*data.im], scale, n / 2 + 1, batch);
                }
                TransformKind::OfReal => {
                    let halves = [given.div_ceil(2), given / 2];
                    from.points(0, 2).load_real::<T>(data.re, [halves[0], points], batch);
                    from.points(1, 2).load_real::<T>(data.im, [halves[1], points], batch);
                    transform(&mut data, &mut room, batch)?;
                    for (k, root) in roots.iter().enumerate() {
                        let (here, mirror) = (k % points * batch, (points - k) % points * batch);
                        let x = data.part(here, batch).zip(data.part(mirror, batch));
                        for ((x, y), to) in x.zip(room.part_mut(k * batch, batch)) {
                            let y = ComplexLanes { re: y.re, im: -y.im };
                            let (sum, difference) = (x + y, (x - y) * *root);
                            *to.0 = sum.re + difference.im;
                            *to.1 = sum.im - difference.re;
                        }
                    }
                    let parts = [&*room.re, &*room.im];
                    to.store_complex::<T>(parts, 0.5 * scale, points + 1, batch);
                }
                TransformKind::ToReal if roots.is_empty() => {
                    let half = n / 2 + 1;
                    from.load_complex::<T>(data.im, data.re, [given, half], batch);
                    data.re[..batch].fill(0.0);
                    for k in 1..half {
                        let (here, mirror) = (k * batch, (n - k) * batch);
                        data.im.copy_within(here..here + batch, mirror);
                        for row in 0..batch {
                            data.re[mirror + row] = -data.re[here + row];
                        }
                    }
                    transform(&mut data, &mut room, batch)?;
                    to.store_real::<T>(data.im, scale, n, batch);
                }
                TransformKind::ToReal => {
                    from.load_complex::<T>(room.re, room.im, [given, points + 1], batch);
                    room.im[..batch].fill(0.0);
                    room.im[points * batch..(points + 1) * batch].fill(0.0);
                    for (k, root) in roots[..points].iter().enumerate() {
                        let (here, mirror) = (k * batch, (points - k) * batch);
                        let x = room.part(here, batch).zip(room.part(mirror, batch));
                        let root = ComplexLanes { re: root.re, im: -root.im };
                        for ((x, y), to) in x.zip(data.part_mut(here, batch)) {
                            let y = ComplexLanes { re: y.re, im: -y.im };
                            let (sum, difference) = (x + y, (x - y) * root);
                            *to.1 = sum.re - difference.im;
                            *to.0 = sum.im + difference.re;
                        }
                    }
                    transform(&mut data, &mut room, batch)?;
                    to.points(0, 2).store_real::<T>(data.im, scale, points, batch);
                    to.points(1, 2).store_real::<T>(data.re, scale, points, batch);
                }
            }
        }
        Ok(batch)
    }
}
