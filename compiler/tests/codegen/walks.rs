//! Loops whose rounds run several at once, for every length, which do what the interpreter does.

use crate::gangs::noise;
use crate::layouts::build as cleaned;
use crate::machine;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::plan_gangs;
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;

/// Elements from one work-item's row to the next.
const ROW: usize = 41;

const ITEMS: u64 = 19;

/// One more than the greatest `n` that loops are run with: they read at most two elements more.
const END: usize = 39;

/// Loops, by what counts; `row` is where the work-item's elements are, `sum` what it makes of them.
const LOOPS: [&str; 8] = [
    "for (int k = 0; k < n; k++) sum = sum * 31 + row[k];",
    "for (int k = 0; k <= n; k++) sum = sum * 31 + row[k];",
    "for (uint k = 0; k != (uint)n; k++) sum = sum * 31 + row[k];",
    "for (ulong k = 1; k <= (ulong)n; k++) sum = sum * 31 + row[k];",
    "for (global const T *p = row; p != row + n; p++) sum = sum * 31 + *p;",
    // From the end of the numbers on, over their beginning.
    "for (uint k = 0xfffffffeu; k != (uint)n; k++) sum = sum * 31 + row[(ulong)(k + 2)];",
    // Elements of vectors, two in a round.
    "for (int k = 0; 2 * k + 1 < n; k++) sum = sum * 31 + row[2 * k] + row[2 * k + 1] * 5;",
    // Some lanes only, and what it has read so far is seen.
    "if (i % 3 != 1) for (int k = 0; k < n; k++) { sum = sum * 31 + row[k]; own[k % 2] = sum; }",
];

fn module(ty: &str) -> lockstep_ir::ir::Module {
    let kernels = LOOPS.iter().enumerate().map(|(number, body)| {
        format!(
            "kernel void k{number}(global const T *a, global T *out, int end) {{
                 int i = get_global_id(0); global const T *row = a + i * {ROW};
                 for (int n = 1; n < end; n++) {{
                     global T *own = out + 3 * (n * {ITEMS} + i); T sum = i;
                     {body}
                     own[2] = sum;
                 }}
             }}\n"
        )
    });
    cleaned(&format!("typedef {ty} T;\n{}", kernels.collect::<String>()))
}

#[test]
fn loops_of_every_length() {
    let range = NdRange::new(&[ITEMS], &[ITEMS]);
    for ty in ["uchar", "ushort", "int", "ulong"] {
        let module = module(ty);
        let buffers = vec![noise(ITEMS as usize * ROW * 8), vec![0; 3 * END * ITEMS as usize * 8]];
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(END as i32)];
        for name in (0..LOOPS.len()).map(|number| format!("k{number}")) {
            let mut expected = Memory::new(buffers.clone());
            interp::run_kernel(&module, &name, &range, &arguments, &mut expected).unwrap();
            for width in [4, 16] {
                let vectorize = Vectorize::Gangs(Gangs::of_width(width));
                let options = CompileOptions { vectorize, ..CompileOptions::default() };
                let mut found = Memory::new(buffers.clone());
                machine::run_with(options, &module, &name, &range, &arguments, &mut found).unwrap();
                assert!(found.buffers == expected.buffers, "{ty} {name}, width {width}: other results");
            }
        }
    }
}

/// Which of the loops run several rounds at once, and how many.
#[test]
fn rounds_by_the_bytes_of_a_round() {
    let found: [Vec<u32>; 4] = ["uchar", "ushort", "int", "ulong"].map(|ty| {
        let module = module(ty);
        let of = |kernel: &lockstep_ir::ir::Kernel| {
            let notes = Notes::new(true);
            let mut kernel = kernel.clone();
            cut_at_barriers(&mut kernel);
            plan_gangs(
                &module,
                &mut kernel,
                Gangs::of_width(16),
                TargetInfo::of_bits(256),
                &LaunchFacts::default(),
                &notes,
            )
            .unwrap();
            let notes = format!("{notes:?}");
            let rounds = notes.split(" at once").next().and_then(|before| before.rsplit('"').next()).unwrap_or("");
            rounds.parse::<u32>().unwrap_or(1)
        };
        (0..LOOPS.len())
            .map(|number| of(module.kernels.iter().find(|k| k.name == format!("k{number}")).unwrap()))
            .collect()
    });
    // What is no sum of 64 bits, or not known to be one, does not walk; nor do steps over an element.
    let expected = [16, 8, 4, 4].map(|n| vec![n, n, 1, n, 1, 1, 1, n]);
    assert_eq!(found, expected);
}
