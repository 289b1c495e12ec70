//! Rows of arrays in a flow: the work of one statement on slices with one axis.
//!
//! Owns [`SliceWork`], [`SliceValue`] and [`SlicePlace`]. A row is what an index leaves with one axis: `a[i, 1:]`,
//! `a[i]`, `a`. Numbers are computed first, then all rows are one step. Not here: its loops and
//! types (`versions/rows.rs`).

use super::{FlowRegister, FlowStep, FlowWriter};
use crate::called_functions::NamedFunction;
use crate::nest::{
    BinaryOperator, Comparison, Expression, Index, Name, SliceReduction, Target, UnaryOperator,
};

/// What stands for an axis.
#[derive(Debug, Clone)]
pub enum AxisIndex {
    /// A place.
    At(FlowRegister),
    /// A slice: start, stop, step.
    Slice([Option<FlowRegister>; 3]),
}

/// Elements of an array along one axis.
#[derive(Debug, Clone)]
pub struct SlicePlace {
    /// The array.
    pub array: Name,
    /// For each of its first axes; others are whole.
    pub index: Vec<AxisIndex>,
}

/// What is computed for each element of rows; registers get the elements' values.
#[derive(Debug, Clone)]
pub enum SliceValue {
    /// One number for all.
    Number(FlowRegister),
    /// The element.
    Row(FlowRegister, SlicePlace),
    /// An operator.
    Binary(FlowRegister, BinaryOperator, Box<SliceValue>, Box<SliceValue>),
    /// An operator.
    Unary(FlowRegister, UnaryOperator, Box<SliceValue>),
    /// A comparison.
    Compare(FlowRegister, Comparison, Box<SliceValue>, Box<SliceValue>),
    /// A call.
    Call(FlowRegister, NamedFunction, Vec<SliceValue>),
}

impl SliceValue {
    /// The register of an element's value.
    pub fn register(&self) -> FlowRegister {
        match self {
            SliceValue::Number(to)
            | SliceValue::Row(to, _)
            | SliceValue::Binary(to, ..)
            | SliceValue::Unary(to, ..)
            | SliceValue::Compare(to, ..)
            | SliceValue::Call(to, ..) => *to,
        }
    }

    /// The values that it is made of.
    fn parts(&self) -> Vec<&SliceValue> {
        match self {
            SliceValue::Number(_) | SliceValue::Row(..) => vec![],
            SliceValue::Binary(_, _, left, right) | SliceValue::Compare(_, _, left, right) => {
                vec![&**left, &**right]
            }
            SliceValue::Unary(_, _, operand) => vec![&**operand],
            SliceValue::Call(_, _, given) => given.iter().collect(),
        }
    }

    /// The rows in it.
    pub fn rows(&self) -> Vec<(FlowRegister, &SlicePlace)> {
        match self {
            SliceValue::Row(to, place) => vec![(*to, place)],
            _ => self.parts().into_iter().flat_map(SliceValue::rows).collect(),
        }
    }

    /// The numbers in it.
    pub fn numbers(&self) -> Vec<FlowRegister> {
        match self {
            SliceValue::Number(register) => vec![*register],
            _ => self.parts().into_iter().flat_map(SliceValue::numbers).collect(),
        }
    }

    fn read(&self, found: &mut Vec<FlowRegister>) {
        match self {
            SliceValue::Number(register) => found.push(*register),
            SliceValue::Row(_, place) => place.read(found),
            _ => self.parts().into_iter().for_each(|part| part.read(found)),
        }
    }
}

impl SlicePlace {
    fn read(&self, found: &mut Vec<FlowRegister>) {
        for one in &self.index {
            match one {
                AxisIndex::At(register) => found.push(*register),
                AxisIndex::Slice(bounds) => found.extend(bounds.iter().flatten()),
            }
        }
    }
}

/// What is done with rows.
#[derive(Debug, Clone)]
pub enum SliceWork {
    /// Stores values; a register for them as the array has them; whether NumPy casts them as for `+=`.
    Store(SlicePlace, SliceValue, FlowRegister, bool),
    /// A number.
    Reduce(FlowRegister, SliceReduction, Vec<SliceValue>),
}

impl SliceWork {
    /// The register that it writes, and those that it reads.
    pub fn registers(&self) -> (Option<FlowRegister>, Vec<FlowRegister>) {
        let mut found = Vec::new();
        match self {
            SliceWork::Store(place, value, ..) => {
                place.read(&mut found);
                value.read(&mut found);
                (None, found)
            }
            SliceWork::Reduce(to, _, given) => {
                given.iter().for_each(|one| one.read(&mut found));
                (Some(*to), found)
            }
        }
    }
}

/// How many axes a value has, by those of names.
fn axes_of(axes: &[usize], expression: &Expression) -> usize {
    let of = |one: &Expression| axes_of(axes, one);
    let most = |all: &[Expression]| all.iter().map(of).max().unwrap_or(0);
    match expression {
        Expression::Name(name) => axes.get(*name).copied().unwrap_or(0),
        Expression::Element(name, index) => axes_of_element(axes, *name, index),
        Expression::Binary(_, left, right) => of(left).max(of(right)),
        Expression::Unary(_, operand) => of(operand),
        Expression::Compare(left, others) => {
            others.iter().map(|(_, one)| of(one)).fold(of(left), usize::max)
        }
        Expression::Call(_, given) => most(given),
        _ => 0,
    }
}

fn axes_of_element(axes: &[usize], name: Name, index: &[Index]) -> usize {
    let places = index.iter().filter(|one| matches!(one, Index::At(_))).count();
    axes.get(name).copied().unwrap_or(0).saturating_sub(places)
}

/// Whether an assignment is one of rows.
pub(super) fn rows_of(axes: &[usize], targets: &[Target], value: &Expression) -> bool {
    let is_row = |target: &Target| match target {
        Target::Element(name, index) => axes_of_element(axes, *name, index) > 0,
        _ => false,
    };
    targets.iter().any(is_row) || axes_of(axes, value) > 0
}

impl FlowWriter<'_> {
    /// Stores a value in a row: of rows, or one number.
    pub(super) fn assign_rows(
        &mut self,
        targets: &[Target],
        operation: Option<BinaryOperator>,
        value: &Expression,
    ) {
        let [Target::Element(array, index)] = targets else {
            return self.step(FlowStep::Unknown);
        };
        if axes_of_element(self.axes, *array, index) != 1 || axes_of(self.axes, value) > 1 {
            return self.step(FlowStep::Unknown);
        }
        let place = self.row_place(*array, index);
        let Some(mut value) = self.row_value(value) else { return self.step(FlowStep::Unknown) };
        if let Some(operation) = operation {
            let old = Box::new(SliceValue::Row(self.register(), place.clone()));
            value = SliceValue::Binary(self.register(), operation, old, Box::new(value));
        }
        let converted = self.register();
        let work = SliceWork::Store(place, value, converted, operation.is_some());
        self.step(FlowStep::Rows(Box::new(work)));
    }

    /// A number that a function makes of rows.
    pub(super) fn reduce(
        &mut self,
        to: FlowRegister,
        function: SliceReduction,
        given: &[Expression],
    ) {
        let mut values = Vec::new();
        for one in given {
            let value = if axes_of(self.axes, one) == 1 { self.row_value(one) } else { None };
            let Some(value) = value else { return self.step(FlowStep::Unknown) };
            values.push(value);
        }
        self.step(FlowStep::Rows(Box::new(SliceWork::Reduce(to, function, values))));
    }

    fn row_place(&mut self, array: Name, index: &[Index]) -> SlicePlace {
        let mut found = Vec::new();
        for one in index {
            found.push(match one {
                Index::At(place) => AxisIndex::At(self.value(place)),
                Index::Slice(bounds) => {
                    let [start, stop, step] = bounds;
                    let bounds = [start, stop, step];
                    AxisIndex::Slice(bounds.map(|one| one.as_ref().map(|one| self.value(one))))
                }
            });
        }
        SlicePlace { array, index: found }
    }

    fn row_value(&mut self, expression: &Expression) -> Option<SliceValue> {
        if axes_of(self.axes, expression) == 0 {
            return Some(SliceValue::Number(self.value(expression)));
        }
        let to = self.register();
        Some(match expression {
            Expression::Name(name) => SliceValue::Row(to, self.row_place(*name, &[])),
            Expression::Element(name, index) => SliceValue::Row(to, self.row_place(*name, index)),
            Expression::Binary(operation, left, right) => {
                let (left, right) = (self.row_value(left)?, self.row_value(right)?);
                SliceValue::Binary(to, *operation, Box::new(left), Box::new(right))
            }
            Expression::Unary(operation, operand) if *operation != UnaryOperator::Not => {
                SliceValue::Unary(to, *operation, Box::new(self.row_value(operand)?))
            }
            Expression::Compare(left, others) => {
                let [(comparison, right)] = &others[..] else { return None };
                let (left, right) = (self.row_value(left)?, self.row_value(right)?);
                SliceValue::Compare(to, *comparison, Box::new(left), Box::new(right))
            }
            Expression::Call(function, given) => {
                let of_rows = matches!(
                    function,
                    NamedFunction::Abs
                        | NamedFunction::NumpyAbs
                        | NamedFunction::NumpySqrt
                        | NamedFunction::NumpyMaximum
                        | NamedFunction::NumpyMinimum
                );
                let given =
                    given.iter().map(|one| self.row_value(one)).collect::<Option<Vec<_>>>()?;
                of_rows.then_some(SliceValue::Call(to, *function, given))?
            }
            _ => return None,
        })
    }
}
