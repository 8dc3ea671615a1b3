//! Every conformance kernel with barriers, in groups of 1 to 1024 work-items in one to three dimensions, with every layout
//! of the lanes, does what the interpreter does.
//!
//! The files' kernels of one dimension count a group's work-items through here, whatever dimensions it has; their arrays in
//! local memory are as long as the longest group. Code that relies on nothing of a launch runs groups of all shapes. Code
//! for a shape is made in one of the layouts, another one for each size and kernel; with `LOCKSTEP_TEST_ALL` in the
//! environment in all of them, which takes a while.

use super::barrier_kernels::{arguments_of, header, sizes};
use super::layouts::build;
use crate::machine;
use crate::machine::code::{Code, Side};
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::Module;
use lockstep_ir::plan::Reason;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Shapes of groups of 1, 3, 7, 8, 16, 17, 64, 100, 256 and 1024 work-items.
const SHAPES: [&[&[u64]]; 10] = [
    &[&[1], &[1, 1, 1]],
    &[&[3], &[1, 3], &[1, 1, 3]],
    &[&[7], &[1, 7], &[1, 1, 7]],
    &[&[8], &[4, 2], &[2, 2, 2]],
    &[&[16], &[4, 4], &[1, 16], &[2, 2, 4]],
    &[&[17], &[1, 17], &[1, 1, 17]],
    &[&[64], &[8, 8], &[1, 64], &[4, 4, 4]],
    &[&[100], &[10, 10], &[1, 100], &[5, 5, 4]],
    &[&[256], &[16, 16], &[8, 32], &[2, 8, 16]],
    &[&[1024], &[32, 32], &[4, 256], &[8, 8, 16]],
];

/// The longest group.
const LONGEST: u64 = 1024;
/// Elements of local memory of a kernel of more dimensions: rows and columns may have borders.
const BORDERED: usize = 4096;

/// Takes the place of the functions of one dimension that the kernel calls behind it.
const THROUGH: &str = "
size_t own_group(void) {
    return get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}
size_t own_number(void) { return NUMBER; }
size_t own_size(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }
size_t own_place(void) {
    size_t most = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
    return own_group() * most + own_number();
}
#define get_local_id(d) own_number()
#define get_local_size(d) own_size()
#define get_group_id(d) own_group()
#define get_global_id(d) own_place()
";

/// How [`THROUGH`] counts work-items: as the specification says it, and as it calls it.
const NUMBERS: [&str; 2] = [
    "get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2))",
    "get_local_linear_id()",
];

/// A kernel file, made for groups of any shape.
struct Kernel {
    name: String,
    index: usize,
    source: String,
    module: Module,
}

impl Kernel {
    fn read(path: &Path, index: usize) -> Kernel {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(path).unwrap();
        let (first, rest) = source.split_once('\n').unwrap();
        let module = match Kernel::dimensions(&source) {
            1 => {
                // Arrays, loops over them and where the second half of one begins.
                let rest = rest.replace("64", &LONGEST.to_string());
                build(&format!("{first}\n{}{rest}", THROUGH.replace("NUMBER", NUMBERS[index % 2])))
            }
            _ => build(&source),
        };
        Kernel { name, index, source, module }
    }

    fn dimensions(source: &str) -> usize {
        let [_, global, _] = header(source);
        sizes(global).len()
    }

    /// Whether the kernel is for groups of this shape.
    fn takes(&self, local: &[u64]) -> bool {
        let [_, _, own] = header(&self.source);
        match self.name.as_str() {
            // Its tiles are of one size.
            "matrix_multiply" => local == sizes(own),
            _ => Kernel::dimensions(&self.source) == 1 || local.len() <= Kernel::dimensions(&self.source),
        }
    }

    /// A launch of groups of this shape, the last ones smaller if that is asked for.
    fn launch(&self, local: &[u64], uneven: bool) -> Launch {
        let dimensions = Kernel::dimensions(&self.source);
        let [arguments, global, _] = header(&self.source);
        // A group that is not full does not tell where its tile begins.
        let uneven = uneven && self.name != "transpose";
        let groups = if local.iter().product::<u64>() < 256 { [2, 1, 1] } else { [1; 3] };
        let size = |dimension: usize| local[dimension] * groups[dimension] + u64::from(uneven && local[dimension] > 2);
        let fixed = self.name == "matrix_multiply";
        let global: Vec<u64> = if fixed { sizes(global) } else { (0..local.len()).map(size).collect() };
        let range = NdRange::new(&global, local);
        let places: u64 = range.num_groups().iter().zip(range.local_size).map(|(groups, size)| groups * size).product();
        let (args, buffers) = arguments_of(arguments, |role, count| match role {
            "local" if dimensions > 1 => BORDERED,
            "local" => count / 64 * LONGEST as usize,
            _ if fixed => count,
            _ => places as usize,
        });
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&self.module, &self.name, &range, &args, &mut expected)
            .unwrap_or_else(|error| panic!("{} by {local:?}: {error}", self.name));
        Launch { range, args, buffers, expected }
    }

    /// In gangs of another width for each kernel and `number`.
    fn options(&self, number: usize, layout: Layout, launch: LaunchFacts) -> CompileOptions {
        let width = [16, 8, 4, 32][(self.index + number) % 4];
        let gangs = Gangs { layout: Some(layout), ..Gangs::of_width(width) };
        CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() }
    }

    /// The launches, and which of them have code for their shape: one of each size.
    fn launches(&self, all: bool) -> Vec<(Launch, bool)> {
        let mut launches = vec![];
        for (number, shapes) in SHAPES.iter().enumerate() {
            let shapes: Vec<&[u64]> = shapes.iter().copied().filter(|shape| self.takes(shape)).collect();
            let Some(turn) = (self.index / Layout::ALL.len() + number).checked_rem(shapes.len()) else { continue };
            for (place, local) in shapes.iter().enumerate() {
                // The interpreter takes long for large groups.
                if all || place == turn || local.iter().product::<u64>() < 256 {
                    let uneven = (number + self.index + place).is_multiple_of(3);
                    launches.push((self.launch(local, uneven), place == turn));
                }
            }
        }
        launches
    }

    fn check(&self, all: bool) {
        let launches = self.launches(all);
        let name = &self.name;
        let works = |(launch, _): &(Launch, bool)| launch.expected.buffers != launch.buffers;
        assert!(launches.iter().any(works), "{name} does nothing");
        // Tiles are of known rows.
        for (number, layout) in [Layout::X, Layout::Y, Layout::Z, Layout::Linear].into_iter().enumerate() {
            let options = self.options(number, layout, LaunchFacts::default());
            let code = Code::compile(&self.module, name, &options).unwrap_or_else(|e| panic!("{name} {layout}: {e}"));
            self.in_gangs(code.compiled.reason());
            for (Launch { range, args, buffers, expected }, _) in &launches {
                let mut found = Memory::new(buffers.clone());
                let what = format!("{name} by {:?} {layout}", range.local_size);
                code.run(&what, range, args, &mut found, Side::Rear).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(found.buffers == expected.buffers, "{what}: other results");
            }
        }
        for (number, (Launch { range, args, buffers, expected }, turn)) in launches.iter().enumerate() {
            let known = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
            for (place, layout) in Layout::ALL.into_iter().enumerate() {
                let its_turn = *turn && (self.index + number) % Layout::ALL.len() == place;
                if !(all || its_turn) {
                    continue;
                }
                let options = self.options(number + place, layout, known);
                let what = format!("{name} by {:?} {layout}, known, {:?}", range.local_size, options.vectorize);
                let mut found = Memory::new(buffers.clone());
                let (_, reason) = machine::run_with(options, &self.module, name, range, args, &mut found)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                self.in_gangs(reason);
                assert!(found.buffers == expected.buffers, "{what}: other results");
            }
        }
    }

    fn in_gangs(&self, reason: Option<Reason>) {
        assert!(matches!(reason, None | Some(Reason::StackFrame)), "{}: {reason:?}", self.name);
    }
}

/// A launch and what it does.
struct Launch {
    range: NdRange,
    args: Vec<Arg>,
    buffers: Vec<Vec<u8>>,
    expected: Memory,
}

#[test]
fn barriers_in_every_layout_and_group() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/kernels/barriers");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 25, "only {} kernels", paths.len());
    let all = std::env::var_os("LOCKSTEP_TEST_ALL").is_some();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { return };
            Kernel::read(path, index).check(all);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}
