//! Damaged SPIR-V modules: whatever bytes are given, there is a text or an error with a place, soon, and no panic.

use std::path::Path;
use std::time::{Duration, Instant};

use lockstep_compiler::frontend::spirv::{SpirvError, TextOptions, translate_module};
use lockstep_compiler::frontend::{FrontendConfig, compile_spirv};
use lockstep_protocol::build_options::BuildOptions;
use lockstep_spirv_assembler::assemble_module;

/// Damaged forms of each module.
const MUTATIONS: u64 = 400;
/// Far more than any of these small modules needs.
const MOST_TIME: Duration = Duration::from_secs(5);

/// Damaged forms of each module that LLVM is given as well, if they are translated.
const PARSED: u64 = 40;

/// The next of a row of numbers without a pattern (xorshift64*).
fn next_random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// The modules that `spirv_modules` tests.
fn read_modules() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spirv");
    let paths = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let mut modules: Vec<(String, Vec<u8>)> = paths
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a text");
            (path.display().to_string(), assemble_module(&text, (1, 4)))
        })
        .collect();
    modules.sort();
    modules
}

/// Translates, and checks that an error has a name and a place within the module.
fn check_bytes(bytes: &[u8]) {
    let started = Instant::now();
    if let Err(SpirvError::Instruction { name, offset, sentence, .. }) =
        translate_module(bytes, &[], TextOptions { source_lines: true, ..TextOptions::default() })
    {
        assert!(!name.is_empty() && !sentence.is_empty() && offset < bytes.len() / 4, "{name} {offset} {sentence}");
    }
    assert!(started.elapsed() < MOST_TIME, "{} bytes take {:?}", bytes.len(), started.elapsed());
}

/// Changes a word: to one with another bit, to a small number, to a word of another place, or to none or two of it.
fn damage(words: &mut Vec<u32>, state: &mut u64) {
    let at = 5 + next_random(state) as usize % (words.len() - 5);
    let other = 5 + next_random(state) as usize % (words.len() - 5);
    match next_random(state) % 6 {
        0 => words[at] ^= 1 << (next_random(state) % 32),
        1 => words[at] = (next_random(state) % 64) as u32,
        2 => words[at] = words[other],
        3 => _ = words.remove(at),
        4 => words.insert(at, words[other]),
        // The number of the instruction alone, so that its words stay as many.
        _ => words[at] = words[at] & 0xffff_0000 | (next_random(state) % 400) as u32,
    }
}

#[test]
fn damaged_modules_are_refused_or_translated() {
    let mut state = 0x5eed;
    for (_, module) in read_modules() {
        let words: Vec<u32> = module.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect();
        for index in 0..MUTATIONS {
            let mut damaged = words.clone();
            for _ in 0..=next_random(&mut state) % 3 {
                damage(&mut damaged, &mut state);
            }
            let bytes: Vec<u8> = damaged.iter().flat_map(|word| word.to_le_bytes()).collect();
            check_bytes(&bytes);
            if index < PARSED {
                // Whether LLVM takes the text does not matter, if only it comes back.
                _ = compile_spirv(&FrontendConfig::default(), &bytes, &[], &BuildOptions::default());
            }
        }
    }
}

#[test]
fn modules_that_are_cut_off_are_refused() {
    for (name, module) in read_modules() {
        for length in (0..module.len()).step_by(7) {
            check_bytes(&module[..length]);
        }
        assert!(translate_module(&module[..module.len() - 2], &[], TextOptions::default()).is_err(), "{name}");
    }
}

/// A kernel of so many sums, one after the other.
fn long_kernel(sums: usize) -> Vec<u8> {
    let mut text =
        "OpCapability Addresses\nOpCapability Kernel\nOpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %f \"f\"\n\
                    %void = OpTypeVoid\n%int = OpTypeInt 32 0\n%s0 = OpConstant %int 1\n%type = OpTypeFunction %void\n\
                    %f = OpFunction %void None %type\n%start = OpLabel\n"
            .to_owned();
    for index in 0..sums {
        text.push_str(&format!("%s{} = OpIAdd %int %s{index} %s0\n", index + 1));
    }
    text.push_str("OpReturn\nOpFunctionEnd\n");
    assemble_module(&text, (1, 0))
}

#[test]
fn time_grows_with_the_module_and_no_faster() {
    let time_of = |sums| {
        let module = long_kernel(sums);
        let times = (0..7).map(|_| {
            let started = Instant::now();
            translate_module(&module, &[], TextOptions::default()).expect("it is right");
            started.elapsed()
        });
        times.min().unwrap_or_default()
    };
    let (short, long) = (time_of(20_000), time_of(160_000));
    // Where it grows with the square it is 64 times as long.
    assert!(long < short * 32, "{short:?} for one, {long:?} for eight times as much");
}
