//! Transposed tiles: short rows whose elements are put side by side with those of the rows beside them.
//!
//! Owns [`transpose`]. Vectors along a short axis would be mostly empty, so they run along the axis beside it: a tile
//! of short rows becomes as many long rows as a short row has elements, for every length alike. Blocks of as many rows
//! as a vector of 16 bytes has elements are interleaved, by halves, until they are transposed; where vectors are wider,
//! several at once.
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
            unsafe { blocks::<W, W::Pair>(to, from, rows, columns) }
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
            return unsafe { with_avx2::<W>(to, from, rows, columns) };
        }
    }
    // SAFETY: the conditions are the same.
    unsafe { blocks::<W, W::Vector>(to, from, rows, columns) }
}

/// Blocks of `Wide` have rows for each of its vectors; where fewer are left, blocks of one vector overlap with those
/// before. Where one extent is less than a block's, whole vectors are still read or written as long as they end before
/// the last row does; what they have beyond a row is left out, or written over by the next row.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
unsafe fn blocks<W: LaneWord, Wide: LaneVector>(
    to: TileRows,
    from: TileRows,
    rows: usize,
    columns: usize,
) {
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
        let wide = n * Wide::VECTORS;
        let until = whole_rows - whole_rows % wide;
        for row in (0..until).step_by(wide) {
            blocks_of_rows::<W, Wide>(to, from, (row, wide), (whole_columns, columns));
        }
        let mut row = until;
        while row < whole_rows {
            let first = row.min(whole_rows.saturating_sub(n));
            let rows = (first, n.min(rows - first));
            blocks_of_rows::<W, W::Vector>(to, from, rows, (whole_columns, columns));
            row += n;
        }
        one_by_one::<W>(to, from, whole_rows..rows, 0..columns);
        one_by_one::<W>(to, from, 0..whole_rows, whole_columns..columns);
    }
}

/// Transposes the blocks of some rows whose first columns are before `whole`. The last one overlaps with that before
/// it.
///
/// # Safety
/// As for [`block`].
#[inline(always)]
unsafe fn blocks_of_rows<W: LaneWord, V: LaneVector>(
    to: TileRows,
    from: TileRows,
    rows: (usize, usize),
    (whole, columns): (usize, usize),
) {
    let (n, mut column) = (W::COUNT, 0);
    // SAFETY: blocks begin before `whole` and end there, or are the only one.
    unsafe {
        while column + n <= whole {
            block::<W, V>(to, from, rows, (column, n));
            column += n;
        }
        if whole < n {
            block::<W, V>(to, from, rows, (0, columns));
        } else if column < whole {
            block::<W, V>(to, from, rows, (whole - n, n));
        }
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
    bytes.checked_sub(VECTOR).map_or(0, |last| rows.min(last / pitch + 1))
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

/// Transposes a block: of a row for each element of `V`, and as many columns as a vector of 16 bytes has elements. Of
/// `rows` and `columns`, where fewer than that are left, the last row stands for those behind it.
///
/// # Safety
/// As for [`transpose`]; vectors at the beginnings of the block's rows may be read, and at those of its columns
/// written.
#[inline(always)]
unsafe fn block<W: LaneWord, V: LaneVector>(
    to: TileRows,
    from: TileRows,
    (row, rows): (usize, usize),
    (column, columns): (usize, usize),
) {
    let n = W::COUNT;
    // SAFETY: rows and columns are inside the tile, and vectors from there may be read and written.
    unsafe {
        let mut all = [V::NONE; VECTOR];
        for (r, vector) in all[..n].iter_mut().enumerate() {
            *vector =
                V::load(|number| from.at::<W>(row + (number * n + r).min(rows - 1), column).cast());
        }
        for _ in 0..n.ilog2() {
            let mut next = all;
            for r in 0..n / 2 {
                (next[2 * r], next[2 * r + 1]) = all[r].interleaved::<W>(all[r + n / 2]);
            }
            all = next;
        }
        for (c, vector) in all[..n].iter().enumerate().take(columns) {
            to.at::<W>(column + c, row).cast::<V>().write_unaligned(*vector);
        }
    }
}

/// Bytes of a vector, and so the most of its elements.
const VECTOR: usize = 16;

/// A word of bits.
trait LaneWord: Copy {
    /// Elements of a vector of 16 bytes.
    const COUNT: usize = VECTOR / size_of::<Self>();
    /// 16 bytes.
    type Vector: LaneVector;
    /// Two times 16 bytes.
    #[cfg(target_arch = "x86_64")]
    type Pair: LaneVector;
}

/// Some vectors of 16 bytes each.
trait LaneVector: Copy {
    /// How many they are.
    const VECTORS: usize;
    /// Any.
    const NONE: Self;
    /// The vectors at these addresses, which are asked for by number.
    ///
    /// # Safety
    /// 16 bytes from each are valid for reads.
    unsafe fn load(at: impl Fn(usize) -> *const u8) -> Self;
    /// Elements of vectors of the same number in turn: those of their first halves, and those of their second halves.
    fn interleaved<W: LaneWord>(self, other: Self) -> (Self, Self);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{LaneVector, LaneWord};
    use std::arch::x86_64::*;

    macro_rules! words {
        ($($t:ident)*) => { $(
            impl LaneWord for $t {
                type Vector = __m128i;
                type Pair = __m256i;
            }
        )* };
    }

    words!(u8 u16 u32 u64);

    impl LaneVector for __m128i {
        const VECTORS: usize = 1;
        // SAFETY: any bits are a vector.
        const NONE: __m128i = unsafe { std::mem::zeroed() };
        #[inline(always)]
        unsafe fn load(at: impl Fn(usize) -> *const u8) -> __m128i {
            // SAFETY: the caller keeps the condition.
            unsafe { _mm_loadu_si128(at(0).cast()) }
        }
        #[inline(always)]
        fn interleaved<W: LaneWord>(self, other: __m128i) -> (__m128i, __m128i) {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe {
                match size_of::<W>() {
                    1 => (_mm_unpacklo_epi8(self, other), _mm_unpackhi_epi8(self, other)),
                    2 => (_mm_unpacklo_epi16(self, other), _mm_unpackhi_epi16(self, other)),
                    4 => (_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)),
                    _ => (_mm_unpacklo_epi64(self, other), _mm_unpackhi_epi64(self, other)),
                }
            }
        }
    }

    impl LaneVector for __m256i {
        const VECTORS: usize = 2;
        // SAFETY: any bits are a vector.
        const NONE: __m256i = unsafe { std::mem::zeroed() };
        #[inline(always)]
        unsafe fn load(at: impl Fn(usize) -> *const u8) -> __m256i {
            // SAFETY: the caller keeps the condition, and only code for processors with AVX2 names this type.
            unsafe { _mm256_loadu2_m128i(at(1).cast(), at(0).cast()) }
        }
        #[inline(always)]
        fn interleaved<W: LaneWord>(self, other: __m256i) -> (__m256i, __m256i) {
            // SAFETY: only code for processors with AVX2 names this type.
            unsafe {
                match size_of::<W>() {
                    1 => (_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)),
                    2 => (_mm256_unpacklo_epi16(self, other), _mm256_unpackhi_epi16(self, other)),
                    4 => (_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)),
                    _ => (_mm256_unpacklo_epi64(self, other), _mm256_unpackhi_epi64(self, other)),
                }
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod any {
    use super::{LaneVector, LaneWord, VECTOR};

    macro_rules! words {
        ($($t:ident)*) => { $(
            impl LaneWord for $t {
                type Vector = [u8; VECTOR];
            }
        )* };
    }

    words!(u8 u16 u32 u64);

    impl LaneVector for [u8; VECTOR] {
        const VECTORS: usize = 1;
        const NONE: [u8; VECTOR] = [0; VECTOR];
        #[inline(always)]
        unsafe fn load(at: impl Fn(usize) -> *const u8) -> [u8; VECTOR] {
            // SAFETY: the caller keeps the condition.
            unsafe { at(0).cast::<[u8; VECTOR]>().read_unaligned() }
        }
        #[inline(always)]
        fn interleaved<W: LaneWord>(self, other: Self) -> (Self, Self) {
            let size = size_of::<W>();
            let byte = |k: usize| {
                let at = k / size / 2 * size + k % size;
                if k / size % 2 == 0 { self[at] } else { other[at] }
            };
            (std::array::from_fn(byte), std::array::from_fn(|k| byte(k + VECTOR)))
        }
    }
}

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
