//! What the constants of the cost model say beside what the machine takes (`cargo xtask bench costs`).
//!
//! Each row is a small piece of code: a step that one operation makes up, or a step with an access to memory and the same
//! without it. Throughputs come of steps that do not wait for each other, latencies of steps that do. What the
//! model says comes from the model itself, asked for the operation in our IR ([`model`]), so that a row cannot lag behind the code.

pub mod model;
pub mod rows;

use std::sync::OnceLock;

use lockstep_conformance::{Plain, Random};

use crate::args;
use crate::case::{Case, Data, Problem, step};
use rows::{Mode, ROWS, Row};

/// Elements of the buffers: 256 KiB of four bytes each.
const ELEMENTS: usize = 1 << 16;

/// Elements that indices lead to; they stay in the first cache.
const NEAR: usize = 1 << 10;

/// Iterations of a launch, each with [`STEPS`] steps.
const ITERATIONS: i32 = 1 << 15;

/// Steps of an iteration.
pub const STEPS: usize = 8;

/// Steps of a launch.
pub const ALL_STEPS: f64 = ITERATIONS as f64 * STEPS as f64;

/// What dependent steps of one work-item take two cycles each.
pub const CLOCK: &str = "(X + A) ^ B";

/// What the names of these cases begin with.
const PREFIX: &str = "cost:";

/// The name of the case that tells how long a cycle is.
const CLOCK_CASE: &str = "cost:cycle";

/// The cases of a row: with what is measured, and without it where the step has something else.
pub struct RowCases {
    /// Its steps have what is measured.
    pub with: &'static Case,
    /// Its steps lack that; none where they have nothing else.
    pub without: Option<&'static Case>,
}

/// The cases of all rows in their order, and before them the one that tells how long a cycle is.
struct Cases {
    clock: &'static Case,
    rows: Vec<RowCases>,
}

fn cases() -> &'static Cases {
    static CASES: OnceLock<Cases> = OnceLock::new();
    CASES.get_or_init(|| Cases {
        clock: make_case(CLOCK_CASE.to_owned(), "int", &format!("X = {CLOCK};"), "", true),
        rows: ROWS.iter().map(cases_of_row).collect(),
    })
}

fn cases_of_row(row: &Row) -> RowCases {
    let is_chain = row.mode.is_chain();
    // A child is told the name as one word.
    let name = row.name.replace(' ', "_");
    let case = |name: String, step: &str| make_case(name, row.ty, step, row.place, is_chain);
    RowCases {
        with: case(format!("{PREFIX}{name}"), row.step),
        without: row.without.map(|step| case(format!("{PREFIX}without_{name}"), step)),
    }
}

/// The case of one step. It lives as long as the program, as all cases do.
fn make_case(name: String, ty: &str, step: &str, place: &str, is_chain: bool) -> &'static Case {
    let problem: fn() -> Problem = match ty {
        "short" => || problem_of(|number| number as i16),
        "int" => || problem_of(|number| number),
        "long" => || problem_of(i64::from),
        "float" => || problem_of(|number| number as f32 / 4096.0),
        "double" => || problem_of(|number| f64::from(number) / 4096.0),
        _ => panic!("no buffers of {ty}"),
    };
    let case = Case { name: name.leak(), source: source_of(ty, step, place, is_chain).leak(), wanted: 1.0, problem };
    Box::leak(Box::new(case))
}

/// A kernel of [`ITERATIONS`] iterations of [`STEPS`] steps: each on a value of its own, or one after the other on the same.
fn source_of(ty: &str, step: &str, place: &str, is_chain: bool) -> String {
    let value = |number: usize| if is_chain { 0 } else { number };
    let values: String = (0..STEPS)
        .map(|k| format!("    T x{k} = in[i + {}]; int j{k} = indices[i + {}];\n", 64 + 16 * k, 16 * k))
        .collect();
    let steps: String = (0..STEPS).map(|k| format!("        STEP(x{0}, j{k}, {k});\n", value(k))).collect();
    let sum: String = (0..STEPS).map(|k| format!(" + x{k}")).collect();
    format!(
        "typedef {ty} T;\n#define STEP(X, J, K) {step}\n\
         kernel void cost(global const T *restrict in, global T *restrict out, global const int *restrict indices, int rounds) {{\n\
         \x20   int i = get_global_id(0);\n    T A = in[i], B = in[i + 16];\n{values}{place}\n\
         \x20   for (int r = 0; r < rounds; ++r) {{\n        int R = (r & 15) * 16;\n{steps}    }}\n\
         \x20   out[i] = A{sum};\n}}\n"
    )
}

/// Buffers of numbers from 1 to [`NEAR`], made of integers, and one launch of one gang.
fn problem_of<T: Plain>(number: fn(i32) -> T) -> Problem {
    let mut random = Random::new(39);
    let values: Vec<T> = (0..ELEMENTS).map(|_| number(random.between(1, NEAR) as i32)).collect();
    let indices: Vec<i32> = (0..ELEMENTS).map(|_| random.below(NEAR) as i32).collect();
    Problem {
        buffers: vec![Data::of(&values), Data::in_place(&values), Data::of(&indices)],
        steps: vec![step("cost", &[GANG], &[GANG], args![b 0, b 1, b 2, v (ITERATIONS)])],
        check: Box::new(|_| Ok(())),
    }
}

/// Work-items of a gang, and of a launch.
pub const GANG: usize = 16;

/// The case that tells how long a cycle is: [`STEPS`] dependent steps an iteration of two cycles each.
pub fn clock_case() -> &'static Case {
    cases().clock
}

/// The cases of a row.
pub fn find_row_cases(row: usize) -> &'static RowCases {
    &cases().rows[row]
}

/// The case of this name.
pub fn find_case(name: &str) -> Option<&'static Case> {
    if !name.starts_with(PREFIX) {
        return None;
    }
    let Cases { clock, rows } = cases();
    let of_rows = rows.iter().flat_map(|row| [Some(row.with), row.without]).flatten();
    std::iter::once(*clock).chain(of_rows).find(|case| case.name == name)
}

/// What a row's operation took, in the unit of what the model says: operations, of which four are a cycle, or cycles.
pub fn convert_time(mode: Mode, per_step: f64, nanoseconds: f64, clock_nanoseconds: f64) -> f64 {
    // A work-item runs the clock's steps, and each of them is two cycles.
    let cycle = clock_nanoseconds / (GANG as f64 * ALL_STEPS * 2.0);
    let items = if mode.is_of_gang() { 1.0 } else { GANG as f64 };
    let cycles = nanoseconds / (items * ALL_STEPS * per_step) / cycle;
    if mode.is_chain() { cycles } else { cycles * model::OPERATIONS_A_CYCLE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_cases() {
        for (index, row) in ROWS.iter().enumerate() {
            let RowCases { with, without } = find_row_cases(index);
            assert_eq!(find_case(with.name).map(|case| case.source), Some(with.source), "{}", row.name);
            assert_eq!(without.is_some(), row.without.is_some(), "{}", row.name);
            assert!(without.is_none_or(|without| without.source != with.source), "{}", row.name);
        }
        assert!(find_case(CLOCK_CASE).is_some() && find_case("dct").is_none());
    }

    #[test]
    fn chains_are_of_one_value_and_the_rest_of_several() {
        let chain = source_of("int", "X = X + A;", "", true);
        assert_eq!(chain.matches("STEP(x0, j").count(), STEPS);
        let apart = source_of("int", "X = X + A;", "", false);
        assert_eq!(apart.matches("STEP(x0, j").count(), 1);
        assert!(apart.contains("STEP(x7, j7, 7);"));
    }

    #[test]
    fn what_is_measured_is_in_cycles_of_the_clock() {
        // A gang's step that takes as long as two cycles of a work-item.
        let clock = GANG as f64 * ALL_STEPS * 2.0;
        let took = |mode, nanoseconds| convert_time(mode, 1.0, nanoseconds, clock);
        assert_eq!(took(Mode::GangLatency, 2.0 * ALL_STEPS), 2.0);
        assert_eq!(took(Mode::Gang, 2.0 * ALL_STEPS), 8.0);
        assert_eq!(took(Mode::ItemLatency, 2.0 * GANG as f64 * ALL_STEPS), 2.0);
        assert_eq!(convert_time(Mode::Gang, 2.0, 2.0 * ALL_STEPS, clock), 4.0);
    }
}
