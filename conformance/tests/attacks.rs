//! Sources that attack the compiler by their size or depth, or by what clang gets wrong. Each gives the right values, or an error
//! that says something, within a time; here they are short and must be right, unless they cannot be. `cargo xtask attack` makes them long.

use std::fmt::Write;
use std::time::{Duration, Instant};

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::launch;
use lockstep_conformance::long_sources::{
    BRANCHES, CHAINED_CALLS, LIVE_VALUES, LONG_SWITCH, LongSource, NESTED_CHOICES, NESTED_GOTOS, STATEMENTS, kernel_of,
};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, code_name, read};

/// Set to `full` for the long ones.
const EXTENT: &str = "LOCKSTEP_TEST_ATTACK";

/// The attack that a child makes.
const CHOSEN: &str = "LOCKSTEP_TEST_CHOSEN_ATTACK";

/// How long a job may take, in milliseconds.
const JOB_LIMIT: &str = "20000";

/// The same where nothing else is expected than that it ends so.
const HOPELESS_JOB_LIMIT: &str = "3000";

/// How long a build and a launch may take together: jobs that are tried a second time, and a machine that others use as well.
const LIMIT: Duration = Duration::from_secs(90);

/// Values that each kernel is run on.
const VALUES: u32 = 64;

/// A source of a kernel `f(global uint *a)`, which makes of each element what `compute` does.
#[derive(Clone, Copy)]
struct Attack {
    name: &'static str,
    short: usize,
    long: usize,
    source: fn(usize) -> String,
    compute: Outcome,
}

/// What is to come of a source.
#[derive(Clone, Copy)]
enum Outcome {
    /// These values; of a long one an error will do.
    Values(fn(usize, u32) -> u32),
    /// These values, or an error also of a short one: clang has a mistake there.
    ValuesOrError(fn(usize, u32) -> u32),
    /// An error when it is built.
    Error,
}

/// Sources that take the compiler long, and what the short ones have so many of.
const SHORT_LENGTHS: [(&LongSource, usize); 7] = [
    // More than lie too deep in each other for most passes.
    (&NESTED_GOTOS, 300),
    // More cases than share their variables in registers.
    (&LONG_SWITCH, 1100),
    (&NESTED_CHOICES, 80),
    (&CHAINED_CALLS, 1000),
    (&STATEMENTS, 2000),
    (&BRANCHES, 16),
    (&LIVE_VALUES, 40),
];

/// Sources that the compiler is done with at once, or is to refuse.
const OTHERS: [Attack; 5] = [
    Attack {
        name: "nested blocks",
        short: 100,
        long: 100_000,
        source: nested_blocks,
        compute: Outcome::Values(|_, x| x + 1),
    },
    Attack {
        name: "accesses to a private array",
        // More than LLVM's passes are to look at again for each that goes.
        short: 1000,
        long: 10_000,
        source: write_accesses,
        compute: Outcome::Values(compute_accesses),
    },
    Attack { name: "doublings of a macro", short: 40, long: 60, source: doubled_macro, compute: Outcome::Error },
    Attack {
        name: "includes of itself",
        short: 1,
        long: 1,
        source: |_| "#include __FILE__\n".into(),
        compute: Outcome::Error,
    },
    Attack {
        name: "vectors that clang stumbles over",
        short: 1,
        long: 1,
        source: |_| {
            "kernel void f(global uint *a) {
                 int i = get_global_id(0);
                 uint v = a[i];
                 int4 x = (int4)((int2)(1), ((int4)(v)).xy);
                 ushort8 y = (ushort8)((ushort4)(31), ((ushort8)(v)).odd);
                 a[i] = x.x + x.y + x.z + x.w + y.s0 + y.s7;
             }"
            .into()
        },
        compute: Outcome::ValuesOrError(|_, x| 2 + 2 * x + 31 + x),
    },
];

fn nested_blocks(count: usize) -> String {
    kernel_of(&format!(" {} x += 1; {}\n", "{".repeat(count), "}".repeat(count)))
}

fn write_accesses(count: usize) -> String {
    let mut body = " uint p[32]; for (uint j = 0; j < 32; ++j) p[j] = x + j;\n".to_owned();
    for access in 0..count {
        let _ = writeln!(body, " p[(x + {access}) & 31] += x; x = x * 3 + p[x >> 5 & 31] + p[{}];", access % 32);
    }
    kernel_of(&body)
}

fn compute_accesses(count: usize, mut x: u32) -> u32 {
    let mut elements: [u32; 32] = std::array::from_fn(|index| x.wrapping_add(index as u32));
    for access in 0..count {
        let element = &mut elements[(x.wrapping_add(access as u32) & 31) as usize];
        *element = element.wrapping_add(x);
        x = x.wrapping_mul(3).wrapping_add(elements[(x >> 5 & 31) as usize]).wrapping_add(elements[access % 32]);
    }
    x
}

/// A macro whose text has twice as much with each of the others.
fn doubled_macro(count: usize) -> String {
    let mut text = "#define A0 x += 1;\n".to_owned();
    for doubling in 1..=count {
        let _ = writeln!(text, "#define A{doubling} A{0} A{0}", doubling - 1);
    }
    text + &kernel_of(&format!(" A{count}\n"))
}

fn list_attacks() -> Vec<Attack> {
    let long_sources = SHORT_LENGTHS.map(|(source, short)| Attack {
        name: source.name,
        short,
        long: source.longest,
        source: source.write,
        compute: Outcome::Values(source.compute),
    });
    long_sources.into_iter().chain(OTHERS).collect()
}

/// What came of a source: nothing wrong, or the error.
fn build_and_launch(attack: &Attack, size: usize) -> Result<(), String> {
    let setup = Setup::new();
    let program = setup.context.source(&(attack.source)(size));
    let code = program.build("");
    if code != CL_SUCCESS {
        let log = program.log();
        assert!(log.contains("error: "), "an error without a word: {log}");
        let first = log.lines().find(|line| line.contains("error: ")).unwrap_or_default();
        return Err(format!("{}: {}", code_name(code), first.chars().take(160).collect::<String>()));
    }
    let values: Vec<u32> = (0..VALUES).map(|value| value * 77).collect();
    let (kernel, buffer) = (program.kernel("f"), setup.context.with_values(&values));
    kernel.set(0, &buffer);
    let event = launch(&setup.queue, &kernel, &[VALUES as usize], &[], &[]);
    if event.wait() != CL_SUCCESS {
        return Err(format!("{} of the launch", code_name(event.status())));
    }
    let (Outcome::Values(compute) | Outcome::ValuesOrError(compute)) = attack.compute else {
        panic!("{}: no error", attack.name)
    };
    let expected: Vec<u32> = values.into_iter().map(|value| compute(size, value)).collect();
    assert_eq!(read::<u32>(&setup.queue, &buffer), expected, "{}", attack.name);
    Ok(())
}

/// Builds and launches, checks what comes of it, and says it in a line.
fn check_attack(attack: &Attack) {
    let is_full = std::env::var(EXTENT).is_ok_and(|extent| extent == "full");
    let size = if is_full { attack.long } else { attack.short };
    let start = Instant::now();
    let outcome = build_and_launch(attack, size);
    let elapsed = start.elapsed();
    let words = outcome.as_ref().map_or_else(Clone::clone, |()| "right".to_owned());
    println!("{size:>6} {:<34} {:>8.2} s  {words}", attack.name, elapsed.as_secs_f64());
    assert!(elapsed < LIMIT, "{}", attack.name);
    let must_be_right = !is_full && matches!(attack.compute, Outcome::Values(_));
    assert!(outcome.is_ok() || !must_be_right, "{}: {words}", attack.name);
}

#[test]
fn sources_give_the_right_values_or_an_error_in_time() {
    let attacks = list_attacks();
    for index in 0..attacks.len() {
        let chosen = std::env::var(CHOSEN).ok().and_then(|text| text.parse().ok()).unwrap_or(index);
        let text = index.to_string();
        let limit = match attacks[chosen].compute {
            Outcome::Values(_) => JOB_LIMIT,
            Outcome::ValuesOrError(_) | Outcome::Error => HOPELESS_JOB_LIMIT,
        };
        let environment = [
            (CHOSEN, text.as_str()),
            ("LOCKSTEP_BUILD_TIMEOUT_MS", limit),
            ("LOCKSTEP_CACHE", "off"),
            // As in applications, where what takes too long is tried in its simplest form.
            ("LOCKSTEP_STRICT", "0"),
        ];
        let test = "sources_give_the_right_values_or_an_error_in_time";
        print!("{}", in_child(test, &environment, || check_attack(&attacks[chosen])).stdout);
    }
}
