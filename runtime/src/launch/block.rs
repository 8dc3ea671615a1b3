//! The argument block of a launch: bytes aligned for the largest OpenCL type.

/// As many bytes as the largest OpenCL type (double16) is aligned to.
#[derive(Clone, Copy, Hash)]
#[repr(C, align(128))]
struct Chunk([u8; CHUNK]);

const CHUNK: usize = 128;

/// A byte buffer aligned to 128 that is reused from launch to launch.
#[derive(Clone, Default, Hash)]
pub struct ArgBlock {
    chunks: Vec<Chunk>,
}

impl ArgBlock {
    /// Makes room for `bytes` bytes, all zero.
    pub fn reset_to_size(&mut self, bytes: usize) {
        self.chunks.clear();
        self.chunks.resize(bytes.div_ceil(CHUNK), Chunk([0; CHUNK]));
    }

    /// Writes `bytes` at a byte offset; all must lie in the block.
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        for (index, &byte) in bytes.iter().enumerate() {
            let position = offset + index;
            self.chunks[position / CHUNK].0[position % CHUNK] = byte;
        }
    }

    /// `N` bytes at a byte offset; all must lie in the block.
    pub fn read_at<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|index| self.chunks[(offset + index) / CHUNK].0[(offset + index) % CHUNK])
    }

    /// Makes this block a copy of another, in the memory it already has where that is enough.
    pub fn copy_from(&mut self, other: &ArgBlock) {
        self.chunks.clear();
        self.chunks.extend_from_slice(&other.chunks);
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.chunks.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_cross_chunks() {
        let mut block = ArgBlock::default();
        block.reset_to_size(300);
        assert_eq!(block.as_ptr() as usize % 128, 0);
        block.write_at(126, &[1, 2, 3, 4]);
        assert_eq!(block.chunks[0].0[126..], [1, 2]);
        assert_eq!(block.chunks[1].0[..3], [3, 4, 0]);
        assert_eq!(block.read_at(125), [0, 1, 2, 3, 4, 0]);
        block.reset_to_size(300);
        assert!(block.chunks.iter().all(|c| c.0.iter().all(|b| *b == 0)));
    }
}
