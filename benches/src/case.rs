//! What a kernel of the suite is: its source, the problem it solves, and how a result is judged.

use lockstep_conformance::images::Format;
use lockstep_conformance::{Plain, Random};

/// One kernel, or a few that work together, on one problem.
pub struct Case {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// OpenCL C.
    pub source: &'static str,
    /// How many times as fast as one work-item after the other the project wants it on hosts with 512-bit vectors.
    pub wanted: f64,
    /// Makes the problem: inputs, launches, the check of what they leave.
    pub problem: fn() -> Problem,
}

/// No kernel may lose more than the noise of a measurement.
pub const NO_LOSS: f64 = 0.95;

/// Inputs, launches and the check of what they leave.
pub struct Problem {
    /// Buffers before the launches.
    pub buffers: Vec<Data>,
    /// The launches, in order.
    pub steps: Vec<Step>,
    /// Compares what they leave with the host's own computation.
    pub check: Check,
}

/// Judges what is in the buffers after the launches.
pub type Check = Box<dyn Fn(&Outcome) -> Result<(), String>>;

/// A buffer's or image's first contents.
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether launches change what they also read, so that each run begins with these bytes again.
    pub restored: bool,
    /// The format and the sizes, if this is an image of two dimensions and no buffer.
    pub image: Option<(Format, [usize; 2])>,
}

impl Data {
    /// What kernels only read, or write without reading it.
    pub fn of<T: Plain>(values: &[T]) -> Self {
        Self { bytes: T::to_bytes(values).to_vec(), restored: false, image: None }
    }

    /// What kernels change in place.
    pub fn in_place<T: Plain>(values: &[T]) -> Self {
        Self { restored: true, ..Self::of(values) }
    }

    /// Room for so many results.
    pub fn room<T: Plain>(count: usize) -> Self {
        Self { bytes: vec![0; count * size_of::<T>()], restored: false, image: None }
    }

    /// An image of this format, width and height.
    pub fn picture(format: Format, sizes: [usize; 2], bytes: Vec<u8>) -> Self {
        Self { bytes, restored: false, image: Some((format, sizes)) }
    }
}

/// One launch.
#[derive(Clone)]
pub struct Step {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its arguments.
    pub arguments: Vec<Arg>,
    /// The global size.
    pub global: Vec<usize>,
    /// The local size; empty where the driver chooses.
    pub local: Vec<usize>,
}

/// An argument of a kernel.
#[derive(Clone)]
pub enum Arg {
    /// The buffer or image with this number.
    Buffer(usize),
    /// A value's bytes.
    Value(Vec<u8>),
    /// So many bytes of local memory.
    Local(usize),
}

impl<T: Plain> From<T> for Arg {
    fn from(value: T) -> Self {
        Self::Value(T::to_bytes(&[value]).to_vec())
    }
}

/// A launch: `step("name", [global], [local], args![buffer 0, 1.5_f32, local 64])`.
pub fn step(kernel: &'static str, global: &[usize], local: &[usize], arguments: Vec<Arg>) -> Step {
    Step { kernel, arguments, global: global.to_vec(), local: local.to_vec() }
}

/// Arguments in order: `b N` and `i N` are the buffer or image with the number N, `l N` are N bytes of local memory, the rest values in parentheses.
#[macro_export]
macro_rules! args {
    (@one b $number:literal) => { $crate::case::Arg::Buffer($number) };
    (@one i $number:literal) => { $crate::case::Arg::Buffer($number) };
    (@one l ($size:expr)) => { $crate::case::Arg::Local($size) };
    (@one v ($value:expr)) => { $crate::case::Arg::from($value) };
    ($($kind:ident $argument:tt),* $(,)?) => { vec![$($crate::args!(@one $kind $argument)),*] };
}

/// The buffers after the launches.
pub struct Outcome(pub Vec<Vec<u8>>);

impl Outcome {
    /// A buffer's values.
    pub fn values<T: Plain>(&self, buffer: usize) -> Vec<T> {
        T::from_bytes(&self.0[buffer])
    }

    /// Whether a buffer holds exactly these values.
    pub fn same<T: Plain + PartialEq + std::fmt::Debug>(&self, buffer: usize, want: &[T]) -> Result<(), String> {
        judge(&self.values(buffer), want, |a, b| a == b)
    }

    /// Whether a buffer of floats holds these values but for a relative error, or an absolute one near zero.
    pub fn close(&self, buffer: usize, want: &[f32], tolerance: f32) -> Result<(), String> {
        judge(&self.values(buffer), want, |a, b| near(f64::from(*a), f64::from(*b), f64::from(tolerance)))
    }

    /// The same for doubles.
    pub fn close_doubles(&self, buffer: usize, want: &[f64], tolerance: f64) -> Result<(), String> {
        judge(&self.values(buffer), want, |a, b| near(*a, *b, tolerance))
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

fn judge<T: std::fmt::Debug>(got: &[T], want: &[T], equal: impl Fn(&T, &T) -> bool) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} results in place of {}", got.len(), want.len()));
    }
    let mut wrong = got.iter().zip(want).enumerate().filter(|(_, (a, b))| !equal(a, b));
    match wrong.next() {
        None => Ok(()),
        Some((at, (a, b))) => {
            let more = wrong.count();
            Err(format!("element {at} is {a:?} and not {b:?}, {more} more are wrong"))
        }
    }
}

/// So many floats from `low` to `high`, the same each time.
pub fn floats(seed: u64, count: usize, low: f32, high: f32) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| low + (high - low) * ((random.bits() >> 40) as f32 / (1 << 24) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_is_told_with_its_place() {
        let outcome = Outcome(vec![f32::to_bytes(&[1.0, 2.5, 3.5]).to_vec()]);
        assert_eq!(outcome.close(0, &[1.0, 2.5, 3.5], 1e-6), Ok(()));
        assert_eq!(
            outcome.close(0, &[1.0, 2.0, 3.0], 1e-6),
            Err("element 1 is 2.5 and not 2.0, 1 more are wrong".into())
        );
        assert!(outcome.same(0, &[1.0_f32, 2.5]).is_err());
        assert!(Outcome(vec![f32::to_bytes(&[f32::NAN]).to_vec()]).close(0, &[1.0], 1.0).is_err());
    }

    #[test]
    fn arguments_are_told_apart() {
        let list = args![b 3, v (7_u32), l (64)];
        assert!(matches!(list[0], Arg::Buffer(3)));
        assert!(matches!(&list[1], Arg::Value(bytes) if *bytes == [7, 0, 0, 0]));
        assert!(matches!(list[2], Arg::Local(64)));
    }
}
