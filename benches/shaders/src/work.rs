//! The programs that are timed: their sizes, inputs, and how far two results may be apart.
//!
//! Owns [`Work`]. Not here: how gpupy computes them (`ours.rs`), shaders by hand (one file an API).

use crate::Outcome;

/// Points of the distance map.
pub const POINTS: usize = 100;

/// One program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The distance of each pixel to the nearest point.
    DistanceMap,
    /// The three planes of a lit sphere.
    Sphere,
    /// `2.5 * x + y`.
    Scaled,
    /// The sum of an array.
    Sum,
    /// How many turns points of the plane take to escape (the Mandelbrot set).
    EscapeTimes,
}

impl Work {
    /// All of them.
    pub const ALL: [Work; 5] =
        [Work::DistanceMap, Work::Sphere, Work::Scaled, Work::Sum, Work::EscapeTimes];

    /// Its name in tables, at any size.
    pub fn name(self) -> &'static str {
        match self {
            Work::DistanceMap => "distance map of 100 points",
            Work::Sphere => "shaded sphere",
            Work::Scaled => "2.5*x+y",
            Work::Sum => "sum",
            Work::EscapeTimes => "escape times, 200 turns",
        }
    }

    /// The side of a picture, or of the square that has as many elements, beside shaders by hand.
    pub fn side(self) -> usize {
        match self {
            Work::DistanceMap => 512,
            Work::EscapeTimes => 1024,
            Work::Sphere => 2048,
            Work::Scaled | Work::Sum => 4096,
        }
    }

    /// The arrays that it reads at a size.
    pub fn inputs(self, side: usize) -> Vec<Vec<f32>> {
        let count = match self {
            Work::DistanceMap | Work::Sphere | Work::EscapeTimes => 0,
            Work::Scaled => 2,
            Work::Sum => 1,
        };
        let len = side * side;
        let element = |which: usize, k: usize| ((k * (which + 7)) % 1021) as f32 / 256.0;
        (0..count).map(|which| (0..len).map(|k| element(which, k)).collect()).collect()
    }

    /// Whether two sides computed the same, up to the rounding of another order.
    pub fn check(self, theirs: &[f32], ours: &[f32]) -> Outcome<()> {
        // Pixels on the rim of the sphere and of its shadow may fall on either side.
        let apart = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4 * a.abs().max(1.0);
        let many = theirs.iter().zip(ours).filter(|pair| apart(*pair)).count();
        match theirs.len() == ours.len() && many * 1000 <= ours.len() {
            true => Ok(()),
            false => {
                Err(format!("{}: {many} of {} elements differ", self.name(), ours.len()).into())
            }
        }
    }
}

/// The plane of escape times: its left and top, and how far pixels are apart.
pub fn plane(side: usize) -> [f32; 3] {
    [-2.2, -1.5, 3.0 / side as f32]
}

/// The turns after which a point counts as inside.
pub const TURNS: i32 = 200;

/// The points of a distance map: row and column.
pub fn points(side: usize) -> Vec<[f32; 2]> {
    let point = |k: usize| [(k * 89 % side) as f32 + 0.25, (k * 127 % side) as f32 + 0.25];
    (0..POINTS).map(point).collect()
}

/// The numbers of the sphere's scene.
#[derive(Clone, Copy)]
pub struct Scene {
    /// The sphere's radius, in pixels.
    pub radius: f32,
    /// Row and column of the eye.
    pub eye: f32,
    /// The eye's height.
    pub z: f32,
    /// The part of the equation's `b` that is the same for all pixels.
    pub toward: f32,
    /// The equation's `c`.
    pub constant: f32,
}

impl Scene {
    /// The scene of `examples/shaded_sphere.py`.
    pub fn of(size: usize) -> Scene {
        let (radius, half, whole) = (0.4 * size as f64, size as f64 / 2.0, size as f64);
        let apart = 2.0 * (half * half) + 2.0 * (half * half) + whole * whole - 4.0 * (half * half);
        Scene {
            radius: radius as f32,
            eye: half as f32,
            z: whole as f32,
            toward: (-2.0 * whole * whole) as f32,
            constant: (apart - radius * radius) as f32,
        }
    }

    /// Background, ambient and diffuse light of red, green and blue.
    pub const CHANNELS: [[f32; 3]; 3] = [[0.0, 0.1, 0.2], [0.0, 0.2, 0.5], [0.5, 0.3, 0.6]];

    /// The scene's numbers in the order of its fields, for shaders.
    pub fn numbers(self) -> [f32; 5] {
        [self.radius, self.eye, self.z, self.toward, self.constant]
    }
}
