//! Rows that may lie where there is no memory are accessed only if a lane is on: a processor takes hundreds of times as
//! long for a masked access to an absent page, although no lane asks for it.

use crate::gangs::{stages, stages_with};
use crate::layouts::{build, input};
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, Versions, WIDTHS};
use lockstep_protocol::pass_switches::PassSwitch;

/// Where the argument is a buffer's end, the work-items behind it access nothing.
const SOURCE: &str = "
    kernel void guarded(global const int *in, global int *out, int end) {
        int i = get_global_id(0), sum = 0;
        for (int k = 0; k < 3; k++)
            if (i + k < end) sum += in[i + k];
        if ((sum & 1) && i < end) out[i] = sum;
    }";

/// The masked accesses to rows in code, each with the label of its block. Gathers look only at lanes that are on.
fn masked_accesses(code: &str) -> Vec<(&str, &str)> {
    let mut label = "";
    let mut found = Vec::new();
    for line in code.lines() {
        match line.split_once(':') {
            Some((name, _)) if !line.starts_with([' ', ';']) => label = name,
            _ if ["masked.load", "masked.store", "maskload"].iter().any(|name| line.contains(name)) => {
                found.extend(line.contains("call").then_some((label, line)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn rows_of_global_memory_are_skipped_where_no_lane_is_on() {
    // In versions for lanes that agree, whoever is there is in bounds: those of the last gang alone are masked.
    let vectorize = Vectorize::Gangs(Gangs::of_width(16).with_versions(Versions::Never));
    let options = CompileOptions { vectorize, ..CompileOptions::default() };
    let [code] = stages_with(&build(SOURCE), options, ["codegen.ll"]);
    let found = masked_accesses(&code);
    assert!(found.len() >= 2, "{code}");
    for (label, line) in found {
        assert!(label.starts_with("some"), "{label}: {line}\n{code}");
    }
}

/// Local memory is always there.
#[test]
fn rows_of_local_memory_are_not() {
    let source = "
        kernel void k(global int *x, local int *s) {
            size_t l = get_local_id(0);
            s[l] = x[l];
            if (s[l] > 3) s[l] = 7;
            x[l] = s[l];
        }";
    let [code] = stages(&build(source), 16, ["codegen.ll"]);
    let found: Vec<_> = masked_accesses(&code).into_iter().filter(|(label, _)| label.starts_with("some")).collect();
    assert!(found.is_empty(), "{found:?}\n{code}");
}

#[test]
fn results_are_those_of_single_work_items() {
    let module = build(SOURCE);
    let range = NdRange::new(&[200], &[50]);
    for end in [0, 1, 37, 64, 65, 200] {
        let buffers = vec![input(end), input(end)];
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(end as i32)];
        let mut expected = Memory::new(buffers.clone());
        run_kernel(&module, "guarded", &range, &arguments, &mut expected).unwrap();
        for (width, gates) in WIDTHS.into_iter().flat_map(|width| [(width, Versions::Never), (width, Versions::Always)])
        {
            let vectorize = Vectorize::Gangs(Gangs::of_width(width).with_pass(PassSwitch::Gates, gates));
            let options = CompileOptions { vectorize, ..CompileOptions::default() };
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options, &module, "guarded", &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{end}, width {width}: other results");
        }
    }
}
