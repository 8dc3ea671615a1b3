//! Which work-items of a group are the lanes of a gang.

use crate::launch_facts::LaunchFacts;
use std::fmt;
use std::str::FromStr;

/// How the work-items of a group lie in the lanes of its gangs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Layout {
    /// Lanes are consecutive along dimension 0.
    #[default]
    X,
    /// Along dimension 1.
    Y,
    /// Along dimension 2.
    Z,
}

impl Layout {
    /// All there are.
    pub const ALL: [Layout; 3] = [Layout::X, Layout::Y, Layout::Z];

    /// The dimension along which lanes lie.
    pub fn dim(self) -> usize {
        match self {
            Layout::X => 0,
            Layout::Y => 1,
            Layout::Z => 2,
        }
    }

    /// The dimensions as loops over a group have them, the innermost first.
    pub fn order(self) -> [usize; 3] {
        match self {
            Layout::X => [0, 1, 2],
            Layout::Y => [1, 0, 2],
            Layout::Z => [2, 0, 1],
        }
    }

    /// Whether gangs one after the other have the work-items of every group in the order of their numbers.
    pub fn keeps_order(self, launch: &LaunchFacts) -> bool {
        (0..self.dim()).all(|dim| launch.local_size(dim) == Some(1))
    }

    /// The name that the switch and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Layout::X => "x",
            Layout::Y => "y",
            Layout::Z => "z",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "along {}", self.name())
    }
}

impl FromStr for Layout {
    type Err = ();

    fn from_str(name: &str) -> Result<Layout, ()> {
        Layout::ALL.into_iter().find(|layout| layout.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for layout in Layout::ALL {
            assert_eq!(layout.name().parse(), Ok(layout));
        }
        assert_eq!("w".parse::<Layout>(), Err(()));
    }

    #[test]
    fn order_is_kept_where_rows_are_single_work_items() {
        let launch = |local| LaunchFacts::of_range([0; 3], [64; 3], local);
        let kept = |local| Layout::ALL.map(|layout| layout.keeps_order(&launch(local)));
        assert_eq!(kept([8, 8, 8]), [true, false, false]);
        assert_eq!(kept([1, 8, 8]), [true, true, false]);
        assert_eq!(kept([1, 1, 8]), [true, true, true]);
        assert!(Layout::X.keeps_order(&LaunchFacts::default()) && !Layout::Y.keeps_order(&LaunchFacts::default()));
    }

    #[test]
    fn every_dimension_has_its_loop() {
        for layout in Layout::ALL {
            let mut order = layout.order();
            assert_eq!(order[0], layout.dim());
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2]);
        }
    }
}
