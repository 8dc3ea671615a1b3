//! What the papers measured, to stand beside ours.

/// A row of Karrenberg & Hack 2012, Table 1: milliseconds of one thread on a Core 2 Quad with registers of 128 bits.
pub struct Configurations {
    /// As our suite calls it.
    pub name: &'static str,
    /// `scalar`, `naive`, `unival`, `boscc`, `unicf`.
    pub milliseconds: [f64; 5],
}

/// The names of the columns of [`TABLE_1`].
pub const COLUMNS: [&str; 5] = ["scalar", "naive", "unival", "boscc", "unicf"];

/// Karrenberg & Hack 2012, Table 1.
pub const TABLE_1: [Configurations; 9] = [
    row("bitonic_sort", [1649.0, 549.0, 519.0, 518.0, 519.0]),
    row("black_scholes", [2743.0, 713.0, 672.0, 672.0, 672.0]),
    row("dct", [732.0, 1100.0, 857.0, 857.0, 411.0]),
    row("fast_walsh_transform", [9852.0, 13317.0, 13450.0, 13451.0, 13458.0]),
    row("floyd_warshall", [444.0, 4081.0, 3592.0, 3420.0, 3603.0]),
    row("histogram", [1575.0, 1703.0, 1454.0, 1469.0, 1266.0]),
    row("mandelbrot", [4136.0, 8114.0, 1724.0, 1727.0, 1725.0]),
    row("matrix_transpose", [2295.0, 2378.0, 1599.0, 1599.0, 1600.0]),
    row("nbody", [3768.0, 2099.0, 1410.0, 1408.0, 1035.0]),
];

/// Karrenberg & Hack 2012, Table 2: how many times as fast as Intel's driver of that time theirs was, four processors.
pub const TABLE_2: [(&str, f64); 9] = [
    ("bitonic_sort", 7.13),
    ("black_scholes", 1.37),
    ("dct", 1.74),
    ("fast_walsh_transform", 1.35),
    ("floyd_warshall", 0.56),
    ("histogram", 3.07),
    ("mandelbrot", 3.05),
    ("matrix_transpose", 2.74),
    ("nbody", 1.97),
];

const fn row(name: &'static str, milliseconds: [f64; 5]) -> Configurations {
    Configurations { name, milliseconds }
}

/// How many times as fast as `scalar` a configuration was, for a kernel of either size.
pub fn over_scalar(kernel: &str, column: &str) -> Option<f64> {
    find_factor(kernel, column, COLUMNS[0])
}

/// How many times as fast as another a configuration was, for a kernel of either size.
pub fn find_factor(kernel: &str, column: &str, other: &str) -> Option<f64> {
    let place = |column| COLUMNS.iter().position(|name| *name == column);
    let row = TABLE_1.iter().find(|row| row.name == small(kernel))?;
    Some(row.milliseconds[place(other)?] / row.milliseconds[place(column)?])
}

/// How many times as fast as Intel's driver theirs was.
pub fn over_intel(kernel: &str) -> Option<f64> {
    TABLE_2.iter().find(|(name, _)| *name == small(kernel)).map(|(_, factor)| *factor)
}

fn small(kernel: &str) -> &str {
    kernel.strip_suffix("_large").unwrap_or(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::NINE;

    #[test]
    fn the_papers_rows_are_the_nine() {
        assert_eq!(TABLE_1.map(|row| row.name), NINE);
        assert_eq!(TABLE_2.map(|(name, _)| name), NINE);
        assert_eq!(over_scalar("dct_large", "unicf"), Some(732.0 / 411.0));
        assert_eq!(over_scalar("dct", "default"), None);
        assert_eq!(over_intel("triad"), None);
    }
}
