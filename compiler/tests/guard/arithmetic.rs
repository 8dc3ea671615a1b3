//! Operations that the machine does not forgive, or that have no result, in lanes that do not do them.

use crate::build::{Launch, agree, build, ints, options};
use crate::code::Code;
use lockstep_ir::interp::{Arg, NdRange};
use lockstep_ir::ir::parse_module;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::configuration::Configuration;

const SIZES: [(u64, u64); 5] = [(1, 1), (7, 7), (16, 16), (21, 10), (37, 37)];

const INTEGERS: [(&str, usize, bool); 8] = [
    ("char", 1, true),
    ("uchar", 1, false),
    ("short", 2, true),
    ("ushort", 2, false),
    ("int", 4, true),
    ("uint", 4, false),
    ("long", 8, true),
    ("ulong", 8, false),
];

fn elements(values: impl IntoIterator<Item = i64>, bytes: usize) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.to_le_bytes()[..bytes].to_vec()).collect()
}

/// Dividends and divisors of each work-item: every second pair, and more, has no quotient.
fn pairs(size: u64, bytes: usize) -> Vec<(i64, i64)> {
    let lowest = i64::MIN >> (64 - 8 * bytes);
    let all = [(lowest, -1), (100, 7), (5, 0), (-77, 5), (lowest, -1), (lowest, 3), (0, 0), (lowest, 0), (9, -1)];
    (0..size as usize).map(|index| all[index * 5 % all.len()]).collect()
}

#[test]
fn divisions() {
    for (ty, bytes, signed) in INTEGERS {
        let lowest = format!("({ty})1 << {}", 8 * bytes - 1);
        let overflow = if signed { format!("(d[i] == -1 && a[i] == ({ty})({lowest}))") } else { "0".to_string() };
        let source = format!(
            "kernel void divide_{ty}(global const {ty} *a, global const {ty} *d, global {ty} *b, global const int *m,
                                    {ty} p, {ty} q) {{
                 size_t i = get_global_id(0);
                 if (d[i] != 0 && !{overflow}) {{ b[8 * i] = a[i] / d[i]; b[8 * i + 1] = a[i] % d[i]; }}
                 if (m[i]) {{ b[8 * i + 2] = a[i] / d[i]; b[8 * i + 3] = a[i] % d[i]; }}
                 if (m[i] == 7) {{ b[8 * i + 4] = a[i] / q; b[8 * i + 5] = p % d[i]; }}
                 if (m[i] == 7) {{ b[8 * i + 6] = p / q; b[8 * i + 7] = p % q; }}
                 if (m[i] == 1) {{ {ty} r = a[i] / d[i]; if (r > 3) b[8 * i] = r; }}
             }}"
        );
        let module = build(&source);
        let mut launches = Vec::new();
        for (size, local) in SIZES {
            let pairs = pairs(size, bytes);
            let lowest = i64::MIN >> (64 - 8 * bytes);
            let good = |&(left, d): &(i64, i64)| i32::from(d != 0 && !(signed && left == lowest && d == -1));
            let column = |of: fn(&(i64, i64)) -> i64| elements(pairs.iter().map(of), bytes);
            for (p, q) in [(lowest, -1), (1, 0)] {
                let none = ints(pairs.iter().map(|_| 0));
                for m in [ints(pairs.iter().map(good)), none] {
                    let b = elements((0..8 * size as i64).map(|i| i % 100), bytes);
                    let buffers = vec![column(|pair| pair.0), column(|pair| pair.1), b, m];
                    let mut arguments: Vec<Arg> = (0..4).map(Arg::Buffer).collect();
                    arguments.extend([p, q].map(|v| Arg::Value(elements([v], bytes))));
                    launches.push(Launch { range: NdRange::new(&[size], &[local]), args: arguments, buffers });
                }
            }
        }
        agree(&module, &format!("divide_{ty}"), &launches);
    }
}

/// In the last gang, lanes without a work-item divide nothing either: their operands are zeros.
#[test]
fn divisions_of_a_last_gang() {
    for (ty, bytes, _) in INTEGERS {
        let source = format!(
            "kernel void last_{ty}(global const {ty} *a, global const {ty} *d, global {ty} *b) {{
                 size_t i = get_global_id(0);
                 b[i] = a[i] / d[i] + a[i] % d[i];
                 b[i] += 100 / (7 - get_local_id(0));
             }}"
        );
        let launch = |size: u64| Launch {
            range: NdRange::new(&[size], &[size.min(7)]),
            args: (0..3).map(Arg::Buffer).collect(),
            buffers: vec![
                elements((0..size as i64).map(|i| 100 - i), bytes),
                elements((0..size as i64).map(|i| i % 9 + 1), bytes),
                vec![0; size as usize * bytes],
            ],
        };
        agree(&build(&source), &format!("last_{ty}"), &[1, 5, 7, 21].map(launch));
    }
}

/// Floats beyond all integers, in lanes that convert none.
#[test]
fn conversions() {
    let source = "kernel void convert(global const float *f, global int *b, global const int *m) {
             int i = get_global_id(0);
             if (m[i]) {
                 int n = (int)f[i];
                 b[8 * i] = n;
                 if (n > 3) b[8 * i + n] = (uchar)f[i] + (int)(long)(double)f[i];
                 if ((uint)f[i] < 5) b[8 * i + (short)f[i]] = 77;
                 for (int k = 0; k < n; k++) b[8 * i + k] += 1;
             }
         }";
    let module = build(source);
    let launch = |(size, local): (u64, u64), is: fn(u64) -> bool| {
        let wild = [f32::NAN, 1e30, -1e30, f32::INFINITY];
        let float = |i: u64| if is(i) { (i % 8) as f32 + 0.5 } else { wild[i as usize % 4] };
        let buffers = vec![
            (0..size).flat_map(|i| float(i).to_le_bytes()).collect(),
            ints((0..8 * size as i32).map(|i| -i)),
            ints((0..size).map(|i| is(i).into())),
        ];
        Launch { range: NdRange::new(&[size], &[local]), args: (0..3).map(Arg::Buffer).collect(), buffers }
    };
    let patterns: [fn(u64) -> bool; 3] = [|_| false, |i| i % 3 == 1, |i| i % 8 > 5];
    let launches: Vec<Launch> = patterns.into_iter().flat_map(|is| SIZES.map(|size| launch(size, is))).collect();
    agree(&module, "convert", &launches);
}

/// Shifts by too much and sums that promise not to wrap: no value at all, where nobody asked for one.
#[test]
fn poison() {
    let text = "kernel \"poison\" {
 args 24
 param \"m\" pointer.global \"int*\" size 8 align 8 offset 0
 param \"c\" pointer.global \"int*\" size 8 align 8 offset 8
 param \"b\" pointer.global \"int*\" size 8 align 8 offset 16
 input value(0, 0): ptr.global
 input value(1, 0): ptr.global
 input value(2, 0): ptr.global
 region r0 {
 b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):
   v3: i64 = query.global_id 0
   v4: i64 = shl v3, 2
   v5: ptr.global = ptradd v0, v4
   v6: i32 = load v5 align 4
   v7: ptr.global = ptradd v1, v4
   v8: i32 = load v7 align 4
   v9: ptr.global = ptradd v2, v4
   v10: i1 = icmp.ne v6, 0:i32
   br v10, b1, b6
 b1:
   v11: i32 = shl 3:i32, v8
   v12: i32 = add.nsw v8, 2147483600:i32
   v13: i32 = xor v11, v12
   v14: i1 = icmp.sgt v13, 0:i32
   br v14, b2, b3
 b2:
   store v13 to v9 align 4
   jump b3
 b3:
   v15: i1 = icmp.eq v6, 7:i32
   br v15, b4, b6
 b4:
   v16: i32 = lshr v13, 40:i32
   v17: i1 = icmp.eq v16, 3:i32
   br v17, b5, b6
 b5:
   store v16 to v9 align 4
   jump b6
 b6:
   return
 }
}
";
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let launch = |(size, local): (u64, u64)| {
        let buffers = vec![
            ints((0..size as i32).map(|i| i % 3)),
            ints((0..size as i32).map(|i| if i % 3 == 0 { 2_000_000_000 + i } else { i % 31 })),
            ints((0..size).map(|_| 5)),
        ];
        Launch { range: NdRange::new(&[size], &[local]), args: (0..3).map(Arg::Buffer).collect(), buffers }
    };
    agree(&module, "poison", &SIZES.map(launch));
}

/// A promise that a sum does not wrap holds for work-items, not for the lanes behind the last one.
#[test]
fn promises_of_a_last_gang() {
    let source = "kernel void promise(global int *b) {
             int v = b[get_global_id(0)];
             b[get_global_id(0)] = (v * 3) / (v + 7);
         }";
    let module = build(source);
    let folder = std::env::temp_dir().join(format!("lockstep-promise-{}", std::process::id()));
    let options = CompileOptions { dump: Some(folder.clone()), ..options(Configuration::UniCf, 16, false) };
    let compiled = Code::compile(&module, "promise", &options);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let path = files.iter().find(|path| path.to_string_lossy().ends_with("codegen.ll")).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    compiled.unwrap();
    let (full, last) = text.split_once("\ntail:").unwrap();
    assert!(full.contains("nsw <16 x i32>"), "{full}");
    assert!(!last.contains("nsw <16 x i32>"), "{last}");
    // What no integer division does cannot trap.
    assert!(last.contains("freeze <16 x i32>") && last.contains("fdiv <16 x double>"), "{last}");
    assert!(!last.contains("sdiv"), "{last}");
}
