//! Random calls of every entry point, with live, stale, foreign, wrong and null handles, and random sizes, flags and lists.
//!
//! What must come of it: no crash, no endless wait, no object together with an error, no handle taken for what it is not,
//! none refused that is held. Pointers to data are to what there is, as far as a call that can succeed uses it: what is
//! behind a pointer the driver cannot know. A seed decides about an episode of calls, so a failure can be had again:
//! `LOCKSTEP_TEST_SEEDS=7..8 LOCKSTEP_TEST_CALLS=20000`. `cargo xtask fuzz api` makes many, if wanted with the driver
//! under AddressSanitizer.

mod images;
mod objects;
mod others;
mod programs;
mod recording;
mod report;
mod shared;
mod transfers;
mod world;

use std::ops::Range;
use std::ptr;

use lockstep_conformance::Context;
use lockstep_conformance::entry_points::ENTRY_POINTS;
use lockstep_conformance::extension_functions::{
    CommandBuffers, CreateCommandQueue, DeviceAddress, IntermediateLanguage, MutableDispatch, ProgramVariables,
    Semaphores, SuggestedLocalWorkSize, UnifiedMemory,
};
use lockstep_conformance::loader::{device, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use world::{Extensions, Memory, World, for_good};

/// An entry point, how often it is called compared with others, and a call of it.
type Op = (&'static str, usize, fn(&mut World));

fn ops() -> Vec<Op> {
    let tables = [objects::OPS, programs::OPS, transfers::OPS, images::OPS, shared::OPS, recording::OPS];
    [tables.concat(), others::OPS.to_vec(), others::ABSENT.to_vec()].concat()
}

/// The names that the driver's one table of entry points has: `name: expression` in the dispatch table, `"name" =>` among
/// the extensions'.
fn exported() -> Vec<&'static str> {
    let table = include_str!("../../../icd/src/dispatch.rs").lines().map(str::trim_start);
    table
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix('"').unwrap_or(line).split_once([':', '"'])?;
            let is_entry = rest.starts_with(" Some(") || rest.starts_with(" missing!(") || rest.starts_with(" =>");
            (is_entry && name.starts_with("cl")).then_some(name)
        })
        .collect()
}

#[test]
fn every_exported_function_is_called() {
    let (exported, ops) = (exported(), ops());
    assert!(exported.len() > 170 && exported.contains(&"clFinish") && exported.contains(&"clMemFreeINTEL"));
    let missing: Vec<&str> = exported.into_iter().filter(|name| !ops.iter().any(|op| op.0 == *name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_entry_point_is_called() {
    let extensions = [
        UnifiedMemory::NAMES,
        CommandBuffers::NAMES,
        MutableDispatch::NAMES,
        CreateCommandQueue::NAMES,
        SuggestedLocalWorkSize::NAMES,
        IntermediateLanguage::NAMES,
        Semaphores::NAMES,
        DeviceAddress::NAMES,
        ProgramVariables::NAMES,
    ];
    let mut missing: Vec<&str> = ENTRY_POINTS.iter().map(|entry| entry.0).collect();
    missing.extend(extensions.concat());
    let ops = ops();
    missing.retain(|name| !ops.iter().any(|op| op.0 == *name));
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn random_calls() {
    if !is_lockstep() {
        // The specification does not ask drivers to survive this; this driver's own promise is under test.
        return;
    }
    report::crashes();
    let (seeds, calls) = request();
    let extensions = Extensions {
        usm: UnifiedMemory::new(),
        commands: CommandBuffers::new(),
        dispatch: MutableDispatch::new(),
        queue: CreateCommandQueue::new(),
        local_size: SuggestedLocalWorkSize::new(),
        il: IntermediateLanguage::new(),
        semaphores: Semaphores::new(),
        address: DeviceAddress::new(),
        variables: ProgramVariables::new(),
    };
    let extensions = &for_good(vec![extensions])[0];
    let context = Context::new();
    let memory = Memory::new(context.raw());
    let binary = for_good(context.build(programs::SOURCE, "-cl-std=CL3.0").binary());
    let total = (seeds.end - seeds.start) * calls;
    let (mut made, mut successes) = (0, 0);
    for seed in seeds {
        successes += episode(World::new(seed, extensions, binary, &memory), seed, calls);
        made += calls;
        if total > 200_000 {
            eprintln!("{made} calls, {successes} of them successful, {} MiB", report::resident() >> 20);
        }
    }
    // Most calls are to get past the first check.
    assert!(successes * 5 > made, "{successes} of {made} calls succeeded");
}

/// The seeds and how many calls for each.
fn request() -> (Range<u64>, u64) {
    let seeds = std::env::var("LOCKSTEP_TEST_SEEDS").unwrap_or_else(|_| "0..2".to_owned());
    let (from, to) = seeds.split_once("..").expect("LOCKSTEP_TEST_SEEDS is A..B");
    let number = |text: &str| text.parse().expect("a number");
    let calls = std::env::var("LOCKSTEP_TEST_CALLS").map_or(10_000, |calls| number(&calls));
    (number(from)..number(to), calls)
}

/// So many calls from a seed; returns how many were successful.
fn episode(mut w: World, seed: u64, calls: u64) -> u64 {
    begin(&mut w);
    let ops = ops();
    let weights: usize = ops.iter().map(|op| op.1).sum();
    for call in 0..calls {
        let mut choice = w.below(weights);
        let &(name, _, call_it) = ops
            .iter()
            .find(|op| {
                let found = choice < op.1;
                choice = choice.wrapping_sub(op.1);
                found
            })
            .expect("the choice is below the sum");
        w.move_on();
        report::now(seed, call, name);
        call_it(&mut w);
    }
    report::now(seed, calls, "the end");
    w.end()
}

/// Two contexts with what most calls need.
fn begin(w: &mut World) {
    for out_of_order in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let context = (w.d.clCreateContext)(ptr::null(), 1, &device(), None, ptr::null_mut(), w.code_at());
        w.made(world::Context, context);
        let queue = (w.d.clCreateCommandQueue)(context, device(), out_of_order, w.code_at());
        w.made(world::Queue, queue);
        let (start, length) = (w.binary.as_ptr(), w.binary.len());
        let make = w.d.clCreateProgramWithBinary;
        let program = make(context, 1, &device(), &length, &start, ptr::null_mut(), w.code_at());
        w.made(world::Program, program);
        let code = (w.d.clBuildProgram)(program, 0, ptr::null(), ptr::null(), None, ptr::null_mut());
        assert_eq!(code, CL_SUCCESS);
        for name in [c"touch", c"pixels", c"record", c"shared", c"packets"] {
            let kernel = (w.d.clCreateKernel)(program, name.as_ptr(), w.code_at());
            w.made(world::Kernel, kernel);
        }
        for size in [64, 4096] {
            let buffer = (w.d.clCreateBuffer)(context, 0, size, ptr::null_mut(), w.code_at());
            w.made(world::Mem, buffer);
        }
        let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_INT8 };
        for _ in 0..2 {
            let image = (w.d.clCreateImage2D)(context, 0, &format, 16, 16, 0, ptr::null_mut(), w.code_at());
            w.made_image(image);
        }
        for packet_size in [1, 16] {
            let pipe = (w.d.clCreatePipe)(context, 0, packet_size, 8, ptr::null(), w.code_at());
            w.made(world::Mem, pipe);
            w.pipes.push(pipe);
        }
        let (addressing, filter) = (CL_ADDRESS_CLAMP, CL_FILTER_LINEAR);
        let sampler = (w.d.clCreateSampler)(context, CL_FALSE, addressing, filter, w.code_at());
        w.made(world::Sampler, sampler);
    }
    w.keep_all();
}
