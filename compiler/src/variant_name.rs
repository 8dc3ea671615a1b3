//! What kind of code a variant of a kernel is, in a few words for the lists of profilers and debuggers.

use lockstep_ir::plan::Widening;
use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::debug_object::MOST_NAME_BYTES;
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize, ROW};

/// The name of a variant: the kernel's and, in brackets, how its work-items run, in which groups, and its tier.
pub(crate) fn name_variant(kernel: &str, widening: Option<&Widening>, launch: &LaunchFacts, tier: Tier) -> String {
    let lanes = match widening {
        Some(widening) => format!("{} lanes {}", widening.width, widening.layout.describe()),
        None => "one work-item at a time".to_owned(),
    };
    let groups = match launch.local {
        LocalSize::Any => "any groups".to_owned(),
        LocalSize::Rows => format!("groups with rows of multiples of {ROW}"),
        LocalSize::Exactly([x, y, z]) => format!("groups of {x} x {y} x {z}"),
    };
    let tier_name = match tier {
        Tier::Baseline => "first tier",
        Tier::Optimized => "last tier",
    };
    let brackets = format!(" [{}, {groups}, {tier_name}]", lanes.trim_end());
    let mut kept_bytes = kernel.len().min(MOST_NAME_BYTES.saturating_sub(brackets.len()));
    while !kernel.is_char_boundary(kept_bytes) {
        kept_bytes -= 1;
    }
    format!("{}{brackets}", &kernel[..kept_bytes])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_how_the_code_runs() {
        let launch = LaunchFacts { local: LocalSize::Exactly([64, 1, 1]), ..LaunchFacts::default() };
        let name = name_variant("saxpy", None, &launch, Tier::Baseline);
        assert_eq!(name, "saxpy [one work-item at a time, groups of 64 x 1 x 1, first tier]");
        let name = name_variant("saxpy", None, &LaunchFacts::default(), Tier::Optimized);
        assert_eq!(name, "saxpy [one work-item at a time, any groups, last tier]");
    }

    #[test]
    fn long_names_are_cut_before_the_brackets() {
        let name = name_variant(&"ü".repeat(MOST_NAME_BYTES), None, &LaunchFacts::default(), Tier::Optimized);
        assert!(name.len() <= MOST_NAME_BYTES && name.len() + 2 > MOST_NAME_BYTES, "{}", name.len());
        assert!(name.ends_with(" [one work-item at a time, any groups, last tier]"));
    }
}
