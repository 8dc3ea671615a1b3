//! Which work-items, and which lanes, come to a piece of a kernel.

use lockstep_ir::interp::NdRange;

/// A launch of a kernel: sizes, arguments, and what comes of them.
pub struct Launch {
    pub range: NdRange,
    /// How many numbers come to the piece: `0..n`, each once.
    pub n: usize,
    /// The kernel's argument of this name.
    pub lo: usize,
    /// The kernel's table of this name.
    pub m: Vec<i32>,
}

/// A way to come to a piece of a kernel, which there has a number `x`.
pub struct Condition {
    pub name: &'static str,
    /// The text around the piece.
    pub around: fn(&str) -> String,
    /// Whether each work-item comes once at most and goes on behind it, so that barriers can stand there.
    pub goes_on: bool,
    /// Whether the last work-item that comes is the one with the last `x`.
    pub in_order: bool,
    /// Launches for gangs of a width with so many lanes more.
    pub launches: fn(usize, usize) -> Vec<Launch>,
}

pub const CONDITIONS: [Condition; 9] = [
    Condition {
        name: "all",
        around: |piece| format!("{{ I x = gid; {piece} }}"),
        goes_on: true,
        in_order: true,
        launches: |width, tail| {
            let all = |n, local| Launch { range: range(n, local), n, lo: 0, m: Vec::new() };
            let mut launches = vec![all(width + tail, width + tail), all(2 * width + 3, tail + 1)];
            if tail > 0 {
                launches.push(all(tail, tail));
            }
            launches
        },
    },
    Condition {
        name: "below",
        around: |piece| format!("if (gid < n) {{ I x = gid; {piece} }}"),
        goes_on: true,
        in_order: true,
        launches: below,
    },
    Condition {
        name: "returned",
        around: |piece| format!("if (gid >= n) return; {{ I x = gid; {piece} }}"),
        goes_on: false,
        in_order: true,
        launches: below,
    },
    Condition {
        name: "window",
        around: |piece| format!("if (gid >= lo && gid < lo + n) {{ I x = gid - lo; {piece} }}"),
        goes_on: true,
        in_order: true,
        launches: |width, tail| {
            let window = |global, n| Launch { range: range(global, global), n, lo: tail, m: Vec::new() };
            vec![window(2 * width, width), window(tail + 1, 1), window(width, 0), window(3 * width + 1, width + 1)]
        },
    },
    Condition {
        name: "nested",
        around: |piece| {
            let other = "if (x == m[gid]) b[m[gid]] = b[x];";
            format!("if (gid >= lo) {{ I x = gid - lo; if (x >= n) {{ {other} }} else {{ {piece} }} }}")
        },
        goes_on: false,
        in_order: true,
        launches: |width, tail| {
            let size = 2 * width + tail;
            let wild: Vec<i32> = (0..size).map(|index| if index % 2 == 0 { i32::MAX } else { i32::MIN }).collect();
            let nested = |lo, n| Launch { range: range(size, size), n, lo, m: wild.clone() };
            vec![nested(tail, width), nested(width, tail), nested(width - 1, 2)]
        },
    },
    Condition {
        name: "odd",
        around: |piece| format!("if (gid & 1) {{ I x = gid >> 1; {piece} }}"),
        goes_on: true,
        in_order: true,
        launches: |width, tail| {
            let odd = |global| Launch { range: range(global, global), n: global / 2, lo: 0, m: Vec::new() };
            vec![odd(width + tail), odd(tail + 1)]
        },
    },
    // Other work-items' numbers are far off.
    Condition {
        name: "chosen",
        around: |piece| format!("I x = m[gid]; if (x >= 0 && x < n) {{ {piece} }}"),
        goes_on: false,
        in_order: true,
        launches: |width, tail| {
            let chosen = |size: usize, is: fn(usize) -> bool| {
                let mut n = 0;
                let mut number = |index: usize| {
                    let far = [i32::MAX, i32::MIN, -1, 0x7fff_fff0][index % 4];
                    n += usize::from(is(index));
                    if is(index) { n as i32 - 1 } else { far }
                };
                let m = (0..size).map(&mut number).collect();
                Launch { range: range(size, size), n, lo: 0, m }
            };
            vec![chosen(width + tail, |i| i * i % 7 > 1), chosen(tail + 1, |i| i % 3 == 1), chosen(width, |_| false)]
        },
    },
    // Each work-item has every `size`-th number; in the last round some have none.
    Condition {
        name: "rounds",
        around: |piece| format!("for (I x = gid; x < n; x += (I)get_global_size(0)) {{ {piece} }}"),
        goes_on: false,
        in_order: false,
        launches: |width, tail| {
            let rounds = |size, n| Launch { range: range(size, size), n, lo: 0, m: Vec::new() };
            vec![rounds(width, width + tail), rounds(width + tail, width), rounds(width + tail, 3 * width)]
        },
    },
    // Each work-item has some numbers in a row, and some have none.
    Condition {
        name: "ragged",
        around: |piece| format!("I x = m[2 * gid]; for (int k = m[2 * gid + 1]; k > 0; k--, x++) {{ {piece} }}"),
        goes_on: false,
        in_order: false,
        launches: |width, tail| {
            let ragged = |size: usize, maximum: usize| {
                let mut n = 0;
                let mut m = Vec::new();
                for index in 0..size {
                    let count = (index * 5 + tail) % (maximum + 1);
                    m.extend([if count == 0 { i32::MAX } else { n }, count as i32]);
                    n += count as i32;
                }
                Launch { range: range(size, size), n: n as usize, lo: 0, m }
            };
            vec![ragged(width + tail, 2), ragged(tail + 1, 1), ragged(width, 0)]
        },
    },
];

fn range(global: usize, local: usize) -> NdRange {
    NdRange::new(&[global as u64], &[local as u64])
}

fn below(width: usize, tail: usize) -> Vec<Launch> {
    let below = |n, global, local| Launch { range: range(global, local), n, lo: 0, m: Vec::new() };
    vec![below(tail, width, width), below(width + tail, 3 * width + 1, 3 * width + 1), below(tail, 2 * width, width)]
}
