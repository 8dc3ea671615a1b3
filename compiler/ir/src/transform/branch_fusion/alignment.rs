//! Definition 4.2 of the paper: two sequences aligned so that what is merged saves most.
//!
//! The recurrence that the paper prints below the definition adds the score of a pair to moves along one sequence too, which
//! counts it again for each instruction left out. Here only pairs have scores. A gap costs something where it begins,
//! and only if it needs a block with a mask: gaps are affine, by whether such a block is open.
//!
//! Requires: which instructions need a mask if they stay, what merging each pair saves, what a gap costs.
//! Ensures: each instruction of both sequences stands in one step, in its sequence's order, and no alignment comes to a greater sum.
//! Phases: the matrix, row by row, for either state of a gap; back from its last cell.
//! Source: Coutinho et al. 2011, Definition 4.2; Gotoh 1982, for affine gaps.

/// One instruction of what comes out, by its number in its sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// One of each sequence is merged.
    Both(usize, usize),
    /// One of the first sequence stays.
    Then(usize),
    /// One of the second stays.
    Else(usize),
}

/// Two sequences that are to be aligned.
pub struct Sequences<'a> {
    /// Whether each instruction of the first, if it stays, needs a block with a mask.
    pub then_masked: &'a [bool],
    /// The same of the second.
    pub else_masked: &'a [bool],
    /// What it costs to begin such a block.
    pub gap_cost: i64,
}

/// Whether a block with a mask is open.
const CLOSED: usize = 0;
const OPEN: usize = 1;

/// No alignment comes to a cell.
const NEVER: i64 = i64::MIN / 4;

/// How a cell was come to, and in which state from.
#[derive(Clone, Copy)]
struct Move {
    step: Option<Step>,
    state: usize,
}

const BEGIN: Move = Move { step: None, state: OPEN };

/// The best of the ways to one cell, in either state.
#[derive(Clone, Copy)]
struct Cell {
    scores: [i64; 2],
    moves: [Move; 2],
}

impl Cell {
    fn offer(&mut self, state: usize, score: i64, step: Step, from_state: usize) {
        if score > self.scores[state] {
            self.scores[state] = score;
            self.moves[state] = Move { step: Some(step), state: from_state };
        }
    }

    /// Offers the ways from a neighbour whose last instruction stays by itself.
    fn offer_gap(&mut self, neighbour: Cell, step: Step, is_masked: bool, gap_cost: i64) {
        self.offer(OPEN, neighbour.scores[OPEN], step, OPEN);
        if is_masked {
            self.offer(OPEN, neighbour.scores[CLOSED].saturating_sub(gap_cost), step, CLOSED);
        } else {
            self.offer(CLOSED, neighbour.scores[CLOSED], step, CLOSED);
        }
    }
}

/// The alignment whose pairs' scores, less what gaps cost, are the greatest sum. `score_of` says what merging the i-th of the
/// first and the j-th of the second saves; nothing: they cannot be merged. What comes before the first pair stays in
/// blocks with masks, as it was, and costs nothing.
pub fn align_sequences(sequences: &Sequences<'_>, score_of: impl Fn(usize, usize) -> Option<i64>) -> (i64, Vec<Step>) {
    let Sequences { then_masked, else_masked, gap_cost } = *sequences;
    let (then_count, else_count) = (then_masked.len(), else_masked.len());
    let row_length = else_count + 1;
    let nowhere = Cell { scores: [NEVER; 2], moves: [BEGIN; 2] };
    let mut cells = vec![nowhere; (then_count + 1) * row_length];
    cells[0].scores[OPEN] = 0;
    for i in 0..=then_count {
        for j in 0..=else_count {
            let mut cell = cells[i * row_length + j];
            if i > 0 && j > 0 {
                let before = cells[(i - 1) * row_length + j - 1];
                if let Some(score) = score_of(i - 1, j - 1) {
                    for state in [OPEN, CLOSED] {
                        let sum = before.scores[state].saturating_add(score);
                        cell.offer(CLOSED, sum, Step::Both(i - 1, j - 1), state);
                    }
                }
            }
            if i > 0 {
                cell.offer_gap(cells[(i - 1) * row_length + j], Step::Then(i - 1), then_masked[i - 1], gap_cost);
            }
            if j > 0 {
                cell.offer_gap(cells[i * row_length + j - 1], Step::Else(j - 1), else_masked[j - 1], gap_cost);
            }
            cells[i * row_length + j] = cell;
        }
    }
    let last = cells[cells.len() - 1];
    let last_state = if last.scores[CLOSED] >= last.scores[OPEN] { CLOSED } else { OPEN };
    (last.scores[last_state], walk_back(&cells, row_length, [then_count, else_count], last_state))
}

/// The steps to the last cell, in their order.
fn walk_back(cells: &[Cell], row_length: usize, [mut i, mut j]: [usize; 2], mut state: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Move { step: Some(step), state: from_state } = cells[i * row_length + j].moves[state] {
        steps.push(step);
        match step {
            Step::Both(..) => (i, j) = (i - 1, j - 1),
            Step::Then(_) => i -= 1,
            Step::Else(_) => j -= 1,
        }
        state = from_state;
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of small numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// What an alignment comes to, step by step.
    fn sum_of(sequences: &Sequences<'_>, steps: &[Step], scores: &[Vec<Option<i64>>]) -> i64 {
        let (mut sum, mut is_open) = (0, true);
        for step in steps {
            let is_masked = match *step {
                Step::Both(i, j) => {
                    sum += scores[i][j].expect("what is merged can be");
                    is_open = false;
                    continue;
                }
                Step::Then(i) => sequences.then_masked[i],
                Step::Else(j) => sequences.else_masked[j],
            };
            if is_masked && !is_open {
                sum -= sequences.gap_cost;
                is_open = true;
            }
        }
        sum
    }

    /// The best of all alignments from a cell on, tried one by one.
    fn best_by_trial(
        sequences: &Sequences<'_>,
        scores: &[Vec<Option<i64>>],
        steps: &mut Vec<Step>,
        [i, j]: [usize; 2],
    ) -> i64 {
        let (then_count, else_count) = (sequences.then_masked.len(), sequences.else_masked.len());
        if i == then_count && j == else_count {
            return sum_of(sequences, steps, scores);
        }
        let mut best = i64::MIN;
        let mut tries = Vec::new();
        if i < then_count && j < else_count && scores[i][j].is_some() {
            tries.push((Step::Both(i, j), [i + 1, j + 1]));
        }
        if i < then_count {
            tries.push((Step::Then(i), [i + 1, j]));
        }
        if j < else_count {
            tries.push((Step::Else(j), [i, j + 1]));
        }
        for (step, next) in tries {
            steps.push(step);
            best = best.max(best_by_trial(sequences, scores, steps, next));
            steps.pop();
        }
        best
    }

    #[test]
    fn no_alignment_is_better() {
        let mut numbers = Numbers(7);
        let mut merged = 0;
        for _ in 0..300 {
            let counts = [numbers.below(5) as usize, numbers.below(5) as usize];
            let [then_masked, else_masked] =
                counts.map(|count| (0..count).map(|_| numbers.below(3) == 0).collect::<Vec<_>>());
            let mut score = || (numbers.below(3) > 0).then(|| numbers.below(12) as i64 - 3);
            let scores: Vec<Vec<Option<i64>>> =
                (0..counts[0]).map(|_| (0..counts[1]).map(|_| score()).collect()).collect();
            let sequences = Sequences { then_masked: &then_masked, else_masked: &else_masked, gap_cost: 4 };
            let (sum, steps) = align_sequences(&sequences, |i, j| scores[i][j]);
            assert_eq!(sum, sum_of(&sequences, &steps, &scores));
            assert_eq!(sum, best_by_trial(&sequences, &scores, &mut Vec::new(), [0, 0]), "{scores:?}");
            merged += steps.iter().filter(|step| matches!(step, Step::Both(..))).count();
        }
        assert!(merged > 200, "{merged} pairs");
    }

    /// The sequences of the paper's Figure 10 (load, load, three products, two quotients, product, sum, store; the second has
    /// one instruction more before the sum) with the scores of its Figure 12: all but that one are merged.
    #[test]
    fn the_papers_example_has_one_gap() {
        let [then_side, else_side] = ["LL***//*+S", "LL***//*-+S"].map(str::as_bytes);
        let score = |i: usize, j: usize| {
            (then_side[i] == else_side[j]).then(|| match then_side[i] {
                b'L' | b'S' => 100,
                b'/' => 8,
                _ => 2,
            })
        };
        let masks = [vec![false; then_side.len()], vec![false; else_side.len()]];
        let sequences = Sequences { then_masked: &masks[0], else_masked: &masks[1], gap_cost: 2 };
        let (sum, steps) = align_sequences(&sequences, score);
        assert_eq!(sum, 3 * 100 + 2 * 8 + 5 * 2);
        let gaps: Vec<&Step> = steps.iter().filter(|step| !matches!(step, Step::Both(..))).collect();
        assert_eq!(gaps, [&Step::Else(8)]);
    }

    /// A store between two pairs of little worth is not crossed by a second block with a mask.
    #[test]
    fn a_gap_with_a_mask_has_to_pay() {
        let worth = |score: i64| {
            let sequences = Sequences { then_masked: &[false, true, false], else_masked: &[false, false], gap_cost: 8 };
            let (_, steps) = align_sequences(&sequences, |i, j| [(0, 0), (2, 1)].contains(&(i, j)).then_some(score));
            steps.iter().filter(|step| matches!(step, Step::Both(..))).count()
        };
        assert_eq!([worth(7), worth(9)], [1, 2]);
    }
}
