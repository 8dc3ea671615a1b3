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
pub fn own_counters(kernel: &mut Kernel, launch_facts: &LaunchFacts) {
    for input_index in (0..32).filter(|input_index| launch_facts.counters >> input_index & 1 == 1) {
        let Some(counters) = counters_of(kernel, input_index) else { continue };
        let copy = LocalData { size: launch_facts.counters_bytes.into(), align: ALIGN, counters: Some(counters) };
        let local_variable = kernel.locals.push(copy);
        kernel.regions.values_mut().for_each(|function| redirect_input(function, input_index, local_variable));
    }
}

fn redirect_input(function: &mut Function, input_index: u32, local_variable: LocalVar) {
    let entry_block = function.entry_block();
    let old_pointer = function.blocks[entry_block].params[input_index as usize];
    let pointer_type = Type::Ptr(Space::Local);
    let address =
        function.make_inst(InstData::LocalAddr { local: local_variable }, &[pointer_type], SourceLoc::default());
    let new_pointer = function.single_result(address);
    let mut worklist = vec![old_pointer];
    while let Some(base_address) = worklist.pop() {
        for block in function.layout.clone() {
            for instruction in function.blocks[block].insts.clone() {
                if matches!(function.insts[instruction].data, InstData::PtrAdd { base: of, .. } if of == base_address) {
                    let result = function.single_result(instruction);
                    function.values[result].ty = pointer_type;
                    worklist.push(result);
                }
            }
        }
    }
    for block in function.layout.clone() {
        for instruction in function.blocks[block].insts.clone() {
            function.insts[instruction].data.map_args(|value| if value == old_pointer { new_pointer } else { value });
        }
    }
    function.blocks[entry_block].insts.insert(0, address);
}
