//! Rows in memory to planes of numbers beside each other, and back.
//!
//! Where neighbouring rows lie side by side, as columns of a matrix do, loops go along them; otherwise along the points
//! of four rows at a time. Not here: which rows these are (`fourier_rows.rs`).

use gpupy_jit::StridedPointer;

/// Rows that lie one step from each other.
#[derive(Clone, Copy)]
pub struct Neighbours {
    pub first: StridedPointer,
    /// Bytes from a row to the next.
    pub apart: isize,
}

/// A part of an element, in memory.
pub trait Float: Copy {
    fn wide(self) -> f64;
    fn of(wide: f64) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn of(wide: f64) -> f32 {
        wide as f32
    }
}

impl Float for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn of(wide: f64) -> f64 {
        wide
    }
}

impl Neighbours {
    /// The rows from a point on, of which every `step`-th is seen.
    pub fn points(self, from: usize, step: usize) -> Neighbours {
        let ptr = self.first.ptr.wrapping_offset(self.first.step * from as isize);
        Neighbours {
            first: StridedPointer { ptr, step: self.first.step * step as isize },
            apart: self.apart,
        }
    }

    /// Calls `each` with the address of each element and the number of its plane's place, in the better order.
    #[inline(always)]
    fn visit<T>(self, points: usize, batch: usize, mut each: impl FnMut(*mut T, usize)) {
        let StridedPointer { ptr, step } = self.first;
        if self.apart.unsigned_abs() < step.unsigned_abs() {
            for k in 0..points {
                let at = ptr.wrapping_offset(step * k as isize);
                for row in 0..batch {
                    each(at.wrapping_offset(self.apart * row as isize).cast(), k * batch + row);
                }
            }
            return;
        }
        let mut row = 0;
        while row < batch {
            let rows = if row + 4 <= batch { 4 } else { 1 };
            let at = ptr.wrapping_offset(self.apart * row as isize);
            if rows == 4 {
                let mut at = [0, 1, 2, 3].map(|row| at.wrapping_offset(self.apart * row));
                for k in 0..points {
                    for (q, at) in at.iter_mut().enumerate() {
                        each(at.cast(), k * batch + row + q);
                        *at = at.wrapping_offset(step);
                    }
                }
            } else {
                for k in 0..points {
                    each(at.wrapping_offset(step * k as isize).cast(), k * batch + row);
                }
            }
            row += rows;
        }
    }

    /// Loads complex elements, and zeros up to `all` points.
    ///
    /// # Safety
    /// The rows have `given` elements of two `T`; the planes have room.
    pub unsafe fn load_complex<T: Float>(
        self,
        re: &mut [f64],
        im: &mut [f64],
        [given, all]: [usize; 2],
        batch: usize,
    ) {
        let (from, to) = (given * batch, all * batch);
        re[from..to].fill(0.0);
        im[from..to].fill(0.0);
        let (re, im) = (re.as_mut_ptr(), im.as_mut_ptr());
        // SAFETY: the condition is that of this function; the planes were just seen to have room.
        self.visit(given, batch, |at: *mut T, place| unsafe {
            *re.add(place) = (*at).wide();
            *im.add(place) = (*at.add(1)).wide();
        });
    }

    /// Loads real elements, and zeros up to `all` points.
    ///
    /// # Safety
    /// The rows have `given` elements; the plane has room.
    pub unsafe fn load_real<T: Float>(
        self,
        plane: &mut [f64],
        [given, all]: [usize; 2],
        batch: usize,
    ) {
        plane[given * batch..all * batch].fill(0.0);
        let plane = plane.as_mut_ptr();
        // SAFETY: the condition is that of this function; the plane was just seen to have room.
        self.visit(given, batch, |at: *mut T, place| unsafe {
            *plane.add(place) = (*at).wide();
        });
    }

    /// Stores complex elements, scaled.
    ///
    /// # Safety
    /// The rows have these elements of two `T`, which nothing else reads or writes.
    pub unsafe fn store_complex<T: Float>(
        self,
        [re, im]: [&[f64]; 2],
        scale: f64,
        points: usize,
        batch: usize,
    ) {
        let (re, im) = (&re[..points * batch], &im[..points * batch]);
        let (re, im) = (re.as_ptr(), im.as_ptr());
        // SAFETY: the condition is that of this function; the planes were just seen to have the numbers.
        self.visit(points, batch, |at: *mut T, place| unsafe {
            *at = T::of(*re.add(place) * scale);
            *at.add(1) = T::of(*im.add(place) * scale);
        });
    }

    /// Stores real elements, scaled.
    ///
    /// # Safety
    /// The rows have these elements, which nothing else reads or writes.
    pub unsafe fn store_real<T: Float>(
        self,
        plane: &[f64],
        scale: f64,
        points: usize,
        batch: usize,
    ) {
        let plane = plane[..points * batch].as_ptr();
        // SAFETY: the condition is that of this function; the plane was just seen to have the numbers.
        self.visit(points, batch, |at: *mut T, place| unsafe {
            *at = T::of(*plane.add(place) * scale);
        });
    }
}
