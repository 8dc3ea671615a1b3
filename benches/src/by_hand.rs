//! What the machine allows: some kernels as plain loops on a thread per processor, and the least time that a run's needs
//! take. A child of a comparison serves them as if they were drivers, in turn with the others.

use std::hint::black_box;
use std::num::NonZero;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use lockstep_conformance::Plain;

use crate::case::{Outcome, Step};
use crate::large::Large;
use crate::needs::{self, Least};
use crate::worker::{LEAST_RUNS, answer_lines};
use crate::{groups, loops, suite};

/// What a child answers about a case that it has nothing for.
pub const ABSENT: &str = "absent";

/// What such a child runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The kernel's own work, written by hand.
    Loop,
    /// Nothing but moving as many bytes, or as many products and sums in registers.
    Needs,
}

/// Serves a parent's commands until the input ends.
pub fn serve(limit: Limit) {
    let mut prepared: Option<Work> = None;
    answer_lines(|words| match *words {
        ["prepare", name] => {
            prepared = None;
            let work = match limit {
                Limit::Loop => by_hand(name)?,
                Limit::Needs => needed(name)?,
            };
            prepared = Some(work);
            Ok("ready 0".to_owned())
        }
        ["run", milliseconds] => {
            let budget = Duration::from_millis(milliseconds.parse().expect("the parent sends a number"));
            let work = prepared.as_mut().expect("the parent prepares a case first");
            Ok(burst(work, budget))
        }
        _ => panic!("no such command: {words:?}"),
    });
}

/// What one turn does again and again.
struct Work {
    /// So many runs, and how long they took.
    run: Box<dyn FnMut(u32) -> Duration>,
    /// How many at once: that threads begin one after the other must not count.
    repeats: u32,
    /// How long one took before.
    took: Duration,
}

/// So long is what is started at once.
const AT_ONCE: Duration = Duration::from_millis(4);
const MOST_REPEATS: u32 = 1 << 12;

impl Work {
    fn once(mut run: impl FnMut() + 'static) -> Self {
        let timed = move |_| {
            let start = Instant::now();
            run();
            start.elapsed()
        };
        Self { run: Box::new(timed), repeats: 1, took: Duration::ZERO }
    }

    fn often(mut run: impl FnMut(u32) -> Duration + 'static) -> Self {
        // The first time touches the memory.
        run(1);
        let (mut repeats, mut took) = (1, run(1));
        while took < AT_ONCE && repeats < MOST_REPEATS {
            repeats *= 2;
            took = run(repeats);
        }
        Self { run: Box::new(run), repeats, took: took / repeats }
    }
}

/// Runs for about so long; the first run is to warm up.
fn burst(work: &mut Work, budget: Duration) -> String {
    (work.run)(work.repeats);
    let mut answer = "times".to_owned();
    let start = Instant::now();
    let mut runs = 0;
    while runs < LEAST_RUNS || start.elapsed() < budget {
        let took = ((work.run)(work.repeats) / work.repeats).as_nanos();
        answer += &format!(" {took}:{took}:{took}");
        runs += 1;
    }
    answer
}

/// A kernel's work on its problem's buffers, in floats, by what would be launched.
type Hand = fn(&mut [Vec<f32>], &[Step]);

/// The loop for a case, once it has been right.
fn by_hand(name: &str) -> Result<Work, String> {
    let hand: Hand = match name.trim_end_matches("_large") {
        "triad" => triad,
        "reduce" => reduce,
        "matrix_transpose" | "naive_transpose" => transpose,
        _ => return Err(ABSENT.to_owned()),
    };
    let problem = (groups::find(name).ok_or(ABSENT)?.case.problem)();
    let mut buffers: Vec<Vec<f32>> = problem.buffers.iter().map(|data| f32::from_bytes(&data.bytes)).collect();
    hand(&mut buffers, &problem.steps);
    (problem.check)(&Outcome(buffers.iter().map(|values| f32::to_bytes(values).to_vec()).collect()))?;
    Ok(Work::once(move || hand(&mut buffers, &problem.steps)))
}

fn triad(buffers: &mut [Vec<f32>], steps: &[Step]) {
    let [b, c, a] = buffers else { unreachable!("a triad has three arrays") };
    let share = share(a.len(), 1);
    std::thread::scope(|scope| {
        for ((a, b), c) in a.chunks_mut(share).zip(b.chunks(share)).zip(c.chunks(share)) {
            scope.spawn(move || (0..steps.len()).for_each(|_| loops::triad(black_box(&mut *a), b, c, 3.0)));
        }
    });
}

fn reduce(buffers: &mut [Vec<f32>], steps: &[Step]) {
    let [values, sums] = buffers else { unreachable!("a reduction has values and sums") };
    let group = values.len() / sums.len();
    let share = share(sums.len(), 1);
    std::thread::scope(|scope| {
        for (sums, values) in sums.chunks_mut(share).zip(values.chunks(share * group)) {
            scope.spawn(move || (0..steps.len()).for_each(|_| loops::sums(black_box(&mut *sums), values, group)));
        }
    });
}

fn transpose(buffers: &mut [Vec<f32>], steps: &[Step]) {
    let [width, height] = steps[0].global[..] else { unreachable!("a matrix has two dimensions") };
    let (matrix, out) = buffers.split_at_mut(1);
    let matrix = &matrix[0];
    let rows = share(width, loops::TILE);
    std::thread::scope(|scope| {
        for (number, out) in out[0].chunks_mut(rows * height).enumerate() {
            let columns = number * rows..number * rows + out.len() / height;
            let part = move |out: &mut [f32]| loops::transpose(out, matrix, [width, height], columns.clone());
            scope.spawn(move || (0..steps.len()).for_each(|_| part(black_box(&mut *out))));
        }
    });
}

/// Moves or computes what a run of the case needs, on all threads: whichever takes longer.
fn needed(name: &str) -> Result<Work, String> {
    let problem = (suite::find(name).ok_or(ABSENT)?.problem)();
    let Least { bytes, memory, operations, writes } = needs::of(name, &problem);
    let ways = if writes { &Movement::ALL[..] } else { &Movement::READING };
    let moving = || ways.iter().map(|way| way.move_bytes(bytes, memory)).min_by_key(|work| work.took);
    let moving = if bytes > 0.0 { moving() } else { None };
    let computing = (operations > 0.0).then(|| computing(operations));
    let slowest = [moving, computing].into_iter().flatten().max_by_key(|work| work.took);
    slowest.ok_or_else(|| ABSENT.to_owned())
}

/// A way to move bytes through a processor. The first cache can be read and written in one cycle, so that copying wins there. In
/// memory, stores past the caches win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    /// Reading, one after the other.
    Read,
    /// Reading in four places at once.
    ReadQuarters,
    /// Reading one half and writing the other.
    Copy,
    /// Reading two thirds and writing one past the caches.
    TriadPastCaches,
}

impl Movement {
    const READING: [Self; 2] = [Self::Read, Self::ReadQuarters];
    const ALL: [Self; 4] = [Self::Read, Self::ReadQuarters, Self::Copy, Self::TriadPastCaches];

    /// Moves so many bytes; a part of the memory again and again where there is less of it.
    fn move_bytes(self, bytes: f64, memory: f64) -> Work {
        let floats = (memory.min(bytes).min(WINDOW) / 4.0) as usize;
        let share = share(floats.max(1), UNIT);
        let mut memory = Large::<f32>::new(share * processors());
        let times = (bytes / (4 * memory.values().len()) as f64).round().max(1.0) as usize;
        Work::often(move |repeats| {
            let parts = memory.values_mut().chunks_mut(share);
            let move_part = |part: &mut [f32]| (0..repeats as usize * times).for_each(|_| self.move_once(part));
            at_once(parts.map(|part| move || move_part(part)).collect())
        })
    }

    /// Moves all of the memory once, a multiple of [`UNIT`] floats.
    fn move_once(self, memory: &mut [f32]) {
        let memory = black_box(memory);
        match self {
            Self::Read => _ = black_box(loops::checksum(bytemuck::cast_slice(memory))),
            Self::ReadQuarters => _ = black_box(loops::checksum_quarters(bytemuck::cast_slice(memory))),
            Self::Copy => {
                let (to, from) = memory.split_at_mut(memory.len() / 2);
                to.copy_from_slice(from);
            }
            Self::TriadPastCaches => {
                let third = memory.len() / 3;
                let (a, rest) = memory.split_at_mut(third);
                let (b, c) = rest.split_at(third);
                loops::triad_past_caches(a, b, c, 0.5);
            }
        }
    }
}

/// Floats of which a part of the memory has a multiple: halves and thirds of it are whole lines of the caches, and as many words as
/// the loops take at once.
const UNIT: usize = 384;

/// Computes so many products and sums in registers.
fn computing(operations: f64) -> Work {
    let each = operations / processors() as f64;
    Work::often(move |repeats| {
        let compute = move || _ = black_box(loops::multiply_add(black_box(each * f64::from(repeats))));
        at_once(vec![compute; processors()])
    })
}

/// Does the parts on a thread each: how long it takes from when all threads are there.
fn at_once<P: FnOnce() + Send>(parts: Vec<P>) -> Duration {
    let ready = &Barrier::new(parts.len());
    let times: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let start = |part: P| {
            scope.spawn(move || {
                ready.wait();
                let start = Instant::now();
                part();
                (start, Instant::now())
            })
        };
        let threads: Vec<_> = parts.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a part of the work")).collect()
    });
    let begin = times.iter().map(|&(start, _)| start).min();
    let end = times.iter().map(|&(_, end)| end).max();
    begin.zip(end).map_or(Duration::ZERO, |(begin, end)| end - begin)
}

/// More bytes than any cache is likely to keep.
const WINDOW: f64 = 128.0 * 1024.0 * 1024.0;

/// The part of each thread, a multiple of `unit`.
fn share(count: usize, unit: usize) -> usize {
    count.div_ceil(processors()).next_multiple_of(unit)
}

/// How many threads the process may run at once.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_by_hand_are_right() {
        for name in ["triad", "reduce", "matrix_transpose", "naive_transpose"] {
            let mut work = by_hand(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            (work.run)(1);
        }
        assert_eq!(by_hand("dct").err().as_deref(), Some(ABSENT));
    }

    #[test]
    fn every_kernel_has_a_limit() {
        for name in ["sgemm_tiled", "gather", "nest_1_10_k8"] {
            assert!(needed(name).is_ok_and(|work| work.took > Duration::ZERO), "{name}");
        }
    }

    #[test]
    fn bytes_are_moved_in_every_way() {
        let moved = |way: Movement| {
            let mut memory = Large::<f32>::new(2 * UNIT);
            memory.values_mut().iter_mut().enumerate().for_each(|(index, value)| *value = index as f32);
            way.move_once(memory.values_mut());
            memory.values().to_vec()
        };
        let before: Vec<f32> = (0..2 * UNIT).map(|index| index as f32).collect();
        for way in Movement::READING {
            assert_eq!(moved(way), before);
        }
        let copied = moved(Movement::Copy);
        assert!(copied[..UNIT] == before[UNIT..] && copied[UNIT..] == before[UNIT..]);
        let third = 2 * UNIT / 3;
        let triad = moved(Movement::TriadPastCaches);
        let want = |index: usize| before[third + index] + 0.5 * before[2 * third + index];
        assert!((0..third).all(|index| triad[index] == want(index)) && triad[third..] == before[third..]);
    }
}
