//! Sub-devices: how a device is divided, what its parts answer, and that what is launched on a part runs on its
//! processors.

use std::ptr;

use lockstep_conformance::child::in_child;
use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::loader::{cl, device, driver, is_lockstep, platform};
use lockstep_conformance::objects::{Context, Program, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, expect, info, ok, read, run};

type Property = cl_device_partition_property;

fn array<T: Plain>(device: cl_device_id, name: cl_device_info) -> Vec<T> {
    info::array(|size, value, returned| (cl().clGetDeviceInfo)(device, name, size, value, returned))
}

fn value<T: Plain>(device: cl_device_id, name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device, name, size, value, returned))
}

fn units(device: cl_device_id) -> u32 {
    value(device, CL_DEVICE_MAX_COMPUTE_UNITS)
}

fn references(device: cl_device_id) -> u32 {
    value(device, CL_DEVICE_REFERENCE_COUNT)
}

fn try_divide(device: cl_device_id, properties: &[Property]) -> Result<Vec<cl_device_id>, cl_int> {
    let mut count = 0;
    let code = (cl().clCreateSubDevices)(device, properties.as_ptr(), 0, ptr::null_mut(), &mut count);
    if code != CL_SUCCESS {
        return Err(code);
    }
    let mut parts = vec![ptr::null_mut(); count as usize];
    ok((cl().clCreateSubDevices)(device, properties.as_ptr(), count, parts.as_mut_ptr(), ptr::null_mut()));
    Ok(parts)
}

/// Divides a device, checks what every part says of itself, and returns the parts.
#[track_caller]
fn divide(device: cl_device_id, properties: &[Property]) -> Vec<cl_device_id> {
    let parts = try_divide(device, properties).expect("the device can be divided");
    for &part in &parts {
        assert_eq!(value::<usize>(part, CL_DEVICE_PARENT_DEVICE), device as usize);
        assert_eq!(value::<usize>(part, CL_DEVICE_PLATFORM), platform() as usize);
        assert_eq!(value::<u32>(part, CL_DEVICE_PARTITION_MAX_SUB_DEVICES), units(part));
        assert_eq!(references(part), 1);
        for same in [CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_TYPE, CL_DEVICE_LOCAL_MEM_SIZE] {
            assert_eq!(value::<u64>(part, same), value::<u64>(device, same));
        }
    }
    parts
}

#[track_caller]
fn release(parts: &[cl_device_id]) {
    for &part in parts {
        ok((cl().clReleaseDevice)(part));
    }
}

/// Runs `body` in a process whose device has these compute units, whatever the machine has.
fn with_units(test: &str, count: u32, body: impl FnOnce()) {
    in_child(test, &[("LOCKSTEP_THREADS", &count.to_string())], || {
        // The switch is this driver's.
        if is_lockstep() {
            assert_eq!(units(device()), count);
            body();
        }
    });
}

#[test]
fn equally() {
    with_units("equally", 5, || {
        let properties = [CL_DEVICE_PARTITION_EQUALLY, 2, 0];
        let parts = divide(device(), &properties);
        assert_eq!(parts.iter().map(|&part| units(part)).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(array::<Property>(parts[0], CL_DEVICE_PARTITION_TYPE), properties);
        // A part has parts.
        let smaller = divide(parts[1], &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]);
        assert_eq!(smaller.iter().map(|&part| units(part)).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(array::<Property>(smaller[0], CL_DEVICE_PARTITION_PROPERTIES), [0]);
        assert_eq!(try_divide(smaller[0], &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]), Err(CL_DEVICE_PARTITION_FAILED));
        release(&smaller);
        release(&parts);
    });
}

#[test]
fn by_counts() {
    with_units("by_counts", 5, || {
        let properties = [CL_DEVICE_PARTITION_BY_COUNTS, 3, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0];
        let parts = divide(device(), &properties);
        assert_eq!(parts.iter().map(|&part| units(part)).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(array::<Property>(parts[1], CL_DEVICE_PARTITION_TYPE), properties);
        release(&parts);
    });
}

#[test]
fn by_affinity_domain() {
    let by_domain = |domain: u64| [CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, domain as Property, 0];
    let domains: u64 = value(device(), CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    let known = [
        CL_DEVICE_AFFINITY_DOMAIN_NUMA,
        CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
        CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
        CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
        CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
    ];
    let mut first = None;
    for domain in known {
        if domains & domain == 0 {
            assert_eq!(try_divide(device(), &by_domain(domain)), Err(CL_DEVICE_PARTITION_FAILED));
            continue;
        }
        let parts = divide(device(), &by_domain(domain));
        assert!(parts.len() > 1);
        assert_eq!(parts.iter().map(|&part| units(part)).sum::<u32>(), units(device()));
        assert_eq!(array::<Property>(parts[0], CL_DEVICE_PARTITION_TYPE), by_domain(domain));
        release(&parts);
        first.get_or_insert(domain);
    }
    let next = by_domain(CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE);
    let schemes: Vec<Property> = array(device(), CL_DEVICE_PARTITION_PROPERTIES);
    assert_eq!(schemes.contains(&CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN), first.is_some());
    match first {
        Some(first) => {
            assert_ne!(domains & CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, 0);
            let parts = divide(device(), &next);
            assert_eq!(array::<Property>(parts[0], CL_DEVICE_PARTITION_TYPE), by_domain(first));
            release(&parts);
        }
        None => {
            assert_eq!(domains, 0);
            assert_eq!(try_divide(device(), &next), Err(CL_DEVICE_PARTITION_FAILED));
        }
    }
    // No domain, two domains, one that there is not.
    for wrong in [0, CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE | CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, 1 << 20] {
        assert_eq!(try_divide(device(), &by_domain(wrong)), Err(CL_INVALID_VALUE));
    }
}

#[test]
fn errors() {
    with_units("errors", 4, || {
        let counts = |counts: &[Property]| [&[CL_DEVICE_PARTITION_BY_COUNTS], counts, &[0, 0]].concat();
        let table = [
            (vec![0], CL_INVALID_VALUE),
            (vec![CL_DEVICE_PARTITION_EQUALLY, 0, 0], CL_INVALID_VALUE),
            (vec![CL_DEVICE_PARTITION_EQUALLY, -1, 0], CL_INVALID_VALUE),
            (vec![CL_DEVICE_PARTITION_EQUALLY, 4, 0], CL_DEVICE_PARTITION_FAILED),
            (vec![CL_DEVICE_PARTITION_EQUALLY, 5, 0], CL_INVALID_DEVICE_PARTITION_COUNT),
            (vec![CL_DEVICE_PARTITION_EQUALLY, 1, CL_DEVICE_PARTITION_EQUALLY, 1, 0], CL_INVALID_VALUE),
            (vec![0x4242, 1, 0], CL_INVALID_VALUE),
            (counts(&[]), CL_INVALID_VALUE),
            (counts(&[-1]), CL_INVALID_DEVICE_PARTITION_COUNT),
            (counts(&[3, 2]), CL_INVALID_DEVICE_PARTITION_COUNT),
            (counts(&[1, 1, 1, 1, 1]), CL_INVALID_DEVICE_PARTITION_COUNT),
            (counts(&[Property::MAX, Property::MAX]), CL_INVALID_DEVICE_PARTITION_COUNT),
        ];
        for (properties, code) in table {
            assert_eq!(try_divide(device(), &properties), Err(code), "{properties:?}");
        }
        expect((cl().clCreateSubDevices)(device(), ptr::null(), 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
        // "CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of sub-devices".
        let properties = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
        let mut parts = [ptr::null_mut(); 4];
        let code = (cl().clCreateSubDevices)(device(), properties.as_ptr(), 3, parts.as_mut_ptr(), ptr::null_mut());
        expect(code, CL_INVALID_VALUE);
        assert_eq!(parts, [ptr::null_mut(); 4]);
    });
}

#[test]
fn parts_are_counted_and_live_as_long_as_something_uses_them() {
    with_units("parts_are_counted_and_live_as_long_as_something_uses_them", 2, || {
        let parts = divide(device(), &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]);
        ok((driver().clRetainDevice)(parts[0]));
        assert_eq!(references(parts[0]), 2);
        release(&[parts[0], parts[0]]);
        expect((driver().clReleaseDevice)(parts[0]), CL_INVALID_DEVICE);
        expect((driver().clRetainDevice)(parts[0]), CL_INVALID_DEVICE);
        // The root device is not counted.
        for _ in 0..3 {
            ok((driver().clReleaseDevice)(device()));
        }
        assert_eq!(references(device()), 1);

        let context = context(&[parts[1]]);
        release(&[parts[1]]);
        assert_eq!(context.info_array::<usize>(CL_CONTEXT_DEVICES), [parts[1] as usize]);
        assert_eq!(units(parts[1]), 1);
        drop(context);
        expect((driver().clReleaseDevice)(parts[1]), CL_INVALID_DEVICE);
    });
}

fn context(devices: &[cl_device_id]) -> Context {
    let mut code = 0;
    let count = devices.len() as cl_uint;
    let context = (cl().clCreateContext)(ptr::null(), count, devices.as_ptr(), None, ptr::null_mut(), &mut code);
    ok(code);
    Context::own(context)
}

fn queue(context: &Context, device: cl_device_id) -> Result<Queue, cl_int> {
    let mut code = 0;
    let queue = (cl().clCreateCommandQueueWithProperties)(context.raw(), device, ptr::null(), &mut code);
    if code == CL_SUCCESS { Ok(Queue::own(queue)) } else { Err(code) }
}

/// One program and one buffer for all devices of a context, a queue on each.
#[test]
fn kernels_run_on_every_part() {
    with_units("kernels_run_on_every_part", 5, || {
        let parts = divide(device(), &[CL_DEVICE_PARTITION_BY_COUNTS, 2, 2, 1, 0, 0]);
        let all = [&[device()], &parts[..]].concat();
        let context = context(&all);
        let source = "kernel void add(global uint *a) { a[get_global_id(0)] += (uint)get_global_id(0); }";
        let kernel = context.build(source, "").kernel("add");
        let buffer = context.zeros::<u32>(1 << 16);
        kernel.set(0, &buffer);
        let queues: Vec<Queue> = all.iter().map(|&device| queue(&context, device).expect("a queue")).collect();
        for queue in &queues {
            for size in [1, 64, 1 << 16] {
                run(queue, &kernel, &[size], &[]);
            }
        }
        let wanted: Vec<u32> = (0..1 << 16).map(|i| i * 4 * if i < 64 { 2 } else { 1 }).collect();
        assert!(read::<u32>(&queues[1], &buffer) == wanted);
        queues.iter().for_each(finish);
        release(&parts);
        // A device of another context.
        let alone = self::context(&[device()]);
        assert_eq!(queue(&alone, parts[0]).err(), Some(CL_INVALID_DEVICE));
    });
}

/// Binaries are for the devices they are made for, and programs run on no others.
#[test]
fn programs_belong_to_their_devices() {
    with_units("programs_belong_to_their_devices", 2, || {
        let parts = divide(device(), &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]);
        let context = context(&parts);
        let queues: Vec<Queue> = parts.iter().map(|&part| queue(&context, part).expect("a queue")).collect();
        let program = context.build("kernel void f(global uint *a) { ++a[get_global_id(0)]; }", "");
        let sizes: Vec<usize> = program.info_array(CL_PROGRAM_BINARY_SIZES);
        assert_eq!(sizes.len(), 2);
        let mut binaries: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![0; size]).collect();
        let mut places: Vec<*mut u8> = binaries.iter_mut().map(|binary| binary.as_mut_ptr()).collect();
        let room = size_of_val(&places[..]);
        let (places, none) = (places.as_mut_ptr().cast(), ptr::null_mut());
        ok((cl().clGetProgramInfo)(program.raw(), CL_PROGRAM_BINARIES, room, places, none));
        let create = |devices: &[cl_device_id]| {
            let bytes: Vec<*const u8> = binaries.iter().map(|binary| binary.as_ptr()).collect();
            let (mut status, mut code) = ([1; 2], 1);
            let program = (cl().clCreateProgramWithBinary)(
                context.raw(),
                devices.len() as cl_uint,
                devices.as_ptr(),
                sizes.as_ptr(),
                bytes.as_ptr(),
                status.as_mut_ptr(),
                &mut code,
            );
            ok(code);
            assert_eq!(status[..devices.len()], vec![CL_SUCCESS; devices.len()]);
            let program = Program::own(program);
            ok((cl().clBuildProgram)(program.raw(), 0, ptr::null(), ptr::null(), None, ptr::null_mut()));
            program
        };
        let buffer = context.zeros::<u32>(64);
        let (both, second) = (create(&parts), create(&parts[1..]));
        assert_eq!(both.info_array::<usize>(CL_PROGRAM_DEVICES), [parts[0] as usize, parts[1] as usize]);
        assert_eq!(second.info_array::<usize>(CL_PROGRAM_DEVICES), [parts[1] as usize]);
        for (program, codes) in [(both, [CL_SUCCESS; 2]), (second, [CL_INVALID_PROGRAM_EXECUTABLE, CL_SUCCESS])] {
            let kernel = program.kernel("f");
            kernel.set(0, &buffer);
            for (queue, code) in queues.iter().zip(codes) {
                expect(try_launch(queue, &kernel, &[64], &[]), code);
                finish(queue);
            }
        }
        assert_eq!(read::<u32>(&queues[0], &buffer), [3; 64]);
        release(&parts);
    });
}

/// The processors of each of the driver's threads that run work-groups.
fn bound_threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the process describes itself");
    let processors = |task: std::io::Result<std::fs::DirEntry>| {
        let status = std::fs::read_to_string(task.ok()?.path().join("status")).ok()?;
        let field = |name: &str| Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned());
        // Those that run work-groups have numbers; others make code and belong to no device.
        let is_numbered = field("Name:")?.strip_prefix("lockstep-").is_some_and(|number| number.parse::<u32>().is_ok());
        is_numbered.then(|| field("Cpus_allowed_list:"))?
    };
    tasks.filter_map(processors).collect()
}

#[test]
fn threads_of_a_part_are_bound_and_end_with_it() {
    with_units("threads_of_a_part_are_bound_and_end_with_it", 2, || {
        let parts = divide(device(), &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]);
        let context = context(&parts[1..]);
        let queue = queue(&context, parts[1]).expect("a queue");
        let kernel = context.kernel("kernel void f(global uint *a) { a[get_global_id(0)] = 1; }", "f");
        let buffer = context.zeros::<u32>(1 << 16);
        kernel.set(0, &buffer);
        run(&queue, &kernel, &[1 << 16], &[]);
        let threads = bound_threads();
        assert!(!threads.is_empty());
        assert!(threads.iter().all(|list| list.parse::<usize>().is_ok()), "one processor each: {threads:?}");
        drop((kernel, buffer, queue, context));
        release(&parts);
        let start = std::time::Instant::now();
        while !bound_threads().is_empty() {
            assert!(start.elapsed().as_secs() < 20, "threads of a device that is gone: {:?}", bound_threads());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
}

/// What the process may use is what the device says it has.
#[test]
fn compute_units_follow_the_affinity_mask() {
    in_child("compute_units_follow_the_affinity_mask", &[("LOCKSTEP_THREADS", "")], || {
        // SAFETY: zeros are an empty set, and the system reads and writes within it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of_val(&set);
            assert_eq!(libc::sched_getaffinity(0, size, &mut set), 0);
            let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set)).expect("a processor");
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(first, &mut set);
            assert_eq!(libc::sched_setaffinity(0, size, &set), 0);
        }
        assert_eq!(units(device()), 1);
        assert_eq!(array::<Property>(device(), CL_DEVICE_PARTITION_PROPERTIES), [0]);
        assert_eq!(value::<u64>(device(), CL_DEVICE_PARTITION_AFFINITY_DOMAIN), 0);
    });
}
