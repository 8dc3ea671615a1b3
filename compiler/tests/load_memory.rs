//! Ten thousand rounds of loading and dropping code leave nothing behind. Alone in its program, so that no other test
//! moves the memory that is measured.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockstep_compiler::machine_code::{HostMachine, OptLevel, compile_module, emit_object, link_image, optimize};
use lockstep_runtime::execute::loaded_code::LoadedCode;

const SOURCE: &str = "declare float @sinf(float)
    @table = internal constant [1024 x i32] zeroinitializer
    define float @f(float %x, i64 %i) {
      %p = getelementptr [1024 x i32], ptr @table, i64 0, i64 %i
      %y = load volatile i32, ptr %p
      %z = uitofp i32 %y to float
      %s = call float @sinf(float %x)
      %r = fadd float %s, %z
      ret float %r
    }\0";

/// Resident memory in KiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4
}

/// Runs `round` often and says by how many KiB the process grew, after it had time to reach its size.
fn growth(rounds: u32, mut round: impl FnMut()) -> u64 {
    (0..rounds / 10).for_each(|_| round());
    let before = resident();
    (0..rounds).for_each(|_| round());
    resident().saturating_sub(before)
}

fn with_module<T>(work: impl FnOnce(&inkwell::module::Module<'_>) -> T) -> T {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(SOURCE.as_bytes(), "test");
    work(&context.create_module_from_ir(buffer).unwrap())
}

#[test]
fn memory_does_not_grow() {
    let object = with_module(|module| {
        let machine = HostMachine::new(OptLevel::Default, None).unwrap();
        optimize(module, &machine).unwrap();
        emit_object(module, &machine).unwrap().bytes
    });
    // A leaked image would be at least a page, 40 MB in all.
    let image = link_image(&object, "f").unwrap().image;
    let loads = growth(10_000, || drop(LoadedCode::map_image(&image).unwrap()));
    assert!(loads < 2048, "10000 loads took {loads} KiB");
    let failures = growth(2_000, || drop(link_image(&object, "g").unwrap_err()));
    assert!(failures < 1024, "2000 failed links took {failures} KiB");
    let whole = growth(500, || drop(with_module(|module| compile_module(module, "f", OptLevel::Default)).unwrap()));
    assert!(whole < 2048, "500 compilations took {whole} KiB");
}
