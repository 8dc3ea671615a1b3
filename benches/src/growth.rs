//! Kernels of one shape in any size, for measuring how compile time grows with size.
//!
//! A kernel is so many units after each other, of one shape and with other constants each, so that its size grows with
//! their number alone. Work-items run little of it.

use std::fmt::Write;

/// What units are made of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name in tables and after `--only`.
    pub name: &'static str,
    /// Writes unit number `k`.
    unit: fn(&mut String, usize),
    /// What stands before and after all units, in the kernel.
    around: [&'static str; 2],
    /// What stands before the kernel.
    functions: &'static str,
}

/// The shapes that have limits.
pub const SHAPES: &[Shape] = &[
    Shape { name: "straight", unit: write_straight, around: ["", ""], functions: "" },
    Shape { name: "ifs", unit: write_ifs, around: ["", ""], functions: "" },
    Shape { name: "loops", unit: write_loops, around: ["", ""], functions: "" },
    Shape { name: "switches", unit: write_switch, around: ["", ""], functions: "" },
    Shape {
        name: "cases",
        unit: write_case,
        around: ["for (int j = 0; j < 3; ++j) switch ((a + j) & 65535) {", "}"],
        functions: "",
    },
    Shape { name: "choices", unit: write_choice, around: ["b =", "b;"], functions: "" },
    Shape { name: "chain", unit: write_chain, around: ["", ""], functions: "" },
    Shape { name: "barriers", unit: write_barriers, around: ["", ""], functions: "" },
    Shape {
        name: "arrays",
        unit: write_arrays,
        around: ["int p[32]; float q[32]; for (int j = 0; j < 32; ++j) { p[j] = a + j; q[j] = x * j; }", ""],
        functions: "",
    },
    Shape { name: "calls", unit: write_calls, around: ["", ""], functions: FUNCTIONS },
];

/// The kernel's name in the source.
pub const KERNEL: &str = "growth";
/// Work-items that the kernel is made for, all of one group.
pub const ITEMS: usize = 64;
/// Elements that each of its buffers must have.
pub const ELEMENTS: usize = 16 * ITEMS;

/// Calls of calls, with parameters in memory.
const FUNCTIONS: &str = "\
float mix_one(float x, float y, int n) { return n & 4 ? mad(x, y, 0.5f) : x - y * 0.25f; }
void mix_both(float *x, float *y, int n) { float z = mix_one(*x, *y, n); *y = mix_one(*y, *x, n >> 1); *x = z; }
int count_up(int n, int m) { for (int j = 0; j < (m & 3); ++j) n = n * 5 + j; return n; }
";

impl Shape {
    /// The OpenCL C of a kernel of so many units. Its arguments are a buffer of floats, one of ints, and an int.
    pub fn source(self, units: usize) -> String {
        let [before, after] = self.around;
        let mut text = format!(
            "{}kernel void {KERNEL}(global float *floats, global int *ints, int uniform) {{\n\
             local int l[{ITEMS}];\n\
             int li = get_local_id(0);\n\
             size_t i = get_global_id(0);\n\
             float x = floats[i], y = floats[i + {ITEMS}], z = floats[i + 2 * {ITEMS}];\n\
             int a = ints[i], b = ints[i + {ITEMS}], c = ints[i + 2 * {ITEMS}];\n\
             l[li] = a;\n\
             {before}\n",
            self.functions
        );
        (0..units).for_each(|k| (self.unit)(&mut text, k));
        write!(
            text,
            "{after}\n\
             floats[i] = x; floats[i + {ITEMS}] = y; floats[i + 2 * {ITEMS}] = z;\n\
             ints[i] = a + l[li]; ints[i + {ITEMS}] = b; ints[i + 2 * {ITEMS}] = c;\n}}\n"
        )
        .expect("text grows");
        text
    }
}

/// Arithmetic, a load and now and then a store.
fn write_straight(text: &mut String, k: usize) {
    let row = k % 16 * ITEMS;
    write!(
        text,
        "x = x * y + {k}.5f; y = fmin(z - x * 0.25f, y); z += floats[i + {row}];\n\
         a = (b >> {}) * c + {k}; b = a ^ (c & b); c = b - (a | {k});\n",
        k % 15 + 1
    )
    .expect("text grows");
    if k.is_multiple_of(4) {
        writeln!(text, "floats[i + {row}] = x; ints[(a & 15) * {ITEMS} + i] = b;").expect("text grows");
    }
}

/// Four ifs in each other, three of them divergent.
fn write_ifs(text: &mut String, k: usize) {
    let row = k % 16 * ITEMS;
    write!(
        text,
        "if ((a & {}) != 0) {{\n\
         x = x * y + {k}.5f;\n\
         if (x < y) {{ ints[i + {row}] = b; b = b * 3 + {k};\n\
         if (uniform & {}) {{ z += floats[i + {row}]; c ^= a;\n\
         if (z > x) {{ floats[i + {row}] = z; a -= c; }} else {{ y = y * 0.5f; a = a * 7 + b; }}\n\
         }} else {{ z = z * 0.75f + x; ints[i] = c; }}\n\
         }} else {{ c = c - {k}; floats[i] = y; }}\n\
         }} else {{ y = y + x * 0.125f; a = a + {k}; }}\n",
        k % 31 + 1,
        1 << (k % 16)
    )
    .expect("text grows");
}

/// A divergent loop in a divergent loop, with a break.
fn write_loops(text: &mut String, k: usize) {
    let row = k % 16 * ITEMS;
    write!(
        text,
        "for (int j = 0; j < ((a >> {}) & 3); ++j) {{\n\
         x = x * y + {k}.5f;\n\
         for (int m = j; m < (b & 3); ++m) {{ y = y * 0.5f + floats[((b + m) & 63) + {row}]; c = c * 3 + m; }}\n\
         if (y > x) break;\n\
         b += c ^ {k};\n\
         }}\n\
         a = a * 5 + b;\n",
        k % 7
    )
    .expect("text grows");
}

/// A switch of twelve cases, one of which falls through.
fn write_switch(text: &mut String, k: usize) {
    let row = k % 16 * ITEMS;
    writeln!(text, "switch ((a + {k}) & 15) {{").expect("text grows");
    for case in 0..10 {
        let number = case + k;
        writeln!(text, "case {case}: b = b * {} + c; x = x * y + {number}.5f; break;", 2 * number + 3)
            .expect("text grows");
    }
    write!(
        text,
        "case 10: floats[i + {row}] = x;\n\
         case 11: c = c ^ {k}; y = y - x; break;\n\
         default: z = z * 0.5f; a += 3; }}\n\
         a = a * 5 + b;\n"
    )
    .expect("text grows");
}

/// A case of one great switch; every fourth falls through.
fn write_case(text: &mut String, k: usize) {
    let end = if k.is_multiple_of(4) { "" } else { " break;" };
    writeln!(text, "case {k}: b = b * {} + c; x = x * y + {k}.5f; c ^= b >> {};{end}", 2 * k + 3, k % 15 + 1)
        .expect("text grows");
}

/// A choice, in the other arm of which all later ones lie. No condition follows from those before it.
fn write_choice(text: &mut String, k: usize) {
    writeln!(text, "(a * {} >> 9 & 255) == {} ? b * 5 + {k} :", 2 * k + 3, k % 256).expect("text grows");
}

/// Steps of which each waits for the last one.
fn write_chain(text: &mut String, k: usize) {
    writeln!(text, "a = a * {} + (a >> {});", 2 * k + 3, k % 15 + 1).expect("text grows");
}

/// Barriers under a uniform condition, and one that all pass every fourth time.
fn write_barriers(text: &mut String, k: usize) {
    write!(
        text,
        "if (uniform & {}) {{ l[li] = a; barrier(CLK_LOCAL_MEM_FENCE);\n\
         a = a * 3 + l[(li + {k}) & 63]; barrier(CLK_LOCAL_MEM_FENCE); }} else a += {k};\n\
         x = x * y + {k}.5f; b ^= a;\n",
        1 << (k % 16)
    )
    .expect("text grows");
    if k.is_multiple_of(4) {
        text.push_str("barrier(CLK_LOCAL_MEM_FENCE); l[li] += b; barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

/// Elements of private arrays that are read and written where data say.
fn write_arrays(text: &mut String, k: usize) {
    let place = k % 32;
    write!(
        text,
        "p[(a + {k}) & 31] += b; q[{place}] = x * q[(b ^ {k}) & 31] + y;\n\
         a = p[(b + {k}) & 31] * 3 + a; x += q[a & 31]; b ^= p[{place}];\n"
    )
    .expect("text grows");
}

/// Calls of [`FUNCTIONS`].
fn write_calls(text: &mut String, k: usize) {
    writeln!(text, "mix_both(&x, &z, a + {k}); y = mix_one(y, x, b ^ {k}); a = count_up(a, b + {k}); b += a;")
        .expect("text grows");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_grows_with_the_number_of_units() {
        for shape in SHAPES {
            let size = |units| shape.source(units).len() - shape.source(0).len();
            let (less, more) = (size(200), size(400));
            assert!(more > 2 * less - less / 20 && more < 2 * less + less / 5, "{}: {less}, {more}", shape.name);
        }
    }
}
