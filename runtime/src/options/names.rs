//! Names in the environment that look like switches and are none.

use lockstep_protocol::option_error::closest_name;

use super::table::{ALIASES, TABLE};

/// How all switches begin.
const PREFIX: &str = "LOCKSTEP_";

/// How the variables begin that the project's own tests and benchmarks read.
const OF_TESTS: [&str; 3] = ["LOCKSTEP_TEST_", "LOCKSTEP_BENCH_", "LOCKSTEP_CONFORMANCE_"];

/// Every name that is read.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|switch| switch.name).chain(ALIASES.iter().map(|(name, _)| *name))
}

/// What is wrong with a name in the environment, if it looks like a switch.
pub fn find_complaint(name: &str) -> Option<String> {
    let is_switch = name.starts_with(PREFIX) && !OF_TESTS.iter().any(|prefix| name.starts_with(prefix));
    if !is_switch || known_names().any(|known_name| known_name == name) {
        return None;
    }
    let name_tail = name.strip_prefix(PREFIX).unwrap_or(name);
    // The part that all have in common tells nothing.
    let known_name = closest_name(name_tail, known_names().filter_map(|known_name| known_name.strip_prefix(PREFIX)));
    Some(match known_name {
        Some(known_name) => format!("no switch {name}; did you mean {PREFIX}{known_name}?"),
        None => format!("no switch {name}; docs/options.md lists them"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_answered_with_what_was_meant() {
        let said = |name| find_complaint(name).expect("it is no switch");
        assert_eq!(said("LOCKSTEP_VECTORISE"), "no switch LOCKSTEP_VECTORISE; did you mean LOCKSTEP_VECTORIZE?");
        assert_eq!(said("LOCKSTEP_PASS"), "no switch LOCKSTEP_PASS; docs/options.md lists them");
        assert_eq!(said("LOCKSTEP_GATE"), "no switch LOCKSTEP_GATE; did you mean LOCKSTEP_GATES?");
        assert_eq!(said("LOCKSTEP_"), "no switch LOCKSTEP_; docs/options.md lists them");
    }

    #[test]
    fn switches_and_others_variables_are_no_matter() {
        for name in
            known_names().chain(["PATH", "OCL_ICD_VENDORS", "LOCKSTEP_TEST_SEEDS", "LOCKSTEP_CONFORMANCE_CHILD"])
        {
            assert_eq!(find_complaint(name), None);
        }
    }

    #[test]
    fn no_name_is_read_twice() {
        let mut names: Vec<_> = known_names().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
