//! The rows: what is measured, and the constants of the model that say what it is to be.

use Mode::{Gang, GangLatency, Item, ItemLatency};

/// Whose operations a row has, and whether they wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A gang's, that do not wait: what they cost, in operations of which four are done in a cycle.
    Gang,
    /// A work-item's, that do not wait: the same.
    Item,
    /// A gang's, each of which waits for the one before: cycles.
    GangLatency,
    /// A work-item's, each of which waits.
    ItemLatency,
}

impl Mode {
    /// Whether each step waits for the one before.
    pub fn is_chain(self) -> bool {
        matches!(self, GangLatency | ItemLatency)
    }

    /// Whether work-items run in a gang.
    pub fn is_of_gang(self) -> bool {
        matches!(self, Gang | GangLatency)
    }

    /// What the table calls it.
    pub fn describe_mode(self) -> &'static str {
        match self {
            Gang => "gang, operations",
            Item => "work-item, operations",
            GangLatency => "gang, cycles",
            ItemLatency => "work-item, cycles",
        }
    }
}

/// A row of the table.
pub struct Row {
    /// Its name, by which constants name it.
    pub name: &'static str,
    /// Whose operations it has.
    pub mode: Mode,
    /// The type `T` of OpenCL C that the values have.
    pub ty: &'static str,
    /// A step, on the value `X`, with `A` and `B` of its type, the index `J` that differs between lanes, the step's number
    /// `K` in its iteration, and `R`, which the iterations change.
    pub step: &'static str,
    /// The same step without what is measured, if there is anything else in it.
    pub without: Option<&'static str>,
    /// How often what is measured is in a step.
    pub per_step: f64,
    /// What stands before the loop.
    pub place: &'static str,
    /// What the model is asked: the operation in our IR ([`super::model`]).
    pub model: &'static str,
}

const fn row(name: &'static str, mode: Mode, ty: &'static str, step: &'static str, model: &'static str) -> Row {
    Row { name, mode, ty, step, without: None, per_step: 1.0, place: "", model }
}

impl Row {
    const fn beside(self, step: &'static str) -> Row {
        Row { without: Some(step), ..self }
    }

    const fn twice(self) -> Row {
        Row { per_step: 2.0, ..self }
    }

    const fn with_place(self, place: &'static str) -> Row {
        Row { place, ..self }
    }
}

/// Local memory with what the first elements are.
const LOCAL_TABLE: &str = "    local T table[1024];\n    for (int k = i; k < 1024; k += get_global_size(0)) table[k] = in[k];\n    \
     barrier(CLK_LOCAL_MEM_FENCE);";

/// A private array.
const STACK: &str = "    T stack[16];\n    for (int k = 0; k < 16; ++k) stack[k] = A;";

/// A step of a random sequence, and a store if this bit of it is set.
macro_rules! march_then {
    ($bit:literal) => {
        concat!("X = (int)((uint)X * 1664525u + 1013904223u); if (X >> ", $bit, " & 1) out[K] = X")
    };
}

/// All rows, in the order of the table.
pub const ROWS: &[Row] = &[
    // What everything else is told in.
    row("vector operation", Gang, "int", "X = (X + A) ^ B;", "v30: i32 = add v6, v6").twice(),
    row("operation", Item, "int", "X = (X + A) ^ B;", "v30: i32 = add v6, v6").twice(),
    // Operations that are dear.
    row("divide float", Gang, "float", "X = A / X;", "v30: f32 = fdiv v8, v8"),
    row("divide double", Gang, "double", "X = A / X;", "v30: f64 = fdiv v9, v9"),
    row("root float", Gang, "float", "X = sqrt(X);", "v30: f32 = sqrt v8"),
    row("root double", Gang, "double", "X = sqrt(X);", "v30: f64 = sqrt v9"),
    row("reciprocal root float", Gang, "float", "X = rsqrt(X);", "v30: f32 = rsqrt v8"),
    row("divide int", Gang, "int", "X = A / X;", "v30: i32 = sdiv v6, v6"),
    row("divide long", Gang, "long", "X = A / X;", "v30: i64 = sdiv v7, v7"),
    row("work-item divides float", Item, "float", "X = A / X;", "v30: f32 = fdiv v8, v8"),
    row("work-item divides double", Item, "double", "X = A / X;", "v30: f64 = fdiv v9, v9"),
    row("work-item's root float", Item, "float", "X = sqrt(X);", "v30: f32 = sqrt v8"),
    row("work-item divides int", Item, "int", "X = A / X;", "v30: i32 = sdiv v6, v6"),
    row("work-item divides long", Item, "long", "X = A / X;", "v30: i64 = sdiv v7, v7"),
    // Accesses to memory.
    row("load", Gang, "int", "X += in[i + K * 512 + R]", "v30: i32 = load v5 align 4").beside("X += R"),
    row("store", Gang, "int", "X += R; out[i + K * 512 + R] = X", "store v6 to v5 align 4").beside("X += R"),
    row("load two apart", Gang, "int", "X += in[2 * i + K * 512 + R]", "v30: i32 = load v16 align 4").beside("X += R"),
    row("load three apart", Gang, "int", "X += in[3 * i + K * 512 + R]", "v30: i32 = load v17 align 4")
        .beside("X += R"),
    row("load four apart", Gang, "int", "X += in[4 * i + K * 512 + R]", "v30: i32 = load v18 align 4").beside("X += R"),
    row("load backwards", Gang, "int", "X += in[K * 512 + 64 + R - i]", "v30: i32 = load v19 align 4").beside("X += R"),
    row("gather", Gang, "int", "X += in[J + R]", "v30: i32 = load v13 align 4").beside("X += J + R"),
    row("scatter", Gang, "int", "X += J + R; out[J + R] = X", "store v6 to v13 align 4").beside("X += J + R"),
    row("gather local", Gang, "int", "X += table[(J + R) & 1023]", "v30: i32 = load v14 align 4")
        .beside("X += (J + R) & 1023")
        .with_place(LOCAL_TABLE),
    row(
        "private anywhere",
        Gang,
        "int",
        "X += J + R; stack[X & 15] = X; X += stack[(X + J) & 15]",
        "v30: i32 = load v15 align 4",
    )
    .beside("X += J + R; X += (X & 15) + ((X + J) & 15)")
    .twice()
    .with_place(STACK),
    row("masked store", Gang, "int", "X += R; if (J & 1) out[i + K * 512 + R] = X", "mask: store v6 to v5 align 4")
        .beside("X += R; out[i + K * 512 + R] = X"),
    row(
        "atomic",
        Gang,
        "int",
        "X += J + R; atomic_add(out + ((J + R) & 4095), X)",
        "v30: i32 = atomic_rmw.add.relaxed v13, v6 align 4",
    )
    .beside("X += (J + R) & 4095"),
    row(
        "atomic local",
        Gang,
        "int",
        "X += J + R; atomic_add(table + ((J + R) & 1023), X)",
        "v30: i32 = atomic_rmw.add.relaxed v14, v6 align 4",
    )
    .beside("X += (J + R) & 1023")
    .with_place(LOCAL_TABLE),
    // Lines of 4096 rows of 4160 bytes, which are 256 KiB together.
    row("line each", Item, "int", "X += in[((r * 8 + K) * 1040 & 65535) + i]", "line each")
        .beside("X += in[((r * 8 + K) & 1023) + i]"),
    // By chance, which is the worst that data can do: one of two is mispredicted. Bit 0 comes and goes, which is predicted.
    row("mispredicted", Item, "int", march_then!("16"), "mispredicted").beside(march_then!("0")),
    // What the next operation waits for.
    row("add after add", GangLatency, "int", "X = (X + A) ^ B;", "v12: i32 = add v8, v6").twice(),
    row("product of ints", GangLatency, "int", "X = X * X;", "v12: i32 = mul v8, v8"),
    row("product of longs", GangLatency, "long", "X = X * X;", "v12: i64 = mul v8, v8"),
    row("product of shorts", GangLatency, "short", "X = X * X;", "v12: i16 = mul v8, v8"),
    row("sum of floats", GangLatency, "float", "X = X + A;", "v12: f32 = fadd v8, v6"),
    row("product of floats", GangLatency, "float", "X = X * A;", "v12: f32 = fmul v8, v6"),
    row("fused product and sum", GangLatency, "float", "X = fma(X, A, B);", "v12: f32 = fma v8, v6, v6"),
    row("quotient of floats", GangLatency, "float", "X = A / X;", "v12: f32 = fdiv v6, v8"),
    row("quotient of doubles", GangLatency, "double", "X = A / X;", "v12: f64 = fdiv v6, v8"),
    row("quotient of ints", GangLatency, "int", "X = A / X;", "v12: i32 = sdiv v6, v8"),
    row("square root of floats", GangLatency, "float", "X = sqrt(X);", "v12: f32 = sqrt v8"),
    row("square root of doubles", GangLatency, "double", "X = sqrt(X);", "v12: f64 = sqrt v8"),
    row("inverse root of floats", GangLatency, "float", "X = rsqrt(X);", "v12: f32 = rsqrt v8"),
    row(
        "comparison and select",
        GangLatency,
        "int",
        "X = X < A ? B : X;",
        "v9: i1 = icmp.slt v8, v6\n v12: i32 = select v9, v6, v8",
    ),
    row(
        "float comparison and select",
        GangLatency,
        "float",
        "X = X < A ? B : X;",
        "v9: i1 = fcmp.olt v8, v6\n v12: f32 = select v9, v6, v8",
    ),
    row(
        "to int and back",
        GangLatency,
        "float",
        "X = (float)(int)X + A;",
        "v9: i32 = fptosi v8\n v10: f32 = sitofp v9\n v12: f32 = fadd v10, v6",
    ),
    row("rounding", GangLatency, "float", "X = floor(X) + A;", "v9: f32 = floor v8\n v12: f32 = fadd v9, v6"),
    row(
        "gather after gather",
        GangLatency,
        "int",
        "X = in[X];",
        "v9: i64 = sext v8\n v10: i64 = mul v9, 4\n v11: ptr.global = ptradd v0, v10\n v12: i32 = load v11 align 4",
    ),
    row("work-item's product of ints", ItemLatency, "int", "X = X * X;", "v12: i32 = mul v8, v8"),
    row("work-item's quotient of ints", ItemLatency, "int", "X = A / X;", "v12: i32 = sdiv v6, v8"),
    row("work-item's sum of floats", ItemLatency, "float", "X = X + A;", "v12: f32 = fadd v8, v6"),
    row("work-item's quotient of floats", ItemLatency, "float", "X = A / X;", "v12: f32 = fdiv v6, v8"),
    row(
        "load after load",
        ItemLatency,
        "int",
        "X = in[X];",
        "v9: i64 = sext v8\n v10: i64 = mul v9, 4\n v11: ptr.global = ptradd v0, v10\n v12: i32 = load v11 align 4",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The files of the model's constants.
    const SOURCES: [&str; 3] = [
        include_str!("../../../compiler/ir/src/analysis/cost.rs"),
        include_str!("../../../compiler/ir/src/analysis/recurrence.rs"),
        include_str!("../../../compiler/ir/src/plan/access_lowering/price.rs"),
    ];

    /// What stands before the names of rows in a comment.
    const MARK: &str = "bench costs: ";

    #[test]
    fn constants_name_the_rows_and_all_rows_are_named() {
        let lines = SOURCES.iter().flat_map(|source| source.lines());
        let lists = lines.filter_map(|line| Some(line.split_once(MARK)?.1.trim_end_matches('.')));
        let named: BTreeSet<&str> = lists.flat_map(|list| list.split(", ")).collect();
        let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(named, rows);
        assert_eq!(rows.len(), ROWS.len(), "two rows have one name");
    }
}
