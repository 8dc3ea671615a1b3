//! Arguments that lead to the same memory, after launches of the same kernel with arguments that do not. Each work-item
//! reads what it has written itself a while ago, or has not.

use std::ptr;

use lockstep_conformance::loader::{cl, device, is_lockstep};
use lockstep_conformance::objects::{Buffer, Kernel};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, Svm, arguments, info, ok, read, run};

/// Work-items; gangs of most widths are not full.
const ITEMS: usize = 21;

/// Numbers from one work-item's first to the next one's, and how many each writes: no two work-items' meet.
const STRIDE: usize = 320;
const LENGTH: usize = 150;

/// By how many numbers one argument is ahead of another in the same memory: as parts of buffers may be.
const AHEAD: usize = 32;

const SOURCE: &str = "
    kernel void follow(global const int *in, global int *out, global const int *more) {
        size_t first = get_global_id(0) * 320;
        int sum = 0;
        for (int k = 1; k <= 150; k++) {
            sum = sum * 5 + in[first + k - 1] + more[first + k];
            out[first + k] = sum ^ k;
        }
    }
    kernel void fold(global const int *in, global int *out, global const int *more) {
        size_t first = get_global_id(0) * 320;
        for (int k = 0; k < 150; k++) out[first + 35] = out[first + 35] * 3 + in[first + k % 70] + more[first + k];
    }
    kernel void by_address(global int *out, global const ulong *address) {
        size_t first = get_global_id(0) * 320;
        global const int *in = (global const int *)address[0];
        for (int k = 1; k <= 150; k++) out[first + k] = in[first + k - 1] * 3 + out[first + k - 1];
    }";

/// Memory and where in it the arguments are.
struct Places {
    memory: Vec<i32>,
    input: usize,
    output: usize,
    more: usize,
}

impl Places {
    fn follow(&mut self) {
        for first in (0..ITEMS).map(|item| item * STRIDE) {
            let mut sum = 0_i32;
            for k in 1..=LENGTH {
                let [input, more] = [self.input + first + k - 1, self.more + first + k].map(|at| self.memory[at]);
                sum = sum.wrapping_mul(5).wrapping_add(input).wrapping_add(more);
                self.memory[self.output + first + k] = sum ^ k as i32;
            }
        }
    }

    fn fold(&mut self) {
        for first in (0..ITEMS).map(|item| item * STRIDE) {
            for k in 0..LENGTH {
                let [input, more] = [self.input + first + k % 70, self.more + first + k].map(|at| self.memory[at]);
                let sum = &mut self.memory[self.output + first + 35];
                *sum = sum.wrapping_mul(3).wrapping_add(input).wrapping_add(more);
            }
        }
    }
}

/// Numbers in each part of the memory.
const PART: usize = ITEMS * STRIDE + AHEAD;

fn noise() -> Vec<i32> {
    (0..3 * PART as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 9) as i32).collect()
}

fn part(whole: &Buffer, first: usize) -> Buffer {
    let region = cl_buffer_region { origin: 4 * first, size: 4 * ITEMS * STRIDE };
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let mut code = 1;
    let part = (cl().clCreateSubBuffer)(whole.raw(), 0, kind, ptr::from_ref(&region).cast(), &mut code);
    ok(code);
    Buffer::own(part)
}

/// Where the arguments are, in numbers from the first on.
const ARRANGEMENTS: [[usize; 3]; 9] = [
    [0, PART, 2 * PART],
    [0, 0, PART],
    [0, AHEAD, PART],
    [AHEAD, 0, PART],
    [PART, 0, 2 * PART],
    [0, PART, 0],
    [0, PART, PART],
    [0, PART, PART + AHEAD],
    [0, 0, 0],
];

#[test]
fn parts_of_one_buffer() {
    let setup = Setup::new();
    let program = setup.context.build(SOURCE, "-cl-std=CL3.0");
    for (name, host) in [("follow", Places::follow as fn(&mut Places)), ("fold", Places::fold)] {
        let kernel = program.kernel(name);
        for [input, output, more] in ARRANGEMENTS {
            let whole = setup.context.with_values(&noise());
            let [a, b, c] = [input, output, more].map(|first| part(&whole, first));
            kernel.set_all(arguments![&a, &b, &c]);
            check(&setup, &kernel, host, [input, output, more], || read(&setup.queue, &whole));
            // Kernels hold no memory objects.
            drop((a, b, c));
        }
    }
}

/// One buffer is all arguments, or each has its own.
#[test]
fn whole_buffers() {
    let setup = Setup::new();
    let kernel = setup.context.build(SOURCE, "-cl-std=CL3.0").kernel("follow");
    for _ in 0..2 {
        let [a, b, c] = [0, 1, 2].map(|n| setup.context.with_values(&noise()[n * PART..][..PART]));
        kernel.set_all(arguments![&a, &b, &c]);
        let all = || [&a, &b, &c].map(|buffer| read::<i32>(&setup.queue, buffer)).concat();
        check(&setup, &kernel, Places::follow, [0, PART, 2 * PART], all);
        let one = setup.context.with_values(&noise());
        kernel.set_all(arguments![&one, &one, &one]);
        check(&setup, &kernel, Places::follow, [0, 0, 0], || read(&setup.queue, &one));
    }
}

const FINE: cl_svm_mem_flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;

fn has_shared_memory() -> bool {
    let capabilities: cl_device_svm_capabilities = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_SVM_CAPABILITIES, size, value, returned)
    });
    let there = capabilities & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0;
    assert!(there || !is_lockstep());
    there
}

/// A buffer over shared memory, whose address the kernel finds in another one.
#[test]
fn memory_by_its_address() {
    if !has_shared_memory() {
        return;
    }
    let setup = Setup::new();
    let kernel = setup.context.build(SOURCE, "-cl-std=CL3.0").kernel("by_address");
    for ahead in [0, AHEAD, PART] {
        let memory = Svm::<i32>::new(&setup.context, FINE, 3 * PART);
        memory.write(0, &noise());
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        let out = setup.context.try_buffer(flags, 4 * PART, memory.at(0)).unwrap();
        let address = setup.context.with_values(&[memory.at(ahead) as u64]);
        kernel.set_all(arguments![&out, &address]);
        run(&setup.queue, &kernel, &[ITEMS], &[]);
        let mut expected = noise();
        for first in (0..ITEMS).map(|item| item * STRIDE) {
            for k in first + 1..=first + LENGTH {
                expected[k] = expected[ahead + k - 1].wrapping_mul(3).wrapping_add(expected[k - 1]);
            }
        }
        drop(out);
        assert!(memory.values() == expected, "{ahead}: other results");
    }
}

#[test]
fn shared_virtual_memory() {
    if !has_shared_memory() {
        return;
    }
    let setup = Setup::new();
    let kernel = setup.context.build(SOURCE, "-cl-std=CL3.0").kernel("follow");
    for places in ARRANGEMENTS {
        let memory = Svm::<i32>::new(&setup.context, FINE, 3 * PART);
        memory.write(0, &noise());
        for (index, first) in (0..).zip(places) {
            ok((cl().clSetKernelArgSVMPointer)(kernel.raw(), index, memory.at(first)));
        }
        check(&setup, &kernel, Places::follow, places, || memory.values());
    }
}

fn check(
    setup: &Setup,
    kernel: &Kernel,
    host: fn(&mut Places),
    [input, output, more]: [usize; 3],
    found: impl Fn() -> Vec<i32>,
) {
    run(&setup.queue, kernel, &[ITEMS], &[]);
    let mut expected = Places { memory: noise(), input, output, more };
    host(&mut expected);
    assert!(found() == expected.memory, "{input} {output} {more}: other results");
}
