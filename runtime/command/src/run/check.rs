//! What becomes of buffers after the launch: printed, saved or compared.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::element::Element;
use super::fill::open_plain_file;
use super::launch::{Buffer, PIECE, Session};

/// How a buffer compares with what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All of so many elements are as expected.
    Same(usize),
    /// The file has another size.
    OtherSize {
        /// Bytes of the file.
        file: u64,
        /// Bytes of the buffer.
        buffer: usize,
    },
    /// There are elements that differ.
    Different {
        /// The first of them.
        index: usize,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
        /// How many there are.
        count: usize,
        /// How many elements there are.
        total: usize,
    },
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Comparison::Same(total) => write!(formatter, "{total} elements are as expected"),
            Comparison::OtherSize { file, buffer } => {
                write!(formatter, "it has {buffer} bytes; {file} are expected")
            }
            Comparison::Different { index, found, expected, count, total } => write!(
                formatter,
                "element {index} is {found}, expected is {expected}; {count} of {total} elements differ"
            ),
        }
    }
}

/// Writes the first elements of a buffer in a line, after the argument's name and type.
///
/// # Errors
/// In words: why they cannot be read or written.
pub fn print_elements(session: &Session, buffer: &Buffer, most: usize, output: &mut impl Write) -> Result<(), String> {
    let element_size = buffer.element.byte_size();
    let byte_count = most.saturating_mul(element_size).min(buffer.byte_size());
    write!(output, "{}:", buffer.subject).map_err(describe_output_error)?;
    visit_pieces(session, buffer, byte_count, |piece| {
        let mut values = piece.chunks_exact(element_size);
        values.try_for_each(|value| {
            write!(output, " {}", buffer.element.format_value(value)).map_err(describe_output_error)
        })
    })?;
    writeln!(output).and_then(|()| output.flush()).map_err(describe_output_error)
}

/// Why there is nothing to print to.
pub fn describe_output_error(io_error: std::io::Error) -> String {
    format!("standard output: {io_error}")
}

/// Writes a buffer's bytes to a file.
///
/// # Errors
/// In words: why that cannot be.
pub fn save_buffer(session: &Session, buffer: &Buffer, path: &Path) -> Result<(), String> {
    let describe_error = |io_error: std::io::Error| format!("{}: {io_error}", path.display());
    let mut file = BufWriter::new(File::create(path).map_err(describe_error)?);
    visit_pieces(session, buffer, buffer.byte_size(), |piece| file.write_all(piece).map_err(describe_error))?;
    file.flush().map_err(describe_error)
}

/// Compares a buffer with a file's bytes; where `most_ulps` are said, numbers with fractions may be so far apart.
///
/// # Errors
/// In words: why one of them cannot be read.
pub fn compare_buffer(
    session: &Session,
    buffer: &Buffer,
    path: &Path,
    most_ulps: Option<u64>,
) -> Result<Comparison, String> {
    let (file, file_size) = open_plain_file(path)?;
    if file_size != buffer.byte_size() as u64 {
        return Ok(Comparison::OtherSize { file: file_size, buffer: buffer.byte_size() });
    }
    let mut file = BufReader::new(file);
    let mut expected = Vec::new();
    let mut differences = Differences::new(buffer.element, most_ulps);
    visit_pieces(session, buffer, buffer.byte_size(), |piece| {
        expected.resize(piece.len(), 0);
        file.read_exact(&mut expected).map_err(|io_error| format!("{}: {io_error}", path.display()))?;
        differences.compare_piece(piece, &expected);
        Ok(())
    })?;
    Ok(differences.into_comparison())
}

/// Calls `visit` with the first `byte_count` bytes of a buffer, piece by piece.
fn visit_pieces(
    session: &Session,
    buffer: &Buffer,
    byte_count: usize,
    mut visit: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut piece = Vec::new();
    for offset in (0..byte_count).step_by(PIECE) {
        piece.resize(PIECE.min(byte_count - offset), 0);
        session.read_buffer(buffer, offset, &mut piece)?;
        visit(&piece)?;
    }
    Ok(())
}

/// What was found to differ so far.
struct Differences {
    element: Element,
    most_ulps: Option<u64>,
    total: usize,
    count: usize,
    first: Option<(usize, String, String)>,
}

impl Differences {
    fn new(element: Element, most_ulps: Option<u64>) -> Differences {
        Differences { element, most_ulps, total: 0, count: 0, first: None }
    }

    /// Compares the next elements.
    fn compare_piece(&mut self, found: &[u8], expected: &[u8]) {
        let element_size = self.element.byte_size();
        for (found, expected) in found.chunks_exact(element_size).zip(expected.chunks_exact(element_size)) {
            if !self.are_alike(found, expected) {
                self.count += 1;
                let values = || (self.total, self.element.format_value(found), self.element.format_value(expected));
                self.first.get_or_insert_with(values);
            }
            self.total += 1;
        }
    }

    fn are_alike(&self, found: &[u8], expected: &[u8]) -> bool {
        let scalar = self.element.scalar;
        let mut pairs = self.element.components(found).zip(self.element.components(expected));
        match self.most_ulps.filter(|_| scalar.is_float()) {
            Some(most_ulps) => pairs.all(|(found, expected)| scalar.count_ulps(found, expected) <= most_ulps),
            None => pairs.all(|(found, expected)| found == expected),
        }
    }

    fn into_comparison(self) -> Comparison {
        let Differences { total, count, .. } = self;
        match self.first {
            None => Comparison::Same(total),
            Some((index, found, expected)) => Comparison::Different { index, found, expected, count, total },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(name: &str, most_ulps: Option<u64>, found: &str, expected: &str) -> Comparison {
        let element: Element = name.parse().expect("it is a type");
        let bytes = |text: &str| -> Vec<u8> {
            text.split(' ').flat_map(|word| element.parse_value(word).expect("it is a value")).collect()
        };
        let (found, expected) = (bytes(found), bytes(expected));
        let mut differences = Differences::new(element, most_ulps);
        let pieces = found.chunks(element.byte_size()).zip(expected.chunks(element.byte_size()));
        pieces.for_each(|(found, expected)| differences.compare_piece(found, expected));
        differences.into_comparison()
    }

    #[test]
    fn the_first_difference_has_its_index_and_both_values() {
        assert_eq!(compare("int", None, "1 2 3", "1 2 3"), Comparison::Same(3));
        let text = compare("int", None, "1 2 3 4", "1 -2 3 5").to_string();
        assert_eq!(text, "element 1 is 2, expected is -2; 2 of 4 elements differ");
        let text = compare("float3", None, "1,2,3 4", "1,2,3 4,4,5").to_string();
        assert_eq!(text, "element 1 is 4,4,4, expected is 4,4,5; 1 of 2 elements differ");
    }

    #[test]
    fn numbers_with_fractions_may_be_some_ulps_apart() {
        let (one, next) = ("1", "1.0000001");
        assert_ne!(compare("float", None, one, next), Comparison::Same(1));
        assert_ne!(compare("float", Some(0), one, next), Comparison::Same(1));
        assert_eq!(compare("float", Some(1), one, next), Comparison::Same(1));
        assert_ne!(compare("float", None, "0", "-0"), Comparison::Same(1), "the bytes differ");
        assert_eq!(compare("float", Some(0), "0", "-0"), Comparison::Same(1));
        assert_ne!(compare("int", Some(5), "1", "2"), Comparison::Same(1), "whole numbers are exact");
        assert_ne!(compare("float", Some(u64::MAX - 1), "NaN", "1"), Comparison::Same(1));
    }
}
