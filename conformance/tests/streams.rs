//! Stores past the caches, forced upon small launches: wherever an array begins, every element is there, for the host and
//! for the next launch.

use lockstep_conformance::loader::is_lockstep;
use lockstep_conformance::objects::Kernel;
use lockstep_conformance::{Plain, Setup, arguments, child, read, run};
use std::fmt::Debug;

/// Work-items, of which the last gang has not all.
const ITEMS: usize = 1 << 14;
const REST: usize = ITEMS - 5;

const SOURCE: &str = "
    kernel void bytes(global const uchar *in, global uchar *out, uint first) {
        size_t i = get_global_id(0); out[first + i] = in[first + i] * 3 + 1;
    }
    kernel void ints(global const int *in, global int *out, uint first) {
        size_t i = get_global_id(0); out[first + i] = in[first + i] * 3 + 1;
    }
    kernel void longs(global const long *in, global long *out, uint first) {
        size_t i = get_global_id(0); out[first + i] = in[first + i] * 3 + 1;
    }
    kernel void vectors(global const int4 *in, global int4 *out, uint first) {
        size_t i = get_global_id(0); out[first / 4 + i] = in[first / 4 + i] * 3 + 1;
    }";

/// A kernel by its name and how many elements a work-item maps.
struct Map {
    name: &'static str,
    elements: usize,
    kernel: Kernel,
}

/// Maps elements from the first on, from one buffer to the next and to a third one. Each type has its way from numbers.
#[track_caller]
fn check<T: Plain + PartialEq + Debug>(setup: &Setup, map: &Map, items: usize, first: usize, of: fn(i64) -> T) {
    let Map { name, elements, kernel } = map;
    let length = 4 * ITEMS + 64;
    let input = setup.context.with_values(&(0..length as i64).map(of).collect::<Vec<T>>());
    let [middle, end] = [(); 2].map(|()| setup.context.zeros::<T>(length));
    for (from, to) in [(&input, &middle), (&middle, &end)] {
        kernel.set_all(arguments![from, to, first as u32]);
        run(&setup.queue, kernel, &[items], &[]);
    }
    let touched = first..first + items * elements;
    let wanted: [fn(i64) -> i64; 2] = [|n| n * 3 + 1, |n| n * 9 + 4];
    for (buffer, wanted) in [&middle, &end].into_iter().zip(wanted) {
        for (at, found) in read::<T>(&setup.queue, buffer).iter().enumerate() {
            let wanted = of(if touched.contains(&at) { wanted(at as i64) } else { 0 });
            assert_eq!(*found, wanted, "{name} from {first}, element {at} of {items}");
        }
    }
}

impl Map {
    fn all(setup: &Setup) -> [Map; 3] {
        let program = setup.context.build(SOURCE, "-cl-std=CL3.0");
        ["bytes", "ints", "longs"].map(|name| Map { name, elements: 1, kernel: program.kernel(name) })
    }
}

#[test]
fn arrays_that_begin_anywhere() {
    child::in_child("arrays_that_begin_anywhere", &[("LOCKSTEP_STREAMS", "always")], || {
        let setup = Setup::new();
        let [bytes, ints, longs] = Map::all(&setup);
        let kernel = setup.context.build(SOURCE, "-cl-std=CL3.0").kernel("vectors");
        let vectors = Map { name: "vectors", elements: 4, kernel };
        for first in [0, 1, 4, 7, 16, 60] {
            for items in [ITEMS, REST, 3] {
                check(&setup, &bytes, items, first, |n| n as u8);
                check(&setup, &ints, items, first, |n| n as i32);
                check(&setup, &longs, items, first, |n| n);
                check(&setup, &vectors, items, first / 4 * 4, |n| n as i32);
            }
        }
    });
}

/// The test above is of nothing where this one fails.
#[test]
fn launches_stream() {
    if !is_lockstep() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("lockstep-streams-{}", std::process::id()));
    let dump = folder.to_str().expect("the folder of temporary files has a name in UTF-8");
    let names = ["LOCKSTEP_STREAMS", "LOCKSTEP_WIDTH", "LOCKSTEP_CACHE", "LOCKSTEP_DUMP"];
    let values = ["always", "16", "off", dump];
    let environment: Vec<(&str, &str)> = names.into_iter().zip(values).collect();
    child::in_child("launches_stream", &environment, || {
        let setup = Setup::new();
        let [_, ints, longs] = Map::all(&setup);
        check(&setup, &ints, ITEMS, 0, |n| n as i32);
        check(&setup, &longs, ITEMS, 0, |n| n);
    });
    let files = std::fs::read_dir(&folder).expect("the driver dumps").map(|file| file.unwrap().path());
    let past = files.filter(|path| path.to_string_lossy().ends_with("codegen.ll"));
    let past = past.filter(|path| std::fs::read_to_string(path).unwrap().contains("!nontemporal"));
    assert_eq!(past.count(), 2);
    std::fs::remove_dir_all(&folder).unwrap();
}
