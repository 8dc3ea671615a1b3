//! Sources that attack the compiler by their size or depth, or by what clang gets wrong. Each gives the right values, or an error
//! that says something, within a time; here they are short and must be right, unless they cannot be. `cargo xtask attack` makes them long.

use std::fmt::Write;
use std::time::{Duration, Instant};

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::launch;
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

const ATTACKS: [Attack; 9] = [
    Attack {
        name: "nested gotos",
        short: 30,
        long: 1000,
        source: nested_gotos,
        compute: Outcome::Values(follow_gotos),
    },
    Attack {
        name: "cases of a switch",
        short: 200,
        long: 3000,
        source: long_switch,
        compute: Outcome::Values(choose_case),
    },
    Attack { name: "nested ?:", short: 80, long: 800, source: nested_choices, compute: Outcome::Values(choose) },
    Attack { name: "chained calls", short: 1000, long: 30_000, source: chained_calls, compute: Outcome::Values(call) },
    Attack {
        name: "statements",
        short: 2000,
        long: 30_000,
        source: statements,
        compute: Outcome::Values(run_statements),
    },
    Attack {
        name: "nested blocks",
        short: 100,
        long: 100_000,
        source: nested_blocks,
        compute: Outcome::Values(|_, x| x + 1),
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

fn kernel_of(body: &str) -> String {
    format!("kernel void f(global uint *a) {{\n uint x = a[get_global_id(0)];\n{body} a[get_global_id(0)] = x;\n}}\n")
}

/// Loops around loops, each by a jump back to a label.
fn nested_gotos(count: usize) -> String {
    let mut body = " uint c = 0;\n".to_owned();
    for label in 0..count {
        let _ = writeln!(body, " L{label}: x = x * 5 + {label};");
    }
    for label in (0..count).rev() {
        let _ = writeln!(body, " if ((x >> 7 & 3) == 0 && ++c < 50) goto L{label};");
    }
    kernel_of(&body)
}

fn follow_gotos(count: usize, mut x: u32) -> u32 {
    let (mut first, mut jumps) = (0, 0);
    loop {
        for label in first..count {
            x = x.wrapping_mul(5).wrapping_add(label as u32);
        }
        let jumps_to = (0..count).rev().find(|_| {
            let wants = x >> 7 & 3 == 0;
            jumps += u32::from(wants);
            wants && jumps < 50
        });
        match jumps_to {
            Some(label) => first = label,
            None => return x,
        }
    }
}

/// Every third case falls through to the next one.
fn long_switch(count: usize) -> String {
    let mut body = format!(" switch (x * 2654435761u % {count}) {{\n");
    for case in 0..count {
        let ending = if case % 3 == 0 { "" } else { " break;" };
        let _ = writeln!(body, " case {case}: x = x * 3 + {};{ending}", case * case);
    }
    kernel_of(&(body + " }\n"))
}

fn choose_case(count: usize, mut x: u32) -> u32 {
    let first = x.wrapping_mul(2_654_435_761) as usize % count;
    for case in first..count {
        x = x.wrapping_mul(3).wrapping_add((case * case) as u32);
        if case % 3 != 0 {
            break;
        }
    }
    x
}

fn nested_choices(count: usize) -> String {
    let mut body = " x = ".to_owned();
    for choice in 0..count {
        let _ = writeln!(body, "(x * {} & 31) == 7 ? x * 5 + {choice} :", 2 * choice + 3);
    }
    kernel_of(&(body + " x;\n"))
}

fn choose(count: usize, x: u32) -> u32 {
    let fits = |&choice: &u32| x.wrapping_mul(2 * choice + 3) & 31 == 7;
    (0..count as u32).find(fits).map_or(x, |choice| x.wrapping_mul(5).wrapping_add(choice))
}

fn chained_calls(count: usize) -> String {
    let mut text = "uint f0(uint x) { return x; }\n".to_owned();
    for function in 1..=count {
        let _ = writeln!(text, "uint f{function}(uint x) {{ return f{}(x ^ {function}) * 3; }}", function - 1);
    }
    text + &kernel_of(&format!(" x = f{count}(x);\n"))
}

fn call(count: usize, x: u32) -> u32 {
    let innermost = (1..=count as u32).rev().fold(x, |x, function| x ^ function);
    (0..count).fold(innermost, |x, _| x.wrapping_mul(3))
}

fn statements(count: usize) -> String {
    let mut body = String::new();
    for statement in 0..count {
        let _ = writeln!(body, " x = x * 31 + {statement}; x ^= x >> 7;");
    }
    kernel_of(&body)
}

fn run_statements(count: usize, x: u32) -> u32 {
    (0..count as u32).fold(x, |x, statement| {
        let x = x.wrapping_mul(31).wrapping_add(statement);
        x ^ x >> 7
    })
}

fn nested_blocks(count: usize) -> String {
    kernel_of(&format!(" {} x += 1; {}\n", "{".repeat(count), "}".repeat(count)))
}

/// A macro whose text has twice as much with each of the others.
fn doubled_macro(count: usize) -> String {
    let mut text = "#define A0 x += 1;\n".to_owned();
    for doubling in 1..=count {
        let _ = writeln!(text, "#define A{doubling} A{0} A{0}", doubling - 1);
    }
    text + &kernel_of(&format!(" A{count}\n"))
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
    for index in 0..ATTACKS.len() {
        let chosen = std::env::var(CHOSEN).ok().and_then(|text| text.parse().ok()).unwrap_or(index);
        let text = index.to_string();
        let limit = match ATTACKS[chosen].compute {
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
        print!("{}", in_child(test, &environment, || check_attack(&ATTACKS[chosen])).stdout);
    }
}
