//! What a driver says that the stages of building a program take (`LOCKSTEP_TIME`): lines of an owner, a stage and its milliseconds.

use std::collections::BTreeMap;

/// Has the driver write what stages take.
pub const TIME: &str = "LOCKSTEP_TIME";

/// Milliseconds of each stage of one program.
pub type Stages = BTreeMap<String, f64>;

/// Reads what was said of each program. A line that begins with `mark` stands before what is said of the next one.
pub fn read_programs(text: &str, mark: &str) -> Vec<Stages> {
    let of_program = |said: &str| {
        let mut stages = Stages::new();
        for line in said.lines() {
            if let ["program:", stage, time, "ms"] = line.split(' ').collect::<Vec<_>>()[..]
                && let Ok(time) = time.parse::<f64>()
            {
                *stages.entry(stage.to_owned()).or_default() += time;
            }
        }
        stages
    };
    text.split(mark).skip(1).map(of_program).collect()
}

/// The sum of these stages, of which every program has had its own.
pub fn sum_stages(stages: &Stages, names: &[&str]) -> f64 {
    names.iter().filter_map(|&name| stages.get(name)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_those_of_each_program() {
        let text = "program: clang 9.0 ms\nnext\nprogram: clang 20.5 ms\nprogram: link 1.0 ms\nk: import 7.0 ms\nother\n\
                    next\nprogram: spirv 2.0 ms\n";
        let programs = read_programs(text, "next");
        assert_eq!(programs.len(), 2);
        assert_eq!(sum_stages(&programs[0], &["clang", "spirv", "link"]), 21.5);
        assert_eq!(sum_stages(&programs[1], &["clang", "spirv", "link"]), 2.0);
    }
}
