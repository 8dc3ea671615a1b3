//! What buffers hold before the launch.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::element::Scalar;

/// Where the bytes of a buffer come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Every number is this.
    Same(u64),
    /// The numbers from 0 on.
    Iota,
    /// Random numbers, the same for the same seed.
    Random(u64),
    /// A file's bytes.
    File(PathBuf),
}

impl FromStr for Fill {
    type Err = String;

    fn from_str(text: &str) -> Result<Fill, String> {
        let called = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(seed) = called("random") {
            return seed
                .parse()
                .map(Fill::Random)
                .map_err(|_| format!("'{seed}' is no seed: seeds are whole numbers from 0 on"));
        }
        if let Some(path) = called("file") {
            return Ok(Fill::File(path.into()));
        }
        match text {
            "zeros" => Ok(Fill::Same(0)),
            "ones" => Ok(Fill::Same(1)),
            "iota" => Ok(Fill::Iota),
            _ => Err(format!("'{text}' is none of zeros, ones, iota, random(SEED), file(PATH)")),
        }
    }
}

/// Makes a buffer's bytes, piece by piece.
pub enum Filler {
    Same(u64),
    Count(u64),
    Random(SplitMix64),
    File(File),
}

impl Filler {
    /// What makes the bytes that a buffer is to hold.
    ///
    /// # Errors
    /// In words: why a file cannot be read.
    pub fn new(fill: &Fill) -> Result<Filler, String> {
        Ok(match fill {
            Fill::Same(number) => Filler::Same(*number),
            Fill::Iota => Filler::Count(0),
            Fill::Random(seed) => Filler::Random(SplitMix64::seed_from_u64(*seed)),
            Fill::File(path) => Filler::File(open_plain_file(path)?.0),
        })
    }

    /// Puts the next so many bytes into `piece`: whole numbers of this type.
    ///
    /// # Errors
    /// In words: why a file cannot be read.
    pub fn fill_piece(&mut self, scalar: Scalar, byte_size: usize, piece: &mut Vec<u8>) -> Result<(), String> {
        piece.clear();
        if let Filler::File(file) = self {
            piece.resize(byte_size, 0);
            return file.read_exact(piece).map_err(|io_error| format!("the file cannot be read: {io_error}"));
        }
        for _ in 0..byte_size / scalar.byte_size() {
            scalar.push_bits(self.next_bits(scalar), piece);
        }
        Ok(())
    }

    /// The bits of the next number.
    fn next_bits(&mut self, scalar: Scalar) -> u64 {
        match self {
            Filler::Same(number) => scalar.bits_of_count(*number),
            Filler::Count(count) => {
                *count += 1;
                scalar.bits_of_count(*count - 1)
            }
            Filler::Random(generator) => scalar.bits_of_random(generator.next_u64()),
            // Its bytes are read as they are.
            Filler::File(_) => 0,
        }
    }
}

/// A file, and how many bytes it has.
///
/// # Errors
/// In words: why it cannot be opened, or that it is not a plain one, which has a size.
pub fn open_plain_file(path: &Path) -> Result<(File, u64), String> {
    let describe_error = |io_error: std::io::Error| format!("{}: {io_error}", path.display());
    // Opening a FIFO would wait for who writes to it.
    let metadata = std::fs::metadata(path).map_err(describe_error)?;
    if !metadata.is_file() {
        return Err(format!("{}: it is not a plain file", path.display()));
    }
    Ok((File::open(path).map_err(describe_error)?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::super::element::Scalar::{Float, Uchar, Ushort};
    use super::*;

    fn bytes_of(text: &str, scalar: Scalar, sizes: &[usize]) -> Vec<u8> {
        let mut filler = Filler::new(&text.parse().expect("it is a fill")).expect("it can be made");
        let mut piece = Vec::new();
        let mut bytes = Vec::new();
        for size in sizes {
            filler.fill_piece(scalar, *size, &mut piece).expect("it can be made");
            bytes.extend_from_slice(&piece);
        }
        bytes
    }

    #[test]
    fn pieces_go_on_where_the_last_one_ended() {
        assert_eq!(bytes_of("iota", Ushort, &[4, 2]), [0, 0, 1, 0, 2, 0]);
        assert_eq!(bytes_of("ones", Float, &[4, 4]), [1_f32.to_le_bytes(), 1_f32.to_le_bytes()].concat());
        assert_eq!(bytes_of("zeros", Float, &[8]), [0; 8]);
        assert_eq!(bytes_of("iota", Uchar, &[256, 2])[255..], [255, 0, 1], "small types begin anew");
        let whole = bytes_of("random(7)", Float, &[400]);
        assert_eq!(bytes_of("random(7)", Float, &[100, 300]), whole);
        assert_ne!(bytes_of("random(8)", Float, &[400]), whole);
        let floats = whole.chunks_exact(4).map(|bytes| f32::from_bits(Float.read_bits(bytes) as u32));
        assert!(floats.into_iter().all(|number| (0.0..1.0).contains(&number)));
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "ten", "random", "random()", "random(-1)", "random(x)", "random(7", "file", "zeros()", "iota "]
        {
            text.parse::<Fill>().expect_err(text);
        }
        assert_eq!("file(a (1).bin)".parse(), Ok(Fill::File("a (1).bin".into())));
    }

    #[test]
    fn files_that_are_none_are_refused() {
        for path in ["/no/such/file", "/dev/zero", "/"] {
            open_plain_file(path.as_ref()).expect_err(path);
        }
    }
}
