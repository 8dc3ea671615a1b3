//! `cl_khr_kernel_clock`: what kernels read of the device's clock.

use lockstep_conformance::commands::{launch, read, run};
use lockstep_conformance::loader::{cl, device, has_extension, has_feature, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, arguments, info, ok};

/// The scopes, as functions and macros name them, with their bits.
const SCOPES: [(&str, cl_ulong); 3] = [
    ("device", CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR),
    ("work_group", CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR),
    ("sub_group", CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR),
];

/// The scopes that the device has.
fn scopes() -> Vec<&'static str> {
    if !has_extension("cl_khr_kernel_clock") {
        return Vec::new();
    }
    let ask = |size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, size, value, returned)
    };
    let found: cl_ulong = info::value(ask);
    SCOPES.iter().filter(|(_, bit)| found & bit != 0).map(|(name, _)| *name).collect()
}

#[test]
fn features_are_the_capabilities() {
    let found = scopes();
    for (name, _) in SCOPES {
        assert_eq!(has_feature(&format!("__opencl_c_kernel_clock_scope_{name}")), found.contains(&name), "{name}");
    }
    assert!(!is_lockstep() || found.len() == 3);
}

#[test]
fn readings_never_go_back() {
    let setup = Setup::new();
    for scope in scopes() {
        let source = format!(
            "kernel void f(global ulong *out) {{
                size_t g = get_global_id(0);
                ulong first = clock_read_{scope}();
                ulong last = first;
                for (int i = 0; i < 1000 + (int)g % 7; i++) {{
                    ulong now = clock_read_{scope}();
                    if (now < last) {{
                        out[g] = 1;
                        return;
                    }}
                    last = now;
                }}
                uint2 parts = clock_read_hilo_{scope}();
                ulong now = upsample(parts.hi, parts.lo);
                out[g] = now < last ? 2 : now - first > (1UL << 40) ? 3 : now == first ? 4 : 5;
            }}"
        );
        let kernel = setup.context.build(&source, "-cl-std=CL3.0").kernel("f");
        for (count, local) in [(1, &[][..]), (100, &[]), (128, &[16]), (128, &[1])] {
            let out = setup.context.zeros::<u64>(count);
            kernel.set_all(arguments![&out]);
            run(&setup.queue, &kernel, &[count], local);
            assert_eq!(read::<u64>(&setup.queue, &out), vec![5; count], "{scope}, {count} work-items by {local:?}");
        }
    }
}

/// Work-items of one kernel and of the next one read one clock, which is also that of the events and the host's timer.
#[test]
fn the_device_has_one_clock() {
    if !scopes().contains(&"device") || !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global ulong *out) { out[get_global_id(0)] = clock_read_device(); }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let queue = setup.context.queue(CL_QUEUE_PROFILING_ENABLE);
    let count = 1000;
    let out = setup.context.zeros::<u64>(count);
    kernel.set_all(arguments![&out]);
    let timers = || {
        let (mut of_device, mut of_host) = (0, 0);
        ok((cl().clGetDeviceAndHostTimer)(device(), &mut of_device, &mut of_host));
        of_device
    };
    let mut before = timers();
    for _ in 0..3 {
        let event = launch(&queue, &kernel, &[count], &[], &[]);
        assert_eq!(event.wait(), CL_SUCCESS);
        let readings = read::<u64>(&queue, &out);
        let (first, last) = (*readings.iter().min().expect("some"), *readings.iter().max().expect("some"));
        let times = [before, event.time(CL_PROFILING_COMMAND_START), first, last];
        assert!(times.is_sorted() && last <= event.time(CL_PROFILING_COMMAND_END), "{times:?}");
        before = timers();
        assert!(last <= before);
    }
}
