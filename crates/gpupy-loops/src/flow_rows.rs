//! Rows of arrays in a flow: the work of one statement on slices with one axis.
//!
//! Owns [`RowWork`], [`RowValue`] and [`RowPlace`]. A row is what an index leaves with one axis: `a[i, 1:]`, `a[i]`, `a`.
//! Numbers are computed first, then all rows are one step. Not here: its loops and types (`versions/rows.rs`).

use crate::called_functions::NamedFunction;
use crate::flow::{FlowRegister, FlowStep, FlowWriter};
use crate::nest::{
    BinaryOperator, Comparison, Expression, Index, Name, Reduction, Target, UnaryOperator,
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
pub struct RowPlace {
    /// The array.
    pub array: Name,
    /// For each of its first axes; others are whole.
    pub index: Vec<AxisIndex>,
}

/// What is computed for each element of rows; registers get the elements' values.
#[derive(Debug, Clone)]
pub enum RowValue {
    /// One number for all.
    Number(FlowRegister),
    /// The element.
    Row(FlowRegister, RowPlace),
    /// An operator.
    Binary(FlowRegister, BinaryOperator, Box<RowValue>, Box<RowValue>),
    /// An operator.
    Unary(FlowRegister, UnaryOperator, Box<RowValue>),
    /// A comparison.
    Compare(FlowRegister, Comparison, Box<RowValue>, Box<RowValue>),
    /// A call.
    Call(FlowRegister, NamedFunction, Vec<RowValue>),
}

impl RowValue {
    /// The register of an element's value.
    pub fn register(&self) -> FlowRegister {
        match self {
            RowValue::Number(to)
            | RowValue::Row(to, _)
            | RowValue::Binary(to, ..)
            | RowValue::Unary(to, ..)
            | RowValue::Compare(to, ..)
            | RowValue::Call(to, ..) => *to,
        }
    }

    /// The values that it is made of.
    fn parts(&self) -> Vec<&RowValue> {
        match self {
            RowValue::Number(_) | RowValue::Row(..) => vec![],
            RowValue::Binary(_, _, left, right) | RowValue::Compare(_, _, left, right) => {
                vec![&**left, &**right]
            }
            RowValue::Unary(_, _, operand) => vec![&**operand],
            RowValue::Call(_, _, given) => given.iter().collect(),
        }
    }

    /// The rows in it.
    pub fn rows(&self) -> Vec<(FlowRegister, &RowPlace)> {
        match self {
            RowValue::Row(to, place) => vec![(*to, place)],
            _ => self.parts().into_iter().flat_map(RowValue::rows).collect(),
        }
    }

    /// The numbers in it.
    pub fn numbers(&self) -> Vec<FlowRegister> {
        match self {
            RowValue::Number(register) => vec![*register],
            _ => self.parts().into_iter().flat_map(RowValue::numbers).collect(),
        }
    }

    fn read(&self, found: &mut Vec<FlowRegister>) {
        match self {
            RowValue::Number(register) => found.push(*register),
            RowValue::Row(_, place) => place.read(found),
            _ => self.parts().into_iter().for_each(|part| part.read(found)),
        }
    }
}

impl RowPlace {
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
pub enum RowWork {
    /// Stores values; a register for them as the array has them; whether NumPy casts them as for `+=`.
    Store(RowPlace, RowValue, FlowRegister, bool),
    /// A number.
    Reduce(FlowRegister, Reduction, Vec<RowValue>),
}

impl RowWork {
    /// The register that it writes, and those that it reads.
    pub fn registers(&self) -> (Option<FlowRegister>, Vec<FlowRegister>) {
        let mut found = Vec::new();
        match self {
            RowWork::Store(place, value, ..) => {
                place.read(&mut found);
                value.read(&mut found);
                (None, found)
            }
            RowWork::Reduce(to, _, given) => {
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
pub(crate) fn rows_of(axes: &[usize], targets: &[Target], value: &Expression) -> bool {
    let is_row = |target: &Target| match target {
        Target::Element(name, index) => axes_of_element(axes, *name, index) > 0,
        _ => false,
    };
    targets.iter().any(is_row) || axes_of(axes, value) > 0
}

impl FlowWriter<'_> {
    /// Stores a value in a row: of rows, or one number.
    pub(crate) fn assign_rows(
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
            let old = Box::new(RowValue::Row(self.register(), place.clone()));
            value = RowValue::Binary(self.register(), operation, old, Box::new(value));
        }
        let converted = self.register();
        let work = RowWork::Store(place, value, converted, operation.is_some());
        self.step(FlowStep::Rows(Box::new(work)));
    }

    /// A number that a function makes of rows.
    pub(crate) fn reduce(&mut self, to: FlowRegister, function: Reduction, given: &[Expression]) {
        let mut values = Vec::new();
        for one in given {
            let value = if axes_of(self.axes, one) == 1 { self.row_value(one) } else { None };
            let Some(value) = value else { return self.step(FlowStep::Unknown) };
            values.push(value);
        }
        self.step(FlowStep::Rows(Box::new(RowWork::Reduce(to, function, values))));
    }

    fn row_place(&mut self, array: Name, index: &[Index]) -> RowPlace {
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
        RowPlace { array, index: found }
    }

    fn row_value(&mut self, expression: &Expression) -> Option<RowValue> {
        if axes_of(self.axes, expression) == 0 {
            return Some(RowValue::Number(self.value(expression)));
        }
        let to = self.register();
        Some(match expression {
            Expression::Name(name) => RowValue::Row(to, self.row_place(*name, &[])),
            Expression::Element(name, index) => RowValue::Row(to, self.row_place(*name, index)),
            Expression::Binary(operation, left, right) => {
                let (left, right) = (self.row_value(left)?, self.row_value(right)?);
                RowValue::Binary(to, *operation, Box::new(left), Box::new(right))
            }
            Expression::Unary(operation, operand) if *operation != UnaryOperator::Not => {
                RowValue::Unary(to, *operation, Box::new(self.row_value(operand)?))
            }
            Expression::Compare(left, others) => {
                let [(comparison, right)] = &others[..] else { return None };
                let (left, right) = (self.row_value(left)?, self.row_value(right)?);
                RowValue::Compare(to, *comparison, Box::new(left), Box::new(right))
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
                of_rows.then_some(RowValue::Call(to, *function, given))?
            }
            _ => return None,
        })
    }
}
