//! The variants of one kernel: its code for launches of which certain facts hold.
//!
//! The first launches get code for all that holds of them. An application whose launches have little in common would
//! have code made for ever, so later ones get code that relies on less, in the end code that runs any launch. Of a kernel
//! whose code takes long to make, launches get what there is if it will do; what is made relies on no local size but on rows
//! that fill gangs, where they do (code that does not takes two and a half times as long), except
//! for the first launch with rows that fill no gang. Which variant a launch gets is found without a lock; who makes one holds up only those who need another new one.
//!
//! Which launches came first must not decide for ever: launches that come again and again get code of their own, although
//! the code of others would do.

use std::sync::OnceLock;

use lockstep_protocol::launch_facts::LaunchFacts;
use parking_lot::Mutex;

/// Variants beside the one that runs any launch.
const MOST: usize = 4;

/// How many there may be after one is made that relies on the local size, on arguments and on neither.
const SHORT: [usize; 3] = [2, 3, MOST];
/// The same of kernels whose code takes long to make.
const LONG: [usize; 3] = [0, 2, 3];
/// The same for their launches with rows that fill no gang: without the local size lanes would have no work-item.
const LONG_OF_SHORT_ROWS: [usize; 3] = [1, 2, 3];

/// Variants that launches get for themselves because they came often.
const MOST_OWN: usize = 4;

/// As many launches with the same facts run code for less before they get code of their own.
const FREQUENT: u32 = 16;

/// Facts of which launches with code for less are counted at a time.
const MOST_COUNTED: usize = 16;

/// What was made, in the order of making.
pub struct Variants<T> {
    /// Whether launches take what there is.
    takes_long: bool,
    made: [OnceLock<(LaunchFacts, T)>; MOST],
    general: OnceLock<T>,
    /// What launches that came often got for themselves, or that it could not be made.
    own: [OnceLock<(LaunchFacts, Option<T>)>; MOST_OWN],
    counts: Mutex<Vec<(LaunchFacts, u32)>>,
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
            own: Default::default(),
            counts: Mutex::default(),
            making: Mutex::new(()),
        }
    }

    /// The variant for launches of which these facts hold, if there is one.
    pub fn find_variant(&self, launch_facts: &LaunchFacts) -> Option<&T> {
        self.find_or_count(launch_facts, false).map(|(variant, _)| variant)
    }

    /// The variant that a launch runs, if there is one, and whether launches like it came so often with code for less that
    /// code of their own is worth making ([`Variants::make_own`]).
    pub fn serve_launch(&self, launch_facts: &LaunchFacts) -> Option<(&T, bool)> {
        self.find_or_count(launch_facts, true)
    }

    fn find_or_count(&self, launch_facts: &LaunchFacts, counts: bool) -> Option<(&T, bool)> {
        let general_variant = match self.choose_kind(launch_facts) {
            Choice::Exact(variant) => return Some((variant, false)),
            Choice::Made(variant) => variant,
            Choice::General => self.general.get()?,
            Choice::New(..) => return None,
        };
        let tried = self
            .own
            .iter()
            .filter_map(|variant_cell| variant_cell.get())
            .find(|(known_facts, _)| known_facts == launch_facts);
        match tried {
            Some((_, own_variant)) => Some((own_variant.as_ref().unwrap_or(general_variant), false)),
            None => Some((general_variant, counts && !self.takes_long && self.count_launch(launch_facts))),
        }
    }

    /// Counts a launch that runs code for less; the answer is whether such launches are frequent. Of more facts than are
    /// counted at a time, those that come seldom make room for others (Misra & Gries 1982): no count is too high.
    fn count_launch(&self, launch_facts: &LaunchFacts) -> bool {
        let is_full = self.own.iter().all(|variant_cell| variant_cell.get().is_some());
        if *launch_facts == LaunchFacts::default() || is_full {
            return false;
        }
        // Who does not come to count now will come again.
        let Some(mut launch_counts) = self.counts.try_lock() else { return false };
        if let Some((_, launch_count)) = launch_counts.iter_mut().find(|(known_facts, _)| known_facts == launch_facts) {
            *launch_count = launch_count.saturating_add(1);
            return *launch_count >= FREQUENT;
        }
        if launch_counts.len() < MOST_COUNTED {
            launch_counts.push((*launch_facts, 1));
        } else {
            launch_counts.iter_mut().for_each(|(_, launch_count)| *launch_count -= 1);
            launch_counts.retain(|&(_, launch_count)| launch_count > 0);
        }
        false
    }

    /// Makes the variant for launches that came often, for all that holds of them and no others, unless it is there, could
    /// not be made before, or they are not frequent.
    pub fn make_own(&self, launch_facts: LaunchFacts, make_code: impl FnOnce(&LaunchFacts) -> Option<T>) {
        let is_frequent = |(known_facts, launch_count): &(LaunchFacts, u32)| {
            *known_facts == launch_facts && *launch_count >= FREQUENT
        };
        if !self.counts.lock().iter().any(is_frequent) {
            return;
        }
        let _making = self.making.lock();
        let is_known = self
            .own
            .iter()
            .filter_map(|variant_cell| variant_cell.get())
            .any(|(known_facts, _)| *known_facts == launch_facts);
        if let Some(variant_cell) =
            self.own.iter().find(|variant_cell| variant_cell.get().is_none()).filter(|_| !is_known)
        {
            variant_cell.get_or_init(|| (launch_facts, make_code(&launch_facts)));
        }
    }

    /// All there are.
    pub fn all_variants(&self) -> impl Iterator<Item = (LaunchFacts, &T)> {
        let made_variants = self
            .made
            .iter()
            .filter_map(|variant_cell| variant_cell.get())
            .map(|(launch_facts, variant)| (*launch_facts, variant));
        let own_variants = self.own.iter().filter_map(|variant_cell| variant_cell.get());
        let own_variants = own_variants.filter_map(|(launch_facts, variant)| Some((*launch_facts, variant.as_ref()?)));
        made_variants.chain(own_variants).chain(self.general.get().map(|variant| (LaunchFacts::default(), variant)))
    }

    /// The variant for launches of which these facts hold, made by the first caller.
    ///
    /// # Errors
    /// That of `make_code`, which is not kept: the next caller tries again.
    pub fn get_or_make<E>(
        &self,
        launch_facts: LaunchFacts,
        make_code: impl FnOnce(&LaunchFacts) -> Result<T, E>,
    ) -> Result<&T, E> {
        if let Some(variant) = self.find_variant(&launch_facts) {
            return Ok(variant);
        }
        // Nobody else fills a cell meanwhile.
        let _making = self.making.lock();
        match self.choose_kind(&launch_facts) {
            Choice::Exact(variant) | Choice::Made(variant) => Ok(variant),
            Choice::New(variant_cell, launch_facts) => {
                let variant = make_code(&launch_facts)?;
                Ok(&variant_cell.get_or_init(|| (launch_facts, variant)).1)
            }
            Choice::General => {
                if let Some(variant) = self.general.get() {
                    return Ok(variant);
                }
                let variant = make_code(&LaunchFacts::default())?;
                Ok(self.general.get_or_init(|| variant))
            }
        }
    }

    /// A variant for a launch without work-items: any there is.
    ///
    /// # Errors
    /// What making the code for any launch came to.
    pub fn any_or_make<E>(&self, make_code: impl FnOnce(&LaunchFacts) -> Result<T, E>) -> Result<&T, E> {
        let first = self.made[0].get().map(|(_, variant)| variant);
        first.map_or_else(|| self.get_or_make(LaunchFacts::default(), make_code), Ok)
    }

    fn choose_kind(&self, launch_facts: &LaunchFacts) -> Choice<'_, T> {
        let made_variants = || self.made.iter().map_while(|variant_cell| variant_cell.get());
        let kinds = if self.takes_long {
            if let Some((_, variant)) = made_variants().find(|(known_facts, _)| launch_facts.implies(known_facts)) {
                return Choice::Made(variant);
            }
            if launch_facts.has_short_rows() { LONG_OF_SHORT_ROWS } else { LONG }
        } else {
            // Most launches end here, so nothing else is made before.
            if let Some((_, variant)) = made_variants().find(|(known_facts, _)| known_facts == launch_facts) {
                return Choice::Exact(variant);
            }
            SHORT
        };
        let any_size = launch_facts.of_any_size();
        let wanted_facts = [*launch_facts, any_size, any_size.of_any_arguments()];
        for (wanted_facts, maximum) in wanted_facts.into_iter().zip(kinds) {
            if wanted_facts == LaunchFacts::default() {
                break;
            }
            for (index, variant_cell) in self.made.iter().enumerate() {
                match variant_cell.get() {
                    Some((known_facts, variant)) if *known_facts == wanted_facts => return Choice::Made(variant),
                    Some(_) => {}
                    None if index < maximum => return Choice::New(variant_cell, wanted_facts),
                    None => break,
                }
            }
        }
        Choice::General
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use lockstep_protocol::launch_facts::LocalSize;

    fn launch(global: u64, local: u64) -> LaunchFacts {
        LaunchFacts::of_range([0; 3], [global, 1, 1], [local, 1, 1])
    }

    /// The variant for a launch, made by code that never fails.
    fn get_or_make(
        variants: &Variants<LaunchFacts>,
        launch_facts: LaunchFacts,
        make_code: impl FnOnce(&LaunchFacts) -> LaunchFacts,
    ) -> LaunchFacts {
        let Ok(variant) = variants.get_or_make(launch_facts, |facts| Ok::<_, Infallible>(make_code(facts)));
        *variant
    }

    #[test]
    fn failures_are_not_kept() {
        let variants = Variants::<LaunchFacts>::new(true);
        for launch_facts in [LaunchFacts::default(), launch(64, 16)] {
            for _ in 0..3 {
                assert_eq!(variants.get_or_make(launch_facts, |_| Err("no process")), Err("no process"));
            }
            assert_eq!(variants.all_variants().count(), 0);
        }
        assert_eq!(get_or_make(&variants, LaunchFacts::default(), |facts| *facts), LaunchFacts::default());
    }

    /// What launches get, in order; and how often something was made.
    fn run(variants: &Variants<LaunchFacts>, launches: &[LaunchFacts]) -> (Vec<LaunchFacts>, usize) {
        let mut made_variants = 0;
        let get = |&launch_facts: &LaunchFacts| {
            get_or_make(variants, launch_facts, |launch_facts| {
                made_variants += 1;
                *launch_facts
            })
        };
        let got = launches.iter().map(get).collect();
        (got, made_variants)
    }

    #[test]
    fn equal_launches_share_code_for_all_that_holds() {
        let variants = Variants::default();
        let (got, made_variants) = run(&variants, &[launch(64, 16), launch(1 << 20, 16), launch(64, 16)]);
        assert_eq!((got, made_variants), (vec![launch(64, 16); 3], 1));
    }

    #[test]
    fn many_local_sizes_get_code_for_any() {
        let variants = Variants::default();
        let sizes = [16, 32, 48, 7, 64, 9, 16];
        let launches = sizes.map(|size| launch(size * 4, size));
        let (got, made_variants) = run(&variants, &launches);
        assert_eq!(made_variants, 4);
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
        let any_size = launches[0].of_any_size();
        assert_eq!(any_size.local, LocalSize::Any);
        assert_eq!(run(&variants, &launches), (vec![any_size; 4], 1));
        let far = LaunchFacts { ids_fit_int: false, ..launch(1 << 20, 64) };
        let with_argument = LaunchFacts { multiples: 1, ids_fit_int: false, ..far };
        let (got, made_variants) = run(&variants, &[far, with_argument, launch(64, 64)]);
        assert_eq!((got, made_variants), (vec![far.of_any_size(), far.of_any_size(), any_size], 1));
        let offset = LaunchFacts { zero_offset: false, ..far };
        assert_eq!(run(&variants, &[offset]), (vec![offset.of_any_size()], 1));
        let far_offset_part = LaunchFacts { full_groups: false, ids_fit_int: false, ..offset };
        assert_eq!(run(&variants, &[far_offset_part]), (vec![LaunchFacts::default()], 1), "three are enough");
    }

    #[test]
    fn code_that_takes_long_relies_on_rows_that_fill_gangs() {
        let variants = Variants::new(true);
        let launches = [launch(1 << 20, 64), launch(1 << 16, 4096), launch(100, 10), launch(64, 64)];
        let (rows, any_size) = (launches[0].of_any_size(), launches[2].of_any_size());
        assert_eq!((rows.local, rows.full_groups, any_size.local), (LocalSize::Rows, true, LocalSize::Any));
        assert_eq!(run(&variants, &launches), (vec![rows, rows, any_size, rows], 2));
    }

    #[test]
    fn code_that_takes_long_relies_on_rows_that_fill_no_gang() {
        let tiles = |y| LaunchFacts::of_range([0; 3], [64, 64, 1], [8, y, 1]);
        let variants = Variants::new(true);
        let launches = [tiles(8), launch(1 << 20, 64), tiles(8), tiles(4)];
        let wanted_facts = vec![tiles(8), launch(1 << 20, 64).of_any_size(), tiles(8), tiles(4).of_any_size()];
        assert_eq!(run(&variants, &launches), (wanted_facts, 3));
    }

    #[test]
    fn whatever_comes_there_is_an_end() {
        let variants = Variants::default();
        let mut made_variants = 0;
        for seed in 0..500u64 {
            let mut launch_facts = LaunchFacts::of_range([seed % 3, 0, 0], [seed * 7 + 1, 4, 1], [seed % 61 + 1, 2, 1]);
            launch_facts.multiples = (seed % 5) as u32;
            launch_facts.ids_fit_int &= seed % 7 != 0;
            let got = get_or_make(&variants, launch_facts, |launch_facts| {
                made_variants += 1;
                *launch_facts
            });
            let size = got.local_size(0).is_none_or(|size| Some(size) == launch_facts.local_size(0));
            let less = |some: bool, all: bool| !some || all;
            assert!(size && got.row_align() <= launch_facts.row_align(), "{got:?} for {launch_facts:?}");
            assert!(less(got.full_groups, launch_facts.full_groups) && less(got.zero_offset, launch_facts.zero_offset));
            assert!(less(got.ids_fit_int, launch_facts.ids_fit_int) && got.multiples & !launch_facts.multiples == 0);
        }
        assert_eq!(made_variants, MOST + 1);
        assert_eq!(run(&variants, &[LaunchFacts::default()]), (vec![LaunchFacts::default()], 0));
        assert_eq!(variants.all_variants().count(), made_variants);
        assert!(variants.all_variants().all(|(facts, variant)| facts == *variant));
    }

    /// A launch that waits for code of its own if it is time to make it.
    fn launch_and_wait(variants: &Variants<LaunchFacts>, launch_facts: LaunchFacts) -> LaunchFacts {
        get_or_make(variants, launch_facts, |launch_facts| *launch_facts);
        if variants.serve_launch(&launch_facts).is_some_and(|(_, is_frequent)| is_frequent) {
            variants.make_own(launch_facts, |launch_facts| Some(*launch_facts));
        }
        get_or_make(variants, launch_facts, |_| unreachable!("it was just made"))
    }

    fn launch_of(size: u64) -> LaunchFacts {
        launch(4 * size, size)
    }

    #[test]
    fn the_order_of_first_launches_does_not_matter() {
        for sizes in [[16, 256, 1024, 7], [1024, 16, 7, 256], [7, 1024, 256, 16], [256, 7, 16, 1024]] {
            let variants = Variants::default();
            for _ in 0..FREQUENT {
                sizes.iter().for_each(|&size| _ = launch_and_wait(&variants, launch_of(size)));
            }
            for size in sizes {
                assert_eq!(launch_and_wait(&variants, launch_of(size)), launch_of(size));
            }
        }
    }

    #[test]
    fn many_that_come_once_do_not_keep_out_one_that_comes_often() {
        let variants = Variants::default();
        (1..1000).for_each(|size| _ = launch_and_wait(&variants, launch_of(size)));
        assert_eq!(variants.all_variants().count(), MOST, "none of them is frequent");
        (0..FREQUENT + 1).for_each(|_| _ = launch_and_wait(&variants, launch_of(2000)));
        assert_eq!(launch_and_wait(&variants, launch_of(2000)), launch_of(2000));
    }

    #[test]
    fn frequent_launches_of_many_kinds_get_few_variants() {
        let variants = Variants::default();
        for size in 1..100 {
            (0..2 * FREQUENT).for_each(|_| _ = launch_and_wait(&variants, launch_of(size)));
        }
        assert_eq!(variants.all_variants().count(), MOST + MOST_OWN);
    }

    #[test]
    fn launches_that_come_seldom_get_no_code_of_their_own() {
        let variants = Variants::default();
        let sizes = [16, 32, 48].map(|size| launch(64 * size, size));
        run(&variants, &sizes);
        let is_frequent = |variants: &Variants<_>, launch_facts| {
            variants.serve_launch(&launch_facts).is_some_and(|(_, frequent)| frequent)
        };
        assert!((1..FREQUENT).all(|_| !is_frequent(&variants, sizes[2])));
        variants.make_own(sizes[2], |_| unreachable!("it is not frequent"));
        assert!(is_frequent(&variants, sizes[2]) && is_frequent(&variants, sizes[2]));
        assert!((0..2 * FREQUENT).all(|_| !is_frequent(&variants, sizes[0])), "it has its own");
        variants.make_own(sizes[2], |_| None);
        assert!(!is_frequent(&variants, sizes[2]), "it is tried once");
        assert_eq!(variants.find_variant(&sizes[2]).map(|facts| facts.local), Some(LocalSize::Rows));
        let long = Variants::new(true);
        run(&long, &sizes);
        assert!((0..2 * FREQUENT).all(|_| !is_frequent(&long, sizes[2])));
    }

    #[test]
    fn empty_launches_make_nothing_new() {
        let variants = Variants::default();
        assert_eq!(variants.any_or_make(|facts| Ok::<_, ()>(*facts)), Ok(&LaunchFacts::default()));
        let variants = Variants::default();
        run(&variants, &[launch(64, 16)]);
        assert_eq!(variants.any_or_make(|_| Err(())), Ok(&launch(64, 16)));
    }
}
