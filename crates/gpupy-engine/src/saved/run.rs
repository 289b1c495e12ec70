//! Calls of functions in files, without a front end.
//!
//! [`Saved::run`] takes the arrays and numbers of the arguments in their order, and gives the arrays of the result.
//!
//! Not here: arguments that are objects of the front end, which calls segments by itself.

use super::file::{Instance, Saved};
use super::look::{AfterSegment, BaseSource, Ending, ExtentOrder, Look, OutputSource, Register};
use super::open_view::damaged;
use crate::array::base::Array;
use crate::context::Context;
use crate::memory::view::View;
use gpupy_core::{Error, ErrorKind, Result};

/// A call on its way.
struct SavedCall<'c> {
    look: &'c Look,
    instance: &'c Instance,
    open: &'c [i64],
    arrays: &'c [Array],
    inputs: Vec<Array>,
    made: Vec<Option<Array>>,
}

impl Look {
    /// The open extents where the wanted arrays have these shapes; `None` where one lacks an axis.
    pub fn extents<'s>(&self, shape: impl Fn(usize) -> Option<&'s [usize]>) -> Option<Vec<i64>> {
        let extent = |symbol: &super::look::Symbol| {
            let extent = shape(symbol.wanted as usize)?.get(symbol.axis as usize)?;
            i64::try_from(*extent).ok()
        };
        self.open.iter().map(extent).collect()
    }

    /// Whether the look was recorded for such open extents: each is among those that were seen, or between them, and
    /// they stand to each other as they did.
    pub fn has_extents(&self, open: &[i64]) -> bool {
        let is_seen = |(symbol, extent): (&super::look::Symbol, &i64)| symbol.has(*extent);
        let at = |number: u8| open.get(usize::from(number)).copied().unwrap_or(0);
        self.open.len() == open.len()
            && self.open.iter().zip(open).all(is_seen)
            && self
                .order
                .iter()
                .all(|ExtentOrder(a, b, least)| at(*a).saturating_sub(at(*b)) >= *least)
    }

    /// The open extents with their quotients.
    ///
    /// # Errors
    /// - `Shape`: one is beyond 64 bits.
    pub fn with_parts(&self, open: &[i64]) -> Result<Vec<i64>> {
        let mut all = open.to_vec();
        for part in &self.parts {
            let extent = open.get(usize::from(part.of)).and_then(|extent| part.at(*extent));
            all.push(extent.ok_or_else(|| damaged("a part of an extent is beyond 64 bits"))?);
        }
        Ok(all)
    }

    /// The numbers among all objects of the arrays and numbers of arguments, which containers are not.
    pub fn arrays(&self) -> Vec<usize> {
        let mut next = 0;
        let mut found = Vec::new();
        let given = self.arguments.iter().chain(self.named.iter().map(|(_, given)| given));
        given.for_each(|given| given.leaves(&mut next, &mut found));
        found
    }
}

impl super::look::ArgumentPattern {
    fn leaves(&self, next: &mut usize, found: &mut Vec<usize>) {
        use super::look::ArgumentPattern::{Array, Dict, Known, List, Number, Scalar, Tuple};
        match self {
            Known(_) => return,
            Array | Scalar | Number(_) => found.push(*next),
            Tuple(_) | List(_) | Dict(_) => {}
        }
        *next += 1;
        match self {
            Tuple(items) | List(items) => items.iter().for_each(|item| item.leaves(next, found)),
            Dict(items) => items.iter().for_each(|(_, item)| item.leaves(next, found)),
            Array | Scalar | Number(_) | Known(_) => {}
        }
    }
}

impl Saved {
    /// Calls the function with these arrays, where numbers are arrays without axes, and gives the arrays of its result.
    /// Arrays that it writes are written.
    ///
    /// # Errors
    /// - `Shape`: the function was not recorded for such arrays, or decided otherwise then. Any of an evaluation;
    ///   nothing was written then.
    pub fn run(&self, context: &Context, arrays: &[Array]) -> Result<Vec<Array>> {
        let mut why = None;
        for (number, look) in self.looks().iter().enumerate() {
            match self.fit(number, look, arrays) {
                Ok((open, instance, inputs)) => {
                    let made = vec![None; look.made as usize];
                    let (instance, open) = (&instance, &open[..]);
                    match (SavedCall { look, instance, open, arrays, inputs, made }).run(context)? {
                        Some(results) => return Ok(results),
                        None => {
                            let words = "the function decides otherwise than when it was recorded";
                            why = Some(Error::new(ErrorKind::Shape, "run").says(words));
                        }
                    }
                }
                Err(error) => {
                    why.get_or_insert(error);
                }
            }
        }
        Err(why.unwrap_or_else(|| damaged("the file has no recording")))
    }

    /// A look with these arrays: its open extents, and its bases.
    fn fit(
        &self,
        number: usize,
        look: &Look,
        arrays: &[Array],
    ) -> Result<(Vec<i64>, Instance, Vec<Array>)> {
        let leaves = look.arrays();
        let other = |words: String| Err(Error::new(ErrorKind::Shape, "run").says(words));
        if leaves.len() != arrays.len() {
            return other(format!(
                "the function takes {} arrays, not {}",
                leaves.len(),
                arrays.len()
            ));
        }
        let array = |wanted: usize| {
            let place =
                leaves.iter().position(|leaf| *leaf == look.wanted[wanted].object as usize)?;
            Some(&arrays[place])
        };
        let open = look.extents(|wanted| array(wanted).map(Array::shape));
        let open = open.ok_or_else(|| damaged("an array has too few axes"))?;
        let instance = self.instance(number, &open)?;
        let open = look.with_parts(&open)?;
        let mut inputs: Vec<Array> = Vec::new();
        for (number, wanted) in look.wanted.iter().enumerate() {
            let view = wanted.view.at(&open)?;
            let base = match array(number) {
                Some(array) => {
                    if array.dtype() != wanted.dtype || *array.shape() != view.shape[..] {
                        return other(format!(
                            "array {number} is {} {:?}, and the function was recorded for {} {:?}",
                            array.dtype(),
                            array.shape(),
                            wanted.dtype,
                            &view.shape[..]
                        ));
                    }
                    if *array.layout() != view {
                        return other(format!(
                            "array {number} lies in memory with strides {:?}, and the function was recorded for {:?}",
                            array.strides(),
                            &view.strides[..]
                        ));
                    }
                    array.clone()
                }
                None => {
                    let captured = (wanted.object as usize).checked_sub(look.objects as usize);
                    let captured = captured.and_then(|captured| look.captured.get(captured));
                    let captured = captured.ok_or_else(|| damaged("an array is a container"))?;
                    instance.leaf(captured.leaf)?
                }
            };
            if wanted.input as usize == inputs.len() {
                inputs.push(base.seen(View::contiguous(&base.base_shape()?))?);
            }
        }
        Ok((open, instance, inputs))
    }
}

impl SavedCall<'_> {
    /// Goes all the way; `None` where it decides otherwise.
    fn run(mut self, context: &Context) -> Result<Option<Vec<Array>>> {
        let mut way = &self.look.ways[0];
        loop {
            let segment = &self.instance.segments[way.segment as usize];
            let given = way.takes.iter().map(|register| self.register(*register));
            let given = given.collect::<Result<Vec<&Array>>>()?;
            let results = context.replay(segment, &given)?;
            let last = results.last().cloned();
            for (place, result) in (way.gives as usize..).zip(results) {
                self.made[place] = Some(result);
            }
            match &way.then {
                AfterSegment::End(ending) => {
                    return self.end(context, &self.look.endings[*ending as usize]).map(Some);
                }
                AfterSegment::Decide { seen, no, yes } => {
                    let last = last.ok_or_else(|| damaged("a segment decides nothing"))?;
                    let element = last.seen(seen.at(self.open)?)?;
                    let is_true = context.read(&element)?.to_vec()?.iter().any(|byte| *byte != 0);
                    let next = if is_true { yes } else { no };
                    way = match next {
                        Some(next) => &self.look.ways[*next as usize],
                        None => return Ok(None),
                    };
                }
            }
        }
    }

    fn register(&self, register: Register) -> Result<&Array> {
        let found = match register {
            Register::Input(number) => self.inputs.get(number as usize),
            Register::Made(number) => self.made.get(number as usize).and_then(Option::as_ref),
        };
        found.ok_or_else(|| damaged("a segment reads what is not there"))
    }

    /// The elements that a base gets, which are its own.
    fn base(&self, base: BaseSource) -> Result<Array> {
        match base {
            BaseSource::Register(register) => self.register(register)?.snapshot(),
            BaseSource::Leaf(number) => self.instance.leaf(number),
        }
    }

    /// The result's arrays; then the writes are done.
    fn end(&self, context: &Context, ending: &Ending) -> Result<Vec<Array>> {
        let bases = ending.bases.iter().map(|base| self.base(*base));
        let bases = bases.collect::<Result<Vec<Array>>>()?;
        let leaves = self.look.arrays();
        let outputs = ending.outputs.iter().map(|output| {
            let base = match output.from {
                OutputSource::Base(number) => bases.get(number as usize),
                OutputSource::Object(object) => {
                    let place = leaves.iter().position(|leaf| *leaf == object as usize);
                    place.and_then(|place| self.arrays.get(place))
                }
            };
            let base = base.ok_or_else(|| damaged("a result is of no array"))?;
            base.seen(output.view.at(self.open)?)
        });
        let outputs = outputs.collect::<Result<Vec<Array>>>()?;
        let writes = ending
            .writes
            .iter()
            .map(|(input, base)| Ok((self.register(Register::Input(*input))?, self.base(*base)?)));
        for (input, from) in writes.collect::<Result<Vec<_>>>()? {
            let whole = View::contiguous(&input.base_shape()?);
            context.assign(input, (&from.seen(whole)?).into())?;
        }
        Ok(outputs)
    }
}
