//! Turns OpenCL C source that calls built-ins into a program for the host.
//!
//! The source is compiled as a kernel's is (clang's own declarations, `spir64`), linked with the library's bitcode,
//! retargeted and compiled for the host, where all address spaces are one. Each wrapper in the source has the signature
//! `void NAME(global const uchar *in, global uchar *out, ulong n)`; the program is called with a wrapper's name, reads
//! the input from standard input and writes the output, so the tests need no unsafe code.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

const CLANG: &str = env!("LOCKSTEP_KERNELS_CLANG");

/// The primitives of `cl/lockstep.h` on a work-item with easily told numbers, and the program's `main`.
const RUNTIME: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define QUERY(NAME, BASE) unsigned long __lockstep_##NAME(unsigned d) { return BASE + d; }
QUERY(global_id, 100) QUERY(local_id, 2) QUERY(group_id, 20) QUERY(global_size, 200) QUERY(local_size, 3)
QUERY(enqueued_local_size, 5) QUERY(num_groups, 30) QUERY(global_offset, 40)
unsigned __lockstep_work_dim(void) { return 3; }
static unsigned long barriers;
void __lockstep_barrier(unsigned flags, unsigned scope) { barriers += flags + 100 * scope; }

// As bad as the worst estimates of SSE: denormal numbers are zeros, and a part in 2^11.4 is missing.
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
float __lockstep_recip_estimate(float x) { return flushed(0x0.ffe8p0 / flushed(x)); }
// The chapters are compiled for x86-64-v3, which has fused sums.
int __lockstep_fuses_sums(void) { return 1; }
float __lockstep_quotient_estimate(float x, float y) { return flushed(0x0.ffc8p0 * flushed(x) / flushed(y)); }
float __lockstep_rsqrt_native(float x) { return 0x0.fffcp0 / sqrt(flushed(x)); }
float __lockstep_rsqrt_estimate(float x) { return 0x0.ffe8p0 / sqrt(flushed(x)); }
double __lockstep_logb(double x)
{
    int n;
    double m = frexp(x, &n);
    return x == 0 ? -INFINITY : isfinite(x) ? m < 0.75 ? n - 1 : n : x;
}
double __lockstep_significand(double x)
{
    int n;
    double m = frexp(x, &n);
    return x == 0 ? -1 : x < 0 ? NAN : isfinite(x) ? m < 0.75 ? 2 * m : m : isnan(x) ? x : 1;
}
float __lockstep_scaled_float(float a, float b, float counted)
{
    return isnan(counted) ? counted : ldexpf(a + b, (int)(counted - 0x1.8001fcp23f));
}
double __lockstep_scaled_double(double a, double b, double counted)
{
    return isnan(counted) ? counted : ldexp(a + b, (int)(counted - 0x1.80000000007fep52));
}
double __lockstep_powered(double a, double counted)
{
    double n = counted - 0x1.8p48, whole = floor(n), root = exp2(n - whole);
    return isnan(counted) ? counted : ldexp(fma(root, a, root), (int)whole);
}
// A part in 2^13 is missing, and what is no positive normal number has the result of another one.
double __lockstep_rsqrt_estimate_double(double x) { return x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023 ? 0x0.fff8p0 / sqrt(x) : 7; }

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    size_t n = strtoull(argv[2], 0, 10), in_size = strtoull(argv[3], 0, 10), out_size = strtoull(argv[4], 0, 10);
    void (*wrapper)(const void *, void *, size_t) = (void (*)(const void *, void *, size_t))dlsym(RTLD_DEFAULT, argv[1]);
    if (!wrapper) return 3;
    void *in = aligned_alloc(128, (in_size + 255) / 128 * 128);
    void *out = aligned_alloc(128, (out_size + 255) / 128 * 128);
    if (fread(in, 1, in_size, stdin) != in_size) return 4;
    for (size_t i = 0; i < out_size; i++) ((unsigned char *)out)[i] = 0xa5;
    wrapper(in, out, n);
    if (fwrite(out, 1, out_size, stdout) != out_size) return 5;
    return 0;
}
"#;

/// Runs clang and fails the test with its messages.
pub fn clang<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(arguments: I) -> String {
    let output = Command::new(CLANG).args(arguments).output().expect("clang runs");
    assert!(output.status.success(), "clang failed:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("clang writes text")
}

/// A host program made of wrappers and the library.
pub struct Host {
    program: PathBuf,
}

impl Host {
    /// Compiles and links; `name` tells the tests' files apart.
    pub fn build(name: &str, source: &str) -> Host {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).expect("a directory for the test's files");
        let path = |file: &str| directory.join(file);
        let text = |file: &str| path(file).to_str().expect("a path in UTF-8").to_string();
        fs::write(path("wrappers.cl"), format!("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n{source}"))
            .expect("write the wrappers");
        fs::write(path("runtime.c"), RUNTIME).expect("write the runtime");
        clang([
            "-target",
            "spir64-unknown-unknown",
            "-cl-std=CL3.0",
            "-Xclang",
            "-cl-ext=+all",
            "-O1",
            "-ffp-contract=off",
            "-fno-builtin",
            "-S",
            "-emit-llvm",
            "-o",
            &text("wrappers.ll"),
            &text("wrappers.cl"),
        ]);
        let ir = fs::read_to_string(path("wrappers.ll")).expect("clang wrote IR");
        let kept = ir.lines().filter(|line| !line.starts_with("target ") && !line.starts_with("!opencl."));
        let host_ir = lockstep_kernels::without_opaque_types(&kept.collect::<Vec<_>>().join("\n"));
        fs::write(path("host.ll"), host_ir).expect("write the IR");
        let mut arguments: Vec<String> = [
            "-x",
            "ir",
            "-O1",
            "-march=x86-64-v3",
            "-fPIC",
            "-Wno-override-module",
            "-Wno-linker-warnings",
            "-c",
            "-o",
        ]
        .into_iter()
        .map(str::to_string)
        .collect();
        arguments.extend([text("host.o"), text("host.ll")]);
        let called = ir.lines().filter(|line| line.starts_with("declare ")).filter_map(|line| {
            let name = &line[line.find('@')? + 1..];
            lockstep_kernels::chapter_of(&name[..name.find('(')?])
        });
        let chapters: BTreeMap<&str, _> = called.map(|chapter| (chapter.name, chapter)).collect();
        for chapter in chapters.values() {
            let file = format!("{}.bc", chapter.name);
            fs::write(path(&file), chapter.bitcode).expect("write a chapter");
            arguments.extend(["-Xclang", "-mlink-bitcode-file", "-Xclang"].map(str::to_string));
            arguments.push(text(&file));
        }
        clang(&arguments);
        clang([
            "-O1",
            "-fno-builtin",
            "-rdynamic",
            "-o",
            &text("program"),
            &text("runtime.c"),
            &text("host.o"),
            "-lm",
            "-ldl",
        ]);
        Host { program: path("program") }
    }

    /// Calls the wrapper on `n` elements.
    pub fn run(&self, wrapper: &str, n: usize, input: &[u8], output_size: usize) -> Vec<u8> {
        let mut child = Command::new(&self.program)
            .args([wrapper, &n.to_string(), &input.len().to_string(), &output_size.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the host program starts");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        let output = thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).expect("the host program reads its input"));
            child.wait_with_output().expect("the host program ends")
        });
        assert!(output.status.success(), "{wrapper}: {}", output.status);
        assert_eq!(output.stdout.len(), output_size, "{wrapper} wrote too little");
        output.stdout
    }

    /// Calls a wrapper whose arguments are arrays one behind the other and whose result is one array.
    pub fn map<A: Plain, R: Plain>(&self, wrapper: &str, arguments: &[&[A]]) -> Vec<R> {
        let n = arguments[0].len();
        let input: Vec<u8> = arguments.iter().flat_map(|argument| bytes(argument)).collect();
        values(&self.run(wrapper, n, &input, n * size_of::<R>()))
    }
}

/// Numbers that cross to the host program as bytes.
pub trait Plain: Copy {
    fn push(self, to: &mut Vec<u8>);
    fn take(from: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            fn push(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
            fn take(from: &[u8]) -> Self {
                <$t>::from_le_bytes(from.try_into().expect("the right size"))
            }
        }
    )*};
}
plain!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

pub fn bytes<T: Plain>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    for &value in values {
        value.push(&mut bytes);
    }
    bytes
}

pub fn values<T: Plain>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::take).collect()
}

/// Reproducible random bits (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
