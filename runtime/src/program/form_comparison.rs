//! Which of two forms of a kernel's code is faster. They run chunks of work-groups in turn; what a work-group takes is compared
//! between chunks that follow each other, in changing orders, so that neither what launches differ in nor what else the machine
//! does speaks for one of them. The median counts, and how many pairs agree with it.

use std::time::Duration;

/// As many pairs decide.
const ENOUGH_PAIRS: usize = 16;
/// Where both forms together ran for less than this, there have to be as many as [`MOST_PAIRS`].
const ENOUGH_TIME: Duration = Duration::from_millis(2);
/// As many pairs decide however short they were.
const MOST_PAIRS: usize = 200;
/// As many pairs refuse a form that is much slower.
const FEW_PAIRS: usize = 5;
/// The time that the first of [`FEW_PAIRS`] have to take for that.
const MUCH_SLOWER: f64 = 1.25;
/// The time that a form has to take at most: what differs by less is not worth other code.
const FASTER: f64 = 0.95;
/// Of so many pairs in a hundred a form has to be the faster one.
const AGREEING: usize = 75;
/// Turns that are not measured: code and its data come into the caches.
const WARM_UP_TURNS: u64 = 4;

/// A chunk's turn: whose it is, and which chunk it is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    number: u64,
}

impl Turn {
    /// The turn of this number; they are counted from 0.
    pub fn new(number: u64) -> Turn {
        Turn { number }
    }

    /// Whether the form that is tried runs the chunk. Of two turns in succession one is its; which one changes.
    pub fn is_challengers(self) -> bool {
        // The bits of a product with an odd number look like coins (Knuth 6.4).
        let coin = self.pair().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63;
        self.number & 1 == coin
    }

    fn pair(self) -> u64 {
        self.number / 2
    }
}

/// What was measured of two forms.
#[derive(Debug, Default)]
pub struct FormComparison {
    /// Turns whose partner has not ended, with the nanoseconds that a work-group took; by the pair's number.
    open_turns: [Option<(Turn, f64)>; 16],
    /// What the challenger took of the time of the other one, a number a pair.
    ratios: Vec<f64>,
    measured_time: Duration,
}

/// What comparing came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verdict {
    /// Whether the challenger is faster by so much that it is to run from now on.
    pub is_faster: bool,
    /// What it takes of the time of the other one: the median of the pairs.
    pub time_ratio: f64,
}

impl FormComparison {
    /// Notes how long a chunk of so many work-groups took. The verdict, when there is enough for one.
    pub fn note_chunk(&mut self, turn: Turn, group_count: u64, duration: Duration) -> Option<Verdict> {
        if turn.number < WARM_UP_TURNS || group_count == 0 {
            return None;
        }
        self.measured_time += duration;
        let group_time = duration.as_nanos().max(1) as f64 / group_count as f64;
        let open_turn = &mut self.open_turns[turn.pair() as usize % 16];
        match open_turn.take() {
            Some((partner, partner_time)) if partner.pair() == turn.pair() => {
                let is_challengers = turn.is_challengers();
                self.ratios.push(if is_challengers { group_time / partner_time } else { partner_time / group_time });
                self.judge_ratios()
            }
            _ => {
                *open_turn = Some((turn, group_time));
                None
            }
        }
    }

    fn judge_ratios(&self) -> Option<Verdict> {
        let count = self.ratios.len();
        let is_long_enough = count >= ENOUGH_PAIRS && self.measured_time >= ENOUGH_TIME;
        if count != FEW_PAIRS && !is_long_enough && count < MOST_PAIRS {
            return None;
        }
        let mut sorted = self.ratios.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let time_ratio = sorted[count / 2];
        if count == FEW_PAIRS {
            return (time_ratio > MUCH_SLOWER).then_some(Verdict { is_faster: false, time_ratio });
        }
        let faster_pairs = sorted.partition_point(|&ratio| ratio < 1.0);
        let is_faster = time_ratio < FASTER && faster_pairs * 100 >= AGREEING * count;
        Some(Verdict { is_faster, time_ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares forms of which a work-group takes so many nanoseconds, by the number of the turn: the verdict and the number of turns.
    fn compare(group_times: impl Fn(Turn) -> u64) -> (Verdict, u64) {
        let mut comparison = FormComparison::default();
        for number in 0.. {
            let turn = Turn::new(number);
            // Chunks are of unequal sizes.
            let group_count = 1 + number % 7;
            let duration = Duration::from_nanos(group_times(turn) * group_count);
            if let Some(verdict) = comparison.note_chunk(turn, group_count, duration) {
                return (verdict, number + 1);
            }
        }
        unreachable!("turns do not end")
    }

    #[test]
    fn each_pair_has_a_turn_of_both_in_changing_orders() {
        let firsts: Vec<bool> = (0..64).map(|pair| Turn::new(2 * pair).is_challengers()).collect();
        assert!((0..64).all(|pair| Turn::new(2 * pair + 1).is_challengers() != firsts[pair as usize]));
        assert!((20..=44).contains(&firsts.iter().filter(|&&is_first| is_first).count()), "{firsts:?}");
    }

    #[test]
    fn the_faster_form_wins_and_a_little_is_not_enough() {
        let with_ratio =
            |percent: u64| compare(move |turn| if turn.is_challengers() { 1000 * percent } else { 100_000 }).0;
        assert_eq!(with_ratio(80), Verdict { is_faster: true, time_ratio: 0.8 });
        assert!(!with_ratio(97).is_faster);
        assert!(!with_ratio(110).is_faster);
    }

    #[test]
    fn a_form_that_is_much_slower_is_given_up_soon() {
        let (verdict, turns) = compare(|turn| if turn.is_challengers() { 300_000 } else { 100_000 });
        assert_eq!((verdict.is_faster, turns), (false, WARM_UP_TURNS + 2 * FEW_PAIRS as u64));
    }

    #[test]
    fn short_chunks_need_more_pairs() {
        let (verdict, turns) = compare(|turn| if turn.is_challengers() { 70 } else { 100 });
        assert_eq!((verdict.is_faster, turns), (true, WARM_UP_TURNS + 2 * MOST_PAIRS as u64));
    }

    #[test]
    fn launches_that_take_longer_and_longer_speak_for_neither() {
        assert!(!compare(|turn| 50_000 + 2000 * turn.number).0.is_faster);
        let (verdict, _) = compare(|turn| (50_000 + 2000 * turn.number) * if turn.is_challengers() { 8 } else { 10 });
        assert!(verdict.is_faster);
    }

    #[test]
    fn interruptions_do_not_decide() {
        let interrupted = |turn: Turn| if turn.is_challengers() && turn.number % 10 < 2 { 1_000_000 } else { 0 };
        let (verdict, _) = compare(|turn| interrupted(turn) + if turn.is_challengers() { 80_000 } else { 100_000 });
        assert!(verdict.is_faster, "{verdict:?}");
    }

    #[test]
    fn turns_that_do_not_end_are_forgotten() {
        let mut comparison = FormComparison::default();
        let mut verdicts = (0..4000).filter_map(|number| {
            let turn = Turn::new(number);
            let group_time = if turn.is_challengers() { 50 } else { 100 };
            let ends = number % 5 != 0;
            ends.then(|| comparison.note_chunk(turn, 1, Duration::from_micros(group_time))).flatten()
        });
        assert!(verdicts.next().expect("there are enough pairs").is_faster);
    }
}
