//! Queues, commands and events: order, dependencies, errors, callbacks, and who executes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use lockstep_runtime::api_handle::HandleOperations;
use lockstep_runtime::command::{Command, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::error;
use lockstep_runtime::event::Event;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_layout::Layout;
use lockstep_runtime::memory_transfer::{Hold, NativeCall, Place, Transfer};
use lockstep_runtime::platform::Platform;
use lockstep_runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_COMMAND_NATIVE_KERNEL, CL_COMPLETE,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_OPERATION, CL_MEM_READ_WRITE, CL_OUT_OF_HOST_MEMORY,
    CL_OUT_OF_RESOURCES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, cl_command_type,
    cl_int,
};

const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
const SOON: Duration = Duration::from_secs(20);

fn context() -> Arc<Context> {
    Context::new(vec![Platform::get().device().clone()], Vec::new(), None)
}

fn queue(context: &Arc<Context>, properties: u64) -> Arc<Queue> {
    Queue::new(context.clone(), context.devices()[0].clone(), properties, Vec::new())
}

/// Enqueues work with an event.
fn put(queue: &Arc<Queue>, command_type: cl_command_type, waits: &[&Arc<Event>], work: Work) -> Arc<Event> {
    let event = Event::of_command(queue, command_type);
    let wait_list = waits.iter().map(|&event| event.clone()).collect();
    queue.enqueue_command(Command {
        kind: command_type,
        waits: wait_list,
        work,
        event: Some(event.clone()),
        whole: None,
    });
    event
}

/// Enqueues work that appends `name` to a list.
fn note(queue: &Arc<Queue>, waits: &[&Arc<Event>], list: &Arc<Mutex<Vec<usize>>>, name: usize) -> Arc<Event> {
    let list = list.clone();
    let work = Work::once(move || {
        list.lock().unwrap().push(name);
        Ok(())
    });
    put(queue, CL_COMMAND_NATIVE_KERNEL, waits, work)
}

#[test]
fn in_order_commands_run_in_order_on_the_waiting_thread() {
    let context = context();
    let queue = queue(&context, 0);
    let (list, threads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    for name in 0..100 {
        let (list, threads) = (list.clone(), threads.clone());
        let work = Work::once(move || {
            list.lock().unwrap().push(name);
            threads.lock().unwrap().push(std::thread::current().id());
            Ok(())
        });
        queue.enqueue_command(Command { kind: CL_COMMAND_NATIVE_KERNEL, work, ..Command::default() });
    }
    assert!(list.lock().unwrap().is_empty(), "nothing runs before somebody asks");
    queue.finish();
    assert_eq!(*list.lock().unwrap(), (0..100).collect::<Vec<_>>());
    assert!(threads.lock().unwrap().iter().all(|&id| id == std::thread::current().id()));
}

#[test]
fn flushed_commands_run_without_further_calls() {
    let context = context();
    for properties in [0, OUT_OF_ORDER] {
        let queue = queue(&context, properties);
        let (sender, receiver) = mpsc::channel();
        for name in 0..10 {
            let sender = sender.clone();
            let work = Work::once(move || {
                sender.send(name).unwrap();
                Ok(())
            });
            put(&queue, CL_COMMAND_NATIVE_KERNEL, &[], work);
        }
        queue.flush();
        let mut seen: Vec<i32> = (0..10).map(|_| receiver.recv_timeout(SOON).unwrap()).collect();
        if properties == OUT_OF_ORDER {
            seen.sort_unstable();
        }
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn a_user_event_holds_back_its_dependents_and_those_behind_them() {
    let context = context();
    let queue = queue(&context, 0);
    let list = Arc::new(Mutex::new(Vec::new()));
    let gate = Event::new_user_event(context.clone());
    assert_eq!(gate.status(), CL_SUBMITTED);
    let first = note(&queue, &[&gate], &list, 1);
    let second = note(&queue, &[], &list, 2);
    queue.flush();
    std::thread::sleep(Duration::from_millis(20));
    assert!(list.lock().unwrap().is_empty());
    assert!(first.status() >= CL_SUBMITTED && second.status() >= CL_SUBMITTED);
    gate.set_user_status(CL_COMPLETE).unwrap();
    second.wait_until_ended();
    assert_eq!(*list.lock().unwrap(), [1, 2]);
    assert_eq!(gate.set_user_status(CL_COMPLETE).unwrap_err().code(), CL_INVALID_OPERATION);
}

#[test]
fn out_of_order_commands_pass_one_that_waits() {
    let context = context();
    let queue = queue(&context, OUT_OF_ORDER);
    let list = Arc::new(Mutex::new(Vec::new()));
    let gate = Event::new_user_event(context.clone());
    let held = note(&queue, &[&gate], &list, 1);
    let free = note(&queue, &[], &list, 2);
    free.wait_until_ended();
    assert_eq!(*list.lock().unwrap(), [2]);
    assert!(!held.has_ended());
    gate.set_user_status(CL_COMPLETE).unwrap();
    queue.finish();
    assert_eq!(*list.lock().unwrap(), [2, 1]);
}

#[test]
fn out_of_order_barriers_and_markers_separate() {
    let context = context();
    let queue = queue(&context, OUT_OF_ORDER);
    let list = Arc::new(Mutex::new(Vec::new()));
    let gate = Event::new_user_event(context.clone());
    for name in 0..8 {
        let waits: &[&Arc<Event>] = if name == 3 { &[&gate] } else { &[] };
        note(&queue, waits, &list, name);
    }
    let marker = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
    let barrier = put(&queue, CL_COMMAND_BARRIER, &[], Work::Nothing);
    let behind = note(&queue, &[], &list, 100);
    queue.flush();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!marker.has_ended() && !barrier.has_ended() && !behind.has_ended());
    gate.set_user_status(CL_COMPLETE).unwrap();
    behind.wait_until_ended();
    assert!(marker.has_ended() && barrier.has_ended());
    let mut list = list.lock().unwrap().clone();
    assert_eq!(list.pop(), Some(100));
    list.sort_unstable();
    assert_eq!(list, (0..8).collect::<Vec<_>>());
}

#[test]
fn a_barrier_behind_events_holds_back_only_what_follows() {
    let context = context();
    let queue = queue(&context, OUT_OF_ORDER);
    let list = Arc::new(Mutex::new(Vec::new()));
    let (gate, other) = (Event::new_user_event(context.clone()), Event::new_user_event(context.clone()));
    note(&queue, &[&other], &list, 1);
    put(&queue, CL_COMMAND_BARRIER, &[&gate], Work::Nothing);
    let behind = note(&queue, &[], &list, 2);
    queue.flush();
    gate.set_user_status(CL_COMPLETE).unwrap();
    behind.wait_until_ended();
    assert_eq!(*list.lock().unwrap(), [2]);
    other.set_user_status(CL_COMPLETE).unwrap();
    queue.finish();
    assert_eq!(*list.lock().unwrap(), [2, 1]);
}

#[test]
fn errors_end_dependents_in_every_queue() {
    let context = context();
    let (first, second) = (queue(&context, 0), queue(&context, OUT_OF_ORDER));
    let fails =
        put(&first, CL_COMMAND_NATIVE_KERNEL, &[], Work::once(|| Err(error!(CL_OUT_OF_RESOURCES, "nothing is left"))));
    let ran = Arc::new(Mutex::new(Vec::new()));
    let dependent = note(&second, &[&fails], &ran, 1);
    let further = note(&first, &[&dependent], &ran, 2);
    let independent = note(&first, &[], &ran, 3);
    // Waiting for the last one must flush what it depends on in the other queue.
    independent.wait_until_ended();
    assert_eq!(fails.status(), CL_OUT_OF_RESOURCES);
    assert_eq!(dependent.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(further.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(independent.status(), CL_COMPLETE);
    assert_eq!(*ran.lock().unwrap(), [3]);
}

#[test]
fn a_queue_remembers_once_what_a_command_without_event_did_not_find() {
    let context = context();
    let queue = queue(&context, 0);
    let own = Event::of_command(&queue, CL_COMMAND_NATIVE_KERNEL);
    own.api.set_handle(1, &HandleOperations { recycle: |_| (), retain: |_| Ok(()), release: |_| () });
    // The event of a part is nobody's; what tells of it is that of the whole.
    let part_event = Event::of_command(&queue, CL_COMMAND_NATIVE_KERNEL);
    for (error_code, event, whole_event, is_remembered) in [
        (CL_OUT_OF_RESOURCES, None, None, true),
        (CL_OUT_OF_HOST_MEMORY, None, None, true),
        (CL_OUT_OF_RESOURCES, Some(own.clone()), None, false),
        (CL_OUT_OF_RESOURCES, Some(part_event.clone()), None, true),
        (CL_OUT_OF_RESOURCES, Some(part_event), Some(own), false),
        (CL_INVALID_OPERATION, None, None, false),
    ] {
        let work = Work::once(move || Err(error!(error_code, "as it should")));
        queue.enqueue_command(Command {
            kind: CL_COMMAND_NATIVE_KERNEL,
            work,
            event,
            whole: whole_event,
            ..Command::default()
        });
        assert_eq!(queue.take_want(), None, "nothing has run");
        queue.finish();
        let expected = is_remembered.then_some(error_code);
        assert_eq!([queue.take_want(), queue.take_want()], [expected, None], "{error_code}");
    }
}

#[test]
fn a_user_events_error_reaches_its_dependents() {
    let context = context();
    let queue = queue(&context, 0);
    let gate = Event::new_user_event(context.clone());
    let event = put(&queue, CL_COMMAND_MARKER, &[&gate], Work::Nothing);
    queue.flush();
    gate.set_user_status(-7).unwrap();
    event.wait_until_ended();
    assert_eq!((gate.status(), event.status()), (-7, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
}

#[test]
fn a_panicking_command_fails_alone_and_tells_the_context() {
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    let on_error = Box::new(move |_: &str| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), Some(on_error));
    let queue = queue(&context, 0);
    let panics = put(&queue, CL_COMMAND_NATIVE_KERNEL, &[], Work::once(|| panic!("on purpose")));
    let after = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
    queue.finish();
    assert_eq!((panics.status(), after.status()), (CL_OUT_OF_RESOURCES, CL_COMPLETE));
    assert_eq!(told.load(Ordering::Relaxed), 1);
}

#[test]
fn callbacks_come_once_for_each_status_registered() {
    let context = context();
    let queue = queue(&context, 0);
    let (sender, receiver) = mpsc::channel();
    let event = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
    let register = |wanted: cl_int| {
        let sender = sender.clone();
        event.on_status(wanted, Box::new(move |status| sender.send((wanted, status)).unwrap()));
    };
    assert_eq!(event.status(), CL_QUEUED);
    for wanted in [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE, CL_COMPLETE] {
        register(wanted);
    }
    queue.flush();
    let mut seen: Vec<_> = (0..4).map(|_| receiver.recv_timeout(SOON).unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, [CL_COMPLETE, CL_COMPLETE, CL_RUNNING, CL_SUBMITTED].map(|s| (s, s)));
    // What has happened already is told at once.
    register(CL_RUNNING);
    assert_eq!(receiver.recv_timeout(SOON), Ok((CL_RUNNING, CL_RUNNING)));
}

#[test]
fn a_callback_may_wait_for_its_own_queue() {
    let context = context();
    for properties in [0, OUT_OF_ORDER] {
        let queue = queue(&context, properties);
        let (sender, receiver) = mpsc::channel();
        let event = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
        let again = queue.clone();
        event.on_status(
            CL_COMPLETE,
            Box::new(move |_| {
                let more = put(&again, CL_COMMAND_MARKER, &[], Work::Nothing);
                again.finish();
                sender.send(more.status()).unwrap();
            }),
        );
        queue.flush();
        assert_eq!(receiver.recv_timeout(SOON), Ok(CL_COMPLETE));
    }
}

#[test]
fn commands_behind_a_slow_callback_go_on() {
    let context = context();
    let queue = queue(&context, 0);
    let (release, held) = mpsc::channel::<()>();
    let (told, done) = mpsc::channel();
    let first = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
    first.on_status(CL_COMPLETE, Box::new(move |_| assert_eq!(held.recv_timeout(SOON), Ok(()))));
    let second = put(&queue, CL_COMMAND_MARKER, &[], Work::Nothing);
    second.on_status(CL_COMPLETE, Box::new(move |_| told.send(()).unwrap()));
    queue.flush();
    assert_eq!(done.recv_timeout(SOON), Ok(()));
    release.send(()).unwrap();
}

#[test]
fn times_ascend() {
    let context = context();
    let queue = queue(&context, opencl_sys::CL_QUEUE_PROFILING_ENABLE);
    let work = || {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    };
    let event = put(&queue, CL_COMMAND_NATIVE_KERNEL, &[], Work::once(work));
    assert_eq!(event.profiling_times(), None);
    event.wait_until_ended();
    let times = event.profiling_times().unwrap();
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
    assert!(times[3] - times[2] >= 2_000_000, "{times:?}");
}

#[test]
fn what_a_command_holds_goes_with_it() {
    let context = context();
    let queue = queue(&context, 0);
    let held = Arc::new(());
    let in_work = held.clone();
    let event = put(
        &queue,
        CL_COMMAND_NATIVE_KERNEL,
        &[],
        Work::once(move || {
            drop(in_work);
            Ok(())
        }),
    );
    assert_eq!(Arc::strong_count(&held), 2);
    event.wait_until_ended();
    assert_eq!(Arc::strong_count(&held), 1);
    drop(event);
    // Neither events nor barriers keep a queue alive behind its back.
    let unordered = self::queue(&context, OUT_OF_ORDER);
    drop(put(&unordered, CL_COMMAND_BARRIER, &[], Work::Nothing));
    unordered.finish();
    assert_eq!(Arc::strong_count(&unordered), 1);
}

#[test]
fn changing_the_order_waits_for_what_was_enqueued() {
    let context = context();
    let queue = queue(&context, 0);
    let list = Arc::new(Mutex::new(Vec::new()));
    note(&queue, &[], &list, 1);
    assert_eq!(queue.set_properties(OUT_OF_ORDER, true), 0);
    assert_eq!(*list.lock().unwrap(), [1]);
    assert_eq!(queue.set_properties(OUT_OF_ORDER, false), OUT_OF_ORDER);
}

/// Many threads, queues of both kinds, random dependencies across queues: every command runs once, after what it waits
/// for.
#[test]
fn random_graphs_keep_their_order() {
    const THREADS: usize = 4;
    const COMMANDS: usize = 400;
    let context = context();
    let queues: Vec<_> = (0..4).map(|i| queue(&context, if i % 2 == 0 { OUT_OF_ORDER } else { 0 })).collect();
    let clock = Arc::new(AtomicUsize::new(1));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (queues, clock) = (&queues, &clock);
            scope.spawn(move || {
                let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(thread as u64 + 1);
                let mut random = move |below: usize| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state % below as u64) as usize
                };
                let mut nodes: Vec<(Arc<Event>, Vec<usize>, Arc<AtomicUsize>)> = Vec::new();
                for _ in 0..COMMANDS {
                    let dependencies: Vec<usize> = match nodes.len() {
                        0 => Vec::new(),
                        n => (0..random(3)).map(|_| n - 1 - random(n.min(20))).collect(),
                    };
                    let waits: Vec<_> = dependencies.iter().map(|&index| &nodes[index].0).collect();
                    let time = Arc::new(AtomicUsize::new(0));
                    let (clock, slot) = (clock.clone(), time.clone());
                    let work = Work::once(move || {
                        assert_eq!(slot.swap(clock.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst), 0);
                        Ok(())
                    });
                    let queue = &queues[random(queues.len())];
                    let event = put(queue, CL_COMMAND_NATIVE_KERNEL, &waits, work);
                    nodes.push((event, dependencies, time));
                    match random(20) {
                        0 => queue.flush(),
                        1 => queue.finish(),
                        2 => nodes[random(nodes.len())].0.wait_until_ended(),
                        _ => {}
                    }
                }
                queues.iter().for_each(|queue| queue.finish());
                for (event, dependencies, time) in &nodes {
                    assert_eq!(event.status(), CL_COMPLETE);
                    for &before in dependencies {
                        assert!(nodes[before].2.load(Ordering::SeqCst) < time.load(Ordering::SeqCst));
                    }
                }
            });
        }
    });
}

/// With the last reference to an object goes what the application wants done then, and that may wait for the queue.
#[test]
fn a_command_lets_go_of_memory_when_it_has_ended() {
    extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let context = context();
    let place = |memory: &Arc<Memory>| Place::in_object(memory.clone(), Layout::of_bytes(0));
    type Make<'a> = &'a dyn Fn(Arc<Memory>) -> Work;
    let fill: Make = &|memory| Work::Shared(Arc::new(Transfer::fill(0, place(&memory), [16, 1, 1], &[1])));
    let hold: Make = &|memory| Work::Shared(Arc::new(Hold(vec![memory])));
    let native: Make = &|memory| Work::Shared(Arc::new(NativeCall::new(nothing, Box::default(), vec![memory])));
    for make in [fill, hold, native] {
        let queue = queue(&context, 0);
        // SAFETY: no pointer of the host's.
        let memory =
            unsafe { Memory::new(context.clone(), CL_MEM_READ_WRITE, 16, std::ptr::null_mut(), Vec::new()).unwrap() };
        let (waited, has_waited) = mpsc::channel();
        let again = queue.clone();
        memory.on_destruction(Box::new(move || {
            again.finish();
            waited.send(()).unwrap();
        }));
        queue.enqueue_command(Command { kind: CL_COMMAND_NATIVE_KERNEL, work: make(memory), ..Command::default() });
        queue.flush();
        has_waited.recv_timeout(SOON).expect("the queue is waited for in vain");
    }
}
