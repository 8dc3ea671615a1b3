//! Which commands may start, told by the state alone: no thread runs here.

use super::*;

/// A state of commands that wait for so many events each.
fn state_of(out_of_order: bool, blockers: &[usize]) -> State {
    let mut state = State { out_of_order, ..State::default() };
    for &blockers in blockers {
        let number = state.next_number();
        state.slots.push_back(Slot::Waiting(Pending { command: Command::default(), blockers }));
        if out_of_order && blockers == 0 {
            state.ready.push_back(number);
        }
    }
    state
}

/// The numbers of the commands that may start now, all taken.
fn take_all(state: &mut State) -> Vec<u64> {
    std::iter::from_fn(|| state.take_runnable()).map(|(number, _)| number).collect()
}

#[test]
fn in_order_one_command_runs_at_a_time_and_only_the_first() {
    let mut state = state_of(false, &[0, 0, 0]);
    for number in 0..3 {
        assert_eq!(state.runnable_count(), 1);
        assert_eq!(take_all(&mut state), [number]);
        assert_eq!(state.runnable_count(), 0, "one runs");
        state.mark_ended(number, None);
        assert_eq!(state.first, number + 1);
    }
    assert_eq!((state.runnable_count(), state.running, state.slots.len()), (0, 0, 0));
}

#[test]
fn in_order_a_head_that_waits_holds_all_others() {
    let mut state = state_of(false, &[2, 0]);
    assert!(take_all(&mut state).is_empty());
    state.unblock_command(0);
    assert!(take_all(&mut state).is_empty(), "it waits for another event");
    state.unblock_command(0);
    assert_eq!(take_all(&mut state), [0]);
}

#[test]
fn out_of_order_commands_start_in_the_order_in_which_they_became_ready() {
    let mut state = state_of(true, &[1, 0, 1, 0]);
    assert_eq!(state.runnable_count(), 2);
    state.unblock_command(2);
    state.unblock_command(0);
    assert_eq!(take_all(&mut state), [1, 3, 2, 0]);
    assert_eq!(state.running, 4);
}

#[test]
fn numbers_go_on_behind_a_command_that_has_not_ended() {
    let mut state = state_of(true, &[0, 0, 0]);
    assert_eq!(take_all(&mut state), [0, 1, 2]);
    state.mark_ended(1, None);
    state.mark_ended(2, None);
    assert_eq!((state.first, state.next_number(), state.running), (0, 3, 1), "the first still runs");
    state.mark_ended(0, None);
    assert_eq!((state.first, state.next_number(), state.running), (3, 3, 0));
    assert!(state.slot_of(1).is_none(), "what has ended has no slot");
}

#[test]
fn an_event_that_ends_late_finds_a_command_that_is_gone() {
    let mut state = state_of(true, &[0]);
    assert_eq!(take_all(&mut state), [0]);
    state.unblock_command(0);
    assert!(take_all(&mut state).is_empty(), "it runs already");
    state.mark_ended(0, None);
    state.unblock_command(0);
    assert_eq!((state.runnable_count(), state.running), (0, 0));
}
