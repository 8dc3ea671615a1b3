//! Which of two forms of a kernel's code is faster. They run in turn: launch by launch where launches are short, several in a row, as what one
//! form leaves in the caches is not to be the other one's gain; chunk by chunk of work-groups where launches are long. What a work-group
//! takes is compared between rows that follow each other, in changing orders, so that neither what launches differ in nor what else the
//! machine does speaks for one of them; launches are compared with those of the same arguments, if these come again, and each of these has to be
//! among what is compared. What counts is the time of all pairs together, and how far the true ratio may lie from that: launches that differ
//! much from each other need more pairs.
//!
//! Source: Cochran 1977, "Sampling Techniques", chapter 6, for the error of a ratio of sums.

use std::time::Duration;

/// As many pairs may decide, or as many as [`ENOUGH_SHORT_PAIRS`] where both forms together ran for less than [`ENOUGH_TIME`].
const ENOUGH_PAIRS: usize = 11;
const ENOUGH_SHORT_PAIRS: usize = 60;
const ENOUGH_TIME: Duration = Duration::from_millis(2);
/// Where as many pairs do not decide, or so much time of both forms, the form that is tried is not taken.
const MOST_PAIRS: usize = 2000;
const MOST_TIME: Duration = Duration::from_secs(2);
/// As many pairs refuse a form that is much slower.
const FEW_PAIRS: usize = 5;
const MUCH_SLOWER: f64 = 1.25;
/// A form that takes so many times as long is given up after as few pairs, or after one work-group that takes long.
const HOPELESS_PAIRS: usize = 2;
pub(super) const HOPELESS: f64 = 4.0;
/// The time that a form has to take at most: what differs by less is not worth other code.
const FASTER: f64 = 0.95;
/// What it may be at most, if it is more than it seems, for the form to be taken.
const SURELY_FASTER: f64 = 0.98;
/// The true ratio lies within so many standard errors in 19 of 20 cases.
const ERRORS: f64 = 2.0;
/// How many standard errors a form has to be faster by. The error of few pairs is itself not known well, and it is looked at again and
/// again: with 3, of forms that are alike one in ten won in launches that differ much.
const ERRORS_TO_WIN: f64 = 4.5;
/// What took so many times as long as nine of ten did was interrupted, and counts as if it had taken that.
const INTERRUPTED: f64 = 2.0;
/// Pairs that are not measured: code comes into the caches.
const WARM_UP_PAIRS: u64 = 1;
/// Arguments and ranges of launches that are told apart.
const MOST_KEYS: usize = 256;
/// Launches, none of which came again with the same arguments, after which they are compared with others.
const MOST_UNLIKE_RUNS: usize = 300;

/// What launches and chunks take for which filling the caches is a small part.
pub(super) const LONG: Duration = Duration::from_millis(4);

/// What a form runs in a row before it is the other one's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Row {
    /// Whole launches, of which the first is not measured: it fills the caches.
    Launches,
    /// Chunks of a long launch, of which the first are not measured.
    Chunks,
    /// A chunk that takes long.
    OneChunk,
}

impl Row {
    /// All there are.
    pub const ALL: [Row; 3] = [Row::Launches, Row::Chunks, Row::OneChunk];

    /// What suits launches and chunks that take so long.
    pub fn for_times(launch_time: Duration, chunk_time: Duration) -> Row {
        if launch_time < LONG {
            Row::Launches
        } else if chunk_time < LONG {
            Row::Chunks
        } else {
            Row::OneChunk
        }
    }

    fn turns(self) -> u64 {
        match self {
            Row::Launches => 3,
            Row::Chunks => 6,
            Row::OneChunk => 1,
        }
    }

    /// The turns at the beginning that are not measured.
    fn unmeasured_turns(self) -> u64 {
        match self {
            Row::Launches => 1,
            Row::Chunks => 2,
            Row::OneChunk => 0,
        }
    }
}

/// The turn of a launch or a chunk: whose it is, and what it is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    number: u64,
    row: Row,
}

impl Turn {
    /// The turn of this number; they are counted from 0.
    pub fn new(number: u64, row: Row) -> Turn {
        Turn { number, row }
    }

    /// Whether it is the turn of the form that is tried. Of two rows in succession one is its; which one changes.
    pub fn is_challengers(self) -> bool {
        // The bits of a product with an odd number look like coins (Knuth 6.4).
        let coin = self.pair().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63;
        (self.number / self.row.turns()) & 1 == coin
    }

    fn is_measured(self) -> bool {
        self.pair() >= WARM_UP_PAIRS && self.number % self.row.turns() >= self.row.unmeasured_turns()
    }

    fn pair(self) -> u64 {
        self.number / self.row.turns() / 2
    }

    /// The number of what is measured as one: a launch, or a row of chunks.
    fn run(self) -> u64 {
        match self.row {
            Row::Launches => self.number,
            Row::Chunks | Row::OneChunk => self.number / self.row.turns(),
        }
    }
}

/// What was measured of a form in a launch, or in a row of chunks.
#[derive(Clone, Copy, Debug)]
struct MeasuredRun {
    /// The number of the launch or of the row.
    number: u64,
    time: Duration,
    groups: u64,
}

impl MeasuredRun {
    /// The nanoseconds that a work-group took.
    fn group_time(self) -> f64 {
        self.time.as_nanos().max(1) as f64 / self.groups.max(1) as f64
    }
}

/// What was measured last of both forms, in launches with the same arguments and range.
#[derive(Clone, Copy, Debug, Default)]
struct OpenPair {
    /// A hash of arguments and range.
    key: u64,
    challenger: Option<MeasuredRun>,
    champion: Option<MeasuredRun>,
    /// Whether it was closed once.
    is_compared: bool,
}

/// The nanoseconds that both forms took for the same number of work-groups.
#[derive(Clone, Copy, Debug)]
struct ComparedTimes {
    challenger: f64,
    champion: f64,
}

/// What was measured of two forms.
#[derive(Debug, Default)]
pub struct FormComparison {
    open_pairs: Vec<OpenPair>,
    /// How many measurements of launches or rows have begun.
    runs: usize,
    /// Whether launches are compared that have other arguments, as none came again with the same ones.
    ignores_keys: bool,
    pairs: Vec<ComparedTimes>,
    measured_time: Duration,
}

/// What comparing came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verdict {
    /// Whether the challenger is faster by so much that it is to run from now on.
    pub is_faster: bool,
    /// What it takes of the time of the other one.
    pub time_ratio: f64,
}

impl FormComparison {
    /// Nothing measured of the next challenger. That launches do not come again with the same arguments stays known.
    pub fn for_next_trial(&self) -> FormComparison {
        FormComparison { ignores_keys: self.ignores_keys, ..FormComparison::default() }
    }

    /// Notes how long a chunk of so many work-groups took, of a launch with these arguments and this range, of which `key` is a hash. The
    /// verdict, when there is enough for one.
    pub fn note_chunk(&mut self, turn: Turn, key: u64, group_count: u64, duration: Duration) -> Option<Verdict> {
        if !turn.is_measured() {
            return None;
        }
        let key = if self.ignores_keys || turn.row != Row::Launches { 0 } else { key };
        let index = self.find_pair(key);
        let pair = &mut self.open_pairs[index];
        let own = if turn.is_challengers() { &mut pair.challenger } else { &mut pair.champion };
        let number = turn.run();
        match own {
            Some(run) if run.number == number => {
                run.time += duration;
                run.groups += group_count;
                return None;
            }
            // What ends when the next one has begun is late.
            Some(run) if run.number > number => return None,
            _ => {}
        }
        // Both are complete when the next one begins.
        let closed_pair = own.is_some().then_some(pair.challenger.zip(pair.champion)).flatten();
        let new_run = MeasuredRun { number, time: duration, groups: group_count };
        if closed_pair.is_some() {
            *pair = OpenPair { key, is_compared: true, ..OpenPair::default() };
        }
        *(if turn.is_challengers() { &mut pair.challenger } else { &mut pair.champion }) = Some(new_run);
        self.runs += 1;
        let none_came_again = self.pairs.is_empty() && closed_pair.is_none();
        if !self.ignores_keys && self.runs >= MOST_UNLIKE_RUNS && none_came_again {
            self.ignores_keys = true;
            self.open_pairs.clear();
        }
        let (challenger, champion) = closed_pair?;
        let groups = challenger.groups.min(champion.groups) as f64;
        let times_of = |run: MeasuredRun| run.group_time() * groups;
        self.pairs.push(ComparedTimes { challenger: times_of(challenger), champion: times_of(champion) });
        self.measured_time += challenger.time + champion.time;
        self.judge_pairs()
    }

    /// The index of the open pair of a key, which may be a new one in the place of another.
    fn find_pair(&mut self, key: u64) -> usize {
        let found = self.open_pairs.iter().position(|pair| pair.key == key);
        found.unwrap_or_else(|| {
            let new_pair = OpenPair { key, ..OpenPair::default() };
            if self.open_pairs.len() < MOST_KEYS {
                self.open_pairs.push(new_pair);
                return self.open_pairs.len() - 1;
            }
            let index = self.runs % MOST_KEYS;
            self.open_pairs[index] = new_pair;
            index
        })
    }

    fn judge_pairs(&self) -> Option<Verdict> {
        let count = self.pairs.len();
        // Of many pairs not each one is looked at anew.
        if count < HOPELESS_PAIRS || !count.is_multiple_of((count / 32).next_power_of_two()) {
            return None;
        }
        let RatioOfSums { ratio, error } = RatioOfSums::of_pairs(&self.pairs);
        let verdict = |is_faster| Some(Verdict { is_faster, time_ratio: ratio });
        if count < FEW_PAIRS {
            let is_each_hopeless = self.pairs.iter().all(|pair| pair.challenger > HOPELESS * pair.champion);
            return if is_each_hopeless { verdict(false) } else { None };
        }
        let knows_all = self.open_pairs.iter().all(|pair| pair.is_compared);
        if knows_all && ratio - ERRORS * error > MUCH_SLOWER {
            return verdict(false);
        }
        let is_long_enough = self.measured_time >= ENOUGH_TIME || count >= ENOUGH_SHORT_PAIRS;
        let has_most = count >= MOST_PAIRS || self.measured_time >= MOST_TIME;
        let has_enough = count >= ENOUGH_PAIRS && is_long_enough && knows_all || has_most;
        if has_enough && ratio < FASTER && ratio + ERRORS_TO_WIN * error < SURELY_FASTER {
            verdict(true)
        } else if has_enough && (ratio - ERRORS * error > FASTER || has_most) {
            verdict(false)
        } else {
            None
        }
    }
}

/// What the challenger took in all pairs of what the champion took, and the standard error.
#[derive(Clone, Copy, Debug)]
struct RatioOfSums {
    ratio: f64,
    error: f64,
}

impl RatioOfSums {
    /// That of pairs, of which there is one at least.
    fn of_pairs(pairs: &[ComparedTimes]) -> RatioOfSums {
        let mut times: Vec<f64> = pairs.iter().flat_map(|pair| [pair.challenger, pair.champion]).collect();
        times.sort_unstable_by(f64::total_cmp);
        let most = INTERRUPTED * times[times.len() * 9 / 10];
        let capped = |pair: &ComparedTimes| (pair.challenger.min(most), pair.champion.min(most));
        let (challenger, champion) =
            pairs.iter().map(capped).fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let ratio = challenger / champion;
        let squares: f64 = pairs.iter().map(capped).map(|pair| (pair.0 - ratio * pair.1).powi(2)).sum();
        RatioOfSums { ratio, error: squares.sqrt() / champion }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use super::*;

    /// Compares forms of which a work-group takes so many nanoseconds, by the turn: the verdict and the number of turns.
    fn compare(row: Row, group_times: impl Fn(Turn) -> u64) -> (Verdict, u64) {
        compare_keyed(row, |_| 7, group_times)
    }

    /// The same where launches have keys.
    fn compare_keyed(row: Row, key: impl Fn(Turn) -> u64, group_times: impl Fn(Turn) -> u64) -> (Verdict, u64) {
        let mut comparison = FormComparison::default();
        for number in 0.. {
            let turn = Turn::new(number, row);
            // Chunks are of unequal sizes, and launches have several.
            for group_count in [1 + number % 7, 2] {
                let duration = Duration::from_nanos(group_times(turn) * group_count);
                if let Some(verdict) = comparison.note_chunk(turn, key(turn), group_count, duration) {
                    return (verdict, number + 1);
                }
            }
        }
        unreachable!("turns do not end")
    }

    #[test]
    fn short_launches_are_compared_whole() {
        let of = |launch, chunk| Row::for_times(Duration::from_micros(launch), Duration::from_micros(chunk));
        assert_eq!([of(100, 100), of(100_000, 100), of(100_000, 10_000)], Row::ALL);
    }

    #[test]
    fn each_pair_has_a_row_of_both_in_changing_orders() {
        for row in Row::ALL {
            let turns = row.turns();
            let is_challengers = |number: u64| {
                let mut of_row = (0..turns).map(|turn| Turn::new(number * turns + turn, row).is_challengers());
                let first = of_row.next().expect("a row has turns");
                assert!(of_row.all(|other| other == first));
                first
            };
            let firsts: Vec<bool> = (0..64).map(|pair| is_challengers(2 * pair)).collect();
            assert!(firsts.iter().zip(0..).all(|(&first, pair)| first != is_challengers(2 * pair + 1)));
            assert!((20..=44).contains(&firsts.iter().filter(|&&is_first| is_first).count()), "{firsts:?}");
        }
    }

    #[test]
    fn the_faster_form_wins_and_a_little_is_not_enough() {
        for row in Row::ALL {
            let with_ratio =
                |percent: u64| compare(row, |turn| if turn.is_challengers() { 1000 * percent } else { 100_000 }).0;
            let verdict = with_ratio(80);
            assert!(verdict.is_faster && (verdict.time_ratio - 0.8).abs() < 1e-9, "{verdict:?}");
            assert!(!with_ratio(97).is_faster);
            assert!(!with_ratio(110).is_faster);
        }
    }

    #[test]
    fn a_form_that_is_much_slower_is_given_up_soon() {
        let (verdict, turns) = compare(Row::OneChunk, |turn| if turn.is_challengers() { 300_000 } else { 100_000 });
        assert_eq!((verdict.is_faster, turns), (false, 2 * (WARM_UP_PAIRS + FEW_PAIRS as u64) + 1));
    }

    #[test]
    fn a_hopeless_form_is_given_up_at_once() {
        for (slower, pairs) in [(390_000, FEW_PAIRS), (410_000, HOPELESS_PAIRS)] {
            let (verdict, turns) = compare(Row::OneChunk, |turn| if turn.is_challengers() { slower } else { 100_000 });
            assert_eq!((verdict.is_faster, turns), (false, 2 * (WARM_UP_PAIRS + pairs as u64) + 1));
        }
        // One of two pairs says nothing: a chunk was interrupted.
        let (verdict, _) = compare(Row::OneChunk, |turn| match (turn.is_challengers(), turn.pair()) {
            (true, WARM_UP_PAIRS) => 900_000,
            (true, _) => 80_000,
            (false, _) => 100_000,
        });
        assert!(verdict.is_faster);
    }

    #[test]
    fn short_chunks_need_more_pairs() {
        let (verdict, turns) = compare(Row::Launches, |turn| if turn.is_challengers() { 7 } else { 10 });
        assert!(verdict.is_faster && turns > 4 * ENOUGH_SHORT_PAIRS as u64, "{turns}");
    }

    /// A form that does not store through the caches leaves nothing there for what runs next, whatever that is.
    #[test]
    fn what_a_form_leaves_in_the_caches_does_not_speak_against_the_next_one() {
        let (verdict, _) = compare(Row::Launches, |turn| {
            let before = Turn::new(turn.number.saturating_sub(1), turn.row);
            let own = if turn.is_challengers() { 96_000 } else { 90_000 };
            own + if before.is_challengers() { 0 } else { 10_000 }
        });
        // 96,000 of 100,000 when they run alone.
        assert!(!verdict.is_faster && (verdict.time_ratio - 0.96).abs() < 1e-9, "{verdict:?}");
    }

    #[test]
    fn launches_that_take_longer_and_longer_speak_for_neither() {
        for row in Row::ALL {
            let slower_and_slower = |turn: Turn| 500_000 + 2000 * turn.number;
            assert!(!compare(row, slower_and_slower).0.is_faster);
            let gains = |turn: Turn| slower_and_slower(turn) * if turn.is_challengers() { 8 } else { 10 };
            assert!(compare(row, gains).0.is_faster);
        }
    }

    /// A number that looks like chance.
    fn scatter(seed: u64, number: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (seed, number).hash(&mut hasher);
        hasher.finish()
    }

    /// In how many of 200 sequences of launches, which take from once to 40 times as long as each other, a form wins that takes so many
    /// hundredths of the time.
    fn count_wins(row: Row, percent: u64) -> usize {
        let wins = (0..200).filter(|&seed| {
            let alike = |turn: Turn| 5000 * (1 + scatter(seed, turn.number) % 40);
            compare(row, |turn| alike(turn) * if turn.is_challengers() { percent } else { 100 } / 100).0.is_faster
        });
        wins.count()
    }

    #[test]
    fn launches_that_differ_do_not_decide_by_chance() {
        for row in Row::ALL {
            let wins = [70, 100, 110].map(|percent| count_wins(row, percent));
            assert!(wins[0] >= 190 && wins[1] <= 4 && wins[2] <= 2, "{row:?}: {wins:?}");
        }
    }

    /// Of a sort's launches those with small distances are slower in the other form, and those that take longest are faster.
    #[test]
    fn what_counts_is_the_time_of_all() {
        let step = |turn: Turn| turn.number % 40;
        let (verdict, _) = compare_keyed(Row::Launches, step, |turn| match (step(turn), turn.is_challengers()) {
            (0..30, true) => 18_000,
            (0..30, false) => 10_000,
            (_, true) => 50_000,
            (_, false) => 150_000,
        });
        // 30 * 18 + 10 * 50 of 30 * 10 + 10 * 150.
        assert!(verdict.is_faster && (verdict.time_ratio - 0.578).abs() < 0.05, "{verdict:?}");
    }

    #[test]
    fn launches_are_compared_with_those_of_the_same_arguments() {
        let step = |turn: Turn| turn.number % 17;
        let alike = |turn: Turn| 10_000 * (1 + step(turn) * step(turn));
        let (verdict, turns) =
            compare_keyed(Row::Launches, step, |turn| alike(turn) * if turn.is_challengers() { 90 } else { 100 } / 100);
        assert!(verdict.is_faster && (verdict.time_ratio - 0.9).abs() < 1e-3, "{verdict:?}");
        assert!(turns < 300, "{turns}");
        // Where arguments never come again, others have to do.
        let (verdict, turns) = compare_keyed(
            Row::Launches,
            |turn| turn.number,
            |turn| {
                if turn.is_challengers() { 90_000 } else { 100_000 }
            },
        );
        assert!(verdict.is_faster && turns > MOST_UNLIKE_RUNS as u64, "{verdict:?} {turns}");
    }

    #[test]
    fn interruptions_do_not_decide() {
        for row in Row::ALL {
            let interrupted =
                |turn: Turn| if turn.is_challengers() && turn.pair().is_multiple_of(20) { 1_000_000 } else { 0 };
            let (verdict, _) =
                compare(row, |turn| interrupted(turn) + if turn.is_challengers() { 80_000 } else { 100_000 });
            assert!(verdict.is_faster, "{verdict:?}");
        }
    }

    #[test]
    fn turns_that_end_late_or_never_are_left_out() {
        let mut comparison = FormComparison::default();
        let mut note_turn = |number: u64| {
            let turn = Turn::new(number, Row::OneChunk);
            let group_time = if turn.is_challengers() { 50 } else { 100 };
            comparison.note_chunk(turn, 7, 1, Duration::from_micros(group_time))
        };
        let ended = (0..4000).filter(|number| number % 5 != 0).flat_map(|number| [number, number / 2]);
        let verdict = ended.into_iter().find_map(&mut note_turn).expect("there are enough pairs");
        assert!(verdict.is_faster && (verdict.time_ratio - 0.5).abs() < 1e-9, "{verdict:?}");
    }
}
