//! From source to results through the runtime alone: no handles, no loader.

use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lockstep_runtime::Result;
use lockstep_runtime::command::Command;
use lockstep_runtime::context::Context;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::launch::ndrange::Request;
use lockstep_runtime::launch::{CheckedLaunch, Prepared};
use lockstep_runtime::memory::Memory;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::program::{Code, Program, build};
use lockstep_runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_KERNEL_ARGS, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_OUT_OF_RESOURCES,
};

fn prepare_launch(kernel: &Arc<Kernel>, request: &Request) -> Result<Prepared> {
    CheckedLaunch::new(kernel.clone(), request)?.prepare()
}

struct Fixture {
    context: Arc<Context>,
    queue: Arc<Queue>,
}

impl Fixture {
    fn new() -> Fixture {
        let device = Platform::get().device().clone();
        let context = Context::new(vec![device.clone()], Vec::new(), None);
        let queue = Queue::new(context.clone(), device, 0, Vec::new());
        Fixture { context, queue }
    }

    fn build(&self, source: &str) -> Arc<Program> {
        let program = Program::with_source(self.context.clone(), source.into());
        if build::build_program(&program, "-cl-std=CL3.0", None).is_err() {
            panic!("{}", program.state().log);
        }
        program
    }

    /// A buffer over the caller's memory, which must outlive it.
    fn over(&self, data: &mut [u32]) -> Arc<Memory> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: the tests keep `data` until they have dropped the buffer.
        unsafe {
            Memory::new(self.context.clone(), flags, size_of_val(data), data.as_mut_ptr().cast(), Vec::new()).unwrap()
        }
    }

    fn launch(&self, kernel: &Arc<Kernel>, global: &[usize], local: Option<&[usize]>) {
        self.enqueue(kernel, global, local);
        self.queue.finish();
    }

    fn enqueue(&self, kernel: &Arc<Kernel>, global: &[usize], local: Option<&[usize]>) {
        let request = Request { dimensions: global.len() as u32, offset: None, global: Some(global), local };
        let Prepared { work, code } = prepare_launch(kernel, &request).unwrap();
        self.queue.enqueue_command(Command {
            kind: CL_COMMAND_NDRANGE_KERNEL,
            work,
            waits: code.into_iter().collect(),
            ..Command::default()
        });
    }
}

#[test]
fn source_to_results() {
    let fixture = Fixture::new();
    let program = fixture.build(
        "kernel void affine(global uint *x, uint a, uint b) {
             size_t i = get_global_id(0);
             x[i] = a * x[i] + b;
         }",
    );
    let kernel = Kernel::new(&program, "affine").unwrap();
    let mut data: Vec<u32> = (0..1000).collect();
    let buffer = fixture.over(&mut data);
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    kernel.set_value(1, &7_u32.to_le_bytes()).unwrap();
    kernel.set_value(2, &3_u32.to_le_bytes()).unwrap();
    fixture.launch(&kernel, &[1000], Some(&[64]));
    drop((buffer, kernel));
    assert!(data.iter().enumerate().all(|(i, &x)| x == 7 * i as u32 + 3), "{data:?}");
}

/// A program of LLVM bitcode, as clang makes it of a source, is the program of that source.
#[test]
fn bitcode_to_results() {
    let fixture = Fixture::new();
    let source = "kernel void triple(global uint *x) { x[get_global_id(0)] *= 3; }";
    let compiled = Program::with_source(fixture.context.clone(), source.into());
    build::compile_program(&compiled, "", Vec::new(), None).unwrap();
    let Code::Object(object) = compiled.state().code else { panic!("no object") };
    let program = Program::with_llvm_ir(fixture.context.clone(), object.bitcode.clone());
    build::build_program(&program, "-cl-mad-enable", None).unwrap();
    assert_eq!((&*program.state().options, program.source()), ("-cl-mad-enable", None));
    let kernel = Kernel::new(&program, "triple").unwrap();
    let mut data: Vec<u32> = (0..100).collect();
    let buffer = fixture.over(&mut data);
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    fixture.launch(&kernel, &[100], None);
    drop((buffer, kernel));
    assert!(data.iter().enumerate().all(|(i, &x)| x == 3 * i as u32), "{data:?}");
    let half = object.bitcode[..object.bitcode.len() / 2].to_vec();
    let damaged = Program::with_llvm_ir(fixture.context.clone(), half);
    build::build_program(&damaged, "", None).unwrap_err();
    assert!(damaged.state().log.contains("error:"), "{}", damaged.state().log);
    let text = "target triple = \"spir64-unknown-unknown\"\ndefine spir_kernel void @f() { ret void }\n";
    let written = Program::with_llvm_ir(fixture.context.clone(), text.into());
    build::build_program(&written, "", None).unwrap();
    Kernel::new(&written, "f").unwrap();
    let misspelt = Program::with_llvm_ir(fixture.context.clone(), text.replace("define", "defin").into());
    build::build_program(&misspelt, "", None).unwrap_err();
    assert!(misspelt.state().log.contains("program.cl:2:1: error:"), "{}", misspelt.state().log);
}

/// Code of several kernels is made side by side, while their launches wait for it, and once for launches that are alike.
#[test]
fn launches_wait_for_their_code_in_the_queue() {
    let fixture = Fixture::new();
    // New names each time: no cache has their code.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let name = |number: u32| format!("add{number}_{}_{now}", std::process::id());
    let add =
        |number: u32| format!("kernel void {}(global uint *x) {{ x[get_global_id(0)] += {number}; }}", name(number));
    let program = fixture.build(&(0..8).map(add).collect::<String>());
    let kernels = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| Kernel::new(&program, &name(number)).unwrap());
    let mut data = vec![0_u32; 100];
    let buffer = fixture.over(&mut data);
    let prepare = |kernel: &Arc<Kernel>, count: usize| {
        let global = Some(&[count][..]);
        let request = Request { dimensions: 1, offset: None, global, local: Some(&[4]) };
        prepare_launch(kernel, &request).unwrap()
    };
    for (number, kernel) in kernels.iter().enumerate() {
        kernel.set_buffer(0, Some(&buffer)).unwrap();
        let [first, second] = [prepare(kernel, 100), prepare(kernel, 60)];
        match (&first.code, &second.code) {
            (Some(first), Some(second)) => assert!(Arc::ptr_eq(first, second), "the same code"),
            // A process's first code is made at once; the second launch may come when its code is there.
            (first, _) => assert!(number == 0 || first.is_some(), "add{number} did not wait"),
        }
        for Prepared { work, code } in [first, second] {
            let wait_list = code.into_iter().collect();
            fixture.queue.enqueue_command(Command {
                kind: CL_COMMAND_NDRANGE_KERNEL,
                work,
                waits: wait_list,
                ..Command::default()
            });
        }
    }
    fixture.queue.finish();
    assert!(kernels.iter().all(|kernel| prepare(kernel, 40).code.is_none()), "there is code now");
    drop((kernels, buffer));
    assert!(data[..60].iter().all(|&sum| sum == 2 * 28) && data[60..].iter().all(|&sum| sum == 28), "{data:?}");
}

/// Where the code decides whether a launch is possible, the application hears of it at once.
#[test]
fn launches_that_may_not_fit_wait_for_their_code_at_once() {
    let fixture = Fixture::new();
    let program = fixture.build(
        "kernel void roomy(global uint *x, uint at) {
             uint own[1 << 22];
             for (uint i = 0; i < 1 << 22; ++i) own[i] = x[i & 3];
             x[0] = own[at];
         }
         kernel void shared(local uint *own, global uint *x) { own[0] = x[0]; x[1] = own[0]; }",
    );
    let request = Request { dimensions: 1, offset: None, global: Some(&[1]), local: Some(&[1]) };
    let mut data = vec![0; 4];
    let buffer = fixture.over(&mut data);
    let private = Kernel::new(&program, "roomy").unwrap();
    private.set_buffer(0, Some(&buffer)).unwrap();
    private.set_value(1, &7_u32.to_le_bytes()).unwrap();
    assert!(prepare_launch(&private, &request).is_ok_and(|prepared| prepared.code.is_none()));
    let shared = Kernel::new(&program, "shared").unwrap();
    shared.set_local(0, 1 << 40).unwrap();
    shared.set_buffer(1, Some(&buffer)).unwrap();
    let refused = prepare_launch(&shared, &request).err();
    assert_eq!(refused.map(|error| error.code()), Some(CL_OUT_OF_RESOURCES));
}

#[test]
fn barriers_and_local_memory() {
    let fixture = Fixture::new();
    let program = fixture.build(
        "kernel void reverse(global uint *x, local uint *tile) {
             size_t l = get_local_id(0), n = get_local_size(0);
             tile[l] = x[get_global_id(0)];
             barrier(CLK_LOCAL_MEM_FENCE);
             x[get_global_id(0)] = tile[n - 1 - l];
         }",
    );
    let kernel = Kernel::new(&program, "reverse").unwrap();
    let mut data: Vec<u32> = (0..512).collect();
    let buffer = fixture.over(&mut data);
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    let unset = Request { dimensions: 1, offset: None, global: Some(&[512]), local: Some(&[32]) };
    assert_eq!(prepare_launch(&kernel, &unset).err().map(|e| e.code()), Some(CL_INVALID_KERNEL_ARGS));
    kernel.set_local(1, 32 * 4).unwrap();
    fixture.launch(&kernel, &[512], Some(&[32]));
    drop((buffer, kernel));
    let expected: Vec<u32> = (0..512).map(|index| index / 32 * 32 + 31 - index % 32).collect();
    assert_eq!(data, expected);
}

#[test]
fn a_launch_allocates_nothing_in_steady_state() {
    let fixture = Fixture::new();
    let program = fixture.build(
        "kernel void spin(global uint *x, uint n, local uint *t) {
             uint a = get_global_id(0);
             for (uint i = 0; i < n; ++i) a = a * 1664525u + 1013904223u;
             t[get_local_id(0)] = a;
             x[get_global_id(0)] = t[get_local_id(0)];
         }",
    );
    let kernel = Kernel::new(&program, "spin").unwrap();
    let mut data = vec![0_u32; 4096];
    let buffer = fixture.over(&mut data);
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    kernel.set_local(2, 64 * 4).unwrap();
    // Few iterations stay on this thread, many are shared with the team. A thread's first sleep and the like
    // may allocate once; a launch that allocated by itself would do so in every round.
    for iterations in [1_u32, 2000] {
        kernel.set_value(1, &iterations.to_le_bytes()).unwrap();
        let round = || {
            let launches = || (0..100).for_each(|_| fixture.launch(&kernel, &[4096], Some(&[64])));
            allocation_counter::measure(launches).count_total
        };
        let rounds: Vec<u64> = (0..5).map(|_| round()).collect();
        assert!(rounds.contains(&0), "{iterations} iterations: {rounds:?} allocations in 100 launches");
    }
}

#[test]
fn many_launches_in_flight_allocate_nothing_in_steady_state() {
    let fixture = Fixture::new();
    let program = fixture.build("kernel void count(global uint *x) { ++x[get_global_id(0)]; }");
    let kernel = Kernel::new(&program, "count").unwrap();
    let mut data = vec![0_u32; 64];
    let buffer = fixture.over(&mut data);
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    let round = || {
        let launches = || {
            (0..1000).for_each(|_| fixture.enqueue(&kernel, &[64], Some(&[64])));
            fixture.queue.finish();
        };
        allocation_counter::measure(launches).count_total
    };
    // The first of all waits for its code.
    fixture.launch(&kernel, &[64], Some(&[64]));
    let first = round();
    assert!(first >= 1000, "the records of the first launches: {first}");
    assert_eq!(round(), 0);
    drop((buffer, kernel));
    assert_eq!(data, [2001; 64]);
}

/// "The registered callback functions are called [...] when the memory object is deleted", which is here when the launch
/// has ended: a callback that waits for the queue does not wait for itself.
#[test]
fn the_last_reference_of_a_buffer_goes_after_the_launch() {
    let fixture = Fixture::new();
    let program = fixture.build("kernel void zero(global uint *x) { x[get_global_id(0)] = 0; }");
    let kernel = Kernel::new(&program, "zero").unwrap();
    let mut data = vec![1_u32; 64];
    let buffer = fixture.over(&mut data);
    let (told, done) = mpsc::channel();
    let queue = fixture.queue.clone();
    buffer.on_destruction(Box::new(move || {
        queue.finish();
        told.send(()).unwrap();
    }));
    kernel.set_buffer(0, Some(&buffer)).unwrap();
    fixture.enqueue(&kernel, &[64], None);
    drop(buffer);
    // A worker runs it, so that this thread can tell when it hangs.
    fixture.queue.flush();
    assert_eq!(done.recv_timeout(Duration::from_secs(20)), Ok(()));
    assert_eq!(data, [0; 64]);
}

#[test]
fn large_private_arrays_have_room() {
    let fixture = Fixture::new();
    let program = fixture.build(
        "#define FILL uint big[40000]; \\
             for (uint i = 0; i < 40000; ++i) big[i] = i * (uint)get_global_id(0) + seed;
         kernel void alone(global uint *x, uint seed) {
             FILL
             x[get_global_id(0)] = big[x[get_global_id(0)]];
         }
         kernel void across(global uint *x, uint seed) {
             FILL
             barrier(CLK_GLOBAL_MEM_FENCE);
             x[get_global_id(0)] = big[x[get_global_id(0)]];
         }",
    );
    for name in ["alone", "across"] {
        let kernel = Kernel::new(&program, name).unwrap();
        let mut data: Vec<u32> = (0..64).map(|index| index * 600).collect();
        let buffer = fixture.over(&mut data);
        kernel.set_buffer(0, Some(&buffer)).unwrap();
        kernel.set_value(1, &9_u32.to_le_bytes()).unwrap();
        fixture.launch(&kernel, &[64], Some(&[16]));
        drop((buffer, kernel));
        let expected: Vec<u32> = (0..64).map(|index| index * 600 * index + 9).collect();
        assert_eq!(data, expected, "{name}");
    }
}
