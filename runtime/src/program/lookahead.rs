//! Which kernels' code is made before a launch asks for it.
//!
//! Applications create their kernels and then launch one after the other, each for the first time. While the code of one is made, or
//! runs, other processors make that of kernels that have kernel objects and no launch yet, as if they came next in the order of the
//! program and with the range of the last launch. Every guess that was right allows for one more that is not yet launched; where more
//! were wrong than right, no more is guessed. So an application that launches few of its kernels has code of one made in vain.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use lockstep_protocol::launch_facts::LaunchFacts;
use parking_lot::Mutex;

use crate::launch::ndrange::NdRange;

/// A kernel object of which a launch may come.
pub trait PredictLaunch: Send + Sync {
    /// What is likely to hold of its launch over a range that another kernel was launched over. None where it may not be launched over
    /// that, or where its arguments decide about its code.
    fn predict_facts(&self, asked: &NdRange) -> Option<LaunchFacts>;
}

/// How far each kernel of a program has come, and how good the guesses were. `K` is a kernel object.
pub struct Lookahead<K: ?Sized> {
    /// Whether a kernel was launched, by its index: asked by every launch.
    launched: Vec<AtomicBool>,
    state: Mutex<State<K>>,
}

struct State<K: ?Sized> {
    stages: Vec<Stage<K>>,
    right_guesses: usize,
    wrong_guesses: usize,
}

/// How far a kernel has come.
enum Stage<K: ?Sized> {
    /// It has no kernel object, or is none to make code for.
    Passive,
    /// It has this kernel object, and no code.
    Created(Weak<K>),
    /// Its code is being made for launches of which these facts hold.
    Making(LaunchFacts),
    /// Such code was made, and not yet launched.
    Made(LaunchFacts),
    /// It has been launched.
    Launched,
}

impl<K: ?Sized> Lookahead<K> {
    /// That of a program of so many kernels.
    pub fn new(kernel_count: usize) -> Lookahead<K> {
        let stages = (0..kernel_count).map(|_| Stage::Passive).collect();
        Lookahead {
            launched: (0..kernel_count).map(|_| AtomicBool::new(false)).collect(),
            state: Mutex::new(State { stages, right_guesses: 0, wrong_guesses: 0 }),
        }
    }

    /// Notes that there is a kernel object.
    pub fn note_kernel(&self, index: usize, kernel: &Arc<K>) {
        if self.launched[index].load(Ordering::Relaxed) {
            return;
        }
        let stage = &mut self.state.lock().stages[index];
        if matches!(stage, Stage::Passive | Stage::Created(_)) {
            *stage = Stage::Created(Arc::downgrade(kernel));
        }
    }

    /// Notes a launch of which these facts hold. The answer is whether it is the first one of its kernel.
    pub fn note_launch(&self, index: usize, launch_facts: &LaunchFacts) -> bool {
        let launched = &self.launched[index];
        if launched.load(Ordering::Relaxed) || launched.swap(true, Ordering::Relaxed) {
            return false;
        }
        let mut state = self.state.lock();
        match std::mem::replace(&mut state.stages[index], Stage::Launched) {
            Stage::Making(guessed_facts) | Stage::Made(guessed_facts) if guessed_facts == *launch_facts => {
                state.right_guesses += 1;
            }
            Stage::Making(_) | Stage::Made(_) => state.wrong_guesses += 1,
            Stage::Passive | Stage::Created(_) | Stage::Launched => {}
        }
        true
    }

    /// Chooses the next kernel that code is to be made of, after a launch of another one, and what its code is to rely on: what
    /// `predict_facts` says of it by its index and its object. None where that says nothing, enough is being made for `processors`, or enough waits to be launched.
    pub fn choose_next(
        &self,
        after: usize,
        processors: usize,
        predict_facts: impl Fn(usize, &Arc<K>) -> Option<LaunchFacts>,
    ) -> Option<(usize, LaunchFacts)> {
        let state = &mut *self.state.lock();
        let count = |is_counted: fn(&Stage<K>) -> bool| state.stages.iter().filter(|stage| is_counted(stage)).count();
        let in_the_making = count(|stage| matches!(stage, Stage::Making(_)));
        let not_launched = in_the_making + count(|stage| matches!(stage, Stage::Made(_)));
        let allowed = (1 + state.right_guesses).saturating_sub(state.wrong_guesses).min(2 * processors);
        // One processor is left to the launch.
        if in_the_making + 1 >= processors || not_launched >= allowed {
            return None;
        }
        let (before, behind) = state.stages.split_at_mut(after + 1);
        let indices = (after + 1..).zip(behind).chain((0..).zip(before));
        for (index, stage) in indices {
            let Stage::Created(kernel) = stage else { continue };
            match kernel.upgrade().and_then(|kernel| predict_facts(index, &kernel)) {
                Some(launch_facts) => {
                    *stage = Stage::Making(launch_facts);
                    return Some((index, launch_facts));
                }
                // Nobody asks of it again before it has another kernel object.
                None => *stage = Stage::Passive,
            }
        }
        None
    }

    /// Notes that the code is there that was being made, or could not be made.
    pub fn note_made(&self, index: usize) {
        let stage = &mut self.state.lock().stages[index];
        if let Stage::Making(launch_facts) = *stage {
            *stage = Stage::Made(launch_facts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(local_size: u64) -> LaunchFacts {
        LaunchFacts::of_range([0; 3], [1024, 1, 1], [local_size, 1, 1])
    }

    /// A program of so many kernels, all of which have kernel objects.
    fn program_of(kernel_count: usize) -> (Lookahead<usize>, Vec<Arc<usize>>) {
        let lookahead = Lookahead::new(kernel_count);
        let kernels: Vec<_> = (0..kernel_count).map(Arc::new).collect();
        kernels.iter().enumerate().for_each(|(index, kernel)| lookahead.note_kernel(index, kernel));
        (lookahead, kernels)
    }

    /// All that is chosen after a launch of a kernel with these facts, if the facts of the next ones are predicted to be `predicted`.
    fn launch(lookahead: &Lookahead<usize>, index: usize, launched: u64, predicted: u64) -> Vec<usize> {
        lookahead.note_launch(index, &facts(launched));
        std::iter::from_fn(|| lookahead.choose_next(index, 4, |_, _| Some(facts(predicted))))
            .map(|(index, _)| index)
            .collect()
    }

    #[test]
    fn right_guesses_allow_for_more() {
        let (lookahead, _kernels) = program_of(12);
        assert_eq!(launch(&lookahead, 0, 64, 64), [1]);
        assert_eq!(launch(&lookahead, 1, 64, 64), [2, 3]);
        assert_eq!(launch(&lookahead, 2, 64, 64), [4, 5], "three are being made, beside what launches wait for");
        lookahead.note_made(3);
        assert_eq!(launch(&lookahead, 3, 64, 64), [6]);
        assert!(!lookahead.note_launch(3, &facts(64)), "it is not the first launch");
    }

    #[test]
    fn wrong_guesses_end_it() {
        let (lookahead, _kernels) = program_of(8);
        assert_eq!(launch(&lookahead, 0, 64, 64), [1]);
        assert!(launch(&lookahead, 1, 32, 64).is_empty());
        assert!(launch(&lookahead, 2, 64, 64).is_empty());
    }

    #[test]
    fn code_that_nobody_launches_is_made_of_one_kernel() {
        let (lookahead, _kernels) = program_of(8);
        assert_eq!(launch(&lookahead, 4, 64, 64), [5]);
        lookahead.note_made(5);
        for index in [0, 1, 2, 3, 6] {
            assert!(launch(&lookahead, index, 64, 64).is_empty());
        }
    }

    #[test]
    fn the_order_begins_again_and_leaves_out_what_is_gone_or_unknown() {
        let (lookahead, mut kernels) = program_of(5);
        kernels[1] = Arc::new(1);
        lookahead.note_launch(3, &facts(64));
        let predict_facts = |_: usize, kernel: &Arc<usize>| (**kernel != 4).then(|| facts(64));
        assert_eq!(lookahead.choose_next(3, 4, predict_facts), Some((0, facts(64))));
        lookahead.note_launch(0, &facts(64));
        assert_eq!(lookahead.choose_next(0, 4, predict_facts), Some((2, facts(64))));
        lookahead.note_kernel(4, &kernels[4]);
        assert_eq!(lookahead.choose_next(3, 4, |_, _| Some(facts(64))), Some((4, facts(64))));
    }

    #[test]
    fn one_processor_is_left_to_the_launch() {
        let (lookahead, _kernels) = program_of(4);
        lookahead.note_launch(0, &facts(64));
        assert_eq!(lookahead.choose_next(0, 1, |_, _| Some(facts(64))), None);
        assert_eq!(lookahead.choose_next(0, 2, |_, _| Some(facts(64))), Some((1, facts(64))));
        lookahead.note_launch(1, &facts(64));
        assert_eq!(
            lookahead.choose_next(1, 2, |_, _| Some(facts(64))),
            Some((2, facts(64))),
            "the other one is waited for"
        );
        assert_eq!(lookahead.choose_next(1, 2, |_, _| Some(facts(64))), None);
    }
}
