//! What functions return: which of their inputs have to be the same in all lanes for a result to be.
//!
//! Requires: functions, each behind those that it calls.
//! Ensures: a result is the same in all lanes that call together where those inputs are that it follows from.
//! Phases: function by function, one input after the other taken to vary alone. What varies with several inputs varies with one of
//! them, as values vary by their operands and by branches, each of which does by itself.
//! Source: Moll 2021, chapter 6, of one function; Karrenberg & Hack 2012, section 3.1, for calls.

use super::divergence::{Facts, analyze_divergence};
use super::shape::Shape;
use super::{cfg::build_cfg, dominators::compute_dominators, loops::find_loops};
use crate::ir::{Callee, Function, InstData, Kernel, Module, ReturnedValue, ReturnedValues};
use crate::transform::normalize::normalize_function;
use std::sync::Arc;

/// Lanes that are compared. What varies does so in gangs of any width.
const LANES: u32 = 16;

/// Instructions times inputs of a function up to which its inputs are told apart. Beyond, a result varies with any of them.
const MOST_WORK: usize = 1 << 20;

/// Which inputs of a module's functions their results follow from, found when that is first asked for.
pub fn find_returned_values(module: &Module) -> Arc<ReturnedValues> {
    module.returned_values.get_or_init(|| analyze_returned_values(module)).clone()
}

/// Looks at all functions of a module.
fn analyze_returned_values(module: &Module) -> Arc<ReturnedValues> {
    let mut returned_values = Arc::new(ReturnedValues::new());
    for (callee, code) in &module.functions {
        let returned_value = analyze_function(module, code, &returned_values);
        Arc::make_mut(&mut returned_values)[callee] = returned_value;
    }
    returned_values
}

fn analyze_function(module: &Module, code: &Kernel, returned_values: &Arc<ReturnedValues>) -> ReturnedValue {
    let counts_calls = code.regions.values().flat_map(|function| function.insts.values()).any(|inst_node| {
        let calls_such = |callee: Callee| returned_values[callee].counts_calls;
        counts_each_time(&inst_node.data)
            || matches!(inst_node.data, InstData::Call { callee, .. } if calls_such(callee))
    });
    let input_count = code.inputs.len();
    let is_long = code.body().insts.len().saturating_mul(input_count) > MOST_WORK;
    if counts_calls || is_long || code.results.is_empty() {
        return ReturnedValue { counts_calls, varying_results: vec![u64::MAX; input_count] };
    }
    let mut code = code.clone();
    normalize_function(code.body_mut());
    let varying_results = (0..input_count).map(|varying_input| {
        let shape_of = |input| if input == varying_input { Shape::Varying } else { Shape::uniform(1) };
        let passed_shapes: Vec<Shape> = (0..input_count).map(shape_of).collect();
        let facts = Facts::with_returned_values(module, &code, LANES, returned_values.clone());
        find_varying_results(code.body(), &facts.with_passed(&code, &passed_shapes).of_kernel(&code))
    });
    ReturnedValue { counts_calls, varying_results: varying_results.collect() }
}

/// Whether an instruction does something that counts for each work-item that comes to it.
fn counts_each_time(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } | InstData::Printf { .. } => true,
        InstData::Load { access, .. } | InstData::Store { access, .. } => access.volatile || access.atomic.is_some(),
        InstData::MemCopy { volatile, .. } | InstData::MemSet { volatile, .. } => *volatile,
        _ => false,
    }
}

/// The results that vary, one bit each, of code of which the facts hold.
fn find_varying_results(function: &Function, facts: &Facts) -> u64 {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let divergence = analyze_divergence(function, facts, &flow_graph, &loop_forest);
    let mut varying_results = 0;
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            let InstData::SetResults { arguments } = &function.insts[instruction].data else { continue };
            let is_set_by_some = divergence.divergent_blocks.contains(block);
            for (result_index, &argument) in arguments.iter().enumerate() {
                if is_set_by_some || !divergence.is_uniform(argument) {
                    varying_results |= 1 << result_index.min(63);
                }
            }
        }
    }
    varying_results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    const FUNCTIONS: &str = "
function fn0 \"first_of_two\" {
  input passed(0): i32
  input passed(1): i32
  result i32
  result i32
  region r0 {
  b0(v0: i32, v1: i32):
    v2: i32 = mul v0, 3
    set_results v2, v1
    return
  }
}
function fn1 \"by_a_condition\" {
  input passed(0): i1
  input passed(1): i32
  input passed(2): i32
  result i32
  region r0 {
  b0(v0: i1, v1: i32, v2: i32):
    v3: i32, v4: i32 = call fn0(v1, v2)
    br v0, b1, b2
  b1:
    set_results v3
    return
  b2:
    set_results 7:i32
    return
  }
}
function fn2 \"counts\" {
  input passed(0): ptr.global
  result i32
  region r0 {
  b0(v0: ptr.global):
    v1: i32 = atomic_rmw.add.relaxed v0, 1:i32 align 4
    set_results v1
    return
  }
}
";

    #[test]
    fn results_follow_from_their_inputs() {
        let module = parse_module(FUNCTIONS).expect("the text is right");
        let returned_values = analyze_returned_values(&module);
        let is_uniform = |callee: u32, result: usize, uniform_inputs: &[usize]| {
            returned_values[Callee::from_u32(callee)].is_uniform(result, |input| uniform_inputs.contains(&input))
        };
        assert!(is_uniform(0, 0, &[0]));
        assert!(!is_uniform(0, 0, &[1]));
        assert!(is_uniform(0, 1, &[1]));
        assert!(is_uniform(1, 0, &[0, 1]), "the second input is not returned");
        assert!(!is_uniform(1, 0, &[1, 2]), "lanes set different results");
        assert!(!is_uniform(1, 0, &[0, 2]), "what the call returns varies");
        assert!(!is_uniform(2, 0, &[0]), "each lane counts");
        assert!(!returned_values[Callee::from_u32(2)].may_be_called_once());
    }
}
