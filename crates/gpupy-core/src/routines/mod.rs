//! The table of library operations: every fact about a *routine* is one row here.
//!
//! Owns [`Routine`], the number of a row, [`RoutineInfo`], the row, and [`RoutineCall`], a row with its attributes. A
//! routine computes all elements along one axis of its result, the *whole axis*, from all elements along that axis of
//! its operand; every other axis is a batch axis, along which rows are independent. The engine, the suite and drivers
//! ask the row for shapes, dtypes, cost, bound and reference; none of them knows a routine by its name.
//!
//! Invariants: the number of a row is part of the IR's memory form and never changes; the attributes of a call are the
//! parameters of its program, in the row's order.
//!
//! Not here: what a routine computes (`fourier_routines.rs`), its form (`ir/form.rs`), how a driver does it (the
//! drivers).

mod fourier_routines;

pub use fourier_routines::root_of_unity;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Shape;
use fourier_routines::{FFT, IRFFT, RFFT};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Room for the attributes of a routine.
pub const ATTRIBUTES: usize = 5;

/// The attributes of a call: the bits of each, zero-extended.
pub type Attributes = [u64; ATTRIBUTES];

/// The whole axis, an attribute of every routine.
pub const AXIS: usize = 0;

/// What the bits of a result depend on, besides the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitsDependOn {
    /// On nothing: every driver gives the same bits.
    Nothing,
    /// On the driver, never on its number of threads.
    Driver,
}

/// The points of a call along its whole axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholePoints {
    /// Those of the operand.
    pub operand: usize,
    /// Those of the result.
    pub result: usize,
}

/// One row of the table.
pub struct RoutineInfo {
    /// The name by which a driver offers it, and by which the IR's text form calls it.
    pub name: &'static str,
    /// The dtypes of the operand and of the result.
    pub dtypes: &'static [(DType, DType)],
    /// The names and dtypes of the attributes; the first is the whole axis.
    pub attributes: &'static [(&'static str, DType)],
    /// The shape rule; `None` for attributes that no call has.
    pub points: fn(&Attributes) -> Option<WholePoints>,
    /// Operations to compute one row.
    pub cost: fn(&Attributes) -> f64,
    /// The greatest error of a row's elements, in units of the result's epsilon times the root of the mean square of
    /// the exact row.
    pub bound: fn(&Attributes) -> f64,
    /// What bits depend on.
    pub bits: BitsDependOn,
    /// The reference: a row of the result from a row of an operand of this dtype.
    pub reference: fn(DType, &[u8], &Attributes) -> Vec<u8>,
}

/// All rows. Append; never renumber.
pub const ROUTINES: &[RoutineInfo] = &[FFT, RFFT, IRFFT];

/// A routine: the number of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Routine(u16);

impl Routine {
    /// Every routine.
    pub fn all() -> impl Iterator<Item = Routine> {
        (0..ROUTINES.len() as u16).map(Routine)
    }

    /// The routine of this name.
    pub fn from_name(name: &str) -> Option<Routine> {
        Routine::all().find(|routine| routine.info().name == name)
    }

    /// The routine with this number.
    pub fn from_number(number: u32) -> Option<Routine> {
        Routine::all().find(|routine| routine.number() == number)
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Its row.
    pub fn info(self) -> &'static RoutineInfo {
        &ROUTINES[usize::from(self.0)]
    }

    /// The dtype of the result for an operand of this dtype, if the routine takes it.
    pub fn result_dtype(self, operand: DType) -> Option<DType> {
        self.info().dtypes.iter().find(|(from, _)| *from == operand).map(|(_, to)| *to)
    }

    /// The dtypes of its attributes, which are those of its program's parameters.
    pub fn attribute_dtypes(self) -> impl Iterator<Item = DType> {
        self.info().attributes.iter().map(|(_, dtype)| *dtype)
    }
}

impl TryFrom<String> for Routine {
    type Error = String;

    fn try_from(name: String) -> std::result::Result<Routine, String> {
        Routine::from_name(&name).ok_or_else(|| format!("there is no routine `{name}`"))
    }
}

impl From<Routine> for String {
    fn from(routine: Routine) -> String {
        routine.info().name.into()
    }
}

impl fmt::Display for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// A routine with its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoutineCall {
    routine: Routine,
    attributes: Attributes,
    points: (usize, usize),
}

impl RoutineCall {
    /// The call with these attributes, for operands and results of `rank` axes.
    ///
    /// # Errors
    /// - `Invalid`: the routine has no such attributes, or the arrays no such axis.
    pub fn new(routine: Routine, attributes: &[u64], rank: usize) -> Result<RoutineCall> {
        let wrong = |said: &str| Error::new(ErrorKind::Invalid, routine.info().name).says(said);
        if attributes.len() != routine.info().attributes.len() {
            return Err(wrong("the attributes are not those of the operation")
                .with("attributes", attributes.len())
                .with("wanted", routine.info().attributes.len()));
        }
        let mut all = Attributes::default();
        all[..attributes.len()].copy_from_slice(attributes);
        if all[AXIS] >= rank as u64 {
            return Err(wrong("there is no such axis").with("axis", all[AXIS]).with("axes", rank));
        }
        let points = (routine.info().points)(&all).ok_or_else(|| {
            wrong("the attributes make no sense").with("attributes", format!("{all:?}"))
        })?;
        Ok(RoutineCall { routine, attributes: all, points: (points.operand, points.result) })
    }

    /// This call along another axis.
    pub fn along(mut self, axis: usize) -> RoutineCall {
        self.attributes[AXIS] = axis as u64;
        self
    }

    /// The routine.
    pub fn routine(&self) -> Routine {
        self.routine
    }

    /// The row.
    pub fn info(&self) -> &'static RoutineInfo {
        self.routine.info()
    }

    /// The attributes, which are its program's parameters.
    pub fn attributes(&self) -> &[u64] {
        &self.attributes[..self.info().attributes.len()]
    }

    /// The whole axis.
    pub fn axis(&self) -> usize {
        self.attributes[AXIS] as usize
    }

    /// The points along the whole axis.
    pub fn points(&self) -> WholePoints {
        WholePoints { operand: self.points.0, result: self.points.1 }
    }

    /// The extents of the operand of a result of these extents.
    pub fn operand_shape(&self, result: &[usize]) -> Shape {
        let mut shape = Shape::from(result);
        if let Some(extent) = shape.get_mut(self.axis()) {
            *extent = self.points().operand;
        }
        shape
    }

    /// Operations to compute elements of the result.
    pub fn cost(&self, elements: usize) -> f64 {
        let rows = elements as f64 / self.points().result.max(1) as f64;
        rows * (self.info().cost)(&self.attributes)
    }

    /// The bound of the error of one row: see [`RoutineInfo::bound`].
    pub fn bound(&self) -> f64 {
        (self.info().bound)(&self.attributes)
    }

    /// The reference: the results of an operand in C order of this dtype, in C order, for results of these extents.
    ///
    /// # Errors
    /// - `DType`: the routine does not take the dtype.
    /// - `OutOfMemory`: there is no room for the results.
    pub fn evaluated(&self, dtype: DType, operand: &[u8], result: &[usize]) -> Result<Vec<u8>> {
        let to = self
            .routine
            .result_dtype(dtype)
            .ok_or_else(|| Error::new(ErrorKind::DType, self.info().name).with("dtype", dtype))?;
        let points = self.points();
        let inner: usize = result[self.axis() + 1..].iter().product();
        let outer: usize = result[..self.axis()].iter().product();
        let mut results = crate::memory::with_room(outer * inner * points.result * to.size())?;
        results.resize(outer * inner * points.result * to.size(), 0);
        let element = |bytes: usize, row: usize, k: usize, extent: usize| {
            ((row / inner * extent + k) * inner + row % inner) * bytes
        };
        let mut row = vec![0; points.operand * dtype.size()];
        for number in 0..outer * inner {
            for (k, place) in row.chunks_exact_mut(dtype.size()).enumerate() {
                let from = element(dtype.size(), number, k, points.operand);
                place.copy_from_slice(&operand[from..from + dtype.size()]);
            }
            let found = (self.info().reference)(dtype, &row, &self.attributes);
            for (k, place) in found.chunks_exact(to.size()).enumerate() {
                let at = element(to.size(), number, k, points.result);
                results[at..at + to.size()].copy_from_slice(place);
            }
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_number_names_one_routine_whose_attributes_begin_with_its_axis() {
        for routine in Routine::all() {
            let info = routine.info();
            assert_eq!(Routine::from_name(info.name), Some(routine));
            assert_eq!(Routine::from_number(routine.number()), Some(routine));
            assert_eq!(info.attributes.first(), Some(&("axis", DType::I64)));
            assert!(info.attributes.len() <= ATTRIBUTES);
        }
        assert_eq!(Routine::from_number(ROUTINES.len() as u32), None);
        assert_eq!(Routine::from_name("no such"), None);
    }

    #[test]
    fn a_call_has_the_attributes_of_its_routine_and_an_axis_that_is_there() {
        let routine = Routine::from_name("rfft").unwrap();
        let scale = 1f64.to_bits();
        let call = RoutineCall::new(routine, &[1, 3, 5, scale], 2).unwrap();
        assert_eq!(call.points(), WholePoints { operand: 3, result: 3 });
        assert_eq!(call.operand_shape(&[7, 3])[..], [7, 3]);
        for wrong in [&[2, 3, 5, scale][..], &[1, 6, 5, scale], &[1, 3, 0, scale], &[1, 3, 5]] {
            assert_eq!(RoutineCall::new(routine, wrong, 2).unwrap_err().kind(), ErrorKind::Invalid);
        }
    }
}
