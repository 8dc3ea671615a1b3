//! The helpers of a team: which launch one joins, when it sleeps, and who is woken.
//!
//! Helpers that still look for work after their last launch come by themselves. Of those that sleep, who posts a launch
//! wakes only a few, and each of these wakes as many again while seats are free: waking takes the time of whoever does it,
//! and where the processors are busy the woken ones get to it late, when nobody else is needed any more.
//!
//! Nothing here is a thread: those who have something to tell call a method, and do what it returns. All calls are made
//! under one lock.

/// Sleeping helpers that one thread wakes for a launch.
const CALLS: usize = 2;

/// A launch as helpers see it.
pub(super) trait OpenLaunch: Clone {
    /// Whether there are groups that nobody has claimed.
    fn has_groups(&self) -> bool;
}

/// What a helper does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action<L> {
    /// Runs groups of this launch until none is left, after it has woken so many helpers that sleep.
    Join { launch: L, wake: usize },
    /// Looks for a launch for a while; then it says so by [`Crew::has_looked`].
    Look,
    /// Sleeps until it is woken; then it says so by [`Crew::has_woken`].
    Sleep,
    /// Ends: the team is gone.
    End,
}

/// The helpers of a team that have no launch, and the launches that have use for some.
pub(super) struct Crew<L> {
    /// In the order in which they came.
    launches: Vec<Posted<L>>,
    /// Helpers without a launch that are awake: they ask once more before they sleep.
    looking: usize,
    /// Helpers that sleep.
    sleeping: usize,
    /// Helpers that were woken and have not asked since.
    called: usize,
    is_closed: bool,
}

struct Posted<L> {
    launch: L,
    /// Helpers that may still join it.
    seats: usize,
}

impl<L: OpenLaunch> Crew<L> {
    /// Nobody yet, with room for so many launches at once.
    pub fn with_capacity(launches: usize) -> Self {
        Self { launches: Vec::with_capacity(launches), looking: 0, sleeping: 0, called: 0, is_closed: false }
    }

    /// A launch with seats for so many helpers is there. How many that sleep are to be woken.
    pub fn post_launch(&mut self, launch: L, seats: usize) -> usize {
        self.launches.push(Posted { launch, seats });
        self.call_sleepers()
    }

    /// A launch has ended.
    pub fn remove_launch(&mut self, is_the_launch: impl Fn(&L) -> bool) {
        self.launches.retain(|posted| !is_the_launch(&posted.launch));
    }

    /// The team is going: helpers are to end when no launch needs them.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// What a helper without a launch does, given whether it has looked for one long enough.
    pub fn next_action(&mut self, has_looked: bool) -> Action<L> {
        if let Some(posted) = self.launches.iter_mut().find(|posted| posted.free_seats() > 0) {
            posted.seats -= 1;
            let launch = posted.launch.clone();
            return Action::Join { launch, wake: self.call_sleepers() };
        }
        if self.is_closed {
            return Action::End;
        }
        if has_looked {
            self.sleeping += 1;
            return Action::Sleep;
        }
        self.looking += 1;
        Action::Look
    }

    /// A helper has looked for a while, or seen that a launch came.
    pub fn has_looked(&mut self) {
        self.looking -= 1;
    }

    /// A helper that slept is awake.
    pub fn has_woken(&mut self) {
        match self.called.checked_sub(1) {
            Some(others) => self.called = others,
            // Nobody has called it: the team is being closed, or the system woke it.
            None => self.sleeping = self.sleeping.saturating_sub(1),
        }
    }

    /// How many sleeping helpers are to be woken now: for the free seats, those beyond who comes anyway, a few at a time.
    fn call_sleepers(&mut self) -> usize {
        let seats: usize = self.launches.iter().map(Posted::free_seats).sum();
        let calls = seats.saturating_sub(self.awake_helpers()).min(self.sleeping).min(CALLS);
        self.sleeping -= calls;
        self.called += calls;
        calls
    }

    /// Helpers that will ask without being woken.
    fn awake_helpers(&self) -> usize {
        self.looking + self.called
    }

    /// Helpers without a launch, and seats for some: what tests compare.
    #[cfg(test)]
    pub fn take_census(&self) -> Census {
        Census {
            sleeping: self.sleeping,
            coming: self.awake_helpers(),
            seats: self.launches.iter().map(Posted::free_seats).sum(),
        }
    }
}

impl<L: OpenLaunch> Posted<L> {
    /// Helpers that the launch still has use for.
    fn free_seats(&self) -> usize {
        if self.launch.has_groups() { self.seats } else { 0 }
    }
}

/// Helpers without a launch, and seats for some.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Census {
    pub sleeping: usize,
    pub coming: usize,
    pub seats: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A launch with groups left or not.
    #[derive(Clone, Debug)]
    struct Stub(Rc<Cell<bool>>);

    impl PartialEq for Stub {
        fn eq(&self, other: &Self) -> bool {
            Rc::ptr_eq(&self.0, &other.0)
        }
    }

    impl OpenLaunch for Stub {
        fn has_groups(&self) -> bool {
            self.0.get()
        }
    }

    fn launch() -> Stub {
        Stub(Rc::new(Cell::new(true)))
    }

    /// A crew of helpers that all sleep.
    fn asleep(helpers: usize) -> Crew<Stub> {
        let mut crew = Crew::with_capacity(4);
        for _ in 0..helpers {
            assert_eq!(crew.next_action(true), Action::Sleep);
        }
        crew
    }

    #[test]
    fn a_few_are_woken_and_wake_the_others() {
        let (mut crew, launch) = (asleep(7), launch());
        assert_eq!(crew.post_launch(launch.clone(), 5), 2);
        let mut woken = 2;
        let mut joined = 0;
        while joined < woken {
            crew.has_woken();
            let Action::Join { wake, .. } = crew.next_action(false) else { panic!("woken for nothing") };
            joined += 1;
            woken += wake;
        }
        assert_eq!((joined, crew.take_census()), (5, Census { sleeping: 2, coming: 0, seats: 0 }));
        assert_eq!(crew.next_action(true), Action::Sleep);
    }

    #[test]
    fn nobody_is_woken_for_a_seat_that_somebody_comes_for() {
        let (mut crew, launch) = (asleep(2), launch());
        assert_eq!(crew.next_action(false), Action::Look);
        assert_eq!(crew.post_launch(launch.clone(), 1), 0);
        crew.has_looked();
        assert_eq!(crew.next_action(false), Action::Join { launch: launch.clone(), wake: 0 });
        // Seats of a launch without groups are none.
        launch.0.set(false);
        assert_eq!(crew.post_launch(launch, 3), 0);
        assert_eq!(crew.next_action(true), Action::Sleep);
    }

    #[test]
    fn the_first_launch_gets_its_helpers_first() {
        let (mut crew, first, second) = (asleep(0), launch(), launch());
        crew.post_launch(first.clone(), 1);
        crew.post_launch(second.clone(), 2);
        let joined = |crew: &mut Crew<Stub>| match crew.next_action(true) {
            Action::Join { launch, .. } => Some(launch),
            _ => None,
        };
        let order: Vec<_> = (0..4).map(|_| joined(&mut crew)).collect();
        assert_eq!(order, [Some(first.clone()), Some(second.clone()), Some(second), None]);
        crew.remove_launch(|launch| *launch == first);
        assert_eq!(crew.launches.len(), 1);
    }

    #[test]
    fn helpers_end_with_their_team_but_not_before_the_last_launch() {
        let (mut crew, launch) = (asleep(1), launch());
        crew.close();
        crew.post_launch(launch.clone(), 1);
        assert!(matches!(crew.next_action(true), Action::Join { .. }));
        assert_eq!(crew.next_action(true), Action::End);
        // Whom nobody has called is no longer asleep either.
        crew.has_woken();
        crew.has_woken();
        assert_eq!(crew.take_census().sleeping, 0);
    }
}
