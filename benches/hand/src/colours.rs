//! Pictures in colour: from a sensor's mosaic, and turned.

use rayon::prelude::*;

use crate::functions::whole;
use crate::widest::widest;

/// Rows that a thread takes at a time.
const ROWS: usize = 16;

/// The coordinate inside a row or column of `len` that mirrors `place`; the mirror's edge is the last pixel.
fn mirrored(place: isize, len: usize) -> usize {
    let last = len as isize - 1;
    (last - (last - place.abs()).abs()) as usize
}

/// Red, green and blue of each pixel of a Bayer mosaic, by the filters of Malvar, He and Cutler.
pub fn demosaic(raw: &[f32], to: &mut [f32], height: usize, width: usize) {
    widest! {
        fn row(near: [&[f32]; 5], odd: bool, planes: [&mut [f32]; 3]) {
            let [up2, up, here, down, down2] = near;
            let [red, green, blue] = planes;
            let width = red.len();
            let [up2, up, here, down, down2] =
                [up2, up, here, down, down2].map(|row| &row[..width + 4]);
            let (green, blue) = (&mut green[..width], &mut blue[..width]);
            for j in 0..width {
                let raw = here[j + 2];
                let beside = here[j + 1] + here[j + 3];
                let above_below = up[j + 2] + down[j + 2];
                let diagonal = up[j + 1] + up[j + 3] + down[j + 1] + down[j + 3];
                let far_beside = here[j] + here[j + 4];
                let far_above_below = up2[j + 2] + down2[j + 2];
                let cross =
                    (4.0 * raw + 2.0 * (beside + above_below) - (far_beside + far_above_below)) * 0.125;
                let of_row = (5.0 * raw + 4.0 * beside - diagonal - far_beside + 0.5 * far_above_below) * 0.125;
                let of_column =
                    (5.0 * raw + 4.0 * above_below - diagonal - far_above_below + 0.5 * far_beside) * 0.125;
                let opposite = (6.0 * raw + 2.0 * diagonal - 1.5 * (far_beside + far_above_below)) * 0.125;
                // Where green is, and where it is not, in this row.
                let on_green = (j & 1 == 0) == odd;
                let own = if on_green { of_row } else { raw };
                let other = if on_green { of_column } else { opposite };
                let (r, b) = if odd { (other, own) } else { (own, other) };
                red[j] = r.clamp(0.0, 255.0);
                green[j] = if on_green { raw } else { cross }.clamp(0.0, 255.0);
                blue[j] = b.clamp(0.0, 255.0);
            }
        }
    }
    widest! {
        fn together(planes: [&[f32]; 3], to: &mut [f32]) {
            let [red, green, blue] = planes;
            for (((to, red), green), blue) in to.chunks_exact_mut(3).zip(red).zip(green).zip(blue) {
                to[0] = *red;
                to[1] = *green;
                to[2] = *blue;
            }
        }
    }
    to.par_chunks_mut(ROWS * width * 3).enumerate().for_each(|(number, some)| {
        let first = number * ROWS;
        let count = some.len() / (width * 3);
        // The rows that this part needs, two pixels wider on either side.
        let mut wide = vec![0.0; (count + 4) * (width + 4)];
        for (k, wide) in wide.chunks_exact_mut(width + 4).enumerate() {
            let given = &raw[mirrored((first + k) as isize - 2, height) * width..][..width];
            wide[2..width + 2].copy_from_slice(given);
            for side in [0, 1, width + 2, width + 3] {
                wide[side] = given[mirrored(side as isize - 2, width)];
            }
        }
        let near = |k: usize| &wide[k * (width + 4)..][..width + 4];
        let (mut red, mut green, mut blue) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        for (k, to) in some.chunks_exact_mut(width * 3).enumerate() {
            let odd = (first + k) % 2 == 1;
            let rows = [0, 1, 2, 3, 4].map(|down| near(k + down));
            row(rows, odd, [&mut red, &mut green, &mut blue]);
            together([&red, &green, &blue], to);
        }
    });
}

/// The picture turned by 10 degrees about its centre, bilinear, black outside.
pub fn rotation(picture: &[f32], to: &mut [f32], height: usize, width: usize) {
    widest! {
        fn row(picture: &[f32], i: usize, height: usize, places: &mut [(u32, f32, f32)], to: &mut [f32]) {
            const SINE: f32 = 0.173_648_18;
            const COSINE_LESS_ONE: f32 = -0.015_192_247;
            let width = places.len();
            assert!(height >= 2 && width >= 2 && picture.len() == height * width * 3);
            let y = i as f32 - 0.5 * (height - 1) as f32;
            for (j, place) in places.iter_mut().enumerate() {
                let x = j as f32 - 0.5 * (width - 1) as f32;
                let down = COSINE_LESS_ONE * y - SINE * x;
                let right = SINE * y + COSINE_LESS_ONE * x;
                let (rows, columns) = (down.floor(), right.floor());
                let (top, left) = (i as i32 + whole(rows), j as i32 + whole(columns));
                let inside = (top >= 0) & (top < height as i32 - 1) & (left >= 0) & (left < width as i32 - 1);
                let at = top * width as i32 + left;
                *place = (if inside { at as u32 } else { u32::MAX }, down - rows, right - columns);
            }
            for (to, &(at, down, right)) in to.chunks_exact_mut(3).zip(places.iter()) {
                if at == u32::MAX {
                    to.fill(0.0);
                    continue;
                }
                let above = &picture[at as usize * 3..][..6];
                let below = &picture[(at as usize + width) * 3..][..6];
                for c in 0..3 {
                    let above = (1.0 - right) * above[c] + right * above[c + 3];
                    let below = (1.0 - right) * below[c] + right * below[c + 3];
                    to[c] = (1.0 - down) * above + down * below;
                }
            }
        }
    }
    to.par_chunks_mut(ROWS * width * 3).enumerate().for_each(|(number, some)| {
        let mut places = vec![(0, 0.0, 0.0); width];
        for (i, to) in (number * ROWS..).zip(some.chunks_exact_mut(width * 3)) {
            row(picture, i, height, &mut places, to);
        }
    });
}
