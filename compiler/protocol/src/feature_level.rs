//! Kinds of processors that code can be made for without one of them: the levels of the x86-64 psABI.

use serde::{Deserialize, Serialize};

/// A level, with all features of those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum FeatureLevel {
    /// What every processor of 64 bits has.
    Base,
    /// From about 2009 on: up to SSE 4.2.
    V2,
    /// From about 2013 on: AVX2, fused multiply-add.
    V3,
    /// AVX-512 as servers have it.
    V4,
}

impl FeatureLevel {
    /// All there are, the least first.
    pub const ALL: [FeatureLevel; 4] = [FeatureLevel::Base, FeatureLevel::V2, FeatureLevel::V3, FeatureLevel::V4];

    /// The psABI's name.
    pub fn psabi_name(self) -> &'static str {
        match self {
            FeatureLevel::Base => "x86-64",
            FeatureLevel::V2 => "x86-64-v2",
            FeatureLevel::V3 => "x86-64-v3",
            FeatureLevel::V4 => "x86-64-v4",
        }
    }

    /// The level of this name.
    pub fn from_name(name: &str) -> Option<FeatureLevel> {
        FeatureLevel::ALL.into_iter().find(|level| level.psabi_name() == name)
    }

    /// Whether estimates of roots and quotients are those of AVX-512, which are closer than older ones.
    pub fn has_close_estimates(self) -> bool {
        self >= FeatureLevel::V4
    }

    /// Whether its processors compute a product and a sum in one, rounded once.
    pub fn fuses_multiply_add(self) -> bool {
        self >= FeatureLevel::V3
    }

    /// Its features, by LLVM's names, beyond those that every processor of 64 bits has.
    pub fn features(self) -> impl Iterator<Item = &'static str> {
        let levels = FeatureLevel::ALL.into_iter().filter(move |level| *level <= self);
        levels.flat_map(FeatureLevel::own_features).copied()
    }

    /// The features that the level before does not have.
    fn own_features(self) -> &'static [&'static str] {
        match self {
            FeatureLevel::Base => &[],
            FeatureLevel::V2 => &["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"],
            FeatureLevel::V3 => &["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"],
            FeatureLevel::V4 => &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_and_the_features_of_those_before() {
        for (level, count) in FeatureLevel::ALL.into_iter().zip([0, 7, 15, 20]) {
            assert_eq!(FeatureLevel::from_name(level.psabi_name()), Some(level));
            assert_eq!(level.features().count(), count);
            assert_eq!(level.has_close_estimates(), level.features().any(|feature| feature == "avx512f"));
            assert_eq!(level.fuses_multiply_add(), level.features().any(|feature| feature == "fma"));
        }
        assert_eq!(FeatureLevel::from_name("x86-64-v5"), None);
        assert!(FeatureLevel::V4.features().any(|feature| feature == "sse4.2"));
    }
}
