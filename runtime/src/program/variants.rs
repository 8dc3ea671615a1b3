//! The variants of one kernel: its code for launches of which certain facts hold.
//!
//! The first launches get code for all that holds of them. An application whose launches have little in common would
//! have code made for ever, so later ones get code that relies on less, in the end code that runs any launch. Of a kernel
//! whose code takes long to make, launches get what there is if it will do; what is made relies on no local size, except
//! for the first launch with rows that fill no gang. Which variant a launch gets is found without a lock; who makes one holds up only those who need another new one.

use std::sync::OnceLock;

use lockstep_protocol::launch_facts::LaunchFacts;
use parking_lot::Mutex;

/// Variants beside the one that runs any launch.
const MOST: usize = 4;

/// How many there may be after one is made that relies on the local size, on arguments and on neither.
const SHORT: [usize; 3] = [2, 3, MOST];
/// The same of kernels whose code takes long to make.
const LONG: [usize; 3] = [0, 1, 2];
/// The same for their launches with rows that fill no gang: without the local size lanes would have no work-item.
const LONG_OF_SHORT_ROWS: [usize; 3] = [1, 2, 3];

/// What was made, in the order of making.
pub struct Variants<T> {
    /// Whether launches take what there is.
    takes_long: bool,
    made: [OnceLock<(LaunchFacts, T)>; MOST],
    general: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Variants<T> {
    fn default() -> Self {
        Variants::new(false)
    }
}

/// What a launch gets.
enum Choice<'a, T> {
    Made(&'a T),
    /// A new one for these facts, in this place.
    New(&'a OnceLock<(LaunchFacts, T)>, LaunchFacts),
    General,
}

impl<T> Variants<T> {
    /// None yet, of a kernel whose code takes long to make or not.
    pub fn new(takes_long: bool) -> Variants<T> {
        Variants { takes_long, made: Default::default(), general: OnceLock::new(), making: Mutex::new(()) }
    }

    /// The variant for launches of which these facts hold, if there is one.
    pub fn find(&self, facts: LaunchFacts) -> Option<&T> {
        match self.choose(facts) {
            Choice::Made(variant) => Some(variant),
            Choice::General => self.general.get(),
            Choice::New(..) => None,
        }
    }

    /// All there are.
    pub fn all(&self) -> impl Iterator<Item = (LaunchFacts, &T)> {
        let made = self.made.iter().filter_map(|place| place.get()).map(|(facts, variant)| (*facts, variant));
        made.chain(self.general.get().map(|variant| (LaunchFacts::default(), variant)))
    }

    /// The variant for launches of which these facts hold, made by the first caller.
    pub fn get(&self, facts: LaunchFacts, make: impl FnOnce(&LaunchFacts) -> T) -> &T {
        if let Some(variant) = self.find(facts) {
            return variant;
        }
        let _making = self.making.lock();
        match self.choose(facts) {
            Choice::Made(variant) => variant,
            Choice::New(place, facts) => &place.get_or_init(|| (facts, make(&facts))).1,
            Choice::General => self.general.get_or_init(|| make(&LaunchFacts::default())),
        }
    }

    /// A variant for a launch without work-items: any there is.
    pub fn any(&self, make: impl FnOnce(&LaunchFacts) -> T) -> &T {
        let first = self.made[0].get().map(|(_, variant)| variant);
        first.unwrap_or_else(|| self.get(LaunchFacts::default(), make))
    }

    fn choose(&self, facts: LaunchFacts) -> Choice<'_, T> {
        let mut any_size = facts.of_any_size();
        let kinds = if self.takes_long {
            any_size = facts.of_every_size();
            let made = self.made.iter().filter_map(|place| place.get());
            if let Some((_, variant)) = made.into_iter().find(|(known, _)| facts.implies(known)) {
                return Choice::Made(variant);
            }
            if facts.has_short_rows() { LONG_OF_SHORT_ROWS } else { LONG }
        } else {
            SHORT
        };
        let wanted = [facts, any_size, any_size.of_any_arguments()];
        for (facts, most) in wanted.into_iter().zip(kinds) {
            if facts == LaunchFacts::default() {
                break;
            }
            for (index, place) in self.made.iter().enumerate() {
                match place.get() {
                    Some((known, variant)) if *known == facts => return Choice::Made(variant),
                    Some(_) => {}
                    None if index < most => return Choice::New(place, facts),
                    None => break,
                }
            }
        }
        Choice::General
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::launch_facts::LocalSize;

    fn launch(global: u64, local: u64) -> LaunchFacts {
        LaunchFacts::of_range([0; 3], [global, 1, 1], [local, 1, 1])
    }

    /// What launches get, in order; and how often something was made.
    fn run(variants: &Variants<LaunchFacts>, launches: &[LaunchFacts]) -> (Vec<LaunchFacts>, usize) {
        let mut made = 0;
        let get = |&facts: &LaunchFacts| {
            *variants.get(facts, |facts| {
                made += 1;
                *facts
            })
        };
        let got = launches.iter().map(get).collect();
        (got, made)
    }

    #[test]
    fn equal_launches_share_code_for_all_that_holds() {
        let variants = Variants::default();
        let (got, made) = run(&variants, &[launch(64, 16), launch(1 << 20, 16), launch(64, 16)]);
        assert_eq!((got, made), (vec![launch(64, 16); 3], 1));
    }

    #[test]
    fn many_local_sizes_get_code_for_any() {
        let variants = Variants::default();
        let sizes = [16, 32, 48, 7, 64, 9, 16];
        let launches = sizes.map(|size| launch(size * 4, size));
        let (got, made) = run(&variants, &launches);
        assert_eq!(made, 4);
        assert_eq!(got[..2], launches[..2]);
        assert_eq!(got[2].local, LocalSize::Rows);
        assert_eq!(got[4], got[2]);
        assert_eq!(got[3].local, LocalSize::Any);
        assert!(got[3].ids_fit_int && got[3].zero_offset);
        assert_eq!(got[5], got[3]);
        assert_eq!(got[6], launches[0], "the first one stays");
    }

    /// A password cracker tries its kernels with groups of one work-item before it launches them with large ones.
    #[test]
    fn code_that_takes_long_runs_every_launch_it_can() {
        let variants = Variants::new(true);
        let launches = [launch(1, 1), launch(1 << 20, 64), launch(100, 10), launch(1 << 16, 4096)];
        let of_every_size = launches[0].of_every_size();
        assert_eq!(run(&variants, &launches), (vec![of_every_size; 4], 1));
        let far = LaunchFacts { ids_fit_int: false, ..launch(1 << 20, 64) };
        let with_argument = LaunchFacts { multiples: 1, ids_fit_int: false, ..far };
        let (got, made) = run(&variants, &[far, with_argument, launch(64, 64)]);
        assert_eq!((got, made), (vec![far.of_every_size(), far.of_every_size(), of_every_size], 1));
        let offset = LaunchFacts { zero_offset: false, ..far };
        assert_eq!(run(&variants, &[offset]), (vec![LaunchFacts::default()], 1), "two are enough");
    }

    #[test]
    fn code_that_takes_long_relies_on_rows_that_fill_no_gang() {
        let tiles = |y| LaunchFacts::of_range([0; 3], [64, 64, 1], [8, y, 1]);
        let variants = Variants::new(true);
        let launches = [tiles(8), launch(1 << 20, 64), tiles(8), tiles(4)];
        let of_every_size = tiles(8).of_every_size();
        let wanted = vec![tiles(8), of_every_size, tiles(8), of_every_size];
        assert_eq!(run(&variants, &launches), (wanted, 2));
    }

    #[test]
    fn whatever_comes_there_is_an_end() {
        let variants = Variants::default();
        let mut made = 0;
        for seed in 0..500u64 {
            let mut facts = LaunchFacts::of_range([seed % 3, 0, 0], [seed * 7 + 1, 4, 1], [seed % 61 + 1, 2, 1]);
            facts.multiples = (seed % 5) as u32;
            facts.ids_fit_int &= seed % 7 != 0;
            let got = *variants.get(facts, |facts| {
                made += 1;
                *facts
            });
            let size = got.local_size(0).is_none_or(|size| Some(size) == facts.local_size(0));
            let less = |some: bool, all: bool| !some || all;
            assert!(size && got.row_align() <= facts.row_align(), "{got:?} for {facts:?}");
            assert!(less(got.full_groups, facts.full_groups) && less(got.zero_offset, facts.zero_offset));
            assert!(less(got.ids_fit_int, facts.ids_fit_int) && got.multiples & !facts.multiples == 0);
        }
        assert_eq!(made, MOST + 1);
        assert_eq!(run(&variants, &[LaunchFacts::default()]), (vec![LaunchFacts::default()], 0));
        assert_eq!(variants.all().count(), made);
        assert!(variants.all().all(|(facts, variant)| facts == *variant));
    }

    #[test]
    fn empty_launches_make_nothing_new() {
        let variants = Variants::default();
        assert_eq!(*variants.any(|facts| *facts), LaunchFacts::default());
        let variants = Variants::default();
        run(&variants, &[launch(64, 16)]);
        assert_eq!(*variants.any(|_| unreachable!()), launch(64, 16));
    }
}
