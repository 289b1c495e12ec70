//! Transposed tiles: short rows whose elements are put side by side with those of the rows beside them.
//!
//! Owns [`transpose`]. Vectors along a short axis would be mostly empty, so they run along the axis beside it: a tile
//! of short rows becomes as many long rows as a short row has elements, for every length alike. Blocks of as many rows
//! as a vector of 16 bytes has elements are interleaved, by halves, until they are transposed.
//!
//! Not here: tiles (`tile.rs`), copies of rows (`rows/moves.rs`).

/// Rows of consecutive elements.
#[derive(Clone, Copy)]
pub struct TileRows {
    /// The first element of the first row.
    pub first: *mut u8,
    /// Bytes from a row to the next.
    pub pitch: isize,
}

impl TileRows {
    #[inline(always)]
    fn at<W>(self, row: usize, column: usize) -> *mut W {
        self.first.wrapping_offset(self.pitch * row as isize).cast::<W>().wrapping_add(column)
    }
}

/// Copies `rows` rows of `columns` elements into `columns` rows of `rows` elements.
///
/// Both may be written or read in any order, and places of the result more than once.
///
/// # Safety
/// The elements are valid for reads and their places for writes, and do not overlap. An element has `size` bytes, a
/// power of two up to 16. Memory between the first and the last of them is valid for reads too.
pub unsafe fn transpose(size: usize, to: TileRows, from: TileRows, rows: usize, columns: usize) {
    // SAFETY: the conditions are the same.
    unsafe {
        match size {
            1 => wide::<u8>(to, from, rows, columns),
            2 => wide::<u16>(to, from, rows, columns),
            4 => wide::<u32>(to, from, rows, columns),
            8 => wide::<u64>(to, from, rows, columns),
            _ => one_by_one::<u128>(to, from, 0..rows, 0..columns),
        }
    }
}

/// [`blocks`], compiled for the processor at hand.
///
/// # Safety
/// As for [`transpose`].
unsafe fn wide<W: LaneWord>(to: TileRows, from: TileRows, rows: usize, columns: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<W: LaneWord>(
            to: TileRows,
            from: TileRows,
            rows: usize,
            columns: usize,
        ) {
            // SAFETY: the conditions are the same.
            unsafe { blocks::<W>(to, from, rows, columns) }
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
            return unsafe { with_avx2::<W>(to, from, rows, columns) };
        }
    }
    // SAFETY: the conditions are the same.
    unsafe { blocks::<W>(to, from, rows, columns) }
}

/// Blocks overlap where extents are no multiples of theirs. Where one extent is less than a block's, whole vectors are
/// still read or written as long as they end before the last row does; what they have beyond a row is left out, or
/// written over by the next row.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
unsafe fn blocks<W: LaneWord>(to: TileRows, from: TileRows, rows: usize, columns: usize) {
    let n = W::COUNT;
    let (whole_rows, whole_columns) = match (rows < n, columns < n) {
        (false, false) => (rows, columns),
        (false, true) => (whole_vectors::<W>(from, rows, columns), columns),
        (true, false) if to.pitch == (rows * size_of::<W>()) as isize => {
            (rows, whole_vectors::<W>(to, columns, rows))
        }
        _ => (0, 0),
    };
    // SAFETY: blocks are inside the rows and columns, or end before the last row does, as was counted.
    unsafe {
        if whole_rows < n.min(rows) || whole_columns < n.min(columns) {
            return one_by_one::<W>(to, from, 0..rows, 0..columns);
        }
        let (until_row, until_column) =
            (whole_rows.saturating_sub(n), whole_columns.saturating_sub(n));
        for row in (0..whole_rows).step_by(n).map(|row| row.min(until_row)) {
            for column in (0..whole_columns).step_by(n).map(|column| column.min(until_column)) {
                block::<W>(to, from, (row, rows), (column, columns));
            }
        }
        one_by_one::<W>(to, from, whole_rows..rows, 0..columns);
        one_by_one::<W>(to, from, 0..whole_rows, whole_columns..columns);
    }
}

/// The first of `rows` short rows from whose beginning a whole vector ends before the last row does.
#[inline(always)]
fn whole_vectors<W: LaneWord>(of: TileRows, rows: usize, columns: usize) -> usize {
    if of.pitch <= 0 {
        return 0;
    }
    let pitch = of.pitch as usize;
    let bytes = (rows - 1) * pitch + columns * size_of::<W>();
    bytes.checked_sub(16).map_or(0, |last| rows.min(last / pitch + 1))
}

/// # Safety
/// As for [`transpose`], for these rows and columns.
#[inline(always)]
unsafe fn one_by_one<W: Copy>(
    to: TileRows,
    from: TileRows,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) {
    for row in rows {
        for column in columns.clone() {
            // SAFETY: the element exists, and so does its place.
            unsafe {
                to.at::<W>(column, row).write_unaligned(from.at::<W>(row, column).read_unaligned());
            }
        }
    }
}

/// Transposes a block of as many rows and columns as a vector has elements, or of all there are.
///
/// # Safety
/// As for [`transpose`]; vectors at the beginnings of the block's rows may be read, and at those of its columns
/// written.
#[inline(always)]
unsafe fn block<W: LaneWord>(
    to: TileRows,
    from: TileRows,
    (row, rows): (usize, usize),
    (column, columns): (usize, usize),
) {
    let n = W::COUNT;
    // SAFETY: rows and columns are inside the tile, and vectors from there may be read and written.
    unsafe {
        let mut all = [W::NONE; 16];
        for (r, vector) in all[..n].iter_mut().enumerate() {
            *vector =
                from.at::<W>((row + r).min(rows - 1), column).cast::<W::Vector>().read_unaligned();
        }
        for _ in 0..n.ilog2() {
            let mut next = all;
            for r in 0..n / 2 {
                (next[2 * r], next[2 * r + 1]) = W::interleaved(all[r], all[r + n / 2]);
            }
            all = next;
        }
        for (c, vector) in all[..n].iter().enumerate().take(columns - column) {
            to.at::<W>(column + c, row).cast::<W::Vector>().write_unaligned(*vector);
        }
    }
}

/// A word of bits, and vectors of it.
trait LaneWord: Copy {
    /// 16 bytes.
    type Vector: Copy;
    const COUNT: usize;
    /// Any vector.
    const NONE: Self::Vector;
    /// Elements of both vectors in turn: those of their first halves, and those of their second halves.
    fn interleaved(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);
}

#[cfg(target_arch = "x86_64")]
macro_rules! words {
    ($($t:ident $low:ident $high:ident;)*) => { $(
        impl LaneWord for $t {
            type Vector = std::arch::x86_64::__m128i;
            const COUNT: usize = 16 / size_of::<$t>();
            // SAFETY: any bits are a vector.
            const NONE: Self::Vector = unsafe { std::mem::zeroed() };
            #[inline(always)]
            fn interleaved(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
                // SAFETY: every x86-64 processor has SSE2.
                unsafe { (std::arch::x86_64::$low(a, b), std::arch::x86_64::$high(a, b)) }
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
words! {
    u8 _mm_unpacklo_epi8 _mm_unpackhi_epi8;
    u16 _mm_unpacklo_epi16 _mm_unpackhi_epi16;
    u32 _mm_unpacklo_epi32 _mm_unpackhi_epi32;
    u64 _mm_unpacklo_epi64 _mm_unpackhi_epi64;
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! words {
    ($($t:ident)*) => { $(
        impl LaneWord for $t {
            type Vector = [$t; 16 / size_of::<$t>()];
            const COUNT: usize = 16 / size_of::<$t>();
            const NONE: Self::Vector = [0; 16 / size_of::<$t>()];
            #[inline(always)]
            fn interleaved(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
                let of = |k: usize| if k % 2 == 0 { a[k / 2] } else { b[k / 2] };
                (std::array::from_fn(of), std::array::from_fn(|k| of(k + Self::COUNT)))
            }
        }
    )* };
}

#[cfg(not(target_arch = "x86_64"))]
words!(u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and columns, bytes of an element, and the elements that rows of both are longer than they need be.
    fn check(rows: usize, columns: usize, size: usize, longer: [usize; 2], backwards: bool) {
        let (from_pitch, to_pitch) = ((columns + longer[0]) * size, (rows + longer[1]) * size);
        // Nothing behind the last element may be read or written.
        let from_len = (rows - 1) * from_pitch + columns * size;
        let to_len = (columns - 1) * to_pitch + rows * size;
        let mut source: Vec<u8> = (0..from_len).map(|k| (k * 7 + k / 251) as u8).collect();
        let mut got: Vec<u8> = (0..to_len).map(|k| (k * 3) as u8).collect();
        let mut want = got.clone();
        let first_row = |row: usize| if backwards { rows - 1 - row } else { row };
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            let at = column * to_pitch + row * size;
            let of = first_row(row) * from_pitch + column * size;
            want[at..at + size].copy_from_slice(&source[of..of + size]);
        }
        let pitch = if backwards { -(from_pitch as isize) } else { from_pitch as isize };
        let first = source[first_row(0) * from_pitch..].as_mut_ptr();
        let from = TileRows { first, pitch };
        let to = TileRows { first: got.as_mut_ptr(), pitch: to_pitch as isize };
        // SAFETY: the elements and their places are inside the two vectors.
        unsafe { transpose(size, to, from, rows, columns) };
        assert!(
            got == want,
            "{rows} rows of {columns} elements of {size} bytes, {longer:?} longer"
        );
    }

    #[test]
    fn tiles_of_all_extents_are_transposed() {
        for size in [1, 2, 4, 8, 16] {
            for (rows, columns) in
                (1..40).flat_map(|rows| (1..40).map(move |columns| (rows, columns)))
            {
                for longer in [[0, 0], [3, 0], [0, 5]] {
                    check(rows, columns, size, longer, false);
                }
                check(rows, columns, size, [0, 0], true);
            }
        }
    }
}
