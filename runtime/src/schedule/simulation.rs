//! The scheduling policy in virtual time: callers and helpers that are no threads, groups that take as long as a test says.
//!
//! What happens is a matter of the policy alone, so a test can ask for more than one with threads: that every group runs
//! once, who was woken and for what, and how evenly the work was shared.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use super::crew::{Action, Crew, OpenLaunch};
use super::plan::{Division, Plan, WAKE_COST, chunk_size};

/// Nanoseconds from the beginning of a simulation.
type Time = u64;

/// How long a helper looks for a launch before it sleeps.
const LOOKS_FOR: Time = 30_000;
/// How long it takes a helper to wake up.
const WAKES_IN: Time = WAKE_COST.as_nanos() as Time;

/// A launch to be simulated.
#[derive(Clone)]
struct Work {
    /// How long each group takes.
    costs: Vec<Time>,
    took_long: bool,
    /// How long after the end of the one before it begins.
    gap: Time,
}

/// Groups that a thread has run at once.
#[derive(Clone, Debug)]
struct Chunk {
    thread: usize,
    groups: Range<u64>,
    begin: Time,
    end: Time,
}

/// A launch whose groups are shared.
struct Shared {
    next: Cell<u64>,
    groups: u64,
    threads: u64,
    costs: Vec<Time>,
    /// Helpers that have joined and not left.
    active: Cell<usize>,
    /// Its caller, who has no more groups to claim.
    waiting: Cell<Option<usize>>,
    began: Time,
    chunks: RefCell<Vec<Chunk>>,
}

#[derive(Clone)]
struct Handle(Rc<Shared>);

impl OpenLaunch for Handle {
    fn has_groups(&self) -> bool {
        self.0.next.get() < self.0.groups
    }
}

/// What a thread is about to do when its time comes.
#[derive(Clone)]
enum Task {
    /// A caller begins its next launch.
    Begin,
    /// A caller has run the first group.
    AfterFirst(Plan, Work),
    /// A thread claims groups of a launch.
    Claim(Handle),
    /// A helper has looked long enough, if it still does since this time.
    StopLooking(Time),
    /// A helper that was called is awake.
    Wake,
}

/// What became of a launch.
#[derive(Clone, Debug)]
struct Record {
    began: Time,
    ended: Time,
    /// By whom each chunk was run.
    chunks: Vec<Chunk>,
    groups: u64,
}

impl Record {
    /// The time of the longest chunk.
    fn longest_chunk(&self) -> Time {
        self.chunks.iter().map(|chunk| chunk.end - chunk.begin).max().unwrap_or(0)
    }

    /// When each thread that took part was done.
    fn ends(&self) -> Vec<Time> {
        let mut ends: Vec<(usize, Time)> = Vec::new();
        for chunk in &self.chunks {
            match ends.iter_mut().find(|(thread, _)| *thread == chunk.thread) {
                Some((_, latest)) => *latest = chunk.end.max(*latest),
                None => ends.push((chunk.thread, chunk.end)),
            }
        }
        ends.into_iter().map(|(_, latest)| latest).collect()
    }

    fn assert_each_group_ran_once(&self) {
        let mut runs = vec![0; self.groups as usize];
        for group in self.chunks.iter().flat_map(|chunk| chunk.groups.clone()) {
            runs[group as usize] += 1;
        }
        assert!(runs.iter().all(|&runs| runs == 1), "{runs:?}");
    }

    /// Whoever is done early was so because nothing was left to claim.
    fn assert_balanced(&self) {
        let ends = self.ends();
        let (earliest_end, latest_end) =
            (ends.iter().min().copied().unwrap_or(0), ends.iter().max().copied().unwrap_or(0));
        assert!(
            latest_end - earliest_end <= self.longest_chunk(),
            "{ends:?}, and the longest chunk {}",
            self.longest_chunk()
        );
    }
}

/// A caller: what it has yet to launch.
struct Caller {
    launches: VecDeque<Work>,
    /// The first group of the launch under way, if that ran alone.
    first: Vec<Chunk>,
}

/// Callers are threads 0.., helpers those behind them.
struct Simulation {
    crew: Crew<Handle>,
    useful: usize,
    caller_helps: bool,
    callers: Vec<Caller>,
    helpers: usize,
    now: Time,
    /// What comes next, by time and then in the order in which it was planned.
    tasks: BinaryHeap<Reverse<(Time, u64)>>,
    planned: Vec<Option<(usize, Task)>>,
    /// Helpers that look, since when.
    looking: Vec<(usize, Time)>,
    sleeping: VecDeque<usize>,
    records: Vec<Record>,
    /// Helpers that were woken.
    woken: usize,
    /// Helpers that were woken and found no launch to join.
    in_vain: usize,
    most_at_once: usize,
}

impl Simulation {
    /// Helpers that sleep, and callers with launches.
    fn new(helpers: usize, useful: usize, caller_helps: bool, callers: Vec<Vec<Work>>) -> Self {
        let mut crew = Crew::with_capacity(4);
        let sleeping = (0..helpers).map(|helper| callers.len() + helper).collect();
        for _ in 0..helpers {
            assert!(matches!(crew.next_action(true), Action::Sleep));
        }
        let callers: Vec<Caller> =
            callers.into_iter().map(|launches| Caller { launches: launches.into(), first: Vec::new() }).collect();
        let mut simulation = Self {
            crew,
            useful,
            caller_helps,
            callers,
            helpers,
            now: 0,
            tasks: BinaryHeap::new(),
            planned: Vec::new(),
            looking: Vec::new(),
            sleeping,
            records: Vec::new(),
            woken: 0,
            in_vain: 0,
            most_at_once: 0,
        };
        (0..simulation.callers.len()).for_each(|caller| simulation.plan_next_launch(caller));
        simulation
    }

    /// Runs until nothing is left to do.
    fn run(mut self) -> Self {
        while let Some(Reverse((time, task_number))) = self.tasks.pop() {
            assert!(time >= self.now && task_number < 1_000_000, "it does not end");
            self.now = time;
            if let Some((thread, task)) = self.planned[task_number as usize].take() {
                self.perform(thread, task);
            }
        }
        let census = self.crew.take_census();
        assert_eq!((census.coming, census.seats), (0, 0), "all is done");
        assert_eq!(census.sleeping, self.helpers, "all sleep again");
        for record in &self.records {
            record.assert_each_group_ran_once();
            record.assert_balanced();
        }
        self
    }

    fn plan(&mut self, delay: Time, thread: usize, task: Task) {
        self.tasks.push(Reverse((self.now + delay, self.planned.len() as u64)));
        self.planned.push(Some((thread, task)));
    }

    fn plan_next_launch(&mut self, caller: usize) {
        let gap = self.callers[caller].launches.front().map(|simulated_work| simulated_work.gap);
        if let Some(gap) = gap {
            self.plan(gap, caller, Task::Begin);
        }
    }

    fn perform(&mut self, thread: usize, task: Task) {
        match task {
            Task::Begin => self.begin(thread),
            Task::AfterFirst(launch_plan, simulated_work) => {
                match launch_plan.divide_rest(Duration::from_nanos(simulated_work.costs[0])) {
                    Division::Shared { seats } => self.share(thread, &simulated_work, 1, seats),
                    Division::Alone | Division::FirstAlone => self.run_alone(thread, &simulated_work, 1),
                }
            }
            Task::Claim(launch) => self.claim(thread, &launch),
            Task::StopLooking(since) => {
                if let Some(position) = self.looking.iter().position(|&looking| looking == (thread, since)) {
                    self.looking.remove(position);
                    self.crew.has_looked();
                    self.ask(thread, true);
                }
            }
            Task::Wake => {
                self.crew.has_woken();
                let has_joined = self.ask(thread, false);
                self.in_vain += usize::from(!has_joined);
            }
        }
    }

    fn begin(&mut self, caller: usize) {
        let Some(simulated_work) = self.callers[caller].launches.pop_front() else { return };
        let (helpers, caller_helps, took_long) = (self.useful, self.caller_helps, simulated_work.took_long);
        let launch_plan = Plan { groups: simulated_work.costs.len() as u64, helpers, caller_helps, took_long };
        match launch_plan.divide_groups() {
            Division::Alone => self.run_alone(caller, &simulated_work, 0),
            Division::Shared { seats } => self.share(caller, &simulated_work, 0, seats),
            Division::FirstAlone => {
                let (begin, end) = (self.now, self.now + simulated_work.costs[0]);
                self.callers[caller].first.push(Chunk { thread: caller, groups: 0..1, begin, end });
                self.plan(simulated_work.costs[0], caller, Task::AfterFirst(launch_plan, simulated_work));
            }
        }
    }

    /// A caller runs all groups from one on.
    fn run_alone(&mut self, caller: usize, simulated_work: &Work, first_group: u64) {
        let time: Time = simulated_work.costs[first_group as usize..].iter().sum();
        let (group_count, began, ended) = (simulated_work.costs.len() as u64, self.now, self.now + time);
        let mut chunks = std::mem::take(&mut self.callers[caller].first);
        chunks.push(Chunk { thread: caller, groups: first_group..group_count, begin: began, end: ended });
        self.records.push(Record { began, ended, chunks, groups: group_count });
        let next = self.callers[caller].launches.front().map(|next| next.gap);
        if let Some(gap) = next {
            self.plan(time + gap, caller, Task::Begin);
        }
    }

    fn share(&mut self, caller: usize, simulated_work: &Work, first_group: u64, seats: usize) {
        let shared = Shared {
            next: Cell::new(first_group),
            groups: simulated_work.costs.len() as u64,
            threads: (seats + usize::from(self.caller_helps)) as u64,
            costs: simulated_work.costs.clone(),
            active: Cell::new(0),
            waiting: Cell::new(None),
            began: self.now,
            chunks: RefCell::new(std::mem::take(&mut self.callers[caller].first)),
        };
        let launch = Handle(Rc::new(shared));
        let wake = self.crew.post_launch(launch.clone(), seats);
        self.wake(wake);
        // Those who look see it at once.
        for (helper, _) in std::mem::take(&mut self.looking) {
            self.crew.has_looked();
            self.ask(helper, false);
        }
        match self.caller_helps {
            true => self.claim(caller, &launch),
            false => launch.0.waiting.set(Some(caller)),
        }
    }

    fn wake(&mut self, helpers: usize) {
        let census = self.crew.take_census();
        assert!(helpers == 0 || census.coming <= census.seats, "more are woken than there are seats for: {census:?}");
        for _ in 0..helpers {
            let helper = self.sleeping.pop_front().expect("one that sleeps is woken");
            self.woken += 1;
            self.plan(WAKES_IN, helper, Task::Wake);
        }
    }

    /// A helper without a launch asks what to do. Whether it has joined one.
    fn ask(&mut self, helper: usize, has_looked: bool) -> bool {
        match self.crew.next_action(has_looked) {
            Action::Join { launch, wake } => {
                launch.0.active.set(launch.0.active.get() + 1);
                self.most_at_once = self.most_at_once.max(launch.0.active.get());
                self.wake(wake);
                self.claim(helper, &launch);
                return true;
            }
            Action::Look => {
                self.looking.push((helper, self.now));
                self.plan(LOOKS_FOR, helper, Task::StopLooking(self.now));
            }
            Action::Sleep => self.sleeping.push_back(helper),
            Action::End => panic!("the team is not closed"),
        }
        false
    }

    /// A thread takes the next groups of a launch, or is done with it.
    fn claim(&mut self, thread: usize, launch: &Handle) {
        let shared = &*launch.0;
        let first_group = shared.next.get();
        if first_group < shared.groups {
            let end_group = first_group + chunk_size(shared.groups - first_group, shared.threads);
            shared.next.set(end_group);
            let time: Time = shared.costs[first_group as usize..end_group as usize].iter().sum();
            let chunk = Chunk { thread, groups: first_group..end_group, begin: self.now, end: self.now + time };
            shared.chunks.borrow_mut().push(chunk);
            self.plan(time, thread, Task::Claim(launch.clone()));
            return;
        }
        if thread < self.callers.len() {
            shared.waiting.set(Some(thread));
        } else {
            shared.active.set(shared.active.get() - 1);
            self.ask(thread, false);
        }
        if let (0, Some(caller)) = (shared.active.get(), shared.waiting.get()) {
            shared.waiting.set(None);
            self.end_launch(caller, launch);
        }
    }

    fn end_launch(&mut self, caller: usize, launch: &Handle) {
        self.crew.remove_launch(|other| Rc::ptr_eq(&other.0, &launch.0));
        let (began, ended, group_count) = (launch.0.began, self.now, launch.0.groups);
        self.records.push(Record { began, ended, chunks: launch.0.chunks.take(), groups: group_count });
        self.plan_next_launch(caller);
    }
}

fn even(groups: usize, cost: Time) -> Work {
    Work { costs: vec![cost; groups], took_long: false, gap: 0 }
}

/// Groups of which some take a hundred times as long as others, differently for each seed.
fn uneven(groups: usize, mut seed: u64) -> Work {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        100 * (1 + (seed >> 33) % 100)
    };
    Work { costs: (0..groups).map(|_| next()).collect(), took_long: seed.is_multiple_of(3), gap: seed % 50_000 }
}

#[test]
fn launches_of_all_sizes_run_each_group_once_and_evenly() {
    for helpers in [0, 1, 2, 7, 31] {
        for groups in [1, 2, 3, 10, 65, 1000] {
            for seed in 0..20 {
                let launches = (0..4).map(|launch| uneven(groups, seed * 10 + launch)).collect();
                let caller_helps = helpers == 0 || seed % 4 != 0;
                let simulation = Simulation::new(helpers, helpers, caller_helps, vec![launches]).run();
                assert_eq!(simulation.records.len(), 4);
            }
        }
    }
}

#[test]
fn launches_of_several_callers_share_the_helpers() {
    for seed in 0..50 {
        let of_caller =
            |caller: u64| (0..5).map(|launch| uneven(40 + 97 * launch, seed + 100 * caller + launch as u64)).collect();
        let simulation = Simulation::new(6, 6, true, (0..4).map(of_caller).collect()).run();
        assert_eq!(simulation.records.len(), 20);
    }
}

#[test]
fn nobody_is_woken_for_work_that_ends_sooner() {
    // 20 groups of 0.3 microseconds take less than a thread to wake up.
    let simulation = Simulation::new(7, 7, true, vec![vec![even(20, 300); 5]]).run();
    assert_eq!((simulation.woken, simulation.most_at_once), (0, 0));
    // What is worth three helpers wakes no fourth one.
    let simulation = Simulation::new(7, 7, true, vec![vec![even(101, 300)]]).run();
    assert_eq!(simulation.woken, 3);
}

#[test]
fn who_is_woken_finds_work() {
    for helpers in [1, 2, 7, 31] {
        // Long enough for the last of those who wake each other.
        let simulation = Simulation::new(helpers, helpers, true, vec![vec![even(10_000, 1_000)]]).run();
        assert_eq!((simulation.woken, simulation.in_vain), (helpers, 0));
        assert_eq!(simulation.most_at_once, helpers);
    }
}

#[test]
fn no_more_helpers_come_than_are_of_use() {
    let simulation = Simulation::new(127, 3, true, vec![vec![even(4096, 5_000); 3]]).run();
    assert_eq!((simulation.woken, simulation.most_at_once), (3, 3));
}

#[test]
fn those_who_look_need_no_waking() {
    let launches = vec![even(1000, 1_000), Work { gap: LOOKS_FOR / 2, ..even(1000, 1_000) }];
    let simulation = Simulation::new(3, 3, true, vec![launches.clone()]).run();
    assert_eq!(simulation.woken, 3);
    // Four threads from nearly the beginning on: as good as can be but for a chunk.
    let second = &simulation.records[1];
    let bound = 1000 * 1_000 / 4 + 1_000 + second.longest_chunk();
    assert!(second.ended - second.began <= bound, "{} > {bound}", second.ended - second.began);
    // After a long gap they sleep, and are woken again.
    let late = vec![launches[0].clone(), Work { gap: 3 * LOOKS_FOR, ..launches[1].clone() }];
    assert_eq!(Simulation::new(3, 3, true, vec![late]).run().woken, 6);
}

#[test]
fn two_long_groups_run_side_by_side_once_it_is_known_that_they_are() {
    let known = Work { took_long: true, ..even(2, 1_000_000) };
    let simulation = Simulation::new(1, 1, true, vec![vec![even(2, 1_000_000), known]]).run();
    let times: Vec<Time> = simulation.records.iter().map(|record| record.ended - record.chunks[0].begin).collect();
    assert_eq!(times, [2_000_000, 1_000_000 + WAKES_IN]);
}

#[test]
fn many_long_groups_begin_together_once_it_is_known_that_they_are() {
    let known = Work { took_long: true, ..even(32, 90_000) };
    let simulation = Simulation::new(1, 1, true, vec![vec![even(32, 90_000), known]]).run();
    let times: Vec<Time> = simulation.records.iter().map(|record| record.ended - record.chunks[0].begin).collect();
    // The helper is idle during the first group of the first launch, so that one is left over for the caller; of the second each has half.
    assert_eq!(times, [17 * 90_000, 16 * 90_000 + WAKES_IN]);
}
