//! Which archives the static executable is made of, and how they are linked.

use crate::installed_llvm::InstalledLlvm;

/// Stand for what LLVM's archives ask for and the compiler never calls: Polly, which the list of extensions names where a distribution
/// has built it, and compression by zlib and zstd.
const STAND_INS: [&str; 2] = ["src/no_polly.cpp", "src/no_compression.cpp"];

/// clang's part from source to LLVM IR.
const CLANG_ARCHIVES: [&str; 16] = [
    "clangCodeGen",
    "clangFrontend",
    "clangSerialization",
    "clangDriver",
    "clangOptions",
    "clangParse",
    "clangSema",
    "clangAnalysis",
    "clangAnalysisLifetimeSafety",
    "clangEdit",
    "clangAST",
    "clangASTMatchers",
    "clangAPINotes",
    "clangLex",
    "clangBasic",
    "clangSupport",
];

/// LLVM's components, by the names that `llvm-config` knows: a target to make code for, one that knows SPIR's address spaces,
/// all passes, what inkwell's modules refer to, and what clang asks for.
const LLVM_COMPONENTS: [&str; 19] = [
    "x86codegen",
    "x86asmparser",
    "x86info",
    "x86desc",
    "spirvcodegen",
    "spirvdesc",
    "spirvinfo",
    "passes",
    "bitreader",
    "bitwriter",
    "linker",
    "irreader",
    "executionengine",
    "lto",
    "option",
    "coverage",
    "frontendopenmp",
    "frontendhlsl",
    "frontenddriver",
];

/// What those ask for.
const SYSTEM_ARCHIVES: [&str; 4] = ["-lstdc++", "-lm", "-lgcc_eh", "-lc"];

/// Tells cargo how the executable is linked.
///
/// # Errors
/// What is not installed.
pub fn link_archives() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build/static_link.rs");
    println!("cargo:rerun-if-changed=../build/installed_llvm.rs");
    STAND_INS.iter().for_each(|file| println!("cargo:rerun-if-changed={file}"));
    let llvm = InstalledLlvm::find_installed()?;
    llvm.cpp_build()?
        .files(STAND_INS)
        .cpp_link_stdlib(None)
        .try_compile("lockstep_stand_ins")
        .map_err(|error| error.to_string())?;
    let llvm_archives = llvm.ask_config(&[&["--link-static", "--libs"], &LLVM_COMPONENTS[..]].concat())?;
    let is_wanted = |archive: &&str| !matches!(*archive, "-lPolly" | "-lPollyISL");

    link_argument(&format!("-L{}", llvm.libraries.display()));
    // Whatever was asked for dynamically before: from here on there are archives only.
    link_argument("-Wl,-Bstatic");
    link_argument("-Wl,--start-group");
    CLANG_ARCHIVES.iter().for_each(|archive| link_argument(&format!("-l{archive}")));
    llvm_archives.split_ascii_whitespace().filter(is_wanted).for_each(link_argument);
    SYSTEM_ARCHIVES.iter().for_each(|archive| link_argument(archive));
    link_argument("-Wl,--end-group");
    link_argument("-Wl,--gc-sections");
    if links_by_lld() {
        // Templates of LLVM are many functions with the same code.
        link_argument("-Wl,--icf=all");
    }
    Ok(())
}

fn link_argument(argument: &str) {
    println!("cargo:rustc-link-arg-bins={argument}");
}

/// Whether rustc uses the linker that it brings along, as it does on Linux with glibc unless it is told another one.
fn links_by_lld() -> bool {
    let names_a_linker = |name: &str| std::env::var(name).is_ok_and(|value| value.contains("link"));
    std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu")
        && std::env::var_os("RUSTC_LINKER").is_none()
        && !names_a_linker("CARGO_ENCODED_RUSTFLAGS")
}
