//! Which processor code is made for, and which code this one takes: code that was made for one may use instructions that another does
//! not have.

use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};
use std::sync::OnceLock;

use lockstep_protocol::feature_level::FeatureLevel;

/// The leaves of `cpuid` with the processor's model and features, by number and sub-leaf: what the compiler reads to find out for
/// what it makes code.
const LEAVES: [(u32, u32); 9] =
    [(1, 0), (7, 0), (7, 1), (0xd, 1), (0x14, 0), (0x19, 0), (0x24, 0), (0x8000_0001, 0), (0x8000_0008, 0)];

static LEVEL: OnceLock<FeatureLevel> = OnceLock::new();

/// Has all code of this process made for processors of a level, instead of those of this one's kind. This comes before anything is
/// compiled; code that this processor cannot run must not be launched. The first level stays.
pub fn choose_level(level: FeatureLevel) {
    LEVEL.get_or_init(|| level);
}

/// The level that was chosen.
pub(crate) fn chosen_level() -> Option<FeatureLevel> {
    LEVEL.get().copied()
}

/// Whether this processor has the features of a level, and the system keeps their registers.
pub fn has_level(level: FeatureLevel) -> bool {
    FeatureLevel::ALL.into_iter().filter(|part| *part <= level).all(has_own_features)
}

/// Whether it has the features of a level that the one before does not have.
fn has_own_features(level: FeatureLevel) -> bool {
    match level {
        FeatureLevel::Base => true,
        FeatureLevel::V2 => {
            is_x86_feature_detected!("cmpxchg16b")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("sse3")
                && is_x86_feature_detected!("sse4.1")
                && is_x86_feature_detected!("sse4.2")
                && is_x86_feature_detected!("ssse3")
                && has_sahf()
        }
        FeatureLevel::V3 => {
            is_x86_feature_detected!("avx")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("movbe")
        }
        FeatureLevel::V4 => {
            is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
        }
    }
}

/// Whether it has `lahf` and `sahf`, for which the standard library has no name.
fn has_sahf() -> bool {
    __get_cpuid_max(0x8000_0000).0 > 0x8000_0000 && __cpuid_count(0x8000_0001, 0).ecx & 1 != 0
}

/// How well code that was made for processors of some name suits here: not at all, or the better the more.
pub(crate) fn judge_machine(machine: &str) -> Option<u32> {
    match FeatureLevel::from_name(machine) {
        _ if machine == processor_identity() => Some(u32::MAX),
        Some(level) if chosen_level().is_none() && has_level(level) => Some(level as u32),
        _ => None,
    }
}

/// Whether code for processors of this name rounds as code for those of this one's kind does, which takes its place after some launches:
/// both fuse products with sums, or neither does, and they have the same estimates of roots and quotients.
pub(crate) fn rounds_alike(machine: &str) -> bool {
    let is_alike = |level: FeatureLevel| {
        level.fuses_multiply_add() == is_x86_feature_detected!("fma")
            && level.has_close_estimates() == is_x86_feature_detected!("avx512f")
    };
    machine == processor_identity() || FeatureLevel::from_name(machine).is_some_and(is_alike)
}

/// The name of the processor's kind, or of the level that was chosen: equal where the compiler makes the same code. It belongs to the
/// key of everything that is kept of code.
pub(crate) fn processor_identity() -> String {
    if let Some(level) = chosen_level() {
        return level.psabi_name().to_owned();
    }
    let maker = __cpuid_count(0, 0);
    let mut identity = format!("x86-64 {:08x}{:08x}{:08x}", maker.ebx, maker.edx, maker.ecx);
    for (leaf, sub_leaf) in LEAVES {
        let most = __get_cpuid_max(leaf & 0x8000_0000).0;
        if leaf > most {
            continue;
        }
        let result = __cpuid_count(leaf, sub_leaf);
        // The other registers of these leaves tell which processor runs this, and how large things are.
        let registers = match (leaf, sub_leaf) {
            (1, _) => [result.eax, 0, result.ecx, result.edx],
            (0xd, _) => [result.eax, 0, 0, 0],
            (0x8000_0008, _) => [0, result.ebx, 0, 0],
            _ => [result.eax, result.ebx, result.ecx, result.edx],
        };
        registers.iter().for_each(|register| identity.push_str(&format!(" {register:x}")));
    }
    // Registers that the system does not keep for each thread are not used.
    identity.push_str(&format!(" {} {}", is_x86_feature_detected!("avx"), is_x86_feature_detected!("avx512f")));
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_the_same_wherever_a_thread_runs() {
        let here = processor_identity();
        for _ in 0..8 {
            let elsewhere = std::thread::spawn(processor_identity).join().expect("it does not panic");
            assert_eq!(elsewhere, here);
        }
        assert!(here.split(' ').count() > 10, "{here}");
    }
}
