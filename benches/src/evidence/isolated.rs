//! The configurations of Karrenberg & Hack 2012, Table 1, by themselves: gangs of the same work-items in each, as many as the
//! registers have floats, and no pass with a switch but those that the paper has. What one column has over another is then what its
//! name says.
//!
//! All factors are over `unival`, with which the paper compares, and stand beside the 95 % confidence interval of the median. The paper
//! leaves out differences that are not significant at 95 %, and so does this table. Beside `unicf`, gates in front of loops are a pass of
//! their own (`loop_gates`), which is part of the last column.

use super::page::{describe_missing, line_of};
use super::papers;
use super::record::{Cell, Row, Table};
use crate::case::Case;
use crate::compare::Configuration;
use crate::suite;

/// Pairs of turns, if not told otherwise.
pub const ROUNDS: usize = 51;

/// The configurations, the first to compare with: a name, `LOCKSTEP_VECTORIZE` and `LOCKSTEP_PASSES`.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("unival", "unival", "-all"),
    ("scalar", "scalar", "-all"),
    ("naive", "naive", "-all"),
    ("boscc", "boscc", "-all,+gates"),
    ("unicf", "unicf", "-all"),
    ("unicf and boscc", "unicf", "-all,+gates,+loop_gates"),
];

/// The columns on a machine whose registers have so many bits.
pub fn list_columns(register_bits: u32) -> Vec<Configuration> {
    let lanes = (register_bits / 32).to_string();
    let column = |(name, vectorize, passes): (&str, &str, &str)| {
        let mut configuration = Configuration::parse(vectorize);
        let variables = [("LOCKSTEP_LAYOUT", "x"), ("LOCKSTEP_WIDTH", &lanes), ("LOCKSTEP_PASSES", passes)];
        configuration.environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Configuration { name: name.to_owned(), ..configuration }
    };
    COLUMNS.map(column).to_vec()
}

/// The paper's nine kernels, of the size at which their data stay in the caches.
pub fn list_cases() -> Vec<&'static Case> {
    suite::NINE.iter().filter_map(|name| suite::find(name)).collect()
}

/// The table: the time in `unival`, then how many times as fast the others are, and in brackets the paper's figures.
pub fn write_table(table: &Table) -> String {
    let head = ["unival, ms".to_owned()].into_iter().chain(table.columns.iter().skip(1).cloned());
    let mut text = line_of("kernel", head) + &line_of("---", table.columns.iter().map(|_| "---".to_owned()));
    for row in &table.rows {
        text += &write_row(table, row);
    }
    text
}

fn write_row(table: &Table, row: &Row) -> String {
    let cells = row.cells.iter().zip(&table.columns).map(|(cell, column)| match cell.milliseconds() {
        Some(time) if *column == COLUMNS[0].0 => format!("{time:.3}"),
        Some(_) => {
            let paper = papers::find_factor(&row.name, column, COLUMNS[0].0);
            write_factor(cell) + &paper.map_or(String::new(), |paper| format!(" ({paper:.2})"))
        }
        None => describe_missing(cell.error.as_deref()),
    });
    line_of(&row.name, cells)
}

/// A factor with its interval, or why there is none.
fn write_factor(cell: &Cell) -> String {
    match (cell.median_factor(), cell.interval) {
        (Some(factor), Some([low, high])) if low > 1.0 + LEAST_SHOWN || high < 1.0 - LEAST_SHOWN => {
            format!("{factor:.3}, {low:.3} to {high:.3}")
        }
        (Some(_), None) => "too few rounds".to_owned(),
        _ => "not significant".to_owned(),
    }
}

/// The least difference that three digits show.
const LEAST_SHOWN: f64 = 0.0005;

#[cfg(test)]
mod tests {
    use super::super::record::tests::{row_of_turns, table};
    use super::*;

    #[test]
    fn columns_differ_in_what_their_names_say() {
        let columns = list_columns(256);
        let set = |number: usize, wanted: &str| {
            let pairs: &Vec<(String, String)> = &columns[number].environment;
            pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        };
        for number in 0..columns.len() {
            assert_eq!(set(number, "LOCKSTEP_WIDTH").as_deref(), Some("8"));
            assert_eq!(set(number, "LOCKSTEP_LAYOUT").as_deref(), Some("x"));
            assert!(set(number, "LOCKSTEP_PASSES").is_some_and(|passes| passes.starts_with("-all")));
        }
        assert_eq!(set(4, "LOCKSTEP_VECTORIZE").as_deref(), Some("unicf"));
        assert_eq!(set(4, "LOCKSTEP_PASSES"), set(0, "LOCKSTEP_PASSES"));
        assert_eq!(set(3, "LOCKSTEP_VECTORIZE").as_deref(), Some("boscc"));
        assert_eq!(set(5, "LOCKSTEP_PASSES").as_deref(), Some("-all,+gates,+loop_gates"));
        assert_eq!(list_cases().len(), suite::NINE.len());
    }

    #[test]
    fn only_significant_differences_are_written_down() {
        let base = vec![100; 9];
        let noisy = vec![90, 110, 90, 110, 90, 110, 90, 110, 100];
        let faster = vec![50, 40, 50, 60, 50, 40, 60, 50, 50];
        let rows = vec![row_of_turns("dct", &[base, noisy, faster])];
        let few = vec![row_of_turns("dct", &[vec![100; 3], vec![50; 3]])];
        assert!(write_table(&table(&["unival", "unicf"], few)).contains("too few rounds"));
        let text = write_table(&table(&["unival", "naive", "unicf"], rows));
        assert!(text.starts_with("| kernel | unival, ms | naive | unicf |\n"), "{text}");
        assert!(text.contains("| dct | 0.100 | not significant (0.78) | 2.000, 1.667 to 2.500 (2.09) |\n"), "{text}");
    }
}
