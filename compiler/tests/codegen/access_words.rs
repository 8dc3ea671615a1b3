//! The report's words for an access are what the code does: every class of accesses, at every width, on machines of 128, 256
//! and 512 bits.

use crate::gangs::head;
use crate::lowered::{Lowered, lower_kernel};
use lockstep_ir::ir::parse_module;
use lockstep_ir::report::Note;
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::configuration::{Gangs, Versions, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use std::collections::BTreeMap;

/// An access to floats, behind what its address is computed of. Indices are integers, so that floats are its alone.
pub struct Case {
    pub name: &'static str,
    /// What computes the address `v20`, of the pointers `v0`, `v1` and `v2`, the id `v3` and an integer of each lane's own `v5`.
    address: &'static str,
    /// Elements that each lane accesses.
    count: u32,
    /// What stands behind `load` or `store`.
    flags: &'static str,
    /// Whether only some lanes make it.
    masked: bool,
    /// Work-items of a group along the first two dimensions.
    pub local: [u64; 2],
    pub layout: Layout,
}

const PLAIN: Case =
    Case { name: "", address: "", count: 1, flags: "", masked: false, local: [128, 1], layout: Layout::X };

/// An address so many bytes apart from lane to lane.
macro_rules! strided {
    ($bytes:literal) => {
        concat!(" v19: i64 = mul v3, ", $bytes, "\n v20: ptr.global = ptradd v0, v19\n")
    };
}

const UNIFORM: &str = " v20: ptr.global = ptradd v0, 64\n";
const NEAR: &str = " v18: i64 = sext v5\n v19: i64 = shl v18, 2\n v20: ptr.global = ptradd v0, v19\n";
const ANYWHERE: &str = " v18: i64 = zext v5\n v19: i64 = mul v18, 20\n v20: ptr.global = ptradd v0, v19\n";
const MAY_WRAP: &str = " v16: i32 = trunc v3\n v17: i32 = add v16, 77\n v18: i64 = zext v17\n v19: i64 = mul v18, 4\n \
                        v20: ptr.global = ptradd v0, v19\n";
/// Rows of a tile far apart, with lanes side by side; lanes of a column side by side; one element for each row.
const OF_ROWS: &str = " v16: i64 = query.global_id 1\n v17: i64 = mul v16, 4096\n v18: i64 = mul v3, 4\n \
                       v19: i64 = add v17, v18\n v20: ptr.global = ptradd v0, v19\n";
const OF_COLUMNS: &str = " v16: i64 = query.global_id 1\n v17: i64 = mul v16, 4\n v18: i64 = mul v3, 4096\n \
                          v19: i64 = add v17, v18\n v20: ptr.global = ptradd v0, v19\n";
const OF_EACH_ROW: &str =
    " v16: i64 = query.global_id 1\n v19: i64 = mul v16, 4096\n v20: ptr.global = ptradd v0, v19\n";

const IN_LOCAL_MEMORY: &str = " v15: ptr.local = local_addr lv0\n v16: i64 = query.local_id 1\n \
                               v19: i64 = mul v16, 64\n v20: ptr.local = ptradd v15, v19\n";

pub const CASES: [Case; 20] = [
    Case { name: "uniform", address: UNIFORM, ..PLAIN },
    Case { name: "uniform, some lanes", address: UNIFORM, masked: true, ..PLAIN },
    Case { name: "contiguous", address: strided!("4"), ..PLAIN },
    Case { name: "contiguous, some lanes", address: strided!("4"), masked: true, ..PLAIN },
    Case { name: "reversed", address: strided!("-4"), ..PLAIN },
    Case { name: "reversed, some lanes", address: strided!("-4"), masked: true, ..PLAIN },
    Case { name: "every other", address: strided!("8"), ..PLAIN },
    Case { name: "every other, some lanes", address: strided!("8"), masked: true, ..PLAIN },
    Case { name: "pairs", address: strided!("8"), count: 2, ..PLAIN },
    Case { name: "far apart", address: strided!("1000"), ..PLAIN },
    Case { name: "anywhere", address: ANYWHERE, ..PLAIN },
    Case { name: "anywhere, some lanes", address: ANYWHERE, masked: true, ..PLAIN },
    Case { name: "near", address: NEAR, ..PLAIN },
    Case { name: "three anywhere", address: ANYWHERE, count: 3, ..PLAIN },
    Case { name: "four anywhere", address: ANYWHERE, count: 4, ..PLAIN },
    Case { name: "seven anywhere", address: ANYWHERE, count: 7, ..PLAIN },
    Case { name: "four anywhere, some lanes", address: ANYWHERE, count: 4, masked: true, ..PLAIN },
    Case { name: "may wrap", address: MAY_WRAP, ..PLAIN },
    Case { name: "volatile, side by side", address: strided!("4"), flags: ".volatile", ..PLAIN },
    Case { name: "volatile, anywhere", address: ANYWHERE, flags: ".volatile", ..PLAIN },
];

pub const TILES: [Case; 4] = [
    Case { name: "rows", address: OF_ROWS, local: [8, 8], layout: Layout::Tile, ..PLAIN },
    Case { name: "columns", address: OF_COLUMNS, local: [8, 8], layout: Layout::Tile, ..PLAIN },
    Case { name: "one a row", address: OF_EACH_ROW, local: [8, 8], layout: Layout::Tile, ..PLAIN },
    Case {
        name: "one a row, volatile to local memory",
        address: IN_LOCAL_MEMORY,
        flags: ".volatile",
        local: [8, 8],
        layout: Layout::Tile,
        ..PLAIN
    },
];

/// A kernel with a load or a store of floats that is the case.
pub fn kernel_of(case: &Case, is_store: bool) -> String {
    let Case { address, count, flags, masked, .. } = case;
    let mut text = head(3);
    if address.contains("lv0") {
        text += " local lv0 size 1024 align 4\n";
    }
    text += " region r0 {\n b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):\n";
    text += " v3: i64 = query.global_id 0\n v4: i64 = mul v3, 4\n v6: ptr.global = ptradd v1, v4\n";
    text += " v5: i32 = load v6 align 4\n";
    text += address;
    if *masked {
        text += " v21: i1 = icmp.sgt v5, 5:i32\n br v21, b1, b2\n b1:\n";
    }
    let values: Vec<String> = (0..*count).map(|index| format!("v{}", 30 + index)).collect();
    if is_store {
        // Values of each lane's own.
        for value in &values {
            text += &format!(" {value}: f32 = sitofp v5\n");
        }
        text += &format!(" store{flags} {} to v20 align 4\n", values.join(", "));
    } else {
        let typed: Vec<String> = values.iter().map(|value| format!("{value}: f32")).collect();
        text += &format!(" {} = load{flags} v20 align 4\n", typed.join(", "));
        // What is loaded is used as integers.
        text += " v7: ptr.global = ptradd v2, v4\n v40: i32 = fptosi v30\n store v40 to v7 align 4\n";
    }
    if *masked {
        text += " jump b2\n b2:\n";
    }
    text + " return\n }\n}\n"
}

/// Accesses to floats in the code, each as often as it is there: `load <8 x float>`, `masked.gather.v8f32` and the like.
type Ways = BTreeMap<String, usize>;

fn count_ways(llvm: &str, is_store: bool) -> Ways {
    let mut found = Ways::new();
    for line in llvm.lines().filter(|line| !line.starts_with("declare")) {
        if let Some(way) = way_of(line, is_store) {
            *found.entry(way).or_default() += 1;
        }
    }
    found
}

/// The access to floats that a line of LLVM IR makes, if it makes one.
fn way_of(line: &str, is_store: bool) -> Option<String> {
    let (direction, words) = if is_store {
        ("store", ["store ", "masked.scatter.", "masked.store."])
    } else {
        ("load", ["= load ", "masked.gather.", "masked.load."])
    };
    let [plain, anywhere, masked] = words;
    if let Some((_, rest)) = line.split_once("llvm.x86.avx.maskload.") {
        let lanes = if rest.starts_with("ps.256") { 8 } else { 4 };
        return (!is_store && rest.starts_with("ps")).then(|| format!("masked part {lanes}"));
    }
    for (word, name) in [(anywhere, "anywhere"), (masked, "masked")] {
        if let Some((_, rest)) = line.split_once(word) {
            let ty = rest.split(['.', '(']).next()?;
            // Two floats are moved as one number.
            return (ty.ends_with("f32") || ty.ends_with("i64")).then(|| format!("{name} {ty}"));
        }
    }
    let (before, rest) = line.split_once(plain)?;
    if !before.trim().is_empty() && is_store {
        return None;
    }
    let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
    let ty = if rest.starts_with('<') { rest.split_inclusive('>').next()? } else { rest.split([',', ' ']).next()? };
    ty.contains("float").then(|| format!("{direction} {ty}"))
}

/// What the words of the report say that the code of a gang without masks of its own does.
fn ways_by_words(note: &Note, lowered: &Lowered, bits: u32, case: &Case, is_store: bool) -> Ways {
    let width = lowered.width;
    let row = lowered.row.unwrap_or(width);
    let direction = if is_store { "store" } else { "load" };
    let (rows, is_redirected) = (width / row, note.detail.contains("redirected"));
    // How many accesses, and the lanes of each.
    let (times, lanes) = match () {
        () if note.detail.contains("row by row") => (rows, row),
        () if note.detail.contains("column by column") => (row, rows),
        () => (1, width),
    };
    let mut ways = Ways::new();
    let mut add = |way: String, times: u32| *ways.entry(way).or_default() += times as usize;
    let class = &*note.class;
    match class {
        "uniform" => add(format!("{direction} float"), times),
        "per lane" => {
            assert!(!note.masked, "{}: lanes that are on are a loop, which no case has", case.name);
            add(format!("{direction} float"), width);
        }
        "contiguous" | "reversed" => add_wide(&mut add, direction, lanes, times, (note.masked, is_redirected), bits),
        _ if class.starts_with("interleaved stride ") => {
            let distance: i32 = class["interleaved stride ".len()..].parse().unwrap();
            let distance = distance.unsigned_abs();
            // What lies between is left out by a mask.
            let is_masked = note.masked || distance != case.count;
            add_wide(&mut add, direction, lanes * distance, times, (is_masked, is_redirected), bits);
        }
        "gather" | "scatter" => add_pieces(&mut add, width, case.count),
        "chunks" => {
            add(format!("{direction} <4 x float>"), width * (case.count / 4));
            add_pieces(&mut add, width, case.count % 4);
        }
        class => panic!("{}: a class without a test: {class}", case.name),
    }
    if note.detail.contains("unless an index wraps") {
        add_pieces(&mut add, width, case.count);
    }
    ways
}

/// A wide access of so many elements.
fn add_wide(
    add: &mut impl FnMut(String, u32),
    direction: &str,
    elements: u32,
    times: u32,
    (masked, redirected): (bool, bool),
    bits: u32,
) {
    match (masked, redirected, bits, direction) {
        (false, ..) => add(format!("{direction} <{elements} x float>"), times),
        (true, true, ..) => add(format!("anywhere v{elements}f32"), times),
        // AVX has loads of some lanes of a register.
        (true, false, 256, "load") if elements >= 8 => add("masked part 8".to_owned(), times * elements / 8),
        (true, false, 256, "load") => add("masked part 4".to_owned(), times),
        (true, false, ..) => add(format!("masked v{elements}f32"), times),
    }
}

/// Elements of lanes anywhere, two of which are one number.
fn add_pieces(add: &mut impl FnMut(String, u32), width: u32, count: u32) {
    if count / 2 > 0 {
        add(format!("anywhere v{width}i64"), count / 2);
    }
    if !count.is_multiple_of(2) {
        add(format!("anywhere v{width}f32"), 1);
    }
}

fn check(case: &Case, width: u32, bits: u32, is_store: bool, classes: &mut BTreeMap<String, usize>) {
    let text = kernel_of(case, is_store);
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [x, y] = case.local;
    let launch = LaunchFacts::of_range([0; 3], [4 * x, 4 * y, 1], [x, y, 1]);
    let gangs = Gangs { layout: Some(case.layout), ..Gangs::of_width(width).with_versions(Versions::Never) };
    let lowered = lower_kernel(&module, gangs, TargetInfo::of_bits(bits), &launch);
    let kind = if is_store { "store" } else { "load" };
    let is_of_floats = |note: &&Note| note.kind == kind && (note.detail.contains("f32 ") || note.detail == "volatile");
    let notes: Vec<&Note> = lowered.report.notes.iter().filter(is_of_floats).collect();
    let [note] = notes[..] else { panic!("{}: {:?}\n{text}", case.name, lowered.report.notes) };
    let what = format!("{} {kind} by {width} lanes of {bits} bits, {note}", case.name);
    let expected = ways_by_words(note, &lowered, bits, case, is_store);
    assert_eq!(count_ways(&lowered.llvm, is_store), expected, "{what}\n{text}\n{}", lowered.llvm);
    *classes.entry(note.class.to_string()).or_default() += 1;
}

#[test]
fn the_reports_words_are_what_the_code_does() {
    let mut classes = BTreeMap::new();
    for bits in [128, 256, 512] {
        for case in &CASES {
            for width in WIDTHS {
                check(case, width, bits, false, &mut classes);
                check(case, width, bits, true, &mut classes);
            }
        }
        for case in &TILES {
            for width in [16, 32] {
                check(case, width, bits, false, &mut classes);
                check(case, width, bits, true, &mut classes);
            }
        }
    }
    // Each class of loads and stores is among them.
    let classes: Vec<&str> = classes.keys().map(String::as_str).collect();
    let expected =
        ["chunks", "contiguous", "gather", "interleaved stride 2", "per lane", "reversed", "scatter", "uniform"];
    assert_eq!(classes, expected);
}
