//! Every way to access memory under every condition, for every width, type and length of a last gang.

use crate::build::{build, options};
use crate::classes::{Class, classes};
use crate::code::{Code, Side};
use crate::conditions::{CONDITIONS, Condition, Launch};
use lockstep_ir::interp::{Arg, Memory};
use lockstep_ir::ir::Module;
use lockstep_ir::plan::Reason;
use lockstep_protocol::configuration::Configuration;
use std::fmt::Write;
use std::ops::Range;

/// What the elements of `b` hold before.
pub const FILL: i64 = 7;

const TYPES: [(&str, usize); 7] =
    [("char", 1), ("short", 2), ("int", 4), ("long", 8), ("half", 2), ("float", 4), ("double", 8)];

/// Work-items of a gang; 1: no gangs.
const WIDTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The best one more often.
const CONFIGURATIONS: [Configuration; 3] = [Configuration::UniCf, Configuration::UniCf, Configuration::Naive];

/// Seeds that pair each class and condition with each type and width.
const EVERY: u64 = 2 * (TYPES.len() * WIDTHS.len() * CONFIGURATIONS.len()) as u64;

/// The seeds a test takes: the first `count`, or those in `LOCKSTEP_TEST_SEEDS` (`from..to`), of [`EVERY`].
fn seeds(count: u64) -> Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.as_deref().and_then(|text| text.split_once(".."));
    match range.map(|(from, to)| (from.parse(), to.parse())) {
        Some((Ok(from), Ok(to))) => from..EVERY.min(to),
        _ => 0..count,
    }
}

/// One kernel.
struct Case<'a> {
    name: String,
    class: &'a Class,
    condition: &'a Condition,
    ty: &'static str,
    bytes: usize,
    width: u32,
    opt_disable: bool,
    configuration: Configuration,
    /// The type of numbers of accesses.
    index: &'static str,
}

impl Case<'_> {
    fn source(&self) -> String {
        let Case { name, class, condition, index, .. } = self;
        let mut text = format!(
            "kernel void {name}(global $T *a, global $T *b, global const int *s, global const int *m, int n, int lo) {{
            {} I gid = get_global_id(0);\n",
            class.before
        );
        for (position, piece) in class.pieces.iter().enumerate() {
            if position > 0 {
                text += "barrier(CLK_LOCAL_MEM_FENCE);\n";
            }
            let _ = writeln!(text, "{}", (condition.around)(piece));
        }
        text += "}\n";
        text.replace("$T", self.ty)
            .replace("I gid", &format!("{index} gid"))
            .replace("I x", &format!("{index} x"))
            .replace("(I)", &format!("({index})"))
    }

    fn element(&self, value: i64) -> Vec<u8> {
        match self.ty {
            "half" => half::f16::from_f64(value as f64).to_le_bytes().to_vec(),
            "float" => (value as f32).to_le_bytes().to_vec(),
            "double" => (value as f64).to_le_bytes().to_vec(),
            _ => value.to_le_bytes()[..self.bytes].to_vec(),
        }
    }

    fn elements(&self, values: &[i64]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.element(value)).collect()
    }

    /// Runs a launch and compares memory with what the class says.
    fn check(&self, code: &Code<'_>, launch: &Launch, what: &str) {
        let n = launch.n;
        // A permutation: 1, 0, 3, 2 … and the last number in its place where they are odd in number.
        let s: Vec<usize> = (0..n).map(|x| if x ^ 1 < n { x ^ 1 } else { x }).collect();
        let moves: Vec<_> = (0..n).flat_map(|x| (self.class.moves)(x, n, &s)).collect();
        let read = moves.iter().flat_map(|m| &m.from).max().map_or(0, |&last| last + 1).max(n * self.class.reads);
        let written = moves.iter().map(|m| m.to + 1).max().unwrap_or(0);
        let a: Vec<i64> =
            (0..read.next_multiple_of(self.class.granule)).map(|index| (index as i64 * 7 + 3) % 50).collect();
        let mut b = vec![FILL; written.next_multiple_of(self.class.granule)];
        let words = |values: &mut dyn Iterator<Item = i32>| values.flat_map(i32::to_le_bytes).collect();
        let mut memory = Memory::new(vec![
            self.elements(&a),
            self.elements(&b),
            words(&mut s.iter().map(|&x| x as i32)),
            words(&mut launch.m.iter().copied()),
        ]);
        for m in moves {
            let sum = m.from.iter().map(|&from| a[from]).sum::<i64>() + m.plus;
            b[m.to] = if m.adds { b[m.to] + sum } else { sum };
        }
        let mut arguments: Vec<Arg> = (0..4).map(Arg::Buffer).collect();
        arguments.extend([Arg::i32(n as i32), Arg::i32(launch.lo as i32)]);
        let mut expected = memory.buffers.clone();
        expected[1] = self.elements(&b);
        for side in [Side::Front, Side::Rear] {
            let before = memory.buffers.clone();
            let what = format!("{what}, {side:?}");
            let ran = code.run(&what, &launch.range, &arguments, &mut memory, side);
            ran.unwrap_or_else(|error| panic!("{what}: {error}\n{}", self.source()));
            if self.class.name == "vector3" {
                // A fourth element is nobody's.
                let size = 4 * self.bytes;
                let fourth = |index: usize| index % size >= 3 * self.bytes;
                (0..expected[1].len())
                    .filter(|&index| fourth(index))
                    .for_each(|index| memory.buffers[1][index] = expected[1][index]);
            }
            for (place, (found, expected)) in memory.buffers.iter().zip(&expected).enumerate() {
                assert!(
                    found == expected,
                    "{what}: buffer {place} is {found:?} instead of {expected:?}\n{}",
                    self.source()
                );
            }
            memory.buffers = before;
        }
    }
}

/// The kernels of a seed: every class under every condition, each with one type and one width.
fn cases(classes: &[Class], seed: u64) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        for (place, condition) in CONDITIONS.iter().enumerate() {
            let barriers = class.pieces.len() > 1;
            if barriers && !condition.goes_on || class.races && !condition.in_order {
                continue;
            }
            let types: Vec<_> =
                TYPES.into_iter().filter(|(ty, _)| class.types.is_empty() || class.types.contains(ty)).collect();
            // Digits and remainders that have nothing in common: in `EVERY` turns there is each combination.
            let turn = seed as usize + number + 3 * place;
            let (ty, bytes) = types[turn % types.len()];
            let width = WIDTHS[turn / TYPES.len() % WIDTHS.len()];
            cases.push(Case {
                name: format!("{}_{}_{ty}_{width}", class.name, condition.name),
                class,
                condition,
                ty,
                bytes,
                width,
                opt_disable: turn % 2 == 1,
                configuration: CONFIGURATIONS[turn % CONFIGURATIONS.len()],
                index: ["int", "long"][(seed as usize + number) % 2],
            });
        }
    }
    cases
}

fn check(cases: &[Case<'_>]) {
    let mut source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable
        #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        .to_string();
    cases.iter().for_each(|case| source += &case.source());
    let module: Module = build(&source);
    for case in cases {
        let code = Code::compile(&module, &case.name, &options(case.configuration, case.width, case.opt_disable))
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        // Without optimisation all values of wide gangs lie on the stack.
        let spilled = case.opt_disable && code.compiled.reason() == Some(Reason::StackFrame);
        assert!(code.compiled.reason().is_none() || spilled, "{}: {:?}", case.name, code.compiled.reason());
        let width = case.width as usize;
        for tail in 0..width {
            for (n, launch) in (case.condition.launches)(width, tail).into_iter().enumerate() {
                case.check(&code, &launch, &format!("{}, {tail} more, launch {n}", case.name));
            }
        }
    }
}

/// The cases of all seeds, every second one of them from `first` on, so that two tests share the work.
fn half_of_all(first: usize) {
    let classes = classes();
    for seed in seeds(1) {
        let cases: Vec<Case<'_>> = cases(&classes, seed).into_iter().skip(first).step_by(2).collect();
        check(&cases);
    }
}

#[test]
fn every_access_one_half() {
    half_of_all(0);
}

#[test]
fn every_access_other_half() {
    half_of_all(1);
}
