//! What holds of a variant's launches, in words.

use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize, Object, ROW, list_set_bits, object_params};
use lockstep_protocol::parameters::{Input, Param};
use lockstep_protocol::program_metadata::KernelOutline;

/// What holds of the launches of a kernel's variant, a phrase each; never none.
pub fn describe_facts(launch_facts: &LaunchFacts, kernel: &KernelOutline) -> Vec<String> {
    let LaunchFacts { ids_fit_int, zero_offset, full_groups, local, .. } = *launch_facts;
    let mut phrases = Vec::new();
    match local {
        LocalSize::Any => {}
        LocalSize::Rows => phrases.push(format!("groups whose rows are multiples of {ROW} work-items")),
        LocalSize::Exactly([x, y, z]) => phrases.push(format!("groups of {x} x {y} x {z}")),
    }
    let held = [(full_groups, "whole groups"), (zero_offset, "no offset"), (ids_fit_int, "ids that fit an int")];
    phrases.extend(held.iter().filter(|(holds, _)| *holds).map(|(_, phrase)| (*phrase).to_owned()));
    let counters =
        format!("to counters, at most {} bytes, of which each thread has a copy", launch_facts.counters_bytes);
    let inputs = [
        (launch_facts.multiples, format!("a multiple of {ROW}")),
        (launch_facts.ones, "1".to_owned()),
        (launch_facts.apart, "to memory of its own".to_owned()),
        (launch_facts.streams, "to memory that is written past the caches".to_owned()),
        (launch_facts.counters, counters),
    ];
    for (bits, what) in inputs {
        phrases.extend(list_set_bits(bits).map(|input| format!("{} {what}", name_input(kernel, input))));
    }
    for (object, param) in launch_facts.objects.iter().zip(object_params(&kernel.params)) {
        let name = name_parameter(&kernel.params, param);
        match object {
            Object::Any => {}
            Object::Image(format) => {
                phrases.push(format!("{name} of format {:#x}, {:#x}", format.order, format.data_type));
            }
            Object::Sampler(bits) => phrases.push(format!("{name} a sampler {bits:#x}")),
        }
    }
    if phrases.is_empty() {
        phrases.push("any launch".to_owned());
    }
    phrases
}

/// The name of the parameter that an input is of.
fn name_input(kernel: &KernelOutline, input: u32) -> String {
    match kernel.inputs.get(input as usize) {
        Some((Input::Value { param, .. } | Input::Address { param }, _)) => {
            name_parameter(&kernel.params, *param as usize)
        }
        _ => format!("input {input}"),
    }
}

fn name_parameter(parameters: &[Param], index: usize) -> String {
    match parameters.get(index) {
        Some(parameter) if !parameter.name.is_empty() => parameter.name.clone(),
        _ => format!("argument {index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::parameters::ParamKind;
    use lockstep_protocol::types::{Space, Type};

    /// A kernel of a pointer `out`, an integer `n` and a nameless sampler.
    fn kernel() -> KernelOutline {
        let parameter = |name: &str, kind| Param {
            name: name.to_owned(),
            type_name: String::new(),
            kind,
            size: 8,
            align: 8,
            offset: 0,
            access: String::new(),
            qualifiers: String::new(),
            readonly: false,
            restrict: false,
        };
        let input = |param, value_type| (Input::Value { param, offset: 0 }, value_type);
        KernelOutline {
            params: vec![
                parameter("out", ParamKind::Pointer(Space::Global)),
                parameter("n", ParamKind::Value),
                parameter("", ParamKind::Sampler),
            ],
            inputs: vec![input(0, Type::Ptr(Space::Global)), input(1, Type::I32), input(2, Type::I32)],
            ..KernelOutline::default()
        }
    }

    #[test]
    fn every_fact_has_its_phrase() {
        let mut launch_facts = LaunchFacts::of_range([0; 3], [64, 8, 1], [16, 8, 1]);
        (launch_facts.multiples, launch_facts.apart, launch_facts.counters, launch_facts.counters_bytes) =
            (2, 1, 1, 1024);
        launch_facts.objects[0] = Object::Sampler(0x14);
        let expected = [
            "groups of 16 x 8 x 1",
            "whole groups",
            "no offset",
            "ids that fit an int",
            "n a multiple of 16",
            "out to memory of its own",
            "out to counters, at most 1024 bytes, of which each thread has a copy",
            "argument 2 a sampler 0x14",
        ];
        assert_eq!(describe_facts(&launch_facts, &kernel()), expected);
    }

    #[test]
    fn code_that_relies_on_nothing_is_for_any_launch() {
        assert_eq!(describe_facts(&LaunchFacts::default(), &kernel()), ["any launch"]);
    }
}
