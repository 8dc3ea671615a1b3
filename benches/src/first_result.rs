//! Programs that are new to a driver: how long an application waits from a source to the end of the first launch of each of its
//! kernels.

use std::time::{Duration, Instant};

use lockstep_conformance::{Context, Queue, run};

use crate::case::Case;
use crate::suite;
use crate::worker::Device;

/// How many kernels the program of many has.
pub const KERNELS: usize = 30;

/// Programs beside those of the suite.
pub const PROGRAMS: [&str; 3] = ["store", "saxpy_sin", "kernels_30"];

/// Work-items of each launch, and those of a group.
const ITEMS: usize = 1024;
const GROUP: usize = 64;

/// How long the parts took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstResult {
    /// From the source to the built program.
    pub build: Duration,
    /// From then to the end of the last first launch.
    pub launches: Duration,
}

/// Builds a program by its name and launches each of its kernels once; nothing of another `salt` helps.
pub(crate) fn measure_first_result(device: &Device, name: &str, salt: u64) -> FirstResult {
    match suite::find(name) {
        Some(case) => measure_case(device, case, salt),
        None => measure_program(&device.context, &device.queue, name, salt),
    }
}

fn measure_program(context: &Context, queue: &Queue, name: &str, salt: u64) -> FirstResult {
    let source = program_source(name, salt);
    let data = context.zeros::<f32>(ITEMS);
    let started = Instant::now();
    let program = context.build(&source, "");
    let build = started.elapsed();
    let kernels: Vec<_> = kernel_names(name).iter().map(|name| program.kernel(name)).collect();
    for kernel in &kernels {
        kernel.set(0, &data);
        run(queue, kernel, &[ITEMS], &[GROUP]);
    }
    FirstResult { build, launches: started.elapsed() - build }
}

/// A case of the suite: its program is built, and its launches are done once.
fn measure_case(device: &Device, case: &Case, salt: u64) -> FirstResult {
    let source = format!("// {salt}\n{}", case.source);
    let started = Instant::now();
    let program = device.context.build(&source, "");
    let build = started.elapsed();
    let prepared = device.set_up_program(case, &program);
    let before_launches = Instant::now();
    device.run(&prepared);
    FirstResult { build, launches: before_launches.elapsed() }
}

fn kernel_names(program: &str) -> Vec<String> {
    match program {
        "kernels_30" => (0..KERNELS).map(|number| format!("work_{number}")).collect(),
        _ => vec!["k".to_owned()],
    }
}

fn program_source(program: &str, salt: u64) -> String {
    match program {
        "store" => format!("// {salt}\nkernel void k(global float *p) {{ p[0] = 1; }}"),
        "saxpy_sin" => format!(
            "// {salt}\nkernel void k(global float *a) {{ size_t i = get_global_id(0); a[i] = 2.5f * a[i] + sin(a[i]); }}"
        ),
        _ => many_kernels_source(salt),
    }
}

/// Kernels of the size and kind applications have, that differ from text to text: nothing may be found in a cache.
pub fn many_kernels_source(text: u64) -> String {
    (0..KERNELS)
        .map(|number| {
            format!(
                "kernel void work_{number}(global float *data) {{\n\
                 \x20   local float shared[64];\n\
                 \x20   size_t i = get_global_id(0), l = get_local_id(0);\n\
                 \x20   float x = data[i] + {text}.{number}f;\n\
                 \x20   for (int step = 0; step < {number} + 4; ++step)\n\
                 \x20       x = step % 3 == 0 ? sqrt(fabs(x)) + 1.5f : mad(x, 0.25f, sin(x));\n\
                 \x20   shared[l] = x;\n\
                 \x20   barrier(CLK_LOCAL_MEM_FENCE);\n\
                 \x20   data[i] = shared[get_local_size(0) - 1 - l] + x;\n\
                 }}\n"
            )
        })
        .collect()
}
