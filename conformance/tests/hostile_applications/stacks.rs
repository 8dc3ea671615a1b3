//! Threads with little stack.

use std::thread;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep};

use crate::work::build_and_launch;

#[test]
fn a_thread_with_64_kib_builds_and_launches() {
    if !is_lockstep() {
        return;
    }
    in_child("stacks::a_thread_with_64_kib_builds_and_launches", &[], || {
        let small = thread::Builder::new().stack_size(64 << 10).spawn(|| build_and_launch(&Setup::new()));
        small.expect("a thread").join().expect("no panic");
        build_and_launch(&Setup::new());
    });
}
