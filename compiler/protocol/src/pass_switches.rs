//! The switches of passes: one row each, and everything else follows from the table.

use crate::configuration::Versions;
use serde::{Deserialize, Serialize};

/// Makes the enumeration and its table from rows of a variant, its name and what it means.
macro_rules! pass_switches {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
        /// A pass, or a few that work together, that can be switched off or on everywhere.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum PassSwitch {
            $(#[doc = $meaning] $variant,)*
        }

        impl PassSwitch {
            /// All, in the order of the table.
            pub const ALL: &[PassSwitch] = &[$(PassSwitch::$variant),*];

            /// The name that `LOCKSTEP_PASSES` uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(PassSwitch::$variant => $name,)*
                }
            }

            /// What happens where it pays, as the page of options says it.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(PassSwitch::$variant => $meaning,)*
                }
            }
        }

        const COUNT: usize = [$($name),*].len();
    };
}

pass_switches! {
    Gates "gates" "branches lead past code that no lane of a gang runs (`boscc` and `unicf`)";
    LoopGates "loop_gates" "a branch leads past a loop that lanes leave together where no lane of a gang wants it; without it the loop has a mask and asks in every iteration (`unicf` only)";
    FullGangs "full_gangs" "gangs with a work-item in every lane have code of their own, without masks, where others run the region too";
    UnmaskedLoops "unmasked_loops" "loops that lanes leave one by one have a version that runs without masks until the first one leaves (`unicf` only)";
    CoherentBranches "coherent_branches" "code behind branches where lanes part has a copy without masks for gangs all of whose lanes go there (`unicf` only)";
    BranchFusion "branch_fusion" "instructions that both sides of a divergent branch have in common run once for the lanes of both (`unicf` only)";
    LoopFlattening "loop_flattening" "a loop in a loop becomes one with it where most lanes had no work in it when the first tier counted, so that these go on with the outer one (`unicf` only); always: wherever it is possible";
    PerLaneLoops "per_lane_loops" "lanes run a loop one after the other that few of their gang enter, and the last ones the rest of a loop in which few were at work when the first tier counted (`unicf` only)";
    UnswitchSelects "unswitch_selects" "code has a version for each value of a condition that chooses between two addresses for all work-items (`unicf` only); always: also in long kernels";
    SplitConditions "split_conditions" "operands of a divergent condition (`a && b`, `a \\|\\| b`) that are the same in all lanes of a gang get a branch of their own (`unicf` only); always: also where it skips nothing";
    Divisibility "divisibility" "code has a version for launches in which no piece of an index such as `i % d` or `i >> n` ends within a gang (`unicf` only)";
    PartialUnroll "partial_unroll" "loops in which each work-item walks along memory in a place of its own, or whose iterations are long chains, run several iterations at once (`unicf` only)";
    ScalarReplacement "scalar_replacement" "loads make way for what accesses of earlier iterations or on other paths left in registers; always: also where loops carry many values";
}

/// What every switch is set to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct PassVersions([Versions; COUNT]);

impl PassVersions {
    /// What a switch is set to.
    pub const fn get(&self, switch: PassSwitch) -> Versions {
        self.0[switch as usize]
    }

    /// Sets a switch.
    pub const fn set(&mut self, switch: PassSwitch, versions: Versions) {
        self.0[switch as usize] = versions;
    }

    /// What a list in the form of `LOCKSTEP_PASSES` makes of these, or what is wrong with each wrong word of it.
    ///
    /// The words hold from left to right: `-name` is nowhere, `+name` is where it is expected to pay, `name=always` is
    /// wherever it is possible. The name `all` stands for every switch.
    ///
    /// # Errors
    ///
    /// When a word has no such form or names no switch.
    pub fn with_list(mut self, list: &str) -> Result<PassVersions, Vec<String>> {
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        let unknown_words: Vec<String> = words.filter_map(|word| self.apply_word(word).err()).collect();
        if unknown_words.is_empty() { Ok(self) } else { Err(unknown_words) }
    }

    fn apply_word(&mut self, word: &str) -> Result<(), String> {
        let (name, versions) = match (word.strip_prefix('-'), word.strip_prefix('+'), word.strip_suffix("=always")) {
            (Some(name), ..) => (name, Versions::Never),
            (_, Some(name), _) => (name, Versions::WherePays),
            (.., Some(name)) => (name, Versions::Always),
            _ => return Err(format!("'{word}' is not -NAME, +NAME or NAME=always")),
        };
        match PassSwitch::ALL.iter().find(|switch| switch.name() == name) {
            Some(switch) => self.set(*switch, versions),
            None if name == "all" => self.0 = [versions; COUNT],
            None => return Err(unknown_pass(name)),
        }
        Ok(())
    }
}

fn unknown_pass(name: &str) -> String {
    let names = || PassSwitch::ALL.iter().map(|switch| switch.name());
    match crate::option_error::closest_name(name, names().chain(["all"])) {
        Some(known) => format!("no pass is called '{name}' (did you mean '{known}'?)"),
        None => format!("no pass is called '{name}' (there are {})", names().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_set_in_every_way() {
        for &switch in PassSwitch::ALL {
            let name = switch.name();
            for (word, versions) in [
                (format!("-{name}"), Versions::Never),
                (format!("+{name}"), Versions::WherePays),
                (format!("{name}=always"), Versions::Always),
            ] {
                // From what it is not.
                let mut set = PassVersions::default();
                set.set(switch, if versions == Versions::Never { Versions::Always } else { Versions::Never });
                let set = set.with_list(&word).expect("a list");
                assert_eq!(set.get(switch), versions, "{word}");
                for &other in PassSwitch::ALL.iter().filter(|&&other| other != switch) {
                    assert_eq!(set.get(other), Versions::default(), "{word} sets {}", other.name());
                }
            }
        }
    }

    #[test]
    fn names_and_meanings_are_unlike() {
        for (place, switch) in PassSwitch::ALL.iter().enumerate() {
            assert_eq!(*switch as usize, place);
            let same = |other: &&PassSwitch| other.name() == switch.name() || other.meaning() == switch.meaning();
            assert_eq!(PassSwitch::ALL.iter().filter(same).count(), 1, "{}", switch.name());
            assert_ne!(switch.name(), "all");
        }
    }

    #[test]
    fn lists_hold_from_left_to_right() {
        let set = PassVersions::default().with_list(" -all, +gates ,per_lane_loops=always,").expect("a list");
        assert_eq!(set.get(PassSwitch::Gates), Versions::WherePays);
        assert_eq!(set.get(PassSwitch::PerLaneLoops), Versions::Always);
        assert_eq!(set.get(PassSwitch::Divisibility), Versions::Never);
        assert_eq!(PassVersions::default().with_list(""), Ok(PassVersions::default()));
    }

    #[test]
    fn each_wrong_word_is_said() {
        let list = "-gatess,gates,-per_lane_loops,per_lane_loops=never,-zebra";
        let wrong = PassVersions::default().with_list(list).expect_err("words are wrong");
        assert_eq!(wrong[0], "no pass is called 'gatess' (did you mean 'gates'?)");
        assert_eq!(wrong[1], "'gates' is not -NAME, +NAME or NAME=always");
        assert_eq!(wrong[2], "'per_lane_loops=never' is not -NAME, +NAME or NAME=always");
        assert!(wrong[3].starts_with("no pass is called 'zebra' (there are gates, "), "{}", wrong[3]);
        assert_eq!(wrong.len(), 4);
    }
}
