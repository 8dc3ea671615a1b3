//! What the system leaves to the driver: threads, memory, pages, stacks.

use std::fs;

use lockstep_protocol::feature_level::FeatureLevel;
use lockstep_runtime::compiler_process::asked_and_granted_stack;
use lockstep_runtime::machine::{affine_processors, granted_processors, processor_name, register_bits, usable_memory};
use lockstep_runtime::options::options;
use lockstep_runtime::processor::has_level;
use lockstep_runtime::schedule::worker_count;

use super::Finding;

/// Where the system says whether it gives out huge pages.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// All of it.
pub fn examine_system() -> Vec<Finding> {
    let huge_pages = fs::read_to_string(HUGE_PAGES).ok();
    vec![
        Finding::fine("processor", describe_processor()),
        examine_threads(worker_count(), affine_processors().len(), granted_processors()),
        Finding::fine(
            "memory",
            format!("{:.1} GiB, by the machine and its control groups", gibibytes(usable_memory())),
        ),
        examine_pages(huge_pages.as_deref()),
        examine_stack(asked_and_granted_stack()),
    ]
}

/// The processor's name, what it has, and what of that is used.
fn describe_processor() -> String {
    let level = FeatureLevel::ALL.into_iter().filter(|level| has_level(*level)).max().unwrap_or(FeatureLevel::Base);
    format!("{}, {}; registers of {} bits", processor_name(), level.psabi_name(), register_bits(options().simd))
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// How many threads run work-groups, and what of affinity and control groups it is that limits them.
fn examine_threads(threads: usize, affine: usize, granted: usize) -> Finding {
    let quota = match granted {
        usize::MAX => "no quota".to_owned(),
        processors => format!("a quota of {processors} by the control groups"),
    };
    let asked = if options().threads.is_some() { " (LOCKSTEP_THREADS)" } else { "" };
    let words = format!("{threads}{asked}; {affine} processors in the affinity mask, {quota}");
    match threads > affine.min(granted) {
        true => Finding::lacking("threads", format!("{words}: threads wait for each other; unset LOCKSTEP_THREADS")),
        false => Finding::fine("threads", words),
    }
}

/// Buffers of some megabytes ask for huge pages.
fn examine_pages(enabled: Option<&str>) -> Finding {
    let chosen = enabled.and_then(|text| text.split_once('[')?.1.split_once(']')).map(|(word, _)| word);
    match chosen {
        Some(word @ ("always" | "madvise")) => Finding::fine("pages", format!("large buffers get huge pages ({word})")),
        Some(word) => Finding::lacking(
            "pages",
            format!("large buffers get small pages ({word}), which is slower; as root: echo madvise > {HUGE_PAGES}"),
        ),
        None => Finding::lacking("pages", format!("large buffers get small pages: there is no {HUGE_PAGES}")),
    }
}

/// `asked` and `granted` are the bytes of the compiler's stack.
fn examine_stack((asked, granted): (u64, u64)) -> Finding {
    match granted >= asked {
        true => Finding::fine("stack", format!("the compiler gets the {} MiB that it asks for", asked >> 20)),
        false => Finding::lacking(
            "stack",
            format!(
                "the compiler gets {} KiB of the {} that it asks for, and cannot build deeply nested programs; raise the hard \
                 limit (ulimit -Hs)",
                granted >> 10,
                asked >> 10
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn more_threads_than_processors_are_told_of() {
        assert_eq!(examine_threads(2, 2, usize::MAX).words, "2; 2 processors in the affinity mask, no quota");
        let found = examine_threads(8, 8, 2);
        assert_eq!(found.state, State::Lacking);
        assert!(found.words.contains("a quota of 2"), "{}", found.words);
    }

    #[test]
    fn pages_are_huge_where_the_system_says_so() {
        let state = |text| examine_pages(text).state;
        assert_eq!(state(Some("always [madvise] never\n")), State::Fine);
        assert_eq!(state(Some("[always] madvise never\n")), State::Fine);
        assert_eq!(state(Some("always madvise [never]\n")), State::Lacking);
        assert_eq!(state(None), State::Lacking);
    }

    #[test]
    fn a_small_stack_is_told_of() {
        assert_eq!(examine_stack((64 << 20, 64 << 20)).state, State::Fine);
        let found = examine_stack((64 << 20, 8 << 20));
        assert_eq!(found.state, State::Lacking);
        assert!(found.words.starts_with("the compiler gets 8192 KiB of the 65536 "), "{}", found.words);
    }
}
