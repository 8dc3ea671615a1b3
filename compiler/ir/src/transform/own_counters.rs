//! Counters in memory of a thread's own.
//!
//! Threads that count in one place wait for each other, and an atomic operation costs some twenty plain ones even where
//! they do not. Counters of which a thread has a copy are local variables of the kernel that live as long as the call that runs a
//! chunk of work-groups: code generation fills them before the first group and combines them with the buffer behind the last.
//!
//! Requires: a kernel as imported, of any control flow; inputs that [`counters`] names, of which the launch
//! tells that their memory is reached in no other way.
//! Ensures: no address is computed of such an input; the addresses that were lead into a local variable that says
//! what it is a copy of.
//! Phases: a variable for each of the inputs; then in each region its address in the place of the input, and the space of
//! what is computed of it.
//! Source: full replication of reduction objects, Jin, Yang & Agrawal 2005, section 4.
//!
//! ```text
//! v2: ptr.global = ptradd v0, v1                        v5: ptr.local = local_addr lv0
//! v3: i32 = atomic_rmw.add.relaxed v2, 1:i32     =>     v2: ptr.local = ptradd v5, v1
//!                                                       v3: i32 = atomic_rmw.add.relaxed v2, 1:i32
//! ```
//!
//! [`counters`]: crate::analysis::counters

use crate::analysis::counters::counters_of;
use crate::ir::{Function, InstData, Kernel, LocalData, LocalVar, SourceLoc};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::types::{Space, Type};

/// Alignment of a copy: a line of the cache.
const ALIGN: u32 = 64;

/// Gives a thread copies of counters.
pub fn own_counters(kernel: &mut Kernel, launch: &LaunchFacts) {
    for input in (0..32).filter(|input| launch.counters >> input & 1 == 1) {
        let Some(counters) = counters_of(kernel, input) else { continue };
        let copy = LocalData { size: launch.counters_bytes.into(), align: ALIGN, counters: Some(counters) };
        let local = kernel.locals.push(copy);
        kernel.regions.values_mut().for_each(|body| redirect_input(body, input, local));
    }
}

fn redirect_input(function: &mut Function, input: u32, local: LocalVar) {
    let entry = function.entry_block();
    let from = function.blocks[entry].params[input as usize];
    let space = Type::Ptr(Space::Local);
    let address = function.make_inst(InstData::LocalAddr { local }, &[space], SourceLoc::default());
    let to = function.single_result(address);
    let mut moved = vec![from];
    while let Some(base) = moved.pop() {
        for block in function.layout.clone() {
            for inst in function.blocks[block].insts.clone() {
                if matches!(function.insts[inst].data, InstData::PtrAdd { base: of, .. } if of == base) {
                    let result = function.single_result(inst);
                    function.values[result].ty = space;
                    moved.push(result);
                }
            }
        }
    }
    for block in function.layout.clone() {
        for inst in function.blocks[block].insts.clone() {
            function.insts[inst].data.map_args(|value| if value == from { to } else { value });
        }
    }
    function.blocks[entry].insts.insert(0, address);
}
