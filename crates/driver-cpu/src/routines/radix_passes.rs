//! Passes of a fast Fourier transform (Stockham's) over planes of numbers: real parts, imaginary parts.
//!
//! Owns [`Pass`]. A pass of radix `r` takes `r` numbers that lie `m · s` apart and gives `r` that lie `s` apart, `s` at
//! a time beside each other. Transforms of several rows are one whose numbers are the rows' beside each other, so that
//! every loop is one of vectors. Invariant: bits depend on neither the processor nor the rows beside: products and sums
//! are rounded separately, in one order.
//!
//! Not here: which passes a transform has (`plan.rs`).

// Lanes of several arrays go together.
#![allow(clippy::needless_range_loop)]

use gpupy_core::routines::root_of_unity;

/// Real and imaginary parts of numbers, of one length.
pub struct Planes<'a> {
    pub re: &'a mut [f64],
    pub im: &'a mut [f64],
}

impl Planes<'_> {
    /// The numbers of a part.
    #[inline(always)]
    pub fn part(&self, from: usize, count: usize) -> impl Iterator<Item = ComplexLanes> + '_ {
        let (re, im) = (&self.re[from..from + count], &self.im[from..from + count]);
        re.iter().zip(im).map(|(re, im)| ComplexLanes { re: *re, im: *im })
    }

    /// The places of the numbers of a part.
    #[inline(always)]
    pub fn part_mut(
        &mut self,
        from: usize,
        count: usize,
    ) -> impl Iterator<Item = (&mut f64, &mut f64)> + '_ {
        let (re, im) = (&mut self.re[from..from + count], &mut self.im[from..from + count]);
        re.iter_mut().zip(im)
    }
}

/// One pass.
pub struct Pass {
    radix: usize,
    /// The points of each of the transforms that remain.
    m: usize,
    /// `exp(−2πi·k·p / (radix · m))` for each `k` from 1 on and each `p` below `m`.
    twiddles: [Vec<f64>; 2],
    /// Cosines and sines of parts of a turn, `radix` of them.
    roots: [Vec<f64>; 2],
}

/// Numbers of a large radix that are combined at a time.
const LANES: usize = 16;
/// Pairs of numbers of a large radix whose products are summed by themselves.
const SUMMED: usize = 8;

impl Pass {
    /// A pass for `radix · m` points.
    pub fn new(radix: usize, m: usize) -> Pass {
        let points = (radix * m) as u64;
        let numbers = (1..radix as u64).flat_map(|k| (0..m as u64).map(move |p| k * p));
        let (mut re, mut im) = (Vec::new(), Vec::new());
        for number in numbers {
            let [c, s] = root_of_unity(number % points, points);
            re.push(c);
            im.push(-s);
        }
        let all = (0..radix as u64).map(|k| root_of_unity(k, radix as u64));
        let (cosines, sines) = all.map(|[c, s]| (c, s)).unzip();
        Pass { radix, m, twiddles: [re, im], roots: [cosines, sines] }
    }

    /// How many numbers it combines.
    pub fn radix(&self) -> usize {
        self.radix
    }

    /// Does the pass for `s` numbers beside each other.
    pub fn run(&self, from: &Planes<'_>, to: &mut Planes<'_>, s: usize) {
        let all = self.radix * self.m * s;
        assert!(from.re.len() >= all && from.im.len() >= all, "the numbers are there");
        assert!(to.re.len() >= all && to.im.len() >= all, "the results have room");
        let lines = PassLines {
            from: [from.re.as_ptr(), from.im.as_ptr()],
            to: [to.re.as_mut_ptr(), to.im.as_mut_ptr()],
            s,
        };
        // SAFETY: the planes have as many numbers as the pass reads and writes, and the processor has what is asked.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512f") {
                return self.by_avx512(&lines);
            }
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                return self.by_avx2(&lines);
            }
            self.by_any(&lines);
        }
    }

    /// # Safety
    /// That of `by_any`; the processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn by_avx512(&self, lines: &PassLines) {
        // SAFETY: the condition is that of this function.
        unsafe { self.by_any(lines) }
    }

    /// # Safety
    /// That of `by_any`; the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn by_avx2(&self, lines: &PassLines) {
        // SAFETY: the condition is that of this function.
        unsafe { self.by_any(lines) }
    }

    /// # Safety
    /// The lines have `radix · m · s` numbers, and do not overlap.
    #[inline(always)]
    unsafe fn by_any(&self, lines: &PassLines) {
        // SAFETY: the condition is that of this function.
        unsafe {
            match self.radix {
                2 => self.each(lines, &Two),
                4 => self.each(lines, &Four),
                3 => self.each(lines, &Odd(self.roots_of::<3>())),
                5 => self.each(lines, &Odd(self.roots_of::<5>())),
                7 => self.each(lines, &Odd(self.roots_of::<7>())),
                _ => self.large(lines),
            }
        }
    }

    /// # Safety
    /// That of `by_any`; the radix is `R`.
    #[inline(always)]
    unsafe fn each<const R: usize>(&self, lines: &PassLines, butterfly: &impl Butterfly<R>) {
        let (m, s) = (self.m, lines.s);
        let [re, im] = &self.twiddles;
        let mut done = 0;
        if s == 1 {
            // Vectors go along the other axis.
            while done + 8 <= m {
                // SAFETY: the lines and the twiddles have these numbers.
                unsafe { across::<R>(lines, butterfly, [done, m], [re.as_ptr(), im.as_ptr()]) };
                done += 8;
            }
        }
        for p in done..m {
            let mut by = [ComplexLanes::zero(); R];
            for k in 1..R {
                by[k] = ComplexLanes { re: re[(k - 1) * m + p], im: im[(k - 1) * m + p] };
            }
            let mut q = 0;
            // SAFETY: the lines have these numbers.
            unsafe {
                while q + 8 <= s {
                    one::<[f64; 8], R>(lines, butterfly, [p, m, s, q], &by);
                    q += 8;
                }
                if q + 4 <= s {
                    one::<[f64; 4], R>(lines, butterfly, [p, m, s, q], &by);
                    q += 4;
                }
                while q < s {
                    one::<f64, R>(lines, butterfly, [p, m, s, q], &by);
                    q += 1;
                }
            }
        }
    }

    /// Cosines and sines of the parts of a turn.
    fn roots_of<const R: usize>(&self) -> [[f64; R]; 2] {
        let mut roots = [[0.0; R]; 2];
        for (to, from) in roots.iter_mut().zip(&self.roots) {
            to.copy_from_slice(from);
        }
        roots
    }

    /// # Safety
    /// That of `by_any`; the radix is odd.
    #[inline(always)]
    unsafe fn large(&self, lines: &PassLines) {
        let (r, m, s) = (self.radix, self.m, lines.s);
        let half = r / 2;
        // Of each pair the parts of the sum, and those of the difference.
        let mut pairs = vec![[[0.0; LANES]; 4]; half + 1];
        for p in 0..m {
            for start in (0..s).step_by(LANES) {
                let lanes = LANES.min(s - start);
                let mut first = [[0.0; LANES]; 2];
                for q in 0..lanes {
                    // SAFETY: the lines have these numbers.
                    let x: ComplexLanes = unsafe { lines.get(p * s + start + q) };
                    (first[0][q], first[1][q]) = (x.re, x.im);
                }
                let mut all = first;
                for j in 1..=half {
                    for q in 0..lanes {
                        // SAFETY: as above.
                        let (x, y): (ComplexLanes, ComplexLanes) = unsafe {
                            let at = p * s + start + q;
                            (lines.get(at + j * m * s), lines.get(at + (r - j) * m * s))
                        };
                        let (sum, difference) = (x + y, x - y);
                        let pair = &mut pairs[j];
                        (pair[0][q], pair[1][q]) = (sum.re, sum.im);
                        (pair[2][q], pair[3][q]) = (difference.re, difference.im);
                        all[0][q] += sum.re;
                        all[1][q] += sum.im;
                    }
                }
                for q in 0..lanes {
                    let sum = ComplexLanes { re: all[0][q], im: all[1][q] };
                    // SAFETY: as above.
                    unsafe { lines.put(r * p * s + start + q, sum) };
                }
                for k in 1..=half {
                    let ([mut even_re, mut even_im], mut at) = (first, 0);
                    let (mut odd_re, mut odd_im) = ([0.0; LANES], [0.0; LANES]);
                    // Sums of sums of few: they lose less.
                    for few in pairs[1..].chunks(SUMMED) {
                        let mut sums = [[0.0; LANES]; 4];
                        for pair in few {
                            at += k;
                            at -= if at >= r { r } else { 0 };
                            let (c, s) = (self.roots[0][at], self.roots[1][at]);
                            for q in 0..LANES {
                                sums[0][q] += pair[0][q] * c;
                                sums[1][q] += pair[1][q] * c;
                                sums[2][q] += pair[2][q] * s;
                                sums[3][q] += pair[3][q] * s;
                            }
                        }
                        for q in 0..LANES {
                            even_re[q] += sums[0][q];
                            even_im[q] += sums[1][q];
                            odd_re[q] += sums[2][q];
                            odd_im[q] += sums[3][q];
                        }
                    }
                    for q in 0..lanes {
                        let even = ComplexLanes { re: even_re[q], im: even_im[q] };
                        let odd = ComplexLanes { re: odd_re[q], im: odd_im[q] }.turned();
                        for (k, y) in [(k, even + odd), (r - k, even - odd)] {
                            let at = (k - 1) * m + p;
                            let by =
                                ComplexLanes { re: self.twiddles[0][at], im: self.twiddles[1][at] };
                            // SAFETY: as above.
                            unsafe { lines.put((r * p + k) * s + start + q, y * by) };
                        }
                    }
                }
            }
        }
    }
}

/// Combines numbers that lie beside each other at one point of a pass.
///
/// # Safety
/// The lines have these numbers.
#[inline(always)]
unsafe fn one<V: Lanes, const R: usize>(
    lines: &PassLines,
    butterfly: &impl Butterfly<R>,
    [p, m, s, q]: [usize; 4],
    by: &[ComplexLanes; R],
) {
    let mut x = [ComplexLanes::<V>::zero(); R];
    for k in 0..R {
        // SAFETY: the condition is that of this function.
        x[k] = unsafe { lines.get((p + k * m) * s + q) };
    }
    let y = butterfly.combine(x);
    for k in 0..R {
        let by = ComplexLanes { re: V::all(by[k].re), im: V::all(by[k].im) };
        let y = if k == 0 { y[0] } else { y[k] * by };
        // SAFETY: the condition is that of this function.
        unsafe { lines.put((R * p + k) * s + q, y) };
    }
}

/// Combines the numbers of eight points of a pass whose numbers have none beside them.
///
/// # Safety
/// The lines and the twiddles have these numbers.
#[inline(always)]
unsafe fn across<const R: usize>(
    lines: &PassLines,
    butterfly: &impl Butterfly<R>,
    [p, m]: [usize; 2],
    [re, im]: [*const f64; 2],
) {
    let mut x = [ComplexLanes::<[f64; 8]>::zero(); R];
    for k in 0..R {
        // SAFETY: the condition is that of this function.
        x[k] = unsafe { lines.get(p + k * m) };
    }
    let y = butterfly.combine(x);
    for k in 0..R {
        let mut number = y[k];
        if k > 0 {
            // SAFETY: the condition is that of this function.
            let by = unsafe {
                let at = (k - 1) * m + p;
                ComplexLanes { re: Lanes::load(re.add(at)), im: Lanes::load(im.add(at)) }
            };
            number = number * by;
        }
        for lane in 0..8 {
            let number = ComplexLanes { re: number.re[lane], im: number.im[lane] };
            // SAFETY: the condition is that of this function.
            unsafe { lines.put(R * (p + lane) + k, number) };
        }
    }
}

/// A transform of few points. Closures would be compiled for any processor.
trait Butterfly<const R: usize> {
    fn combine<V: Lanes>(&self, x: [ComplexLanes<V>; R]) -> [ComplexLanes<V>; R];
}

struct Two;

impl Butterfly<2> for Two {
    #[inline(always)]
    fn combine<V: Lanes>(&self, x: [ComplexLanes<V>; 2]) -> [ComplexLanes<V>; 2] {
        [x[0] + x[1], x[0] - x[1]]
    }
}

struct Four;

impl Butterfly<4> for Four {
    #[inline(always)]
    fn combine<V: Lanes>(&self, x: [ComplexLanes<V>; 4]) -> [ComplexLanes<V>; 4] {
        let (sum, difference) = (x[0] + x[2], x[0] - x[2]);
        let (others, turned) = (x[1] + x[3], (x[1] - x[3]).turned());
        [sum + others, difference + turned, sum - others, difference - turned]
    }
}

/// Of an odd number of points, in pairs; with the cosines and sines of the parts of a turn.
struct Odd<const R: usize>([[f64; R]; 2]);

impl<const R: usize> Butterfly<R> for Odd<R> {
    #[inline(always)]
    fn combine<V: Lanes>(&self, x: [ComplexLanes<V>; R]) -> [ComplexLanes<V>; R] {
        let [cosines, sines] = &self.0;
        let mut y = x;
        for j in 1..=R / 2 {
            y[0] = y[0] + (x[j] + x[R - j]);
        }
        for k in 1..=R / 2 {
            let (mut even, mut odd) = (x[0], ComplexLanes::zero());
            for j in 1..=R / 2 {
                even = even + (x[j] + x[R - j]).times(cosines[j * k % R]);
                odd = odd + (x[j] - x[R - j]).times(sines[j * k % R]);
            }
            let odd = odd.turned();
            (y[k], y[R - k]) = (even + odd, even - odd);
        }
        y
    }
}

/// The planes of a pass.
struct PassLines {
    from: [*const f64; 2],
    to: [*mut f64; 2],
    s: usize,
}

impl PassLines {
    /// # Safety
    /// There are such numbers.
    #[inline(always)]
    unsafe fn get<V: Lanes>(&self, at: usize) -> ComplexLanes<V> {
        // SAFETY: the condition is that of this function.
        unsafe {
            ComplexLanes { re: V::load(self.from[0].add(at)), im: V::load(self.from[1].add(at)) }
        }
    }

    /// # Safety
    /// There is room for such numbers.
    #[inline(always)]
    unsafe fn put<V: Lanes>(&self, at: usize, number: ComplexLanes<V>) {
        // SAFETY: the condition is that of this function.
        unsafe {
            number.re.store(self.to[0].add(at));
            number.im.store(self.to[1].add(at));
        }
    }
}

/// Floats side by side.
pub trait Lanes: Copy {
    fn all(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;

    /// # Safety
    /// As many floats are there.
    unsafe fn load(from: *const f64) -> Self;

    /// # Safety
    /// There is room for as many floats.
    unsafe fn store(self, to: *mut f64);
}

impl Lanes for f64 {
    #[inline(always)]
    fn all(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: f64) -> f64 {
        self - other
    }

    #[inline(always)]
    fn product(self, other: f64) -> f64 {
        self * other
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> f64 {
        // SAFETY: the condition is that of this function.
        unsafe { *from }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the condition is that of this function.
        unsafe { *to = self }
    }
}

/// A vector register of AVX-512, two of AVX2; half of them.
impl<const N: usize> Lanes for [f64; N] {
    #[inline(always)]
    fn all(value: f64) -> [f64; N] {
        [value; N]
    }

    #[inline(always)]
    fn plus(mut self, other: [f64; N]) -> [f64; N] {
        for k in 0..N {
            self[k] += other[k];
        }
        self
    }

    #[inline(always)]
    fn minus(mut self, other: [f64; N]) -> [f64; N] {
        for k in 0..N {
            self[k] -= other[k];
        }
        self
    }

    #[inline(always)]
    fn product(mut self, other: [f64; N]) -> [f64; N] {
        for k in 0..N {
            self[k] *= other[k];
        }
        self
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> [f64; N] {
        // SAFETY: the condition is that of this function.
        unsafe { from.cast::<[f64; N]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the condition is that of this function.
        unsafe { to.cast::<[f64; N]>().write_unaligned(self) }
    }
}

/// A complex number, or several side by side.
#[derive(Clone, Copy)]
pub struct ComplexLanes<V = f64> {
    pub re: V,
    pub im: V,
}

impl<V: Lanes> ComplexLanes<V> {
    #[inline(always)]
    fn zero() -> ComplexLanes<V> {
        ComplexLanes { re: V::all(0.0), im: V::all(0.0) }
    }

    /// It times −i.
    #[inline(always)]
    fn turned(self) -> ComplexLanes<V> {
        ComplexLanes { re: self.im, im: V::all(-1.0).product(self.re) }
    }

    #[inline(always)]
    fn times(self, by: f64) -> ComplexLanes<V> {
        let by = V::all(by);
        ComplexLanes { re: self.re.product(by), im: self.im.product(by) }
    }
}

impl<V: Lanes> std::ops::Add for ComplexLanes<V> {
    type Output = ComplexLanes<V>;

    #[inline(always)]
    fn add(self, other: ComplexLanes<V>) -> ComplexLanes<V> {
        ComplexLanes { re: self.re.plus(other.re), im: self.im.plus(other.im) }
    }
}

impl<V: Lanes> std::ops::Sub for ComplexLanes<V> {
    type Output = ComplexLanes<V>;

    #[inline(always)]
    fn sub(self, other: ComplexLanes<V>) -> ComplexLanes<V> {
        ComplexLanes { re: self.re.minus(other.re), im: self.im.minus(other.im) }
    }
}

impl<V: Lanes> std::ops::Mul for ComplexLanes<V> {
    type Output = ComplexLanes<V>;

    #[inline(always)]
    fn mul(self, other: ComplexLanes<V>) -> ComplexLanes<V> {
        ComplexLanes {
            re: self.re.product(other.re).minus(self.im.product(other.im)),
            im: self.re.product(other.im).plus(self.im.product(other.re)),
        }
    }
}
