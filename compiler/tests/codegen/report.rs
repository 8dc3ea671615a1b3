//! The report of a kernel in OpenCL C: each access, branch and loop with its source line.

use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::pipeline::{compile_kernel, load};
use lockstep_ir::ir::Module;
use lockstep_protocol::build_options::{BuildOptions, Stage};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};

fn build(source: &str, source_lines: bool) -> Module {
    let config = FrontendConfig { source_lines, ..FrontendConfig::default() };
    let options = BuildOptions::parse("-cl-std=CL3.0", Stage::Build).unwrap();
    let object = compile_source(&config, source.as_bytes(), &[], &options).unwrap_or_else(|error| panic!("{error}"));
    let program = link_program(&[&object], &options).unwrap_or_else(|error| panic!("{error}"));
    load(&program).unwrap_or_else(|error| panic!("{error}"))
}

/// The report as text and as JSON.
fn report(module: &Module, vectorize: Vectorize) -> [String; 2] {
    report_with(module, vectorize, None)
}

/// The report where registers have at most so many bits.
fn report_with(module: &Module, vectorize: Vectorize, simd: Option<u32>) -> [String; 2] {
    let options = CompileOptions { vectorize, simd, report: true, ..CompileOptions::default() };
    let compiled = compile_kernel(module, 0, &options).unwrap();
    let report = compiled.report.as_ref().unwrap();
    [report.to_string(), report.to_json()]
}

#[test]
fn some_of_everything() {
    let module = build(include_str!("report.cl"), true);
    let [text, json] = report_with(&module, Vectorize::Gangs(Gangs::of_width(8)), Some(256));
    let expected = "kernel some_of_everything: 8 work-items at a time along x, unicf (as asked)
2:14 gate put: skipped where no lane comes
9:15 load contiguous: f32 from global memory
10:15 load reversed: f32 from global memory
11:16 load interleaved stride 4: 4 f32 from global memory
12:15 load uniform: f32 from constant memory
13:15 load gather: f32 from global memory, lanes anywhere
13:18 load contiguous: i32 from global memory
14:12 store contiguous: f32 to global memory
15:11 branch uniform: stays a branch
16:20 store interleaved stride 2: f32 to global memory
17:11 branch divergent: folded
18:24 store scatter, masked: f32 to global memory, lanes 12 bytes apart, lanes that are off redirected
19:13 load contiguous, masked: i32 from global memory
19:22 store scatter, masked: f32 to global memory, lanes anywhere, lanes that are off redirected
19:24 branch divergent: folded
19:24 gate put: skipped where no lane comes
21:5 branch uniform: stays a branch
21:5 loop uniform: carries 1 scalar and 1 vector
22:14 load uniform: f32 from constant memory
23:5 branch divergent: folded
23:5 loop divergent: lanes part at 23:5, carries 0 scalars and 1 vector
23:5 version all-true copy: where all lanes go one way
23:5 version unmasked loop: until a lane leaves
25:26 store contiguous: f32 to local memory
27:19 load reversed: f32 from local memory
28:15 branch divergent: folded
29:21 atomic uniform, masked: reduced, lanes' old values by a scan
29:21 gate put: skipped where no lane comes
30:9 atomic uniform, masked: reduced
30:33 load gather, masked: i32 from global memory, lanes anywhere, lanes that are off redirected
32:5 atomic per lane: addresses differ
33:5 atomic per lane: no reduction
34:13 store contiguous: i32 to global memory
35:5 switch uniform: stays a branch
37:16 store uniform: f32 to global memory
40:16 store uniform: f32 to global memory
40:18 branch divergent: folded
40:18 branch fused: 2 of 12 and 3 instructions, profit 28
40:18 fusion none: it would save 0 of 142
40:18 fusion none: it would save 0 of 48
40:18 gate put: skipped where no lane comes
44:5 branch uniform: stays a branch
44:5 loop uniform: carries 1 scalar and 0 vectors
45:16 store contiguous: f32 to private memory
45:18 load contiguous: f32 from global memory
46:12 load contiguous: f32 from global memory
46:12 store contiguous: f32 to global memory
46:15 load gather: f32 from private memory, lanes anywhere
46:19 load contiguous: i32 from global memory
47:11 branch divergent: folded
48:9 gate put: skipped where no lane comes
48:9 printf per lane, masked: output in order
- gate put: skipped where no lane comes
- private interleaved: 256 bytes, elements of 4 bytes
";
    assert!(text == expected, "{text}");
    // One note a line in both.
    assert_eq!(json.lines().filter(|line| line.contains("\"line\": ")).count(), text.lines().count() - 1);
}

const SHORT: &str = "kernel void k(global int *p, int n) {
    for (int i = 0; i < n; i++)
        p[get_global_id(0)] += i;
}
";

#[test]
fn what_was_asked_for() {
    let module = build(SHORT, true);
    let naive = Gangs { configuration: Configuration::Naive, ..Gangs::of_width(16) };
    let [text, _] = report_with(&module, Vectorize::Gangs(naive), Some(256));
    let expected = "kernel k: 16 work-items at a time along x, naive (as asked)
2:5 branch divergent: folded
2:5 loop divergent: lanes part at 2:5, carries 0 scalars and 2 vectors
3:29 store scatter, masked: i32 to global memory, lanes anywhere, lanes that are off redirected
- load gather, masked: i32 from global memory, lanes anywhere, lanes that are off redirected
";
    assert!(text == expected, "{text}");
    let [text, json] = report(&module, Vectorize::Scalar);
    assert_eq!(text, "kernel k: work-items one after the other (as asked)\n");
    let expected = "{\n  \"kernel\": \"k\",\n  \"configuration\": \"scalar\",\n  \"width\": 1,\n  \"layout\": \"\",\n  \"why\": \"as asked\",\n  \"notes\": []\n}\n";
    assert_eq!(json, expected);
    let [text, _] = report(&module, Vectorize::Gangs(Gangs::of_width(3)));
    assert_eq!(text, "kernel k: work-items one after the other (gangs of 3 work-items are not supported)\n");
}

#[test]
fn numbers_of_elements_that_may_wrap() {
    let source = "kernel void k(global int *a, global short *b, uint w) {
    uint x = get_global_id(0), y = get_global_id(1);
    b[y * w + x] =
        a[x * w + y];
}
";
    let [text, _] = report(&build(source, true), Vectorize::Gangs(Gangs::of_width(8)));
    let expected = "kernel k: 8 work-items at a time along x, unicf (as asked)
3:18 store contiguous: i16 to global memory, unless an index wraps
4:9 load gather: i32 from global memory, lanes anywhere
";
    assert!(text == expected, "{text}");
}

/// Each lane's vector is one load, and shuffles bring the elements where they belong.
#[test]
fn vectors_at_places_of_each_lanes_own_are_chunks() {
    let source = "kernel void k(global const int *ix, global const float *a, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = vload4(ix[i], a);
}
";
    let vectorize = Vectorize::Gangs(Gangs::of_width(8));
    let [text, _] = report_with(&build(source, true), vectorize, Some(256));
    assert!(text.contains(" load chunks: 4 f32 from global memory, lanes anywhere\n"), "{text}");
}

#[test]
fn without_source_lines_there_are_no_places() {
    let module = build(SHORT, false);
    let [text, _] = report(&module, Vectorize::Gangs(Gangs::of_width(4)));
    assert!(text.lines().skip(1).all(|line| line.starts_with("- ")), "{text}");
    assert!(text.contains("\n- load contiguous: i32 from global memory\n"), "{text}");
}

#[test]
fn nobody_gets_a_report_unasked() {
    let module = build(SHORT, true);
    let compiled = compile_kernel(&module, 0, &CompileOptions::default()).unwrap();
    assert_eq!(compiled.report, None);
}

#[test]
fn a_long_array_that_begins_as_zeros_lies_element_by_element() {
    let module = build(
        "kernel void k(global float *p, int n) {
    float sums[256] = {0};
    size_t id = get_global_id(0);
    for (int i = 0; i < n; i++)
        sums[i] += p[i] * id;
    p[id] = sums[n];
}
",
        true,
    );
    let [text, _] = report(&module, Vectorize::Gangs(Gangs::of_width(16)));
    assert!(text.contains("private interleaved: 1024 bytes, elements of 4 bytes"), "{text}");
}

/// Sums of long chains over other work-items' numbers, for those of a row that is shorter than the group.
const SUMS: &str = "kernel void k(global const TYPE *p, global TYPE *sums, int count, int row) {
    for (int i = get_local_id(0); i < row; i += 128) {
        TYPE sum = 0, own = p[i];
        for (int j = 0; j < count; j++) {
            TYPE d = own - p[j];
            sum += d * exp(-d * d);
        }
        sums[i] = sum;
    }
}
";

#[test]
fn lanes_take_no_turns_where_a_long_chain_takes_one_as_long_as_all() {
    for ty in ["float", "double"] {
        let module = build(&SUMS.replace("TYPE", ty), true);
        let [text, _] = report(&module, Vectorize::Gangs(Gangs::of_width(16)));
        let few = ["up to 1 of", "up to 2 of"].iter().any(|few| text.contains(few));
        assert!(few || !text.contains("in turn"), "{text}");
    }
}
