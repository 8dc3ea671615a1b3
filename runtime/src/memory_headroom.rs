//! How much memory buffers may still take.
//!
//! Pages come when they are first touched. A buffer that the machine or the process's control groups have no room for
//! would end the application then, so it is refused when it is made. What counts against the room is the size of the new
//! buffer and the pages of the others that were not touched yet.
//!
//! Asking the system means reading some files, tens of microseconds. It is asked again when a quarter of the room it had
//! has been handed out since, or after a while, as others take memory as well.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use once_cell::sync::Lazy;
use parking_lot::{Mutex, MutexGuard};

use crate::control_groups::ControlGroups;
use crate::per_process::PerProcess;

/// Bytes of a page of x86-64.
pub(crate) const BASE_PAGE: usize = 4096;
/// What is left to the process for page tables, stacks and other data.
const KEPT_FREE: u64 = 16 << 20;
/// As old an answer of the system still counts.
const ANSWER_LIFETIME: Duration = Duration::from_millis(100);
/// Pages whose state one system call asks for: 256 MiB of them.
const PAGES_AT_ONCE: usize = 64 << 10;

/// The record of this process's buffers.
pub(crate) static LEDGER: Lazy<Ledger> = Lazy::new(|| Ledger::new(Box::new(bytes_left)));

/// Counts what buffers take and refuses what there is no room for.
pub(crate) struct Ledger {
    /// Bytes that the process may still use, if there is a limit.
    bytes_left: Box<dyn Fn() -> Option<u64> + Send + Sync>,
    /// A forked child counts anew: what its parent has is not its own before it writes to it.
    state: PerProcess<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Bytes of all buffers.
    taken: u64,
    /// Bytes of those that have pages of their own, which appear when they are touched.
    mapped: u64,
    /// These pages: where they start, and how many bytes they are.
    mappings: BTreeMap<usize, usize>,
    /// Bytes that may be handed out before the system is asked again.
    granted: u64,
    /// When the system was asked last.
    asked: Option<Instant>,
}

impl Ledger {
    fn new(bytes_left: Box<dyn Fn() -> Option<u64> + Send + Sync>) -> Self {
        Self { bytes_left, state: PerProcess::new() }
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.get_or_make(Mutex::default).lock()
    }

    /// Counts a buffer of `size` bytes, with pages of its own if it is `mapped`, so that all together take no more than
    /// `total` bytes; or says why there is no room. What is refused is not counted, not even for a moment: others may ask
    /// for what there is room for.
    pub(crate) fn reserve_bytes(&self, size: u64, mapped: bool, total: u64) -> Result<(), &'static str> {
        let mut state = self.lock_state();
        let taken = state.taken.checked_add(size).filter(|&taken| taken <= total);
        let taken = taken.ok_or("more than the device's memory together with the other buffers")?;
        let is_fresh = |asked: Instant| asked.elapsed() < ANSWER_LIFETIME;
        if size > state.granted || !state.asked.is_some_and(is_fresh) {
            let room = self.room_for(size, &state);
            state.asked = Some(Instant::now());
            state.granted = 0;
            let left = room.checked_sub(size).ok_or("more than the system has left")?;
            state.granted = size + left / 4;
        }
        state.granted -= size;
        state.taken = taken;
        state.mapped += if mapped { size } else { 0 };
        Ok(())
    }

    /// Takes back what [`Ledger::reserve_bytes`] counted.
    pub(crate) fn release_bytes(&self, size: u64, mapped: bool) {
        let mut state = self.lock_state();
        // A forked child may release what its parent counted.
        state.taken = state.taken.saturating_sub(size);
        state.mapped = state.mapped.saturating_sub(if mapped { size } else { 0 });
    }

    /// Keeps in mind where the pages of a buffer are.
    pub(crate) fn add_mapping(&self, start: usize, byte_size: usize) {
        self.lock_state().mappings.insert(start, byte_size);
    }

    /// Forgets them. They must still be there.
    pub(crate) fn remove_mapping(&self, start: usize) {
        self.lock_state().mappings.remove(&start);
    }

    /// Bytes that a new buffer of `size` bytes may take.
    fn room_for(&self, size: u64, state: &State) -> u64 {
        let Some(left) = (self.bytes_left)() else { return u64::MAX };
        let left = left.saturating_sub(KEPT_FREE);
        // Which pages were touched matters only where not all of them have room once more.
        let room = left.saturating_sub(state.mapped);
        if room >= size {
            return room;
        }
        let resident: u64 = state.mappings.iter().map(|(&start, &byte_size)| resident_bytes(start, byte_size)).sum();
        left.saturating_sub(state.mapped.saturating_sub(resident))
    }
}

/// Bytes of the pages from `start` on that are in memory; pages that were read but never written count, although they
/// take none. Those that were swapped out do not count, as they will need memory again.
fn resident_bytes(start: usize, byte_size: usize) -> u64 {
    let mut resident = 0;
    let mut states = vec![0_u8; byte_size.div_ceil(BASE_PAGE).min(PAGES_AT_ONCE)];
    for offset in (0..byte_size).step_by(PAGES_AT_ONCE * BASE_PAGE) {
        let length = (byte_size - offset).min(PAGES_AT_ONCE * BASE_PAGE);
        let address = std::ptr::without_provenance_mut(start + offset);
        // SAFETY: the kernel only looks at how the pages are mapped, and writes a byte for each of them to `states`,
        // which has as many. It refuses addresses that are not mapped.
        if unsafe { libc::mincore(address, length, states.as_mut_ptr()) } == 0 {
            let pages = &states[..length.div_ceil(BASE_PAGE)];
            resident += pages.iter().filter(|&&state| state & 1 != 0).count() * BASE_PAGE;
        }
    }
    resident.min(byte_size) as u64
}

/// Bytes that the system could give this process without swapping, by what it says of all its memory and of the
/// process's control groups.
pub(crate) fn bytes_left() -> Option<u64> {
    static GROUPS: PerProcess<Mutex<Option<ControlGroups>>> = PerProcess::new();
    let root_folder = Path::new("/");
    let mut groups = GROUPS.get_or_make(Mutex::default).lock();
    let known_groups = groups.take().filter(|control_groups| control_groups.are_current(root_folder));
    let control_groups = groups.insert(known_groups.unwrap_or_else(|| ControlGroups::of_this_process(root_folder)));
    [available_memory(), control_groups.memory_left()].into_iter().flatten().min()
}

/// Bytes that the machine has without swapping, if it says so.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::memory_allocation::Allocation;

    const MIB: u64 = 1 << 20;
    const NO_TOTAL: u64 = u64::MAX;

    /// A ledger of a system that has as much left as the first number says; the second one counts how often it was
    /// asked.
    fn ledger(left: u64) -> (Ledger, Arc<[AtomicU64; 2]>) {
        let system = Arc::new([AtomicU64::new(left), AtomicU64::new(0)]);
        let asked = system.clone();
        let bytes_left = move || {
            asked[1].fetch_add(1, Ordering::Relaxed);
            Some(asked[0].load(Ordering::Relaxed))
        };
        (Ledger::new(Box::new(bytes_left)), system)
    }

    #[test]
    fn buffers_of_any_size_are_refused_when_nothing_is_left() {
        let (ledger, system) = ledger(KEPT_FREE + 100);
        assert!(ledger.reserve_bytes(101, false, NO_TOTAL).is_err());
        assert!(ledger.reserve_bytes(100, false, NO_TOTAL).is_ok());
        system[0].store(KEPT_FREE, Ordering::Relaxed);
        assert!(ledger.reserve_bytes(1, false, NO_TOTAL).is_err());
    }

    #[test]
    fn the_device_has_no_more_than_its_memory() {
        let (ledger, _system) = ledger(1 << 40);
        assert!(ledger.reserve_bytes(70, false, 100).is_ok());
        assert!(ledger.reserve_bytes(31, false, 100).is_err());
        ledger.release_bytes(70, false);
        assert!(ledger.reserve_bytes(100, false, 100).is_ok());
        assert!(ledger.reserve_bytes(u64::MAX, false, NO_TOTAL).is_err(), "the sum has no number");
    }

    #[test]
    fn the_system_is_asked_again_when_it_could_matter() {
        let (ledger, system) = ledger(KEPT_FREE + 1000 * MIB);
        // Within the time that an answer lasts, if the machine is not too busy for that.
        let start = Instant::now();
        for _ in 0..1000 {
            assert!(ledger.reserve_bytes(MIB / 8, false, NO_TOTAL).is_ok());
        }
        let asked = system[1].load(Ordering::Relaxed);
        assert!(asked == 1 || start.elapsed() >= ANSWER_LIFETIME, "125 MiB of 1000, asked {asked} times");
        // Somebody else took the rest.
        system[0].store(KEPT_FREE, Ordering::Relaxed);
        let handed_out = (0..).take_while(|_| ledger.reserve_bytes(MIB, false, NO_TOTAL).is_ok()).count();
        assert!(handed_out <= 250, "{handed_out} MiB");
    }

    /// Sixty of these are fewer bytes than have huge pages.
    const UNIT: u64 = 50 << 10;

    #[test]
    fn what_was_promised_and_not_touched_counts() {
        let (ledger, _system) = ledger(KEPT_FREE + 100 * UNIT);
        let pages = Allocation::new(60 * UNIT as usize, NO_TOTAL).unwrap();
        assert!(ledger.reserve_bytes(60 * UNIT, true, NO_TOTAL).is_ok());
        ledger.add_mapping(pages.start() as usize, pages.size());
        // The system still has all of the 100 units, but 60 of them are somebody's.
        assert!(ledger.reserve_bytes(41 * UNIT, true, NO_TOTAL).is_err());
        assert!(ledger.reserve_bytes(40 * UNIT, true, NO_TOTAL).is_ok());
        ledger.release_bytes(40 * UNIT, true);
        ledger.remove_mapping(pages.start() as usize);
        ledger.release_bytes(60 * UNIT, true);
        assert!(ledger.reserve_bytes(100 * UNIT, true, NO_TOTAL).is_ok());
    }

    #[test]
    fn what_was_touched_is_in_the_systems_answer_already() {
        let (ledger, system) = ledger(KEPT_FREE + 100 * UNIT);
        let pages = Allocation::new(60 * UNIT as usize, NO_TOTAL).unwrap();
        assert!(ledger.reserve_bytes(60 * UNIT, true, NO_TOTAL).is_ok());
        ledger.add_mapping(pages.start() as usize, pages.size());
        // SAFETY: there are 60 units, and nobody else uses them.
        unsafe { pages.start().write_bytes(1, 50 * UNIT as usize) };
        system[0].store(KEPT_FREE + 50 * UNIT, Ordering::Relaxed);
        assert!(ledger.reserve_bytes(51 * UNIT, true, NO_TOTAL).is_err());
        // Of the 50 units that are left 10 are somebody's; fewer if huge pages hold more than was touched.
        assert!(ledger.reserve_bytes(40 * UNIT, true, NO_TOTAL).is_ok());
    }

    #[test]
    fn a_system_that_says_nothing_refuses_nothing() {
        let ledger = Ledger::new(Box::new(|| None));
        assert!(ledger.reserve_bytes(1 << 40, true, NO_TOTAL).is_ok());
    }
}
