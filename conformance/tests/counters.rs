//! Atomic operations whose results nobody uses, of many work-items on few places, where the driver may give each thread
//! places of its own.

use lockstep_conformance::loader::cl;
use lockstep_conformance::objects::Buffer;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::shared_memory::Svm;
use lockstep_conformance::{Random, Setup, arguments, ok, read, run};

const ITEMS: usize = 1 << 16;
/// Not a multiple of what is combined together.
const PLACES: usize = 61;

fn input() -> Vec<i32> {
    Random::new(51).ints(ITEMS, 1 << 20)
}

fn places(seed: u64) -> Vec<i32> {
    Random::new(seed).ints(PLACES, 1 << 20)
}

/// Does an operation for each value.
fn on_host(input: &[i32], out: &mut [i32], change: fn(i32, i32) -> i32) {
    for &v in input.iter().filter(|&v| v % 7 != 0) {
        let place = &mut out[v.unsigned_abs() as usize % PLACES];
        *place = change(*place, v.wrapping_mul(0x9E37));
    }
}

type Operation = (&'static str, &'static str, fn(i32, i32) -> i32);

const OPERATIONS: [Operation; 9] = [
    ("add", "int", i32::wrapping_add),
    ("sub", "int", i32::wrapping_sub),
    ("min", "int", |a, b| a.min(b)),
    ("max", "int", |a, b| a.max(b)),
    ("min", "uint", |a, b| (a as u32).min(b as u32) as i32),
    ("max", "uint", |a, b| (a as u32).max(b as u32) as i32),
    ("and", "int", |a, b| a & b),
    ("or", "int", |a, b| a | b),
    ("xor", "int", |a, b| a ^ b),
];

fn source((operation, ty, _): &Operation) -> String {
    format!(
        "kernel void f(global const int *in, global {ty} *out, int places) {{
            int v = in[get_global_id(0)];
            if (v % 7 != 0) atomic_{operation}(&out[abs(v) % places], ({ty})(v * 0x9E37));
        }}"
    )
}

/// Twice, so that what is there counts.
#[test]
fn every_operation() {
    let (setup, input) = (Setup::new(), input());
    let from = setup.context.with_values(&input);
    for operation in &OPERATIONS {
        let kernel = setup.context.build(&source(operation), "").kernel("f");
        let mut wanted = places(52);
        let to = setup.context.with_values(&wanted);
        kernel.set_all(arguments![&from, &to, PLACES as i32]);
        for local in [&[][..], &[128]] {
            run(&setup.queue, &kernel, &[ITEMS], local);
            on_host(&input, &mut wanted, operation.2);
        }
        assert_eq!(read::<i32>(&setup.queue, &to), wanted, "{} {}", operation.0, operation.1);
    }
}

/// Counters behind the beginning of a buffer, next to what does not change.
#[test]
fn in_a_part_of_a_buffer() {
    let (setup, input) = (Setup::new(), input());
    let from = setup.context.with_values(&input);
    let whole = setup.context.with_values(&vec![7; 4096]);
    let region = cl_buffer_region { origin: 4096, size: 4 * PLACES };
    let mut code = 1;
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let part = (cl().clCreateSubBuffer)(whole.raw(), 0, kind, (&raw const region).cast(), &mut code);
    ok(code);
    let part = Buffer::own(part);
    let kernel = setup.context.build(&source(&OPERATIONS[0]), "").kernel("f");
    kernel.set_all(arguments![&from, &part, PLACES as i32]);
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    let mut wanted = vec![7; 4096];
    on_host(&input, &mut wanted[1024..1024 + PLACES], i32::wrapping_add);
    assert_eq!(read::<i32>(&setup.queue, &whole), wanted);
}

/// Two arguments for one buffer, of which one is read, and results that are used: each gets a number of its own.
#[test]
fn what_is_read_meanwhile() {
    let setup = Setup::new();
    let source = "kernel void numbers(global uint *next, global uint *out) {
        out[atomic_inc(next)] = 1;
    }
    kernel void also_read(global uint *count, global const uint *again, global uint *out) {
        size_t i = get_global_id(0);
        uint before = again[i % 16];
        atomic_inc(&count[i % 16]);
        out[i] = again[i % 16] > before;
    }";
    let program = setup.context.build(source, "");
    let (next, out) = (setup.context.with_values(&[0_u32]), setup.context.with_values(&vec![0_u32; ITEMS]));
    let kernel = program.kernel("numbers");
    kernel.set_all(arguments![&next, &out]);
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    assert!(read::<u32>(&setup.queue, &out).iter().all(|&seen| seen == 1));
    let count = setup.context.with_values(&[0_u32; 16]);
    let kernel = program.kernel("also_read");
    kernel.set_all(arguments![&count, &count, &out]);
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    assert!(read::<u32>(&setup.queue, &count).iter().all(|&count| count as usize == ITEMS / 16));
    assert!(read::<u32>(&setup.queue, &out).iter().all(|&seen| seen == 1), "a work-item sees its own increment");
}

#[test]
fn in_shared_virtual_memory() {
    let (setup, input) = (Setup::new(), input());
    let from = setup.context.with_values(&input);
    let shared = Svm::<i32>::new(&setup.context, CL_MEM_READ_WRITE, PLACES);
    let kernel = setup.context.build(&source(&OPERATIONS[0]), "").kernel("f");
    kernel.set_all(arguments![&from, &from, PLACES as i32]);
    ok((cl().clSetKernelArgSVMPointer)(kernel.raw(), 1, shared.at(0)));
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    let mut wanted = vec![0; PLACES];
    on_host(&input, &mut wanted, i32::wrapping_add);
    assert_eq!(shared.values(), wanted);
    // A buffer in it.
    let mut code = 1;
    let flags = CL_MEM_USE_HOST_PTR;
    let buffer = (cl().clCreateBuffer)(setup.context.raw(), flags, 4 * PLACES, shared.at(0), &mut code);
    ok(code);
    let buffer = Buffer::own(buffer);
    kernel.set_all(arguments![&from, &buffer, PLACES as i32]);
    run(&setup.queue, &kernel, &[ITEMS], &[]);
    on_host(&input, &mut wanted, i32::wrapping_add);
    assert_eq!(read::<i32>(&setup.queue, &buffer), wanted);
}
