//! The kernels under `kernels/barriers/`: one in each file, named like it, with its arguments and sizes in the first
//! line, so that the compiler's interpreter can run the same files:
//!
//! ```text
//! // args: in:int[256] out:int[256] local:int[64] int:3; global: 32 8; local: 8 4
//! ```
//!
//! `in` is a buffer with random values, `out` the one buffer of results (zeroed before), `local` local memory, all with
//! `int` or `float` elements, and `int:3` a value.

use std::fmt::Debug;

use opencl_sys::*;

use crate::commands::{read, run};
use crate::info;
use crate::loader::{cl, device};
use crate::objects::{Argument, Buffer, Setup};
use crate::plain::Plain;
use crate::random::Random;

/// One argument of a kernel file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parameter {
    In { float: bool, count: usize },
    Out { count: usize },
    Local { count: usize },
    Int(i32),
}

/// A kernel file.
struct KernelFile {
    source: String,
    parameters: Vec<Parameter>,
    global: Vec<usize>,
    local: Vec<usize>,
}

fn load(name: &str) -> KernelFile {
    let path = format!("{}/kernels/barriers/{name}.cl", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let header = source.lines().next().unwrap_or_default().to_owned();
    let sections: Vec<&str> = header.split(';').collect();
    let [arguments, global, local] = sections[..] else { panic!("{path}: the first line is {header:?}") };
    let section = |text: &str, key: &str| -> String {
        text.trim().strip_prefix(key).unwrap_or_else(|| panic!("{path}: {key:?} expected in {text:?}")).to_owned()
    };
    let sizes = |text: String| text.split_whitespace().map(|size| size.parse().expect("a size")).collect();
    KernelFile {
        parameters: section(arguments, "// args:").split_whitespace().map(parameter).collect(),
        global: sizes(section(global, "global:")),
        local: sizes(section(local, "local:")),
        source,
    }
}

fn parameter(text: &str) -> Parameter {
    let (role, rest) = text.split_once(':').unwrap_or_else(|| panic!("argument {text:?}"));
    if role == "int" {
        return Parameter::Int(rest.parse().expect("a value"));
    }
    let (element, count) =
        rest.strip_suffix(']').and_then(|rest| rest.split_once('[')).unwrap_or_else(|| panic!("argument {text:?}"));
    let count = count.parse().expect("a count");
    match role {
        "in" => Parameter::In { float: element == "float", count },
        "out" => Parameter::Out { count },
        "local" => Parameter::Local { count },
        _ => panic!("argument {text:?}"),
    }
}

/// What a reference works on: the inputs and sizes of one launch.
pub struct Case {
    /// The global size, three dimensions.
    pub global: [usize; 3],
    /// The local size, three dimensions.
    pub local: [usize; 3],
    ints: Vec<Vec<i32>>,
    floats: Vec<Vec<f32>>,
    values: Vec<i32>,
}

impl Case {
    /// The values of the first input buffer.
    pub fn ints(&self) -> &[i32] {
        &self.ints[0]
    }

    /// The values of a buffer of floats.
    pub fn floats(&self, index: usize) -> &[f32] {
        &self.floats[index]
    }

    /// A value argument.
    pub fn value(&self, index: usize) -> i32 {
        self.values[index]
    }

    /// The first item and the number of items of each group along a dimension; the last group may be smaller.
    pub fn groups(&self, dimension: usize) -> impl Iterator<Item = (usize, usize)> {
        let (global, local) = (self.global[dimension], self.local[dimension]);
        (0..global).step_by(local).map(move |first| (first, local.min(global - first)))
    }
}

fn three(sizes: &[usize]) -> [usize; 3] {
    std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(1))
}

/// Runs a kernel with the local size of its file and those in `more`, and compares with the reference.
///
/// # Panics
/// On the first difference, with its place.
pub fn check<T: Plain + PartialEq + Debug + Default>(
    name: &str,
    more: &[&[usize]],
    reference: impl Fn(&Case) -> Vec<T>,
) {
    let file = load(name);
    let setup = Setup::new();
    let kernel = setup.context.build(&file.source, "-cl-std=CL3.0").kernel(name);
    let locals = std::iter::once(file.local.as_slice()).chain(more.iter().copied());
    let any_size = info::value::<cl_bool>(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, size, value, returned)
    });
    let divides = |local: &[usize]| file.global.iter().zip(local).all(|(global, local)| global % local == 0);
    // The tests of device queries require this driver to take any size; others need not.
    let locals = locals.filter(|local| any_size == CL_TRUE || divides(local));
    for (round, local) in locals.enumerate() {
        let mut random = Random::new(round as u64 + 1);
        let mut case =
            Case { global: three(&file.global), local: three(local), ints: vec![], floats: vec![], values: vec![] };
        let mut buffers: Vec<Buffer> = vec![];
        let mut result = None;
        for (index, parameter) in file.parameters.iter().enumerate() {
            let buffer = match *parameter {
                Parameter::In { float: false, count } => {
                    case.ints.push(random.ints(count, 100));
                    setup.context.with_values(&case.ints[case.ints.len() - 1])
                }
                Parameter::In { float: true, count } => {
                    case.floats.push(random.whole_floats(count));
                    setup.context.with_values(&case.floats[case.floats.len() - 1])
                }
                Parameter::Out { count } => {
                    result = Some(buffers.len());
                    setup.context.zeros::<T>(count)
                }
                Parameter::Local { count } => {
                    kernel.set(index, Argument::Local(count * size_of::<cl_int>()));
                    continue;
                }
                Parameter::Int(value) => {
                    kernel.set(index, value);
                    case.values.push(value);
                    continue;
                }
            };
            kernel.set(index, &buffer);
            buffers.push(buffer);
        }
        run(&setup.queue, &kernel, &file.global, local);
        let result = result.unwrap_or_else(|| panic!("{name} has no result"));
        let got: Vec<T> = read(&setup.queue, &buffers[result]);
        let wanted = reference(&case);
        assert_eq!(got.len(), wanted.len(), "{name}: the reference has another size");
        if let Some(at) = (0..got.len()).find(|&at| got[at] != wanted[at]) {
            panic!("{name}, local size {local:?}, element {at}: {:?} instead of {:?}", got[at], wanted[at]);
        }
    }
}

/// As [`check`], for kernels with one dimension and a result for each item that depends on the item's group only. The
/// reference gets the group's number and its values; sizes that do and do not divide the global size are tried.
pub fn check_groups(name: &str, reference: impl Fn(usize, &[i32]) -> Vec<i32>) {
    check(name, &[&[16], &[1], &[24], &[37]], |case| {
        let groups = case.groups(0).enumerate();
        groups
            .flat_map(|(group, (first, size))| reference(group, &case.ints()[first..first + size]))
            .collect::<Vec<i32>>()
    });
}

/// The names of all kernel files.
pub fn names() -> Vec<String> {
    let folder = format!("{}/kernels/barriers", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("the kernels are there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cl"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
