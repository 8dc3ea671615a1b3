//! Arguments of which the launch tells the value, as constants.
//!
//! An argument that is 1 and multiplies an id lets it count up by ones, so that what it is an index of lies side by side; one by which a
//! loop counts lets iterations be neighbours. An
//! image's format and a sampler choose among the ways of reading an element, of which one is left.
//!
//! Requires: a kernel as imported, of any control flow.
//! Ensures: nothing uses an input of which the launch's facts tell the value.
//! Phases: the inputs that are known; one walk over each region; then what is left of it: constants, what is simpler
//! with them, and what is of use.
//! Source: DESIGN decision 7: specialised on what is stable between launches.
//!
//! ```text
//! b0(v0: ptr.global, v1: i32):          b0(v0: ptr.global, v1: i32):
//!    v3: i32 = mul v2, v1           =>     store v2 to v0
//!    store v3 to v0
//! ```

use crate::analysis::sccp::find_constants;
use crate::ir::replacements::Replacements;
use crate::ir::{Function, Kernel};
use crate::transform::dce::remove_dead_code;
use crate::transform::join_blocks::join_blocks;
use crate::transform::sccp_apply::sccp_apply;
use crate::transform::simplify::simplify_function;
use lockstep_protocol::launch_facts::{LaunchFacts, Object, object_params};
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::Type;

/// Puts constants for such arguments.
pub fn specialize_arguments(kernel: &mut Kernel, launch_facts: &LaunchFacts) {
    let mut param_objects = vec![Object::Any; kernel.params.len()];
    for (param, object) in object_params(&kernel.params).zip(launch_facts.objects) {
        param_objects[param] = object;
    }
    let known_word = |input: Input| match input {
        Input::Value { param, offset } => param_objects[param as usize].known_word(offset),
        _ => None,
    };
    let mut known_inputs: Vec<(usize, u128)> = Vec::new();
    for (index, &(input, input_type)) in kernel.inputs.iter().enumerate() {
        let word = known_word(input).filter(|_| input_type == Type::I32);
        let is_one = index < 32 && launch_facts.ones >> index & 1 == 1;
        known_inputs.extend(word.map(u128::from).or(is_one.then_some(1)).map(|bits| (index, bits)));
    }
    if !known_inputs.is_empty() {
        kernel.regions.values_mut().for_each(|function| put_constants(function, &known_inputs));
    }
}

fn put_constants(function: &mut Function, known_inputs: &[(usize, u128)]) {
    let mut constants = Replacements::default();
    for &(input, bits) in known_inputs {
        let parameter = function.blocks[function.entry_block()].params[input];
        let constant = function.constant(function.ty(parameter), bits);
        constants.record_replacement(parameter, constant);
    }
    constants.apply_to(function);
    let facts = find_constants(function, |_| None);
    sccp_apply(function, &facts);
    join_blocks(function);
    simplify_function(function);
    remove_dead_code(function);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;
    use lockstep_protocol::image_format::Format;
    use opencl_sys::{CL_RGBA, CL_UNORM_INT8};

    #[test]
    fn only_what_is_known_is_replaced() {
        let text = "kernel \"k\" {
 args 12
 param \"p\" pointer.global \"int*\" size 8 align 8 offset 0
 param \"n\" value \"int\" size 4 align 4 offset 8
 input value(0, 0): ptr.global
 input value(1, 0): i32
 region r0 {
 b0(v0: ptr.global, v1: i32):
   v2: i32 = load v0 align 4
   v3: i32 = mul v1, v2
   store v3 to v0 align 4
   jump b1(v1)
 b1(v4: i32):
   store v4 to v0 align 4
   return
 }
}
";
        let module = parse_module(text).expect("valid");
        let with = |ones| {
            let mut module = module.clone();
            specialize_arguments(&mut module.kernels[0], &LaunchFacts { ones, ..LaunchFacts::default() });
            module.to_string()
        };
        assert_eq!(with(0), module.to_string());
        let text = with(2);
        assert!(!text.contains("mul") && text.contains("store v2") && text.contains("store 1:i32"), "{text}");
    }

    #[test]
    fn formats_and_samplers_are_words() {
        let format = Format { order: CL_RGBA, data_type: CL_UNORM_INT8 };
        let word = |object: Object, offset| object.known_word(offset);
        assert_eq!(word(Object::Image(format), 40), Some(4), "bytes of an element");
        assert_eq!(word(Object::Image(format), 44), Some(CL_RGBA));
        assert_eq!(
            [28, 0, 92, 96].map(|offset| word(Object::Image(format), offset)),
            [None, None, Some(0x437F_0000), None]
        );
        assert_eq!((word(Object::Sampler(0x22), 0), word(Object::Any, 40)), (Some(0x22), None));
    }
}
