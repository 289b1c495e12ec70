//! Storage of narrow elements on devices without 8-bit or 16-bit storage.
//!
//! Owns [`widen`] and [`narrow`]. A narrow element takes 32 bits: integers are extended by sign or zeros, a bool is
//! 0 or 1, a float16 is its bits. Invariant: narrowing undoes widening.
//!
//! Not here: which dtypes are widened (`KernelFeatures::stored`).

use gpupy_core::DType;

/// Widens host elements to the block's representation. `stored` has four bytes for each.
pub fn widen(dtype: DType, elements: &[u8], stored: &mut [u8]) {
    let pairs = elements.chunks_exact(dtype.size()).zip(stored.chunks_exact_mut(4));
    for (element, stored) in pairs {
        let wide = match (dtype, element) {
            (DType::I8, [a]) => i32::from(*a as i8) as u32,
            (DType::I16, [a, b]) => i32::from(i16::from_ne_bytes([*a, *b])) as u32,
            (_, [a, b]) => u32::from(u16::from_ne_bytes([*a, *b])),
            (_, [a, ..]) => u32::from(*a),
            (_, []) => 0,
        };
        stored.copy_from_slice(&wide.to_ne_bytes());
    }
}

/// Narrows a block's elements to the host's representation.
pub fn narrow(dtype: DType, stored: &[u8], elements: &mut [u8]) {
    let pairs = elements.chunks_exact_mut(dtype.size()).zip(stored.chunks_exact(4));
    for (element, stored) in pairs {
        let wide = u32::from_ne_bytes([stored[0], stored[1], stored[2], stored[3]]);
        match element {
            [a] => *a = wide as u8,
            element => element.copy_from_slice(&(wide as u16).to_ne_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_undoes_widening_and_signs_are_kept() {
        let elements: Vec<u8> = (0..=255).collect();
        for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::F16] {
            let mut stored = vec![0; 256 / dtype.size() * 4];
            widen(dtype, &elements, &mut stored);
            let mut back = vec![0; 256];
            narrow(dtype, &stored, &mut back);
            assert_eq!(back, elements, "{dtype}");
            let last = i32::from_ne_bytes([0, 1, 2, 3].map(|k| stored[stored.len() - 4 + k]));
            let signed = matches!(dtype, DType::I8 | DType::I16);
            assert_eq!(last < 0, signed, "{dtype}");
        }
    }
}
