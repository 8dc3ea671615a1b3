//! Sources that are as long or as deep as somebody likes: kernels `f(global uint *a)`, which make of each element what a function of the
//! host makes of it. The tests of attacks and the benchmark of how compile time grows use them.

use std::fmt::Write;

/// A kind of sources.
#[derive(Clone, Copy, Debug)]
pub struct LongSource {
    /// What there is so many of.
    pub name: &'static str,
    /// The greatest number.
    pub longest: usize,
    /// Writes the source.
    pub write: fn(usize) -> String,
    /// What the kernel makes of an element.
    pub compute: fn(usize, u32) -> u32,
}

/// Loops in each other.
pub const NESTED_GOTOS: LongSource =
    LongSource { name: "nested gotos", longest: 1000, write: nested_gotos, compute: follow_gotos };
/// A switch, of which every third case falls through to the next one.
pub const LONG_SWITCH: LongSource =
    LongSource { name: "cases of a switch", longest: 3000, write: long_switch, compute: choose_case };
/// Conditional expressions in each other.
pub const NESTED_CHOICES: LongSource =
    LongSource { name: "nested ?:", longest: 800, write: nested_choices, compute: choose };
/// Functions of which each calls the one before.
pub const CHAINED_CALLS: LongSource =
    LongSource { name: "chained calls", longest: 30_000, write: chained_calls, compute: call };
/// Statements without control flow.
pub const STATEMENTS: LongSource =
    LongSource { name: "statements", longest: 30_000, write: statements, compute: run_statements };
/// Source that is so many KiB long: branches behind each other.
pub const BRANCHES: LongSource =
    LongSource { name: "KiB of branches", longest: 1024, write: branches, compute: branch };
/// Values that a loop keeps.
pub const LIVE_VALUES: LongSource =
    LongSource { name: "live values", longest: 1000, write: live_values, compute: keep_values };

/// A kernel with this body, which changes `x`.
pub fn kernel_of(body: &str) -> String {
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

/// A branch, as its number says.
fn write_branch(number: usize) -> String {
    let (bit, factor, shift) = (1 << (number % 13), 2 * number + 3, number % 15 + 1);
    format!(" if (x & {bit}) x = x * {factor} + {number}; else x ^= x >> {shift};\n")
}

/// The branches that so many KiB hold.
fn count_branches(kibibytes: usize) -> usize {
    let mut length = 0;
    (0..)
        .take_while(|&number| {
            let goes_on = length < kibibytes * 1024;
            length += write_branch(number).len();
            goes_on
        })
        .count()
}

fn branches(kibibytes: usize) -> String {
    kernel_of(&(0..count_branches(kibibytes)).map(write_branch).collect::<String>())
}

fn branch(kibibytes: usize, x: u32) -> u32 {
    (0..count_branches(kibibytes) as u32).fold(x, |x, number| match x & 1 << (number % 13) {
        0 => x ^ x >> (number % 15 + 1),
        _ => x.wrapping_mul(2 * number + 3).wrapping_add(number),
    })
}

/// A loop each of whose values is made of itself and another one.
fn live_values(count: usize) -> String {
    let mut body = String::new();
    for value in 0..count {
        let _ = writeln!(body, " uint v{value} = x * {} ^ {value};", 2 * value + 3);
    }
    body += " for (uint j = 0; j < (x & 7); ++j) {\n";
    for value in 0..count {
        let _ = writeln!(body, " v{value} = v{value} * 3 + v{};", other_value(value, count));
    }
    body += " }\n";
    for value in 0..count {
        let _ = writeln!(body, " x ^= v{value};");
    }
    kernel_of(&body)
}

fn other_value(value: usize, count: usize) -> usize {
    (value * 7 + 1) % count
}

fn keep_values(count: usize, x: u32) -> u32 {
    let first = |value: u32| x.wrapping_mul(2 * value + 3) ^ value;
    let mut values: Vec<u32> = (0..count as u32).map(first).collect();
    for _ in 0..x & 7 {
        for value in 0..count {
            values[value] = values[value].wrapping_mul(3).wrapping_add(values[other_value(value, count)]);
        }
    }
    values.into_iter().fold(x, |x, value| x ^ value)
}
