//! Damaged SPIR-V modules: whatever bytes are given, there is a text or an error with a place, soon, and no panic; and what is made of a
//! text by LLVM, import, the passes and LLVM again is machine code or an error, too. A test run does little of it; `cargo xtask fuzz spirv` as
//! much as one likes.

use std::path::Path;
use std::time::{Duration, Instant};

use lockstep_compiler::frontend::spirv::{SpirvError, TextOptions, translate_module};
use lockstep_compiler::frontend::{FrontendConfig, compile_spirv, link_program};
use lockstep_compiler::pipeline::{CompileError, compile_kernel, load};
use lockstep_ir::ir::Module;
use lockstep_protocol::build_options::BuildOptions;
use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::portable_program::LinkedProgram;
use lockstep_spirv_assembler::assemble_module;

/// How many damaged modules a test run reads, and how many it makes programs of.
const MUTATIONS: u64 = 12_000;
const PROGRAMS: u64 = 1_000;
/// What they are told by (`cargo xtask fuzz spirv`).
const MUTATIONS_VARIABLE: &str = "LOCKSTEP_TEST_MUTATIONS";
const PROGRAMS_VARIABLE: &str = "LOCKSTEP_TEST_PROGRAMS";

/// Far more than any of these small modules needs.
const MOST_TIME: Duration = Duration::from_secs(5);
/// Bytes of memory that the process may have more at the end than after a tenth of the modules.
const MOST_GROWTH: u64 = 256 << 20;
/// Words of a module's header.
const HEADER: usize = 5;

/// The next of a row of numbers without a pattern (xorshift64*).
fn next_random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// The modules that `spirv_modules` tests, and those that clang and LLVM's back end have made for the conformance tests.
fn read_modules() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("tests/spirv"), root.join("../conformance/tests/intermediate_language")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the folder is there"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut modules: Vec<(String, Vec<u8>)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "spvasm"))
        // What is refused as it is would be refused for the same reason when it is damaged.
        .filter(|path| !path.to_string_lossy().contains("refused_"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a text");
            (path.display().to_string(), assemble_module(&text, (1, 4)))
        })
        .collect();
    modules.sort();
    assert!(modules.len() > 15, "there are {} modules", modules.len());
    modules
}

/// Translates, and checks that an error has a name and a place within the module. Whether there is a text.
fn check_bytes(bytes: &[u8]) -> bool {
    let started = Instant::now();
    let options = TextOptions { source_lines: true, ..TextOptions::default() };
    let translated = translate_module(bytes, &[], options);
    if let Err(SpirvError::Instruction { name, offset, sentence, .. }) = &translated {
        assert!(!name.is_empty() && !sentence.is_empty() && *offset < bytes.len() / 4, "{name} {offset} {sentence}");
    }
    assert!(started.elapsed() < MOST_TIME, "{} bytes take {:?}", bytes.len(), started.elapsed());
    translated.is_ok()
}

/// Does all that is done with a module before a launch, and tells whether there is a program. What is wrong with the module is found before
/// our passes: these have no mistake to report.
fn check_program(bytes: &[u8]) -> bool {
    let started = Instant::now();
    let options = BuildOptions::default();
    let compiled = compile_spirv(&FrontendConfig::default(), bytes, &[], &options);
    let linked = compiled.ok().and_then(|compiled| link_program(&[&compiled.object], &options).ok());
    if let Some(module) = linked.as_ref().and_then(load_or_refuse) {
        let options = CompileOptions { strict: true, ..CompileOptions::default() };
        for kernel_index in 0..module.kernels.len() {
            if let Err(CompileError::Internal(mistake)) = compile_kernel(&module, kernel_index, &options) {
                panic!("{mistake}");
            }
        }
    }
    assert!(started.elapsed() < 4 * MOST_TIME, "{} bytes take {:?}", bytes.len(), started.elapsed());
    linked.is_some()
}

/// The program in our IR, or none where it uses what is not supported.
fn load_or_refuse(program: &LinkedProgram) -> Option<Module> {
    match load(program) {
        Ok(module) => Some(module),
        Err(CompileError::Internal(mistake)) => panic!("{mistake}"),
        Err(_) => None,
    }
}

/// Where each instruction of a module begins, and where the last one ends.
fn find_instructions(words: &[u32]) -> Vec<usize> {
    let next = |&offset: &usize| {
        let length = (words.get(offset)? >> 16) as usize;
        (length > 0 && offset + length <= words.len()).then_some(offset + length)
    };
    std::iter::successors(Some(HEADER), next).collect()
}

/// Changes a word: to one with another bit, to a small number, to a word of another place, or to none or two of it; or puts an instruction
/// of another module in the place of one, or before it.
fn damage(words: &mut Vec<u32>, donor: &[u32], state: &mut u64) {
    let mut below = |count: usize| next_random(state) as usize % count.max(1);
    if words.len() <= HEADER {
        return words.push(below(1 << 20) as u32);
    }
    let at = HEADER + below(words.len() - HEADER);
    let other = HEADER + below(words.len() - HEADER);
    match below(8) {
        0 => words[at] ^= 1 << below(32),
        1 => words[at] = below(64) as u32,
        2 => words[at] = words[other],
        3 => _ = words.remove(at),
        4 => words.insert(at, words[other]),
        // The number of the instruction alone, so that its words stay as many.
        5 => words[at] = words[at] & 0xffff_0000 | below(400) as u32,
        replaces => {
            let (own, others) = (find_instructions(words), find_instructions(donor));
            let (place, taken) = (below(own.len() - 1), below(others.len() - 1));
            let (Some([start, end]), Some([first, last])) = (own.get(place..place + 2), others.get(taken..taken + 2))
            else {
                return;
            };
            let replaced = if replaces == 6 { *start..*end } else { *start..*start };
            words.splice(replaced, donor[*first..*last].iter().copied());
        }
    }
}

/// Damaged modules without an end; the same each time.
struct Damaged {
    modules: Vec<Vec<u32>>,
    state: u64,
}

impl Iterator for Damaged {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let count = self.modules.len();
        let mut choose = || next_random(&mut self.state) as usize % count;
        let (module, donor) = (choose(), choose());
        let mut words = self.modules[module].clone();
        for _ in 0..=next_random(&mut self.state) % 3 {
            damage(&mut words, &self.modules[donor], &mut self.state);
        }
        Some(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}

/// Damaged forms of all modules, from a beginning of their own.
fn damaged_modules(state: u64) -> Damaged {
    let words_of = |(_, module): (String, Vec<u8>)| {
        module.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
    };
    Damaged { modules: read_modules().into_iter().map(words_of).collect(), state }
}

/// The number that a variable of the environment has, or the usual one.
fn read_count(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number of modules"))
}

/// Bytes of memory that this process has.
fn measure_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * 4096
}

/// Checks so many damaged modules, and that they leave no memory behind. At least one in a hundred has to be more than refused.
fn check_many(count: u64, state: u64, check: impl Fn(&[u8]) -> bool) {
    let (mut accepted, mut early) = (0, u64::MAX);
    for (index, bytes) in (0..count).zip(damaged_modules(state)) {
        accepted += u64::from(check(&bytes));
        if index == count / 10 {
            early = measure_memory();
        }
        if index % 1_000_000 == 999_999 {
            println!("{} of {count}", index + 1);
        }
    }
    let late = measure_memory();
    println!("{count} damaged modules, {accepted} of them accepted, {} MB of memory", late >> 20);
    assert!(late < early.saturating_add(MOST_GROWTH), "{early} bytes early, {late} late");
    assert!(accepted * 100 >= count, "{accepted} of {count} damaged modules are accepted");
}

#[test]
fn damaged_modules_are_refused_or_translated() {
    check_many(read_count(MUTATIONS_VARIABLE, MUTATIONS), 0x5eed, check_bytes);
}

#[test]
fn damaged_modules_are_refused_or_become_programs() {
    check_many(read_count(PROGRAMS_VARIABLE, PROGRAMS), 0xfeed, check_program);
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
