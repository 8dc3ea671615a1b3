//! Kernels of a wanted size, for measuring how long compiling takes: straight-line code, and code full of branches.

use std::fmt::Write;

use lockstep_conformance::Random;

/// A kernel to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its name in tables.
    pub name: &'static str,
    /// Whether it has control flow.
    pub branches: bool,
    /// About how many instructions it has in our IR.
    pub instructions: usize,
    /// How many milliseconds its first launch may take.
    pub limit: u64,
}

/// The sizes that the project has limits for.
pub const GENERATED: &[Generated] = &[
    Generated { name: "compile_straight_2000", branches: false, instructions: 2_000, limit: 300 },
    Generated { name: "compile_branchy_2000", branches: true, instructions: 2_000, limit: 300 },
    Generated { name: "compile_straight_20000", branches: false, instructions: 20_000, limit: 5_000 },
    Generated { name: "compile_branchy_20000", branches: true, instructions: 20_000, limit: 5_000 },
];

/// The kernel's name in the source.
pub const KERNEL: &str = "generated";
/// Work-items that the kernel is made for, and elements that each of its buffers must have.
pub const ITEMS: usize = 64;
/// See [`ITEMS`].
pub const ELEMENTS: usize = 16 * ITEMS;

/// Variables of a kind that a kernel has: as many values live at once.
const VARIABLES: usize = 12;

/// The one of this name.
pub fn find(name: &str) -> Option<Generated> {
    GENERATED.iter().copied().find(|generated| generated.name == name)
}

impl Generated {
    /// The OpenCL C; another `salt` gives another text of the same size, so that nothing is found in a cache.
    ///
    /// Its arguments are a buffer of floats, one of ints and an int.
    pub fn source(self, salt: u64) -> String {
        let mut writer =
            Writer { random: Random::new(self.instructions as u64 + salt), text: String::new(), indent: 1 };
        writer.line(&format!("kernel void {KERNEL}(global float *floats, global int *ints, int uniform) {{"));
        writer.line("size_t i = get_global_id(0);");
        for k in 0..VARIABLES {
            writer.line(&format!("float f{k} = floats[i + {k} * {ITEMS}];"));
            writer.line(&format!("int n{k} = ints[i + {k} * {ITEMS}];"));
        }
        // What is before and behind the statements: an address, a load or a store for each variable.
        let mut budget = self.instructions.saturating_sub(8 * VARIABLES) as isize;
        while budget > 0 {
            budget -= if self.branches { writer.statement(0, budget) } else { writer.assignment() };
        }
        for k in 0..VARIABLES {
            writer.line(&format!("floats[i + {k} * {ITEMS}] = f{k};"));
            writer.line(&format!("ints[i + {k} * {ITEMS}] = n{k};"));
        }
        writer.text.push_str("}\n");
        writer.text
    }
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
}

/// How deep conditions and loops lie in each other.
const DEEPEST: usize = 3;

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", 4 * self.indent).expect("text grows");
    }

    fn float(&mut self) -> String {
        format!("f{}", self.random.below(VARIABLES))
    }

    fn int(&mut self) -> String {
        format!("n{}", self.random.below(VARIABLES))
    }

    /// One assignment; about how many instructions it is.
    fn assignment(&mut self) -> isize {
        let (f, a, b, c) = (self.float(), self.float(), self.float(), self.float());
        let (n, j, k) = (self.int(), self.int(), self.int());
        let shift = self.random.between(1, 15);
        let place = self.random.below(VARIABLES) * ITEMS;
        let (line, size) = match self.random.below(12) {
            0..=2 => (format!("{f} = {a} * {b} + {c};"), 1),
            3 => (format!("{f} = {a} - {b} * 0.{shift}f;"), 1),
            4 => (format!("{f} = fmin({a}, {b} + 1.{shift}f);"), 2),
            5 => (format!("{f} = {a} < {b} ? {c} : {a} * 0.5f;"), 3),
            6 => (format!("{n} = {j} + ({k} ^ {shift});"), 2),
            7 => (format!("{n} = ({j} >> {shift}) * {k};"), 2),
            8 => (format!("{n} = ({j} & {k}) - {n};"), 2),
            9 => (format!("{f} = (float){j} * 0.{shift}f + {f};"), 2),
            10 => (format!("{f} += floats[i + {place}];"), 4),
            _ => (format!("floats[i + {place}] = {a};"), 3),
        };
        self.line(&line);
        size
    }

    /// An assignment, a condition or a loop.
    fn statement(&mut self, depth: usize, budget: isize) -> isize {
        let room = depth < DEEPEST && budget > 20;
        match self.random.below(if room { 12 } else { 8 }) {
            0..=7 => self.assignment(),
            8 | 9 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                let mut size = 2 + self.block(depth + 1, budget / 2);
                if self.random.below(2) == 0 {
                    self.line("} else {");
                    size += 1 + self.block(depth + 1, budget / 2);
                }
                self.line("}");
                size
            }
            10 => {
                let condition = self.condition();
                let (bound, counter) = (self.int(), format!("k{}", self.text.len()));
                self.line(&format!("for (int {counter} = 0; {counter} < ({bound} & 7); ++{counter}) {{"));
                let mut size = 5 + self.block(depth + 1, budget / 2);
                if self.random.below(2) == 0 {
                    self.line(&format!("    if ({condition}) break;"));
                    size += 3;
                }
                self.line("}");
                size
            }
            _ => {
                let bit = self.random.below(16);
                self.line(&format!("if (uniform >> {bit} & 1) {{"));
                let size = 3 + self.block(depth + 1, budget / 2);
                self.line("}");
                size
            }
        }
    }

    fn block(&mut self, depth: usize, budget: isize) -> isize {
        self.indent += 1;
        let statements = self.random.between(2, 6);
        let size = (0..statements).map(|_| self.statement(depth, budget / 4)).sum();
        self.indent -= 1;
        size
    }

    fn condition(&mut self) -> String {
        if self.random.below(2) == 0 {
            format!("{} < {}", self.float(), self.float())
        } else {
            format!("({} & 3) == {}", self.int(), self.random.below(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_grows_with_the_size_and_changes_with_the_salt() {
        for generated in GENERATED {
            let source = generated.source(0);
            let statements = source.matches(';').count();
            assert!(statements > generated.instructions / 4 && statements < generated.instructions, "{statements}");
            assert_eq!(source.contains("for ("), generated.branches);
            assert_eq!(source, generated.source(0));
            assert_ne!(source, generated.source(1));
        }
    }
}
