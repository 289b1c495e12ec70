//! Integers of a recorded function that may depend on the extents of its arguments.
//!
//! Owns [`Extent`], and how one is inferred from its values in several recordings.
//!
//! Not here: which integers there are (`look.rs`), which extents are open (`open_extents.rs`).

use gpupy_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// An extent, an offset or a stride.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// This one.
    Known(i64),
    /// The sum of these terms.
    Open(Vec<ExtentTerm>),
}

/// So many times a product of open extents, which are told by their numbers; of none it is 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentTerm(pub i64, pub Vec<u8>);

/// The most open extents in a product.
pub(super) const DEGREE: usize = 3;

impl Extent {
    /// Its value for these open extents.
    ///
    /// # Errors
    /// - `Shape`: it is beyond 64 bits, or names an extent that is not there.
    pub fn at(&self, open: &[i64]) -> Result<i64> {
        let terms = match self {
            Extent::Known(known) => return Ok(*known),
            Extent::Open(terms) => terms,
        };
        let sum = terms.iter().try_fold(0i64, |sum, ExtentTerm(times, of)| {
            let product = of.iter().try_fold(*times, |product, number| {
                product.checked_mul(*open.get(usize::from(*number))?)
            });
            sum.checked_add(product?)
        });
        sum.ok_or_else(|| {
            Error::new(ErrorKind::Shape, "load").says("an extent is beyond 64 bits, or not known")
        })
    }

    /// In words; an open extent has the name that its number is given.
    pub fn words(&self, name: &impl Fn(usize) -> String) -> String {
        let term = |ExtentTerm(times, of): &ExtentTerm| {
            let names: Vec<String> = of.iter().map(|number| name(usize::from(*number))).collect();
            match (times, &names[..]) {
                (times, []) => times.to_string(),
                (1, names) => names.join("*"),
                (times, names) => format!("{times}*{}", names.join("*")),
            }
        };
        match self {
            Extent::Known(known) => known.to_string(),
            Extent::Open(terms) => terms.iter().map(term).collect::<Vec<String>>().join(" + "),
        }
    }

    /// The sum of products of open extents that is each of these values where those are as in `open`, which has a list
    /// for each value; of these the first `whole` are extents, and parts of extents stand behind them, which are in
    /// sums of no more than one product. `None` where there is none, where there are several, or where the values are
    /// too few to tell: a product and a constant take three, two products five, three six.
    pub fn through(values: &[i64], open: &[Vec<i64>], whole: usize) -> Option<Extent> {
        let (first, rest) = values.split_first()?;
        if rest.iter().all(|value| value == first) {
            return Some(Extent::Known(*first));
        }
        let products = products(open);
        let only = |mut found: Vec<Extent>| if found.len() == 1 { found.pop() } else { None };
        if values.len() > 2 {
            let sum = |product: &ExtentProduct| sum_of(values, &[product]);
            let found: Vec<Extent> = products.iter().filter_map(sum).collect();
            if !found.is_empty() {
                return only(found);
            }
        }
        let wholes: Vec<&ExtentProduct> = products
            .iter()
            .filter(|product| product.of.iter().all(|number| usize::from(*number) < whole))
            .collect();
        let below = |count: usize| (0..count).flat_map(|b| (0..b).map(move |a| (a, b)));
        if values.len() > 4 {
            let pairs = below(wholes.len());
            let found: Vec<Extent> =
                pairs.filter_map(|(a, b)| sum_of(values, &[wholes[a], wholes[b]])).collect();
            if !found.is_empty() {
                return only(found);
            }
        }
        if values.len() > 5 {
            let triples = (0..wholes.len()).flat_map(|c| below(c).map(move |(a, b)| (a, b, c)));
            let sum = |(a, b, c): (usize, usize, usize)| {
                sum_of(values, &[wholes[a], wholes[b], wholes[c]])
            };
            return only(triples.filter_map(sum).collect());
        }
        None
    }
}

/// A product of open extents: its factors, and its value in each recording.
struct ExtentProduct {
    of: Vec<u8>,
    values: Vec<i128>,
}

/// All products of at most three open extents, short ones first.
fn products(open: &[Vec<i64>]) -> Vec<ExtentProduct> {
    let count = open.first().map_or(0, Vec::len);
    let one = ExtentProduct { of: Vec::new(), values: vec![1; open.len()] };
    let (mut all, mut last) = (Vec::new(), vec![one]);
    for _ in 0..DEGREE {
        let longer = |product: &ExtentProduct| {
            let from = product.of.last().map_or(0, |last| usize::from(*last));
            let times = |number: usize| {
                let both = product.values.iter().zip(open);
                let values = both.map(|(value, open)| value.saturating_mul(open[number].into()));
                let mut of = product.of.clone();
                of.push(number as u8);
                ExtentProduct { of, values: values.collect() }
            };
            (from..count).map(times).collect::<Vec<_>>()
        };
        let next: Vec<ExtentProduct> = last.iter().flat_map(longer).collect();
        all.append(&mut last);
        last = next;
    }
    all.append(&mut last);
    all.remove(0);
    all
}

/// The values as a sum of multiples of these products and a constant.
fn sum_of(values: &[i64], of: &[&ExtentProduct]) -> Option<Extent> {
    let unknown = of.len() + 1;
    let row = |number: usize| -> Vec<i128> {
        let products = of.iter().map(|product| product.values[number]);
        products.chain([1, values[number].into()]).collect()
    };
    let rows = (0..values.len()).map(row).collect();
    let solved = solved(rows, unknown)?;
    let mut terms = Vec::new();
    let names = of.iter().map(|product| product.of.clone()).chain([Vec::new()]);
    for (times, of) in solved.into_iter().zip(names) {
        match i64::try_from(times).ok()? {
            0 if !of.is_empty() => return None,
            0 => {}
            times => terms.push(ExtentTerm(times, of)),
        }
    }
    Some(Extent::Open(terms))
}

/// The integers that solve all equations, each of which has its right side last; `None` where there are none, or others
/// do, too. By elimination without fractions.
fn solved(mut rows: Vec<Vec<i128>>, unknown: usize) -> Option<Vec<i128>> {
    for column in 0..unknown {
        let pivot = (column..rows.len()).find(|row| rows[*row][column] != 0)?;
        rows.swap(column, pivot);
        let with = rows[column].clone();
        for (number, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if number == column || factor == 0 {
                continue;
            }
            for (own, other) in row.iter_mut().zip(&with) {
                let own_part = own.checked_mul(with[column])?;
                *own = own_part.checked_sub(other.checked_mul(factor)?)?;
            }
            let common = row.iter().fold(0, |common, own| divisor(common, *own));
            row.iter_mut().filter(|_| common > 1).for_each(|own| *own /= common);
        }
    }
    if rows[unknown..].iter().any(|row| row[unknown] != 0) {
        return None;
    }
    let solve = |column: usize| {
        let (times, right) = (rows[column][column], rows[column][unknown]);
        (right % times == 0).then(|| right / times)
    };
    (0..unknown).map(solve).collect()
}

/// The greatest common divisor, which is not negative.
pub(super) fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of two open extents.
    const SIZES: [[i64; 2]; 7] = [[5, 7], [8, 3], [13, 11], [4, 29], [31, 17], [10, 10], [22, 9]];

    fn found(rule: impl Fn(i64, i64) -> i64, of: usize) -> Option<Extent> {
        let sizes: Vec<Vec<i64>> = SIZES[..of].iter().map(|size| size.to_vec()).collect();
        let values: Vec<i64> = sizes.iter().map(|size| rule(size[0], size[1])).collect();
        let found = Extent::through(&values, &sizes, 2)?;
        assert_eq!(found.at(&[101, 203]).unwrap_or(0), rule(101, 203));
        Some(found)
    }

    #[test]
    fn integers_are_sums_of_products_of_extents() {
        let affine = Extent::Open(vec![ExtentTerm(2, vec![0]), ExtentTerm(-1, vec![])]);
        assert_eq!(found(|_, _| 6, 2), Some(Extent::Known(6)));
        assert_eq!(found(|h, _| 2 * h - 1, 3), Some(affine));
        assert_eq!(found(|h, w| h * w, 3), Some(Extent::Open(vec![ExtentTerm(1, vec![0, 1])])));
        for rule in [|h, w| (h - 1) * w, |h, w| h * w * w - 3 * h, |h, w| (h - 1) * (w - 1)] {
            assert!(found(rule, 7).is_some());
        }
    }

    #[test]
    fn what_too_few_values_tell_is_not_believed() {
        assert_eq!(found(|h, _| 2 * h - 1, 2), None);
        assert_eq!(found(|h, w| (h - 1) * w, 4), None);
        assert_eq!(found(|h, w| (h - 1) * (w - 1), 5), None);
        assert_eq!(found(|h, _| h / 2, 7), None);
        assert_eq!(found(|h, _| h * h * h * h, 7), None);
    }

    #[test]
    fn what_several_sums_would_be_is_not_believed() {
        let sizes: Vec<Vec<i64>> = [[2, 4], [3, 9], [5, 25]].map(|size| size.to_vec()).to_vec();
        assert_eq!(Extent::through(&[4, 9, 25], &sizes, 2), None);
    }

    #[test]
    fn what_is_beyond_64_bits_is_an_error() {
        let square = Extent::Open(vec![ExtentTerm(1, vec![0, 0])]);
        assert!(square.at(&[1 << 40]).is_err());
        assert!(square.at(&[]).is_err());
    }
}
