//! Maps fragments to points of the launch.
//!
//! Owns `FragmentMapping`, [`Area`] and their parts. A fragment writes the four elements of one texel. It converts its
//! position to the launch's coordinates, and predicates its writes on the elements that the launch writes.
//!
//! Invariant: inside the area, an element is `valid` exactly if the destination's walk visits it. The predicate is
//! omitted only if that holds for all elements, or all but padding.
//!
//! Not here: operands (`fetch.rs`).

use super::request::DrawDeclined;
use super::texture_layout::{TextureLayout, split};
use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::{ArgumentWords, Divisor};

/// The texels to draw: a rectangle from (`x`, `y`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// The predicate of a fragment's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WritePredicate {
    /// None: every element of every texel in the area may be written.
    None,
    /// All elements may be written, but padding must not be computed: it has no points, and a loop would read its count
    /// from undefined elements.
    Padding,
    /// Some texels of the area are not written at all, and the others are written whole.
    Texels,
    /// Some texels are written in part and keep their other elements.
    Elements,
}

/// The coordinate of one axis, as a quotient of the remaining number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AxisQuotient {
    pub axis: u8,
    /// The divisor; `None` for 1.
    pub divisor: Option<Divisor>,
    /// The word of the axis' length, if the coordinate is checked or counted from the end.
    pub length: Option<u16>,
    pub backwards: bool,
}

/// The source of coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CoordinateSource {
    /// Coordinates are not needed.
    Unused,
    /// The first axis' coordinate is the element's number. The other axes have length one.
    Number,
    /// From the number of the texel's first element. All four differ in the last axis alone.
    Quads(Vec<AxisQuotient>),
    /// From each element's number, minus word `start` if there is one.
    Elements { start: Option<u16>, steps: Vec<AxisQuotient> },
    /// From the texel's row and the element's column, each minus a word if there is one.
    Split { row: Option<u16>, rows: Vec<AxisQuotient>, col: Option<u16>, cols: Vec<AxisQuotient> },
}

impl CoordinateSource {
    /// True for axes of length one, which get no coordinate.
    pub fn lack(&self, axis: u8) -> bool {
        let given = |steps: &[AxisQuotient]| steps.iter().any(|step| step.axis == axis);
        match self {
            CoordinateSource::Unused => false,
            CoordinateSource::Number => axis > 0,
            CoordinateSource::Quads(steps) => !given(steps),
            CoordinateSource::Elements { steps, .. } => !given(steps),
            CoordinateSource::Split { rows, cols, .. } => !given(rows) && !given(cols),
        }
    }
}

/// The mapping of fragments to points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FragmentMapping {
    /// The words of the texture's width and of the launch's first texel (none for texel 0), if the launch writes
    /// consecutive texels and their numbers are needed.
    pub texel: Option<(u16, Option<u16>)>,
    pub coordinates: CoordinateSource,
    pub guard: WritePredicate,
    /// The word of the number of elements, for predicates of launches that write consecutive elements.
    pub count: Option<u16>,
    /// The axis along which a texel's four elements lie, and its first coordinate modulo 4.
    pub quad: Option<(u8, u8)>,
}

/// A mapping, with facts for other parts of the plan.
pub(super) struct PlannedMapping {
    pub frame: FragmentMapping,
    pub area: Area,
    /// The launch's first texel, if it writes consecutive texels.
    pub linear: Option<i64>,
}

/// Plans the mapping for a destination.
#[allow(clippy::too_many_arguments)] // called once, and each is a plain fact
pub(super) fn plan(
    words: &mut ArgumentWords,
    shape: &[i64],
    walk: &AffineWalk,
    layout: &TextureLayout,
    whole: bool,
    loops: bool,
    coordinates_used: bool,
    texel_used: bool,
) -> Result<PlannedMapping, DrawDeclined> {
    let count: i64 = shape.iter().product();
    let contiguous = walk.is_contiguous(shape) && walk.offset % 4 == 0;
    if contiguous {
        let used = (coordinates_used, texel_used);
        Ok(linear(words, shape, walk, layout, count, whole, loops, used))
    } else {
        strided(words, shape, walk, layout, whole, loops)
    }
}

#[allow(clippy::too_many_arguments)] // private, called once, and each is a plain fact
fn linear(
    words: &mut ArgumentWords,
    shape: &[i64],
    walk: &AffineWalk,
    layout: &TextureLayout,
    count: i64,
    whole: bool,
    loops: bool,
    (coordinates_used, texel_used): (bool, bool),
) -> PlannedMapping {
    let (pitch, end) = (layout.pitch(), walk.offset + count);
    let at_end = end as usize == layout.len;
    let (first_row, last_row) = (walk.offset / pitch, (end - 1) / pitch);
    let mut area = Area {
        x: 0,
        y: first_row as u32,
        width: layout.width,
        height: (last_row - first_row + 1) as u32,
    };
    let mut covers = whole || (walk.offset % pitch == 0 && (end % pitch == 0 || at_end));
    if first_row == last_row {
        area.x = (walk.offset % pitch / 4) as u32;
        area.width = ((end - 1) % pitch / 4 + 1) as u32 - area.x;
        covers |= end % 4 == 0 || at_end;
    }
    let padded = 4 * i64::from(area.width) * i64::from(area.height) != count;
    let guard = match () {
        () if covers && loops && padded => WritePredicate::Padding,
        () if covers => WritePredicate::None,
        () if end % 4 == 0 || at_end => WritePredicate::Texels,
        () => WritePredicate::Elements,
    };
    let quads = shape.last().is_some_and(|n| n % 4 == 0);
    let mut quad = None;
    let coordinates = match () {
        () if !coordinates_used => CoordinateSource::Unused,
        () if shape[1..].iter().all(|n| *n == 1) => {
            quad = Some((0, 0));
            CoordinateSource::Number
        }
        () if split(walk.offset, &walk.strides, shape, pitch).is_some()
            && guard == WritePredicate::None =>
        {
            let framed = strided(words, shape, walk, layout, whole, loops);
            match framed {
                // This always succeeds: the strides of a contiguous walk are nested.
                Ok(framed) => {
                    quad = framed.frame.quad;
                    framed.frame.coordinates
                }
                Err(_) => CoordinateSource::Unused,
            }
        }
        () => {
            let mut stride = count;
            let mut steps = Vec::new();
            for (axis, n) in shape.iter().enumerate() {
                if *n == 1 {
                    continue;
                }
                stride /= n;
                let divisor = (stride > 1).then(|| Divisor::new(words, stride));
                steps.push(AxisQuotient {
                    axis: axis as u8,
                    divisor,
                    length: None,
                    backwards: false,
                });
            }
            if quads {
                quad = Some((shape.len() as u8 - 1, 0));
                CoordinateSource::Quads(steps)
            } else {
                // Texels are already counted from the launch's first.
                CoordinateSource::Elements { start: None, steps }
            }
        }
    };
    let by_number =
        !matches!(coordinates, CoordinateSource::Unused | CoordinateSource::Split { .. });
    let texel = (texel_used || by_number || guard != WritePredicate::None)
        .then(|| (words.int(layout.width.into()), words.offset(walk.offset / 4)));
    let counted = (guard != WritePredicate::None).then(|| words.int(count));
    let frame = FragmentMapping { texel, coordinates, guard, count: counted, quad };
    PlannedMapping { frame, area, linear: Some(walk.offset / 4) }
}

/// Plans any other walk: the element's place is divided by one stride after another.
fn strided(
    words: &mut ArgumentWords,
    shape: &[i64],
    walk: &AffineWalk,
    layout: &TextureLayout,
    whole: bool,
    loops: bool,
) -> Result<PlannedMapping, DrawDeclined> {
    // Every axis counts upwards from the first written element.
    let mut first = walk.offset;
    let mut axes = Vec::new();
    for (axis, (n, stride)) in shape.iter().zip(&walk.strides).enumerate() {
        if *stride < 0 {
            first += stride * (n - 1);
        }
        axes.push((axis as u8, *n, stride.abs(), *stride < 0));
    }
    let positive: Vec<i64> = axes.iter().map(|a| a.2).collect();
    let pitch = layout.pitch();
    let parts = split(first, &positive, shape, pitch)
        // Each axis either steps over rows or inside them.
        .filter(|s| s.row_strides.iter().zip(&s.col_strides).all(|(r, c)| *r == 0 || *c == 0))
        .filter(|s| s.col_strides.iter().all(|c| *c >= 0));
    let last = first + axes.iter().map(|(_, n, s, _)| s * (n - 1)).sum::<i64>();
    let (coordinates, area, quad, guard) = match parts {
        Some(parts) => {
            let strides = |list: &[i64]| {
                let of = |(a, s): (&(u8, i64, i64, bool), &i64)| (a.0, a.1, *s, a.3);
                axes.iter().zip(list).map(of).filter(|a| a.1 > 1 && a.2 > 0).collect::<Vec<_>>()
            };
            let (row_axes, col_axes) = (strides(&parts.row_strides), strides(&parts.col_strides));
            let reach = |axes: &[(u8, i64, i64, bool)]| -> i64 {
                axes.iter().map(|(_, n, s, _)| s * (n - 1)).sum()
            };
            let last_col = parts.col + reach(&col_axes);
            let area = Area {
                x: (parts.col / 4) as u32,
                y: parts.row as u32,
                width: (last_col / 4 - parts.col / 4 + 1) as u32,
                height: (reach(&row_axes) + 1) as u32,
            };
            let run = match col_axes[..] {
                [(axis, _, 1, false)] => Some(axis),
                _ => None,
            };
            let quad = run.map(|axis| (axis, (-parts.col).rem_euclid(4) as u8));
            let full_texels = run.is_some() && parts.col % 4 == 0 && last_col % 4 == 3;
            let full_rows = matches!(row_axes[..], [] | [(_, _, 1, _)]);
            let guard = match () {
                () if full_texels && full_rows => WritePredicate::None,
                // Padding of a block that is written whole may be written.
                () if whole && loops => WritePredicate::Padding,
                () if whole => WritePredicate::None,
                () if full_texels => WritePredicate::Texels,
                () => WritePredicate::Elements,
            };
            let row = words.offset(parts.row);
            let rows = steps(words, row_axes)?;
            let col = words.offset(parts.col);
            let cols = steps(words, col_axes)?;
            (CoordinateSource::Split { row, rows, col, cols }, area, quad, guard)
        }
        None => {
            let (top, bottom) = (first / pitch, last / pitch);
            let area = Area {
                x: 0,
                y: top as u32,
                width: layout.width,
                height: (bottom - top + 1) as u32,
            };
            let start = words.offset(first);
            let moving = axes.iter().copied().filter(|a| a.1 > 1).collect();
            let steps = steps(words, moving)?;
            (CoordinateSource::Elements { start, steps }, area, None, WritePredicate::Elements)
        }
    };
    let texel = matches!(coordinates, CoordinateSource::Elements { .. })
        .then(|| (words.int(layout.width.into()), None));
    let frame = FragmentMapping { texel, coordinates, guard, count: None, quad };
    Ok(PlannedMapping { frame, area, linear: None })
}

/// The quotients of all axes, from the longest stride to the shortest.
fn steps(
    words: &mut ArgumentWords,
    mut axes: Vec<(u8, i64, i64, bool)>,
) -> Result<Vec<AxisQuotient>, DrawDeclined> {
    axes.sort_by_key(|(_, _, stride, _)| std::cmp::Reverse(*stride));
    for (k, (_, _, stride, _)) in axes.iter().enumerate() {
        let below: i64 = axes[k + 1..].iter().map(|(_, n, s, _)| s * (n - 1)).sum();
        if below >= *stride {
            return Err(DrawDeclined::Tangled);
        }
    }
    let step = |(axis, n, stride, backwards)| AxisQuotient {
        axis,
        divisor: (stride > 1).then(|| Divisor::new(words, stride)),
        length: Some(words.int(n)),
        backwards,
    };
    Ok(axes.into_iter().map(step).collect())
}
