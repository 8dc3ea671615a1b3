//! Work-items, or gangs, of one region that wait for each other: they take turns.
//!
//! Generated code hands a region to [`run_region`] as a function that takes work of the group, piece by piece from a counter, until
//! none is left. As long as nobody waits one call does it all, on the stack it was called on. A loop that waits calls
//! [`go_on`] in every round; after some rounds another call of the function begins, on a stack of its own, with the work that
//! is left. From then on whoever waits hands over in every round: those that wait as well have their turns, and where none of
//! them gets done one more begins. All of them are one thread's, and change hands nowhere else.
//!
//! Where one of them [gives up](super::giving_up), nobody goes on: whoever runs on a stack of its own hands over for the last time, and
//! the work that was begun first leaves the code.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::giving_up::{Running, current_code, leave_code, must_give_up, recycle_stack};

/// Does work of the region that the context is of until none is left.
type Work = unsafe extern "C" fn(*mut c_void);

/// Rounds that the first one waits before another begins: what another thread holds is often free again by then.
const ROUNDS: u32 = 64;

/// Bytes of a stack: what code of gangs may take (`plan::MOST_STACK_BYTES`), and as much for what it calls.
const STACK: usize = 1 << 20;

/// Stacks that a thread keeps.
const KEPT: usize = 64;

/// Those that wait up to which one more begins in each round of turns, and rounds between two beginnings above: whoever all
/// of them wait for may be on another thread, and stacks are not for nothing.
const MANY: usize = 64;
const SELDOM: u32 = 4;

type Turn = Coroutine<(), (), (), DefaultStack>;

/// A region that runs.
struct Turns {
    work: Work,
    context: *mut c_void,
    /// Those that wait for others, on stacks of their own.
    waiting: RefCell<VecDeque<Turn>>,
    /// Whether there may be work that nobody took.
    more: Cell<bool>,
    /// How to give up one's turn; null for what runs on the caller's stack.
    current: Cell<*const Yielder<(), ()>>,
    /// Rounds that the first one waited while nobody else did, or that those that wait had their turns.
    rounds: Cell<u32>,
    /// The code that the region is of, if it may give up.
    code: *const Running,
    /// The region that runs again afterwards.
    around: *const Turns,
    /// Whether one of them has given up.
    has_given_up: Cell<bool>,
}

thread_local! {
    /// The region that this thread runs.
    static RUNNING: Cell<*const Turns> = const { Cell::new(ptr::null()) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Has a region's work done.
///
/// # Safety
///
/// `region_work` may be called with the context any number of times, by this thread, until it returns; calls may be under way at
/// once, of which each runs until it ends or calls [`go_on`].
pub unsafe extern "C" fn run_region(region_work: Work, context: *mut c_void) {
    let around = RUNNING.get();
    let turns = Turns {
        work: region_work,
        context,
        waiting: RefCell::default(),
        more: Cell::new(true),
        current: Cell::new(ptr::null()),
        rounds: Cell::new(0),
        code: current_code(),
        around,
        has_given_up: Cell::new(false),
    };
    RUNNING.set(&turns);
    // SAFETY: as the caller promises.
    unsafe { region_work(context) };
    turns.more.set(false);
    while turns.somebody_waits() {
        turns.give_turns();
    }
    RUNNING.set(around);
}

/// Lets others go on, called by work of the region that this thread runs.
pub extern "C" fn go_on() {
    // SAFETY: null, or what `run` has on its stack until all work has returned.
    let Some(turns) = (unsafe { RUNNING.get().as_ref() }) else { return };
    if must_give_up() {
        // SAFETY: code calls this function, which owns nothing.
        unsafe { give_up() };
    }
    let current_yielder = turns.current.get();
    if current_yielder.is_null() && !turns.somebody_waits() {
        turns.rounds.set(turns.rounds.get() + 1);
        if turns.rounds.get() < ROUNDS {
            return std::hint::spin_loop();
        }
        turns.rounds.set(0);
    }
    // SAFETY: null, or that of the coroutine that runs, which is the one that calls.
    match unsafe { current_yielder.as_ref() } {
        Some(to) => {
            to.suspend(());
            turns.current.set(current_yielder);
        }
        None => turns.give_turns(),
    }
}

/// Leaves the code that this thread runs for good, whichever of its regions and whoever's turn it is. Returns only where the code may not
/// give up.
///
/// # Safety
/// It is called by code, or by functions that code calls and that own nothing then, nor have borrowed anything that others wait for.
pub unsafe fn give_up() {
    // SAFETY: null, or what `run_region` has on a stack that is still there.
    while let Some(turns) = unsafe { RUNNING.get().as_ref() }.filter(|turns| turns.code == current_code()) {
        if turns.code.is_null() {
            return;
        }
        turns.has_given_up.set(true);
        // SAFETY: null, or that of the coroutine that runs, which is the one that calls.
        if let Some(to) = unsafe { turns.current.get().as_ref() } {
            // Nobody comes back here.
            to.suspend(());
        }
        turns.end_waiting();
        RUNNING.set(turns.around);
    }
    // SAFETY: all turns have ended, so this is the stack that the code began on. What it called owns nothing, as the caller promises.
    unsafe { leave_code() };
}

impl Turns {
    /// Ends all those that wait where they are.
    fn end_waiting(&self) {
        for coroutine in self.waiting.take() {
            keep_turn_stack(coroutine);
        }
    }

    fn somebody_waits(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Each of those that wait has a turn, and where none of them got done, some work that nobody took begins.
    fn give_turns(&self) {
        let waiting_count = self.waiting.borrow().len();
        let mut has_ended = false;
        for _ in 0..waiting_count {
            let next_coroutine = self.waiting.borrow_mut().pop_front();
            has_ended |= next_coroutine.is_some_and(|coroutine| self.give_turn(coroutine));
            if self.has_given_up.get() {
                // SAFETY: code calls `go_on`, and what that and `run_region` own has been given back.
                return unsafe { give_up() };
            }
        }
        self.rounds.set(self.rounds.get().wrapping_add(1));
        let is_time = waiting_count < MANY || self.rounds.get().is_multiple_of(SELDOM);
        let got_on = has_ended || is_time && self.begin_work();
        if !got_on {
            // Only another thread can end the waiting.
            std::thread::yield_now();
        }
    }

    /// Begins work that nobody took, on a stack of its own; false if there is none, or no memory for the stack.
    fn begin_work(&self) -> bool {
        if !self.more.get() {
            return false;
        }
        let spare_stack = STACKS.with_borrow_mut(Vec::pop);
        let Some(coroutine_stack) = spare_stack.or_else(|| DefaultStack::new(STACK).ok()) else { return false };
        let turns: *const Turns = self;
        let coroutine = Coroutine::with_stack(coroutine_stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: `run` has it on its stack until all coroutines have ended.
            unsafe { &*turns }.work_on_stack(yielder);
        });
        self.give_turn(coroutine);
        if self.has_given_up.get() {
            // SAFETY: as in `give_turns`.
            unsafe { give_up() };
        }
        true
    }

    /// Does work until it has ended, on the stack of the coroutine that this suspends.
    fn work_on_stack(&self, yielder: &Yielder<(), ()>) {
        self.current.set(yielder);
        // SAFETY: as the caller of `run` promises.
        unsafe { (self.work)(self.context) };
        self.more.set(false);
    }

    /// Lets one go on until it ends, which is the answer, or waits again.
    fn give_turn(&self, mut coroutine: Turn) -> bool {
        let own_yielder = self.current.get();
        let result = coroutine.resume(());
        let has_ended = matches!(result, CoroutineResult::Return(())) || self.has_given_up.get();
        self.current.set(own_yielder);
        if has_ended {
            keep_turn_stack(coroutine);
        } else {
            self.waiting.borrow_mut().push_back(coroutine);
        }
        has_ended
    }
}

/// Keeps the stack of a turn that has ended or is not to go on.
fn keep_turn_stack(coroutine: Turn) {
    let coroutine_stack = recycle_stack(coroutine);
    STACKS.with_borrow_mut(|stacks| {
        if stacks.len() < KEPT {
            stacks.push(coroutine_stack);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::giving_up::run_until_given_up;
    use super::*;

    /// Pieces of work that each wait for some others.
    struct Pieces {
        taken: Cell<usize>,
        /// For each the one that has to have ended before.
        after: Vec<Option<usize>>,
        ended: RefCell<Vec<usize>>,
    }

    unsafe extern "C" fn take(context: *mut c_void) {
        // SAFETY: `order` gives the context, and has it on its stack.
        let pieces = unsafe { &*context.cast::<Pieces>() };
        loop {
            let piece = pieces.taken.replace(pieces.taken.get() + 1);
            let Some(after) = pieces.after.get(piece) else { return };
            while after.is_some_and(|after| !pieces.ended.borrow().contains(&after)) {
                go_on();
            }
            pieces.ended.borrow_mut().push(piece);
        }
    }

    /// The order in which pieces end.
    fn order(after: Vec<Option<usize>>) -> Vec<usize> {
        let pieces = Pieces { taken: Cell::new(0), after, ended: RefCell::default() };
        // SAFETY: the context lives until all work is done.
        unsafe { run_region(take, ptr::from_ref(&pieces).cast_mut().cast()) };
        pieces.ended.into_inner()
    }

    #[test]
    fn whoever_waits_for_nobody_needs_one_stack() {
        STACKS.with_borrow_mut(Vec::clear);
        assert_eq!(order(vec![None; 5]), [0, 1, 2, 3, 4]);
        assert_eq!(order(vec![None, Some(0), Some(1)]), [0, 1, 2]);
        assert!(order(Vec::new()).is_empty());
        assert!(STACKS.with_borrow(Vec::is_empty));
    }

    #[test]
    fn each_waits_for_the_next() {
        let waiting_count = 3 * KEPT;
        let after = (0..waiting_count).map(|piece| Some(piece + 1).filter(|&next| next < waiting_count)).collect();
        let ended = order(after);
        assert!(ended.into_iter().eq((0..waiting_count).rev()));
        assert_eq!(STACKS.with_borrow(Vec::len), KEPT);
    }

    #[test]
    fn some_wait_here_and_there() {
        let after: Vec<Option<usize>> = (0..100).map(|piece| (piece % 3 == 0).then(|| (piece + 7) % 100)).collect();
        let ended = order(after.clone());
        let place = |piece| ended.iter().position(|&other| other == piece).unwrap();
        assert_eq!(ended.iter().collect::<std::collections::BTreeSet<_>>().len(), 100);
        for (piece, after) in after.into_iter().enumerate() {
            assert!(after.is_none_or(|after| place(after) < place(piece)), "{piece}");
        }
    }

    /// Pieces of work, each of which waits but for one that gives up when so many have begun.
    struct Doomed {
        taken: Cell<usize>,
        /// The piece that gives up.
        gives_up: usize,
        has_failed: AtomicBool,
        /// Whether it tells others, who wait, instead of leaving at once.
        tells: bool,
    }

    unsafe extern "C" fn wait_or_give_up(context: *mut c_void) {
        // SAFETY: `run_doomed` gives the context, and has it on its stack.
        let doomed = unsafe { &*context.cast::<Doomed>() };
        let piece = doomed.taken.replace(doomed.taken.get() + 1);
        loop {
            if piece == doomed.gives_up {
                doomed.has_failed.store(true, Ordering::Relaxed);
                if !doomed.tells {
                    // SAFETY: nothing here owns anything.
                    unsafe { give_up() };
                    unreachable!("it has left");
                }
            }
            go_on();
        }
    }

    /// Runs pieces that wait for ever until one gives up; how many had begun, and how many stacks are kept afterwards.
    fn run_doomed(gives_up: usize, tells: bool) -> (usize, usize) {
        STACKS.with_borrow_mut(Vec::clear);
        let doomed = Doomed { taken: Cell::new(0), gives_up, has_failed: AtomicBool::new(false), tells };
        let context = ptr::from_ref(&doomed).cast_mut().cast();
        let mut went_on = false;
        let ended = run_until_given_up(0, &doomed.has_failed, || {
            // SAFETY: the context lives until all work is done or has been left.
            unsafe { run_region(wait_or_give_up, context) };
            went_on = true;
        });
        assert_eq!((ended, went_on), (Ok(()), false));
        assert!(RUNNING.get().is_null() && current_code().is_null());
        (doomed.taken.get(), STACKS.with_borrow(Vec::len))
    }

    #[test]
    fn all_leave_when_one_gives_up() {
        for tells in [false, true] {
            for gives_up in 0..5 {
                let (begun, kept) = run_doomed(gives_up, tells);
                assert!(begun > gives_up, "{begun}");
                // All stacks but the first one's are kept.
                assert_eq!(kept, begun - 1, "{gives_up} {tells}");
            }
        }
        // The thread runs what does not give up as before.
        assert_eq!(order(vec![Some(1), None]), [1, 0]);
    }

    #[test]
    fn code_that_gives_up_leaves_none_but_itself() {
        let outer_failed = AtomicBool::new(false);
        let mut steps = Vec::new();
        let outer = run_until_given_up(0, &outer_failed, || {
            let inner_failed = AtomicBool::new(false);
            let inner = run_until_given_up(0, &inner_failed, || {
                // SAFETY: nothing here owns anything.
                unsafe { give_up() };
                unreachable!("it has left");
            });
            steps.push(inner);
        });
        assert_eq!((outer, steps), (Ok(()), vec![Ok(())]));
        // SAFETY: nothing here owns anything. Where nobody may give up, it comes back.
        unsafe { give_up() };
        // What has failed does not begin.
        assert_eq!(run_until_given_up(0, &AtomicBool::new(true), || unreachable!("it has failed")), Ok(()));
    }

    #[test]
    fn nobody_is_there_to_go_on() {
        (0..3 * ROUNDS).for_each(|_| go_on());
    }
}
