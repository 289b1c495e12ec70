//! Programs that compute a picture from the coordinates of its pixels.

use rayon::prelude::*;

use crate::widest::widest;

/// The distance of each pixel to the nearest of the points.
pub fn distance_map(px: &[f32], py: &[f32], to: &mut [f32], size: usize, _count: usize) {
    widest! {
        fn part(points: [&[f32]; 2], i: f32, row: &mut [f32]) {
            // Eight vectors of 512 bits stay in registers while the points go by.
            const LANES: usize = 128;
            for (number, lanes) in row.chunks_mut(LANES).enumerate() {
                let start = number * LANES;
                let mut j = [0.0; LANES];
                for (k, j) in j.iter_mut().enumerate() {
                    *j = (start + k) as f32;
                }
                let mut nearest = [f32::INFINITY; LANES];
                for (&x, &y) in points[0].iter().zip(points[1]) {
                    let square = (i - x) * (i - x);
                    for (nearest, j) in nearest.iter_mut().zip(j) {
                        let distance = (square + (j - y) * (j - y)).sqrt();
                        *nearest = if distance < *nearest { distance } else { *nearest };
                    }
                }
                lanes.copy_from_slice(&nearest[..lanes.len()]);
            }
        }
    }
    to.par_chunks_mut(size).enumerate().for_each(|(i, row)| part([px, py], i as f32, row));
}

/// The numbers of a sphere's picture that do not depend on the pixel.
#[derive(Clone, Copy)]
struct Scene {
    radius: f32,
    eye: f32,
    z: f32,
    toward: f32,
    constant: f32,
}

/// The red, green and blue planes of a lit sphere.
pub fn shaded_sphere(red: &mut [f32], green: &mut [f32], blue: &mut [f32], size: usize) {
    widest! {
        fn part(scene: Scene, i: f32, red: &mut [f32], green: &mut [f32], blue: &mut [f32]) {
            let Scene { radius, eye, z, toward, constant } = scene;
            let dx = i - eye;
            let square = dx * dx;
            for (j, ((red, green), blue)) in red.iter_mut().zip(green).zip(blue).enumerate() {
                let dy = j as f32 - eye;
                let a = square + dy * dy + z * z;
                let b = 2.0 * dx * 0.0 + 2.0 * dy * 0.0 + toward;
                let discriminant = b * b - 4.0 * a * constant;
                let t = (-b - discriminant.sqrt()) / (2.0 * a);
                let (ix, iy, iz) = (eye + t * dx, eye + t * dy, z + t * -z);
                let (nx, ny, nz) = ((ix - eye) / radius, (iy - eye) / radius, iz / radius);
                let lit = -nx + ny + nz;
                let shade = |background: f32, ambient: f32, diffuse: f32| {
                    let sphere = if lit > 0.0 { ambient + lit * diffuse } else { ambient };
                    255.0 * if discriminant > 0.0 { sphere } else { background }
                };
                (*red, *green, *blue) = (shade(0.0, 0.1, 0.2), shade(0.0, 0.2, 0.5), shade(0.5, 0.3, 0.6));
            }
        }
    }
    let (radius, half, whole) = (0.4 * size as f64, size as f64 / 2.0, size as f64);
    // The eye stands over the centre of the sphere, which lies in the plane.
    let apart = 2.0 * (half * half) + 2.0 * (half * half) + whole * whole - 4.0 * (half * half);
    let scene = Scene {
        radius: radius as f32,
        eye: half as f32,
        z: whole as f32,
        toward: (-2.0 * whole * whole) as f32,
        constant: (apart - radius * radius) as f32,
    };
    let planes =
        red.par_chunks_mut(size).zip(green.par_chunks_mut(size)).zip(blue.par_chunks_mut(size));
    planes
        .enumerate()
        .for_each(|(i, ((red, green), blue))| part(scene, i as f32, red, green, blue));
}
