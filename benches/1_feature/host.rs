//! What calls cost that do no work on the device: graphs of events, maps, sub-buffers.

use std::ptr;
use std::time::{Duration, Instant};

use lockstep_benches::command_line::read_rounds;
use lockstep_benches::{Spread, line, measure};
use lockstep_conformance::commands::{finish, launch, marker};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Event, Queue, Random, Setup, cl, ok};

/// Nodes of a graph.
const NODES: usize = 1000;
/// Calls under the clock at a time.
const BATCH: u32 = 1000;

fn main() {
    let rounds = read_rounds(40);
    let setup = Setup::new();
    let queues = [
        ("in order", setup.context.queue(0)),
        ("out of order", setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)),
    ];
    for (order, queue) in &queues {
        graph(&setup, rounds, &format!("markers {order}"), &|after| marker(queue, after));
        let kernel = setup.context.kernel("kernel void nothing(global int *data) {}", "nothing");
        let data = setup.context.zeros::<i32>(1);
        kernel.set(0, &data);
        graph(&setup, rounds, &format!("kernels {order}"), &|after| launch(queue, &kernel, &[1], &[], after));
    }

    let buffer = setup.context.zeros::<u8>(1 << 20);
    for size in [64, 1 << 20] {
        let pair = measure(2, rounds, || (0..BATCH).for_each(|_| map_and_unmap(&setup.queue, &buffer, size)));
        line(&format!("map {size} bytes and wait, unmap"), pair.per(BATCH));
        finish(&setup.queue);
    }
    let sub = measure(2, rounds, || {
        for number in 0..BATCH as usize {
            let region = cl_buffer_region { origin: (number % 64) * 4096, size: 4096 };
            let mut code = 1;
            let kind = CL_BUFFER_CREATE_TYPE_REGION;
            let sub = (cl().clCreateSubBuffer)(buffer.raw(), 0, kind, (&raw const region).cast(), &mut code);
            ok(code);
            drop(Buffer::own(sub));
        }
    });
    line("sub-buffer: create and release", sub.per(BATCH));
}

/// A graph whose nodes wait for up to three of the twenty before them, and the first ones for the application.
fn graph(setup: &Setup, rounds: usize, what: &str, node: &dyn Fn(&[&Event]) -> Event) {
    let mut random = Random::new(7);
    let mut enqueued = Vec::new();
    let mut resolved = Vec::new();
    for _ in 0..=rounds {
        let gate = setup.context.user_event();
        let begin = Instant::now();
        let mut events: Vec<Event> = Vec::with_capacity(NODES);
        for number in 0..NODES {
            let before = |back: usize| events.get(number.wrapping_sub(back));
            let mut after: Vec<&Event> = (0..3).filter_map(|_| before(random.between(1, 20))).collect();
            if number < 20 {
                after.push(&gate);
            }
            let event = node(&after);
            events.push(event);
        }
        enqueued.push(begin.elapsed());
        // Whatever the queue's threads do with the first nodes is done.
        std::thread::sleep(Duration::from_millis(1));
        let begin = Instant::now();
        ok(gate.set_status(CL_COMPLETE));
        let handles: Vec<_> = events.iter().map(Event::raw).collect();
        ok((cl().clWaitForEvents)(handles.len() as cl_uint, handles.as_ptr()));
        resolved.push(begin.elapsed());
    }
    line(&format!("graph of {NODES} {what}: enqueue"), Spread::of(enqueued.split_off(1)));
    line(&format!("graph of {NODES} {what}: resolve"), Spread::of(resolved.split_off(1)));
}

fn map_and_unmap(queue: &Queue, buffer: &Buffer, size: usize) {
    let mut code = 1;
    let flags = CL_MAP_READ | CL_MAP_WRITE;
    let mapped = (cl().clEnqueueMapBuffer)(
        queue.raw(),
        buffer.raw(),
        CL_TRUE,
        flags,
        0,
        size,
        0,
        ptr::null(),
        ptr::null_mut(),
        &mut code,
    );
    ok(code);
    ok((cl().clEnqueueUnmapMemObject)(queue.raw(), buffer.raw(), mapped, 0, ptr::null(), ptr::null_mut()));
}
