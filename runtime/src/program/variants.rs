//! The variants of one kernel: its code for launches of which certain facts hold.
//!
//! The first launches get code for all that holds of them. An application whose launches have little in common would
//! have code made for ever, so later ones get code that relies on less, in the end code that runs any launch. Of a kernel
//! whose code takes long to make, launches get what there is if it will do; what is made relies on no local size, except
//! for the first launch with rows that fill no gang. Which variant a launch gets is found without a lock; who makes one holds up only those who need another new one.
//!
//! Which launches came first must not decide for ever: launches that come again and again get code of their own, although
//! the code of others would do.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// Facts of which launches with code for less are counted: so many get code of their own in the end.
const MOST_FREQUENT: usize = 4;

/// As many launches with the same facts run code for less before they get code of their own.
const FREQUENT: u32 = 16;

/// Launches that have code for less than holds of them.
struct Frequent<T> {
    facts: LaunchFacts,
    launches: AtomicU32,
    /// Code of their own, or that it cannot be had.
    own: OnceLock<Option<T>>,
}

/// What was made, in the order of making.
pub struct Variants<T> {
    /// Whether launches take what there is.
    takes_long: bool,
    made: [OnceLock<(LaunchFacts, T)>; MOST],
    general: OnceLock<T>,
    frequent: [OnceLock<Frequent<T>>; MOST_FREQUENT],
    making: Mutex<()>,
}

impl<T> Default for Variants<T> {
    fn default() -> Self {
        Variants::new(false)
    }
}

/// What a launch gets.
enum Choice<'a, T> {
    /// One for all that holds of it.
    Exact(&'a T),
    /// One for less.
    Made(&'a T),
    /// A new one for these facts, in this place.
    New(&'a OnceLock<(LaunchFacts, T)>, LaunchFacts),
    General,
}

impl<T> Variants<T> {
    /// None yet, of a kernel whose code takes long to make or not.
    pub fn new(takes_long: bool) -> Variants<T> {
        Variants {
            takes_long,
            made: Default::default(),
            general: OnceLock::new(),
            frequent: Default::default(),
            making: Mutex::new(()),
        }
    }

    /// The variant for launches of which these facts hold, if there is one.
    pub fn find(&self, facts: LaunchFacts) -> Option<&T> {
        let lesser = match self.choose(facts) {
            Choice::Exact(variant) => return Some(variant),
            Choice::Made(variant) => Some(variant),
            Choice::General => self.general.get(),
            Choice::New(..) => None,
        };
        self.find_own(facts).or(lesser)
    }

    /// What launches got for themselves because they came again and again.
    fn find_own(&self, facts: LaunchFacts) -> Option<&T> {
        self.frequent.iter().find_map(|place| place.get().filter(|known| known.facts == facts)?.own.get()?.as_ref())
    }

    /// Counts a launch; the answer is whether it is time to make code for all that holds of it ([`Variants::make_own`]).
    pub fn count_launch(&self, facts: LaunchFacts) -> bool {
        let is_exact = facts == LaunchFacts::default() || matches!(self.choose(facts), Choice::Exact(_));
        if self.takes_long || is_exact {
            return false;
        }
        let new = || Frequent { facts, launches: AtomicU32::new(0), own: OnceLock::new() };
        let known = self.frequent.iter().map(|place| place.get_or_init(new)).find(|known| known.facts == facts);
        // Once it has come so far, the count stays where it is.
        known.is_some_and(|known| {
            known.own.get().is_none()
                && (known.launches.load(Ordering::Relaxed) >= FREQUENT
                    || known.launches.fetch_add(1, Ordering::Relaxed) + 1 >= FREQUENT)
        })
    }

    /// Makes the variant for launches that came often, for all that holds of them and no others, unless it is there or
    /// could not be made before.
    pub fn make_own(&self, facts: LaunchFacts, make: impl FnOnce(&LaunchFacts) -> Option<T>) {
        let mut known = self.frequent.iter().filter_map(|place| place.get());
        if let Some(known) = known.find(|known| known.facts == facts) {
            let _making = self.making.lock();
            known.own.get_or_init(|| make(&facts));
        }
    }

    /// All there are.
    pub fn all(&self) -> impl Iterator<Item = (LaunchFacts, &T)> {
        let made = self.made.iter().filter_map(|place| place.get()).map(|(facts, variant)| (*facts, variant));
        let own = self.frequent.iter().filter_map(|place| place.get());
        let own = own.filter_map(|known| Some((known.facts, known.own.get()?.as_ref()?)));
        made.chain(own).chain(self.general.get().map(|variant| (LaunchFacts::default(), variant)))
    }

    /// The variant for launches of which these facts hold, made by the first caller.
    pub fn get(&self, facts: LaunchFacts, make: impl FnOnce(&LaunchFacts) -> T) -> &T {
        if let Some(variant) = self.find(facts) {
            return variant;
        }
        let _making = self.making.lock();
        match self.choose(facts) {
            Choice::Exact(variant) | Choice::Made(variant) => variant,
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
        for (wanted, most) in wanted.into_iter().zip(kinds) {
            if wanted == LaunchFacts::default() {
                break;
            }
            for (index, place) in self.made.iter().enumerate() {
                match place.get() {
                    Some((known, variant)) if *known == facts => return Choice::Exact(variant),
                    Some((known, variant)) if *known == wanted => return Choice::Made(variant),
                    Some(_) => {}
                    None if index < most => return Choice::New(place, wanted),
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

    /// What launches of each size get in the end, where each comes often.
    fn run_often(sizes: &[u64]) -> (Vec<LaunchFacts>, usize) {
        let variants = Variants::default();
        for _ in 0..2 * FREQUENT {
            for &size in sizes {
                let facts = launch(4 * size, size);
                variants.get(facts, |facts| *facts);
                if variants.count_launch(facts) {
                    variants.make_own(facts, |facts| Some(*facts));
                }
            }
        }
        let get = |&size: &u64| *variants.get(launch(4 * size, size), |_| unreachable!());
        (sizes.iter().map(get).collect(), variants.all().count())
    }

    #[test]
    fn the_order_of_first_launches_does_not_matter() {
        for sizes in [[16, 256, 1024, 7], [1024, 16, 7, 256], [7, 1024, 256, 16], [256, 7, 16, 1024]] {
            let wanted: Vec<LaunchFacts> = sizes.iter().map(|size| launch(4 * size, *size)).collect();
            assert_eq!(run_often(&sizes).0, wanted);
        }
        let many: Vec<u64> = (1..100).collect();
        let (got, made) = run_often(&many);
        let exact = many.iter().zip(&got).filter(|&(&size, got)| launch(4 * size, size) == *got).count();
        assert_eq!((exact, made), (SHORT[0] + MOST_FREQUENT, MOST + MOST_FREQUENT), "there is an end");
    }

    #[test]
    fn launches_that_come_seldom_get_no_code_of_their_own() {
        let variants = Variants::default();
        let sizes = [16, 32, 48].map(|size| launch(64 * size, size));
        run(&variants, &sizes);
        assert!((1..FREQUENT).all(|_| !variants.count_launch(sizes[2])));
        assert!(variants.count_launch(sizes[2]) && variants.count_launch(sizes[2]));
        assert!((0..2 * FREQUENT).all(|_| !variants.count_launch(sizes[0])), "it has its own");
        variants.make_own(sizes[2], |_| None);
        assert!(!variants.count_launch(sizes[2]), "it is tried once");
        assert_eq!(variants.find(sizes[2]).map(|facts| facts.local), Some(LocalSize::Rows));
        let long = Variants::new(true);
        run(&long, &sizes);
        assert!((0..2 * FREQUENT).all(|_| !long.count_launch(sizes[2])));
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
