//! printf: what kernels print reaches the process's standard output by the time the queue has finished.

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, arguments, is_lockstep, run};

/// Runs the body of `kernel void f(global const int *in)` with one item in a child process and returns what it printed.
#[track_caller]
fn printed(test: &str, body: &str) -> String {
    let output = in_child(test, &[], || {
        let setup = Setup::new();
        let kernel = setup.context.kernel(&format!("kernel void f(global const int *in) {{ {body} }}"), "f");
        let buffer = setup.context.with_values(&[42_i32, -7, 65]);
        kernel.set_all(arguments![&buffer]);
        run(&setup.queue, &kernel, &[1], &[1]);
    });
    output.stdout
}

#[test]
fn integers() {
    let body = r#"
        printf("%d %i %u|%5d|%-5d|%05d|%+d|% d\n", in[0], in[1], in[0], in[0], in[0], in[0], in[0], in[0]);
        printf("%x %X %#x %o %#o\n", in[0], in[0] * 4, in[0], in[0], in[0]);
        printf("%.4d|%8.4d|%-8.4d|\n", in[0], in[1], in[0]);
        printf("%hd %hhd %hu %hhu\n", (short)in[1], (char)in[1], (ushort)in[1], (uchar)in[1]);
        printf("%ld %lu %lx\n", (long)in[1] << 40, (ulong)in[0] << 40, (ulong)in[0] << 32);
    "#;
    let wanted = "42 -7 42|   42|42   |00042|+42| 42\n2a A8 0x2a 52 052\n0042|   -0007|0042    |\n-7 -7 65529 249\n-7696581394432 46179488366592 2a00000000\n";
    assert_eq!(printed("integers", body), wanted);
}

/// OpenCL C 3.1: sizes and differences of addresses have modifiers of their own.
#[test]
fn sizes_and_differences() {
    if !is_lockstep() {
        return;
    }
    let body = r#"
        size_t size = (size_t)in[0] << 40; ptrdiff_t difference = (ptrdiff_t)in[1] << 40;
        printf("%zu %zx %#zo|%20zu|%-16zd|\n", size, size, size, size, size);
        printf("%td %ti %tu|%20td|\n", difference, difference, (ptrdiff_t)7, difference);
    "#;
    let wanted = "46179488366592 2a0000000000 01240000000000000|      46179488366592|46179488366592  |\n-7696581394432 -7696581394432 7|      -7696581394432|\n";
    assert_eq!(printed("sizes_and_differences", body), wanted);
}

#[test]
fn floats() {
    let body = r#"
        float x = in[0] * 0.5f; double y = in[1] / 4.0;
        printf("%f %.2f %8.3f|%-8.1f|%+f|%08.2f\n", x, x, x, x, x, y);
        printf("%e %.3E %g %G\n", x, y, x, y * 1e20);
        printf("%a %.2a %A\n", x, y, y);
        printf("%f %f %F %e\n", INFINITY, -INFINITY, (float)INFINITY, 0.0f);
        printf("%.0f %#.0f\n", x, x);
    "#;
    let wanted = "21.000000 21.00   21.000|21.0    |+21.000000|-0001.75\n2.100000e+01 -1.750E+00 21 -1.75E+20\n0x1.5p+4 -0x1.c0p+0 -0X1.CP+0\ninf -inf INF 0.000000e+00\n21 21.\n";
    assert_eq!(printed("floats", body), wanted);
}

#[test]
fn characters_strings_and_percent_signs() {
    let body = r#"
        printf("%c%c|%3c|%-3c|%%|%s|%8s|%-8s|%.2s\n", in[2], in[2] + 1, in[2], in[2], "text", "right", "left", "cut");
        printf("100%%\n");
        printf("no arguments\n");
        printf("");
        printf("%s%s", "two parts", "\n");
        printf("tab\tand \"quotes\" and \\ \n");
    "#;
    let wanted = "AB|  A|A  |%|text|   right|left    |cu\n100%\nno arguments\ntwo parts\ntab\tand \"quotes\" and \\ \n";
    assert_eq!(printed("characters_strings_and_percent_signs", body), wanted);
}

#[test]
fn vectors() {
    let body = r#"
        float4 f = (float4)(1.0f, 2.5f, -3.0f, in[0]);
        int4 i = (int4)(in[0], 1, 2, -3);
        printf("%v4hlf\n", f);
        printf("%v4hld|%v4hlx\n", i, i & 255);
        printf("%.1v2hlf %5v2hld|\n", f.xy, i.xy);
        printf("%v4hhd %v4hd %v2ld\n", convert_char4(i), convert_short4(i), convert_long2(i.xw) * 10000000000L);
        printf("%v3hld and %d\n", i.xyz, in[1]);
        printf("%v16hhu\n", (uchar16)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255));
        printf("%v2lf\n", (double2)(0.5, -0.25));
    "#;
    let wanted = "1.000000,2.500000,-3.000000,42.000000\n42,1,2,-3|2a,1,2,fd\n1.0,2.5    42,    1|\n42,1,2,-3 42,1,2,-3 420000000000,-30000000000\n42,1,2 and -7\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,255\n0.500000,-0.250000\n";
    assert_eq!(printed("vectors", body), wanted);
}

#[test]
fn pointers() {
    let out = printed("pointers", r#"int x; printf("%d %p\n", (int)((size_t)in & 3), in);"#);
    let (aligned, address) = out.trim_end().split_once(' ').expect("two fields");
    assert_eq!(aligned, "0");
    let digits = address.strip_prefix("0x").unwrap_or(address);
    assert!(u64::from_str_radix(digits, 16).is_ok_and(|address| address != 0), "{out:?}");
}

#[test]
fn result_is_zero() {
    let out = printed("result_is_zero", r#"int r = printf("x"); printf(" %d\n", r);"#);
    // "printf returns 0 if it was executed successfully and -1 otherwise".
    assert_eq!(out, "x 0\n");
}

#[test]
fn every_item_prints_whole_lines() {
    let output = in_child("every_item_prints_whole_lines", &[], || {
        let setup = Setup::new();
        let source = r#"kernel void f(global const int *in) {
            size_t g = get_global_id(0);
            for (int i = 0; i < 3; ++i)
                if (in[g] != i) printf("item %d says %d and %f\n", (int)g, i, i * 0.5f);
        }"#;
        let kernel = setup.context.kernel(source, "f");
        let input: Vec<i32> = (0..200).map(|g| g % 4).collect();
        let buffer = setup.context.with_values(&input);
        kernel.set_all(arguments![&buffer]);
        run(&setup.queue, &kernel, &[200], &[8]);
    });
    let mut got: Vec<&str> = output.stdout.lines().collect();
    let wanted: Vec<String> = (0..200)
        .flat_map(|g| (0..3).filter(move |i| *i != g % 4).map(move |i| (g, i)))
        .map(|(g, i)| format!("item {g} says {i} and {:.6}", f64::from(i) * 0.5))
        .collect();
    // Items print in any order, but each item in its own.
    let number = |line: &str| line.split(' ').nth(1).and_then(|number| number.parse::<i32>().ok()).expect("a number");
    got.sort_by_key(|line| number(line));
    assert_eq!(got, wanted);
}

#[test]
fn printing_in_called_functions_and_branches() {
    let body = r#"
        for (int i = 0; i < 3; ++i) {
            if (i == 1) { printf("odd %d\n", i); continue; }
            if (i) printf("last %d\n", in[i]); else printf("first %d\n", in[i]);
        }
    "#;
    let printed = printed("printing_in_called_functions_and_branches", body);
    assert_eq!(printed, "first 42\nodd 1\nlast 65\n");
}
