//! Bytes as a source of numbers.
//!
//! Owns [`Bytes`]. Invariant: a source that is at its end gives zeros for ever.

/// Numbers from bytes, one after another.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    bytes: Vec<u8>,
    at: usize,
}

impl Bytes {
    /// A source of these bytes.
    pub fn new(bytes: &[u8]) -> Bytes {
        Bytes { bytes: bytes.to_vec(), at: 0 }
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// The next two bytes, the low one first.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    /// The next four bytes, the lowest first.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// The next eight bytes, the lowest first.
    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// A number below `n`, of one byte.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.u8()) % n
    }

    /// A list of values that `read` takes from the source.
    pub fn list<T>(&mut self, len: usize, mut read: impl FnMut(&mut Bytes) -> T) -> Vec<T> {
        (0..len).map(|_| read(self)).collect()
    }
}
