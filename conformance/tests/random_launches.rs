//! Random kernels of the kinds for which the driver chooses groups of its own, gangs along dimension 1, and copies of
//! counters for threads: arrays by columns and rows, guards, offsets, sizes that nothing divides.
//!
//! `LOCKSTEP_TEST_SEEDS=from..to` takes other seeds than the test does.

use std::fmt::Write as _;

use lockstep_conformance::commands::finish;
use lockstep_conformance::loader::cl;
use lockstep_conformance::objects::Kernel;
use lockstep_conformance::{Random, Setup, arguments, ok, read};

/// A place of a work-item in the range.
#[derive(Clone, Copy)]
struct Place {
    x: i32,
    y: i32,
}

/// What has to hold of a work-item's place.
#[derive(Clone, Copy)]
enum Guard {
    /// `x < bound`
    XBelow(i32),
    /// `y < bound`
    YBelow(i32),
    /// `x > bound`
    XAbove(i32),
    /// `(x + y) % 3 != 0`
    Thirds,
    /// `in[…] < bound`: what data say.
    Data(i32),
}

/// An operation on memory.
#[derive(Clone, Copy)]
enum Operation {
    /// `table[index] = table[index] * 3 + row[other]`
    Mix,
    /// An atomic operation without a result on counters.
    Count(usize),
    /// An atomic operation on counters whose result is kept in the table: nothing of it is known but that it is a count.
    Read,
}

/// The name of an atomic operation, and what it does.
type Atomic = (&'static str, fn(i32, i32) -> i32);

/// The atomic operations that may be done in any order.
const ATOMICS: [Atomic; 7] = [
    ("add", i32::wrapping_add),
    ("sub", i32::wrapping_sub),
    ("min", |a, b| a.min(b)),
    ("max", |a, b| a.max(b)),
    ("and", |a, b| a & b),
    ("or", |a, b| a | b),
    ("xor", |a, b| a ^ b),
];

struct Case {
    width: i32,
    height: i32,
    by_columns: bool,
    guards: Vec<Guard>,
    /// The way out for those that no guard lets in: `return` or an arm.
    returns: bool,
    operations: Vec<Operation>,
    counters: i32,
    offset: [usize; 2],
    global: [usize; 2],
    local: Option<[usize; 2]>,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let [width, height] = [(); 2].map(|()| random.between(1, 131) as i32);
        let guard = |random: &mut Random| match random.below(4) {
            0 => Guard::XBelow(random.below(width as usize + 3) as i32),
            1 => Guard::XAbove(random.below(width as usize) as i32 / 2),
            2 => Guard::Thirds,
            _ => Guard::Data(random.below(1000) as i32),
        };
        // These two keep work-items inside of the table.
        let mut guards = vec![Guard::XBelow(width), Guard::YBelow(height)];
        let more = random.below(3);
        guards.extend((0..more).map(|_| guard(random)));
        let first = random.below(ATOMICS.len());
        let operations = match random.below(5) {
            0 => vec![Operation::Mix],
            1 => vec![Operation::Count(first)],
            2 => vec![Operation::Mix, Operation::Count(first)],
            3 => vec![Operation::Count(first), Operation::Count(random.below(ATOMICS.len()))],
            _ => vec![Operation::Read],
        };
        let local = match random.below(4) {
            0 => None,
            _ => Some([1 << random.below(7), 1 << random.below(4)].map(|size: usize| size + random.below(2))),
        };
        let offset = if random.below(4) == 0 { [random.below(9), random.below(9)] } else { [0, 0] };
        let spare = [random.below(70), random.below(9)];
        Case {
            width,
            height,
            by_columns: random.below(2) == 0,
            guards,
            returns: random.below(2) == 0,
            operations,
            counters: [1, 7, 61, 256, 5000][random.below(5)],
            offset,
            global: [width as usize + spare[0], height as usize + spare[1]],
            local,
        }
    }

    /// Operations of one kind on one buffer are done in any order; of two kinds the order matters.
    fn is_determined(&self) -> bool {
        let mut kinds = self.operations.iter().filter_map(|operation| match operation {
            Operation::Count(kind) => Some(*kind),
            _ => None,
        });
        let first = kinds.next();
        kinds.all(|kind| Some(kind) == first)
    }

    fn source(&self) -> String {
        let index = if self.by_columns { "height * x + y" } else { "width * y + x" };
        let guard = |guard: &Guard| match guard {
            Guard::XBelow(bound) => format!("x < {bound}"),
            Guard::YBelow(bound) => format!("y < {bound}"),
            Guard::XAbove(bound) => format!("x > {bound}"),
            Guard::Thirds => "(x + y) % 3 != 0".to_owned(),
            Guard::Data(bound) => format!("in[{index}] < {bound}"),
        };
        let condition = self.guards.iter().map(guard).collect::<Vec<String>>().join(" && ");
        let mut body = String::new();
        for operation in &self.operations {
            match operation {
                Operation::Mix => writeln!(body, "table[{index}] = table[{index}] * 3 + in[y];"),
                Operation::Count(kind) => {
                    let name = ATOMICS[*kind].0;
                    writeln!(body, "atomic_{name}(&counts[(in[{index}] + x) % counters], in[{index}] * 77 - y);")
                }
                Operation::Read => writeln!(body, "table[{index}] = atomic_inc(&counts[in[{index}] % counters]) >= 0;"),
            }
            .expect("a string takes all");
        }
        let guarded = match self.returns {
            true => format!("if (!({condition})) return;\n{body}"),
            false => format!("if ({condition}) {{\n{body}}}"),
        };
        format!(
            "kernel void f(global int *table, global const int *in, global int *counts, int width, int height, int counters) {{
                int x = get_global_id(0), y = get_global_id(1);
                {guarded}
            }}"
        )
    }

    fn index(&self, Place { x, y }: Place) -> usize {
        (if self.by_columns { self.height * x + y } else { self.width * y + x }) as usize
    }

    fn lets_in(&self, input: &[i32], place: Place) -> bool {
        self.guards.iter().all(|guard| match *guard {
            Guard::XBelow(bound) => place.x < bound,
            Guard::YBelow(bound) => place.y < bound,
            Guard::XAbove(bound) => place.x > bound,
            Guard::Thirds => (place.x + place.y) % 3 != 0,
            Guard::Data(bound) => input[self.index(place)] < bound,
        })
    }

    fn run_on_host(&self, input: &[i32], table: &mut [i32], counts: &mut [i32]) {
        let range = |dim: usize| self.offset[dim] as i32..(self.offset[dim] + self.global[dim]) as i32;
        for place in range(1).flat_map(|y| range(0).map(move |x| Place { x, y })) {
            if !self.lets_in(input, place) {
                continue;
            }
            let index = self.index(place);
            for operation in &self.operations {
                match *operation {
                    Operation::Mix => {
                        table[index] = table[index].wrapping_mul(3).wrapping_add(input[place.y as usize]);
                    }
                    Operation::Count(kind) => {
                        let count = &mut counts[((input[index] + place.x) % self.counters) as usize];
                        *count = ATOMICS[kind].1(*count, input[index] * 77 - place.y);
                    }
                    Operation::Read => {
                        let count = &mut counts[(input[index] % self.counters) as usize];
                        table[index] = i32::from(*count >= 0);
                        *count = count.wrapping_add(1);
                    }
                }
            }
        }
    }
}

fn launch(setup: &Setup, kernel: &Kernel, case: &Case) {
    let local = case.local.as_ref().map_or(std::ptr::null(), |local| local.as_ptr());
    ok((cl().clEnqueueNDRangeKernel)(
        setup.queue.raw(),
        kernel.raw(),
        2,
        case.offset.as_ptr(),
        case.global.as_ptr(),
        local,
        0,
        std::ptr::null(),
        std::ptr::null_mut(),
    ));
    finish(&setup.queue);
}

fn check(setup: &Setup, seed: u64) {
    let mut random = Random::new(seed);
    let case = std::iter::repeat_with(|| Case::random(&mut random)).find(Case::is_determined).expect("there are some");
    let size = (case.width * case.height) as usize;
    let input = Random::new(seed + 1).ints(size.max(case.height as usize), 1000);
    let mut table = Random::new(seed + 2).ints(size, 1000);
    let mut counts = Random::new(seed + 3).ints(case.counters as usize, 1000);
    let source = case.source();
    let kernel = setup.context.build(&source, "-cl-std=CL3.0").kernel("f");
    let [on_device, of_input, of_counts] = [&table, &input, &counts].map(|values| setup.context.with_values(values));
    kernel.set_all(arguments![&on_device, &of_input, &of_counts, case.width, case.height, case.counters]);
    // Twice, so that what is there counts.
    for _ in 0..2 {
        launch(setup, &kernel, &case);
        case.run_on_host(&input, &mut table, &mut counts);
    }
    let told = || format!("seed {seed}: {:?} from {:?} by {:?}\n{source}", case.global, case.offset, case.local);
    assert!(read::<i32>(&setup.queue, &on_device) == table, "other table\n{}", told());
    assert!(read::<i32>(&setup.queue, &of_counts) == counts, "other counts\n{}", told());
}

#[test]
fn random_launches() {
    let seeds = std::env::var("LOCKSTEP_TEST_SEEDS").unwrap_or_else(|_| "0..120".to_owned());
    let (from, to) = seeds.split_once("..").expect("LOCKSTEP_TEST_SEEDS is A..B");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let setup = Setup::new();
    for seed in number(from)..number(to) {
        check(&setup, seed);
    }
}
