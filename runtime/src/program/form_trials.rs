//! Forms of a variant's code that are measured beside the one that the estimate took. When the code of the last tier has run for so
//! long that it pays, another form is made in the background. Both then run in turn, launch by launch or, in long launches, chunk by chunk;
//! the faster one runs from then on; and so on until the search ends. Where chunks take long, a form that takes several times as long is given
//! up after one work-group, and the best form runs the others. All forms give the same results to the bit.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lockstep_protocol::item_form::{Alternatives, ItemForm};
use lockstep_protocol::kernel_abi::{KernelEntry, ScratchNeeds};
use lockstep_protocol::kernel_object::KernelObject;
use parking_lot::Mutex;

use super::form_comparison::{FormComparison, HOPELESS, LONG, Row, Turn, Verdict};
use super::form_search::{FormSearch, MOST_TRIALS};
use super::loaded_variant::CallableCode;
use crate::execute::loaded_code::LoadError;
use crate::execute::own_stack::OutOfStack;

/// How long all threads together run a variant's code before another form of it is made, or as long as making the last one took if
/// that is more; twice, three times as long before later ones, which gain less often.
const WORTHWHILE: Duration = Duration::from_millis(10);

/// How long threads run launches that have no scratch memory for the form that is to be measured, all together, until it is given up.
/// Launches that were prepared before it was made have none either.
const PATIENCE: Duration = Duration::from_secs(1);

/// What launches do for the trials now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Stage {
    /// They count the time that they take until another form is worth making.
    CountTime,
    /// Another form is being made.
    AwaitCode,
    /// They measure it.
    Compare,
    /// The best form is found.
    Over,
}

impl Stage {
    const ALL: [Stage; 4] = [Stage::CountTime, Stage::AwaitCode, Stage::Compare, Stage::Over];
}

/// Which codes of a variant a launch has scratch memory for, by the bits of their numbers: the variant's own is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsableForms(u32);

impl UsableForms {
    /// The variant's own code alone.
    pub const OWN: UsableForms = UsableForms(1);

    fn contains(self, number: usize) -> bool {
        self.0 >> number & 1 != 0
    }

    fn insert(&mut self, number: usize) {
        self.0 |= 1 << number;
    }
}

/// A chunk of a launch's work-groups that is to be run.
#[derive(Clone, Debug)]
pub struct Chunk<'a> {
    /// The codes that the launch has scratch memory for.
    pub usable: UsableForms,
    /// The launch's turn.
    pub launch_turn: &'a LaunchTurn,
    /// Its groups, of which there is one at least.
    pub group_range: Range<u64>,
    /// Whether the launch has failed; none if its code never gives up.
    pub has_failed: Option<&'a AtomicBool>,
}

/// Code of another form, and what its calls need.
#[derive(Debug)]
struct FormCode {
    code: CallableCode,
    needs: ScratchNeeds,
}

/// A trial that has ended, for the log.
#[derive(Clone, Copy, Debug)]
pub struct EndedTrial {
    /// The form that ran before.
    pub champion: ItemForm,
    /// The form that was tried.
    pub challenger: ItemForm,
    /// What came of it; none where launches had no scratch memory for the form that was tried.
    pub verdict: Option<Verdict>,
}

/// The forms of a variant's code beside its own, and how far the search for the best one is.
#[derive(Debug)]
pub struct FormTrials {
    /// Whether every form is to run as soon as it is there, and from then on.
    adopts_all: bool,
    stage: AtomicU8,
    search: Mutex<FormSearch>,
    /// The codes with the numbers 1 and up, in the order of making.
    codes: [OnceLock<FormCode>; MOST_TRIALS],
    /// The number of the code that is the fastest so far.
    best_code: AtomicUsize,
    /// The number of the code that is measured beside it.
    tried_code: AtomicUsize,
    turns: AtomicU64,
    comparison: Mutex<FormComparison>,
    /// How long threads have run the best code since the last trial, all together, and how long they have to before the next one.
    busy_nanoseconds: AtomicU64,
    due_nanoseconds: AtomicU64,
    /// What the last chunk and the last launch took while time was counted.
    chunk_nanoseconds: AtomicU64,
    launch_nanoseconds: AtomicU64,
    /// The longest that a work-group took the best code in a chunk, on average.
    group_nanoseconds: AtomicU64,
    /// What each form runs in a row, in the trial that is under way: a [`Row`].
    row: AtomicU8,
}

/// The turn of a launch in a trial, if it has one.
#[derive(Debug, Default)]
pub struct LaunchTurn {
    /// The low byte is the number of the code that is tried, or 0; the number of the turn is above. Threads read both as one word.
    turn: AtomicU64,
    /// A hash of the launch's arguments and its range.
    key: AtomicU64,
}

impl LaunchTurn {
    /// Notes the turn of a launch that begins. `hash_launch` gives the hash of its arguments and its range.
    pub fn note_turn(&self, trials: Option<&FormTrials>, hash_launch: impl FnOnce() -> u64) {
        let turn = trials.and_then(FormTrials::take_launch_turn);
        if turn.is_some() {
            self.key.store(hash_launch(), Ordering::Relaxed);
        }
        self.turn.store(turn.map_or(0, |(tried_code, number)| number << 8 | tried_code as u64), Ordering::Relaxed);
    }

    /// The turn in the trial of a code.
    fn find_turn(&self, tried_code: usize) -> Option<Turn> {
        let bits = self.turn.load(Ordering::Relaxed);
        (bits & 0xff == tried_code as u64).then(|| Turn::new(bits >> 8, Row::Launches))
    }
}

impl FormTrials {
    /// Nothing measured yet of code whose work-items run so. Either what is measured decides, or every form is to run as soon as it is
    /// there (`adopts_all`).
    pub fn new(taken: ItemForm, alternatives: Alternatives, adopts_all: bool) -> FormTrials {
        FormTrials {
            adopts_all,
            stage: AtomicU8::new(Stage::CountTime as u8),
            search: Mutex::new(FormSearch::new(taken, alternatives)),
            codes: Default::default(),
            best_code: AtomicUsize::new(0),
            tried_code: AtomicUsize::new(0),
            turns: AtomicU64::new(0),
            comparison: Mutex::default(),
            busy_nanoseconds: AtomicU64::new(0),
            due_nanoseconds: AtomicU64::new(if adopts_all { 0 } else { in_nanoseconds(WORTHWHILE) }),
            chunk_nanoseconds: AtomicU64::new(0),
            launch_nanoseconds: AtomicU64::new(0),
            group_nanoseconds: AtomicU64::new(0),
            row: AtomicU8::new(Row::Launches as u8),
        }
    }

    /// The form that was found to be the best, when the search is over.
    pub fn settled_form(&self) -> Option<ItemForm> {
        (self.stage() == Stage::Over).then(|| self.search.lock().best_form())
    }

    /// The form that the estimate took, and those that it chose between.
    pub fn estimated_forms(&self) -> (ItemForm, Alternatives) {
        let search = self.search.lock();
        (search.taken_form(), search.alternatives())
    }

    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Acquire))]
    }

    fn enter_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    /// The codes that may run a launch and whose scratch memory it has: what `fits` says of their needs. When the best one is known, no other
    /// is asked for.
    pub fn find_usable(&self, mut fits: impl FnMut(&ScratchNeeds) -> bool) -> UsableForms {
        let mut usable = UsableForms::OWN;
        let known_code = (self.stage() == Stage::Over).then(|| self.best_code.load(Ordering::Acquire));
        for (number, form_code) in (1..).zip(self.codes.iter().map_while(OnceLock::get)) {
            if known_code.is_none_or(|best_code| best_code == number) && fits(&form_code.needs) {
                usable.insert(number);
            }
        }
        usable
    }

    /// Runs a chunk of work-groups: by the fastest code that is usable, or by one whose turn it is, which may be that of its whole launch. The
    /// trial that ended by it.
    ///
    /// # Errors
    /// [`OutOfStack`] where the chunk, or a part of it, was not run for want of memory.
    pub fn run_chunk(
        &self,
        own_code: &CallableCode,
        chunk: Chunk<'_>,
        run: impl Fn(KernelEntry, Range<u64>),
    ) -> Result<Option<EndedTrial>, OutOfStack> {
        let Chunk { usable, launch_turn, group_range, has_failed } = chunk;
        let group_count = group_range.end - group_range.start;
        let stage = self.stage();
        let best_code = self.best_code.load(Ordering::Acquire);
        let best_number = if usable.contains(best_code) { best_code } else { 0 };
        // What a launch takes that fails says nothing of its code.
        let is_failure = || has_failed.is_some_and(|has_failed| has_failed.load(Ordering::Relaxed));
        let run_code = |number: usize, group_range: Range<u64>| {
            let started = Instant::now();
            self.find_code(number, own_code).call_with_stack(has_failed, |entry| run(entry, group_range))?;
            Ok(started.elapsed())
        };
        if matches!(stage, Stage::Over | Stage::AwaitCode) {
            self.find_code(best_number, own_code).call_with_stack(has_failed, |entry| run(entry, group_range))?;
            return Ok(None);
        }
        let tried_code = self.tried_code.load(Ordering::Acquire);
        let compares = stage == Stage::Compare && best_number == best_code && usable.contains(tried_code);
        let turn = match self.row() {
            _ if !compares => None,
            Row::Launches => launch_turn.find_turn(tried_code),
            row @ (Row::Chunks | Row::OneChunk) => Some(Turn::new(self.take_number(), row)),
        };
        if let Some(turn) = turn.filter(|turn| turn.is_challengers()) {
            let known_time = Duration::from_nanos(self.group_nanoseconds.load(Ordering::Relaxed));
            let least_hopeless = match self.row() {
                Row::OneChunk if !self.adopts_all => hopeless_time(known_time),
                _ => Duration::MAX,
            };
            let outcome = run_unless_hopeless(
                group_range,
                least_hopeless,
                |group_range| run_code(tried_code, group_range),
                |group_range| run_code(best_number, group_range).map(drop),
            )?;
            if is_failure() {
                return Ok(None);
            }
            let duration = match outcome {
                ChunkOutcome::Complete(duration) => duration,
                ChunkOutcome::Hopeless(group_time) => {
                    let time_ratio = group_time.as_secs_f64() / known_time.as_secs_f64();
                    return Ok(self.end_trial(tried_code, Some(Verdict { is_faster: false, time_ratio })));
                }
            };
            let key = launch_turn.key.load(Ordering::Relaxed);
            let note_chunk = |comparison: &mut FormComparison| comparison.note_chunk(turn, key, group_count, duration);
            return Ok(self.note_turn(turn, tried_code, note_chunk));
        }
        let duration = run_code(best_number, group_range)?;
        if is_failure() {
            return Ok(None);
        }
        let nanoseconds = in_nanoseconds(duration);
        self.group_nanoseconds.fetch_max(nanoseconds / group_count.max(1), Ordering::Relaxed);
        if let Some(turn) = turn {
            let key = launch_turn.key.load(Ordering::Relaxed);
            let note_chunk = |comparison: &mut FormComparison| comparison.note_chunk(turn, key, group_count, duration);
            return Ok(self.note_turn(turn, tried_code, note_chunk));
        }
        if stage == Stage::CountTime {
            self.chunk_nanoseconds.store(nanoseconds, Ordering::Relaxed);
        }
        let busy_time = self.busy_nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed) + nanoseconds;
        let is_unusable = stage == Stage::Compare && !compares && busy_time >= in_nanoseconds(PATIENCE);
        Ok(is_unusable.then(|| self.end_trial(tried_code, None)).flatten())
    }

    fn row(&self) -> Row {
        Row::ALL[usize::from(self.row.load(Ordering::Relaxed))]
    }

    /// The number of the code that is tried and that of the turn, for a launch that begins, where whole launches are measured.
    fn take_launch_turn(&self) -> Option<(usize, u64)> {
        let measures_launches = self.stage() == Stage::Compare && self.row() == Row::Launches;
        measures_launches.then(|| (self.tried_code.load(Ordering::Acquire), self.take_number()))
    }

    fn take_number(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether somebody wants to know how long launches take.
    pub fn times_launches(&self) -> bool {
        self.stage() == Stage::CountTime
    }

    /// Notes how long a launch took.
    pub fn note_launch(&self, duration: Duration) {
        self.launch_nanoseconds.store(in_nanoseconds(duration), Ordering::Relaxed);
    }

    fn find_code<'a>(&'a self, number: usize, own_code: &'a CallableCode) -> &'a CallableCode {
        let other_code = number.checked_sub(1).and_then(|index| self.codes.get(index)?.get());
        other_code.map_or(own_code, |form_code| &form_code.code)
    }

    /// Notes what was measured in the trial of a code. The trial, if it ended by it.
    fn note_turn(
        &self,
        turn: Turn,
        tried_code: usize,
        note_chunk: impl FnOnce(&mut FormComparison) -> Option<Verdict>,
    ) -> Option<EndedTrial> {
        let verdict = {
            let mut comparison = self.comparison.lock();
            // What was measured of a trial that has ended meanwhile says nothing of the next one.
            if !self.is_tried(tried_code) {
                return None;
            }
            match self.adopts_all {
                true => turn.is_challengers().then_some(Verdict { is_faster: true, time_ratio: 1.0 }),
                false => note_chunk(&mut comparison),
            }?
        };
        self.end_trial(tried_code, Some(verdict))
    }

    /// Whether the code of this number is being measured.
    fn is_tried(&self, code: usize) -> bool {
        self.stage() == Stage::Compare && self.tried_code.load(Ordering::Acquire) == code
    }

    /// Ends the trial of a code, unless another thread has done so.
    fn end_trial(&self, tried_code: usize, verdict: Option<Verdict>) -> Option<EndedTrial> {
        let mut search = self.search.lock();
        if !self.is_tried(tried_code) {
            return None;
        }
        let champion = search.best_form();
        let challenger = search.next_form()?;
        let is_faster = verdict.is_some_and(|verdict| verdict.is_faster);
        search.note_result(challenger, is_faster);
        if is_faster {
            self.best_code.store(tried_code, Ordering::Release);
        }
        self.await_next_trial(&search);
        Some(EndedTrial { champion, challenger, verdict })
    }

    /// The form that is to be made now, if it is time for one. Only one caller gets it.
    pub fn begin_if_due(&self) -> Option<ItemForm> {
        let is_due = || self.busy_nanoseconds.load(Ordering::Relaxed) >= self.due_nanoseconds.load(Ordering::Relaxed);
        if self.stage() != Stage::CountTime || !is_due() {
            return None;
        }
        let (counting, awaiting) = (Stage::CountTime as u8, Stage::AwaitCode as u8);
        self.stage.compare_exchange(counting, awaiting, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        self.search.lock().next_form()
    }

    /// Has launches measure code that was made in so long a time for a form that was to be made. Whether there is anything to measure:
    /// the code may be of a form that is known, or have local memory that lies elsewhere.
    ///
    /// # Errors
    /// When the code is damaged or the system gives no memory for it.
    pub fn begin_comparison(
        &self,
        object: &KernelObject,
        local_bytes: u64,
        making_time: Duration,
    ) -> Result<bool, LoadError> {
        let (next_form, trials) = {
            let search = self.search.lock();
            (search.next_form(), search.trial_count())
        };
        if !self.adopts_all {
            let due_time = WORTHWHILE.max(making_time).saturating_mul(trials as u32 + 1);
            self.due_nanoseconds.store(in_nanoseconds(due_time), Ordering::Relaxed);
        }
        let is_other = next_form == Some(object.form) && object.needs.local_bytes == local_bytes;
        let free_code = (1..).zip(&self.codes).find(|(_, code)| code.get().is_none()).filter(|_| is_other);
        let Some((number, code)) = free_code else { return Ok(false) };
        let form_code = FormCode { code: CallableCode::load_object(object)?, needs: object.needs };
        let is_new = code.set(form_code).is_ok();
        let mut comparison = self.comparison.lock();
        *comparison = comparison.for_next_trial();
        drop(comparison);
        self.turns.store(0, Ordering::Relaxed);
        self.busy_nanoseconds.store(0, Ordering::Relaxed);
        let [launch_time, chunk_time] = [&self.launch_nanoseconds, &self.chunk_nanoseconds]
            .map(|nanoseconds| Duration::from_nanos(nanoseconds.load(Ordering::Relaxed)));
        // The first launch may not have ended.
        let row = Row::for_times(launch_time.max(chunk_time), chunk_time);
        self.row.store(row as u8, Ordering::Relaxed);
        self.tried_code.store(number, Ordering::Release);
        self.enter_stage(Stage::Compare);
        Ok(is_new)
    }

    /// Goes on without a form that cannot be had.
    pub fn give_up_form(&self, form: ItemForm) {
        let mut search = self.search.lock();
        search.note_result(form, false);
        self.await_next_trial(&search);
    }

    fn await_next_trial(&self, search: &FormSearch) {
        self.busy_nanoseconds.store(0, Ordering::Relaxed);
        self.enter_stage(if search.next_form().is_some() { Stage::CountTime } else { Stage::Over });
    }
}

/// The time of a work-group from which on a form is given up after one, where the best form took this at most.
fn hopeless_time(known_time: Duration) -> Duration {
    if known_time.is_zero() { Duration::MAX } else { known_time.mul_f64(HOPELESS).max(LONG) }
}

/// How a chunk was run whose turn was a form's that is tried.
#[derive(Debug, PartialEq, Eq)]
enum ChunkOutcome {
    /// By that form, in so long a time.
    Complete(Duration),
    /// Its first group took so long by that form that the best one ran the others.
    Hopeless(Duration),
}

/// Runs groups by a form that is tried; after the first one, which may take that form seconds, the best form goes on if it took this long.
fn run_unless_hopeless<E>(
    group_range: Range<u64>,
    least_hopeless: Duration,
    run_tried: impl Fn(Range<u64>) -> Result<Duration, E>,
    run_best: impl Fn(Range<u64>) -> Result<(), E>,
) -> Result<ChunkOutcome, E> {
    if least_hopeless == Duration::MAX {
        return run_tried(group_range).map(ChunkOutcome::Complete);
    }
    let rest = group_range.start + 1..group_range.end;
    let group_time = run_tried(group_range.start..rest.start)?;
    if group_time > least_hopeless {
        if !rest.is_empty() {
            run_best(rest)?;
        }
        return Ok(ChunkOutcome::Hopeless(group_time));
    }
    let rest_time = if rest.is_empty() { Duration::ZERO } else { run_tried(rest)? };
    Ok(ChunkOutcome::Complete(group_time + rest_time))
}

fn in_nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::convert::Infallible;

    use super::*;

    /// The groups that each form runs of ten, where one takes so many milliseconds by the form that is tried, and the outcome.
    fn run_ten(group_milliseconds: u64, least_hopeless: Duration) -> (Vec<(&'static str, Range<u64>)>, ChunkOutcome) {
        let calls = RefCell::new(Vec::new());
        let run_tried = |group_range: Range<u64>| {
            calls.borrow_mut().push(("tried", group_range.clone()));
            Ok::<_, Infallible>(Duration::from_millis(group_milliseconds * (group_range.end - group_range.start)))
        };
        let run_best = |group_range: Range<u64>| {
            calls.borrow_mut().push(("best", group_range));
            Ok(())
        };
        let outcome = run_unless_hopeless(20..30, least_hopeless, run_tried, run_best).unwrap();
        (calls.into_inner(), outcome)
    }

    #[test]
    fn a_hopeless_form_runs_one_group_and_the_best_one_the_others() {
        let known_time = Duration::from_millis(10);
        let (calls, outcome) = run_ten(270, hopeless_time(known_time));
        assert_eq!(calls, [("tried", 20..21), ("best", 21..30)]);
        assert_eq!(outcome, ChunkOutcome::Hopeless(Duration::from_millis(270)));
        let (calls, outcome) = run_ten(30, hopeless_time(known_time));
        assert_eq!(calls, [("tried", 20..21), ("tried", 21..30)]);
        assert_eq!(outcome, ChunkOutcome::Complete(Duration::from_millis(300)));
    }

    #[test]
    fn nothing_is_hopeless_beside_what_is_not_known_and_in_short_groups() {
        assert_eq!(hopeless_time(Duration::ZERO), Duration::MAX);
        assert_eq!(hopeless_time(Duration::from_micros(1)), LONG);
        let (calls, outcome) = run_ten(900, Duration::MAX);
        assert_eq!((calls, outcome), (vec![("tried", 20..30)], ChunkOutcome::Complete(Duration::from_secs(9))));
    }

    #[test]
    fn a_chunk_of_one_group_is_measured_or_hopeless() {
        let run_one = |milliseconds| {
            let run_tried = |_: Range<u64>| Ok::<_, Infallible>(Duration::from_millis(milliseconds));
            let run_best = |group_range: Range<u64>| panic!("{group_range:?} were run already");
            run_unless_hopeless(3..4, Duration::from_millis(50), run_tried, run_best).unwrap()
        };
        assert_eq!(run_one(60), ChunkOutcome::Hopeless(Duration::from_millis(60)));
        assert_eq!(run_one(40), ChunkOutcome::Complete(Duration::from_millis(40)));
    }
}
