//! The first element of a row that equals a number, or is NaN.
//!
//! Owns [`first_equal`]. Blocks of a row are compared by vectors until one has such an element; the last block overlaps
//! with that before it, so that rows of every length cost alike.
//!
//! Not here: which reductions are searches (`compile/search_plan.rs`).

use super::row_fn::RowFn;
use super::row_loops::{RowLoop, best, get, put};
use gpupy_core::DType;
use std::marker::PhantomData;

/// Elements that are compared at once: a bit for each fits in an integer.
pub const SEARCHED: usize = 16;

/// The function that writes the place of the first element of a row, the first operand, that equals the second, one
/// element, or is NaN: an int32, the row's length where there is none. `None` for dtypes without one.
pub fn first_equal(dtype: DType) -> Option<RowFn> {
    Some(match dtype {
        DType::Bool | DType::U8 | DType::I8 => best::<FirstEqual<u8, u16>>(),
        DType::U16 | DType::I16 => best::<FirstEqual<u16, u16>>(),
        DType::U32 | DType::I32 => best::<FirstEqual<u32, u32>>(),
        DType::U64 | DType::I64 => best::<FirstEqual<u64, u64>>(),
        DType::F32 => best::<FirstEqual<f32, u32>>(),
        DType::F64 => best::<FirstEqual<f64, u64>>(),
        _ => return None,
    })
}

/// The search among elements `A`, with a bit of `M`, as wide as an element, for each of a block.
struct FirstEqual<A, M>(PhantomData<(A, M)>);

macro_rules! searches {
    ($($a:ident $m:ident;)*) => { $(
        impl RowLoop for FirstEqual<$a, $m> {
            type Args = [*const u8; 3];
            #[inline(always)]
            unsafe fn run(dst: *mut u8, [row, wanted, _]: [*const u8; 3], n: usize) {
                // SAFETY: the row has `n` elements, `wanted` is one, and `dst` has room for an int32.
                unsafe {
                    let wanted = get::<$a>(wanted, 0);
                    #[allow(clippy::eq_op)]
                    let is_found = |x: $a| (x == wanted) | (x != x);
                    let (block, mut first) = (SEARCHED.min(n), 0);
                    let place = loop {
                        let at = first.min(n - block);
                        let mut found: $m = 0;
                        if block == SEARCHED {
                            for k in 0..SEARCHED {
                                found |= if is_found(get(row, at + k)) { 1 << k } else { 0 };
                            }
                        } else {
                            for k in 0..block {
                                found |= if is_found(get(row, k)) { 1 << k } else { 0 };
                            }
                        }
                        if found != 0 {
                            break at + found.trailing_zeros() as usize;
                        }
                        first += block;
                        if first >= n {
                            break n;
                        }
                    };
                    put(dst, 0, place as i32);
                }
            }
        }
    )* };
}
searches! {
    u8 u16;
    u16 u16;
    u32 u32;
    u64 u64;
    f32 u32;
    f64 u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_and_the_first_nan_are_found_in_rows_of_every_length() {
        let Some(search) = first_equal(DType::F64) else { panic!("float64 is searched") };
        for n in 1..70 {
            for at in 0..=n {
                for (found, wanted) in [(2.0, 2.0), (f64::NAN, 2.0), (-0.0, 0.0), (1.5, f64::NAN)] {
                    let mut row = vec![1.0; n];
                    row[at..].iter_mut().step_by(3).for_each(|x| *x = found);
                    let is_found = |x: &f64| x.is_nan() || *x == wanted;
                    let want = row.iter().position(is_found).unwrap_or(n) as i32;
                    let mut place = -1i32;
                    let args = [row.as_ptr(), &raw const wanted, row.as_ptr()];
                    // SAFETY: the row has `n` elements, and there is one that is wanted, and room for a place.
                    unsafe { search((&raw mut place).cast(), args.map(<*const f64>::cast), n) };
                    assert_eq!(place, want, "{n} {at} {found} {wanted}");
                }
            }
        }
    }
}
