//! The tables as text: lines while they are measured, and the parts of the performance page that are tables. What stands
//! between two markers of a part is written anew; all else on the page is its authors'. Machines with registers of other
//! widths have parts of their own, as how many lanes a gang has decides most.

use std::fmt::Write;

use super::isolated;
use super::machine::Machine;
use super::papers;
use super::record::{Evidence, Row, Table};
use crate::cases::nests;
use crate::suite::NINE;

/// A kernel's name and room for it.
const NAME: usize = 28;
const COLUMN: usize = 16;

/// The head of the lines.
pub fn line_of_names(columns: &[String]) -> String {
    let mut line = format!("{:<NAME$}", "ms, times as fast as the first");
    columns.iter().for_each(|name| line += &format!("{name:>COLUMN$}"));
    line
}

/// A row as a line: milliseconds of the first column and how many times as fast the others are, with spreads.
pub fn line(row: &Row) -> String {
    let mut line = format!("{:<NAME$}", row.name);
    for (number, cell) in row.cells.iter().enumerate() {
        let text = match (cell.milliseconds(), cell.factor) {
            (Some(time), _) if number == 0 => format!("{time:.3} ({:.0}%)", 100.0 * cell.spread().unwrap_or(0.0)),
            (Some(_), Some([low, median, high])) => format!("{median:.2}x ({:.2})", high - low),
            (Some(time), None) => format!("{time:.3}"),
            (None, _) if cell.error.is_some() => "error".to_owned(),
            (None, _) => "-".to_owned(),
        };
        let _ = write!(line, "{text:>COLUMN$}");
    }
    line
}

/// What the machine is.
pub fn machine(machine: &Machine) -> String {
    let Machine { name, processors, register_bits, one, all } = machine;
    let mut text = format!("{name}, {processors} processors, registers of {register_bits} bits.\n\n");
    text += "| limit | one thread | all threads |\n| --- | --- | --- |\n";
    let mut row = |what: &str, unit: &str, one: f64, all: f64| {
        let _ = writeln!(text, "| {what} | {one:.1} {unit} | {all:.1} {unit} |");
    };
    row("reading memory", "GB/s", one.read, all.read);
    row("a triad on memory", "GB/s", one.triad, all.triad);
    row("products and sums of floats", "Gflop/s", one.flops, all.flops);
    text
}

/// The page with the parts of the machine's width written anew; the chart is a file beside it.
pub fn with_tables(page: &str, evidence: &Evidence, chart: &str) -> Result<String, String> {
    let bits = evidence.machine.register_bits;
    let picture = format!("\n![How many times as fast each kernel is with registers of {bits} bits]({chart})\n");
    let parts = [
        ("machine", machine(&evidence.machine) + &picture),
        ("configurations", configurations(&evidence.configurations.shown())),
        ("isolated", isolated::write_table(&evidence.isolated)),
        ("nests", nests(&evidence.configurations)),
        ("drivers", drivers(&evidence.drivers)),
    ];
    // What was not measured stays as it is on the page.
    let is_measured = |name: &str| name != "isolated" || !evidence.isolated.rows.is_empty();
    let parts = parts.into_iter().filter(|(name, _)| is_measured(name));
    let mut parts = parts.map(|(name, text)| (format!("{name} {bits}"), text));
    parts.try_fold(page.to_owned(), |page, (name, text)| replaced(&page, &name, &text))
}

fn replaced(page: &str, name: &str, text: &str) -> Result<String, String> {
    let [begin, end] = ["begin", "end"].map(|word| format!("<!-- bench {name}: {word} -->"));
    let (before, rest) = page.split_once(&begin).ok_or_else(|| format!("the page has no line {begin}"))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| format!("the page has no line {end}"))?;
    Ok(format!("{before}{begin}\n{}\n{end}{after}", text.trim_end()))
}

fn is_one_of_the_nine(name: &str) -> bool {
    NINE.contains(&name.strip_suffix("_large").unwrap_or(name))
}

/// Table 1: the nine beside the paper's figures, then the other kernels.
fn configurations(table: &Table) -> String {
    let mut text = head(table, "scalar, ms", |name| name.to_owned());
    let (nine, others): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| is_one_of_the_nine(&row.name));
    for row in &nine {
        let paper = |number: usize| papers::over_scalar(&row.name, &table.columns[number]);
        text += &configurations_row(row, paper);
    }
    text += &means(table, "geometric mean of these", is_one_of_the_nine);
    for row in &others {
        text += &configurations_row(row, |_| None);
    }
    text += &means(table, "geometric mean of all", |_| true);
    text + &gains(table, &nine)
}

fn configurations_row(row: &Row, paper: impl Fn(usize) -> Option<f64>) -> String {
    let cells = row.cells.iter().enumerate().map(|(number, cell)| match (cell.milliseconds(), cell.median_factor()) {
        (Some(time), _) if number == 0 => format!("{time:.3}"),
        (Some(_), Some(factor)) => {
            factor_text(factor) + &paper(number).map_or(String::new(), |paper| format!(" ({paper:.2})"))
        }
        _ => describe_missing(cell.error.as_deref()),
    });
    line_of(&row.name, cells)
}

/// What uniform control flow gains over uniform values, the last column of the paper's table.
fn gains(table: &Table, nine: &[&Row]) -> String {
    let (Some(values), Some(flow)) = (table.column("unival"), table.column("unicf")) else { return String::new() };
    let mut text = "\n| `unicf` over `unival` | here | the paper |\n| --- | --- | --- |\n".to_owned();
    for row in nine {
        let [here, values_alone] = [flow, values].map(|column| row.cells[column].median_factor());
        let of_paper = |column| papers::over_scalar(&row.name, column);
        if let (Some(flow), Some(values), Some(paper_flow), Some(paper_values)) =
            (here, values_alone, of_paper("unicf"), of_paper("unival"))
        {
            let cells = [factor_text(flow / values), format!("{:.2}", paper_flow / paper_values)];
            text += &line_of(&row.name, cells.into_iter());
        }
    }
    text
}

/// Bulavintsev's nests: how many times as fast as `scalar`, and what that is of the factor where no work-item leaves. One
/// work-item after the other does not wait for others, so that share is what lanes without work leave of the gain.
fn nests(table: &Table) -> String {
    let Some(column) = table.column("default") else { return String::new() };
    let factor = |ratio: &str, leaving| table.row(&nests::name(ratio, leaving))?.cells[column].median_factor();
    let head = nests::RATIOS.iter().map(|ratio| ratio.replace('_', "/"));
    let mut text = line_of("of 16 leave", head) + &line_of("---", nests::RATIOS.iter().map(|_| "---".to_owned()));
    for leaving in 0..nests::LEAVING {
        let cells = nests::RATIOS.iter().map(|ratio| match (factor(ratio, leaving), factor(ratio, 0)) {
            (Some(here), Some(none)) => format!("{} ({:.0} %)", factor_text(here), 100.0 * here / none),
            _ => String::new(),
        });
        text += &line_of(&leaving.to_string(), cells);
    }
    text
}

/// Table 2: how many times as fast as each other driver ours is, and which share of its limit it reaches.
fn drivers(table: &Table) -> String {
    let Some(ours) = table.columns.first() else { return String::new() };
    let other = |name: &str| if name == LIMIT { "share of the limit".to_owned() } else { format!("over {name}") };
    let mut text = head(table, &format!("{ours}, ms"), other);
    let (nine, others): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| is_one_of_the_nine(&row.name));
    for row in nine {
        text += &drivers_row(table, row);
    }
    text += &drivers_means(table, "geometric mean of these", is_one_of_the_nine);
    for row in others {
        text += &drivers_row(table, row);
    }
    text + &drivers_means(table, "geometric mean of all", |_| true)
}

/// The column that is no driver.
const LIMIT: &str = "limit";

fn drivers_row(table: &Table, row: &Row) -> String {
    let cells = row.cells.iter().enumerate().map(|(number, cell)| match (cell.milliseconds(), cell.median_factor()) {
        (Some(time), _) if number == 0 => format!("{time:.3}"),
        (Some(_), Some(factor)) if table.columns[number] == LIMIT => format!("{:.0} %", 100.0 / factor),
        (Some(_), Some(factor)) => {
            let paper = papers::over_intel(&row.name).filter(|_| table.columns[number] == "intel");
            factor_text(1.0 / factor) + &paper.map_or(String::new(), |paper| format!(" ({paper:.2})"))
        }
        _ => describe_missing(cell.error.as_deref()),
    });
    line_of(&row.name, cells)
}

fn drivers_means(table: &Table, what: &str, wanted: impl Fn(&str) -> bool) -> String {
    let cells = table.columns.iter().enumerate().map(|(number, name)| match table.mean(number, &wanted) {
        Some((mean, _)) if number > 0 && name == LIMIT => format!("{:.0} %", 100.0 / mean),
        Some((mean, count)) if number > 0 => {
            let slower = |row: &&Row| wanted(&row.name) && row.cells[number].median_factor().is_some_and(|f| f > 1.0);
            let slower = table.rows.iter().filter(slower).count();
            format!("**{}** of {count}, {slower} slower", factor_text(1.0 / mean))
        }
        _ => String::new(),
    });
    line_of(what, cells)
}

fn means(table: &Table, what: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mean = |number: usize| table.mean(number, &wanted).filter(|_| number > 0);
    let cells = (0..table.columns.len())
        .map(|number| mean(number).map_or(String::new(), |(mean, _)| format!("**{}**", factor_text(mean))));
    line_of(what, cells)
}

fn head(table: &Table, first: &str, shown: impl Fn(&str) -> String) -> String {
    let names = table.columns.iter().enumerate();
    let names = names.map(|(number, name)| if number == 0 { first.to_owned() } else { shown(name) });
    line_of("kernel", names) + &line_of("---", table.columns.iter().map(|_| "---".to_owned()))
}

/// A line of a table in Markdown.
pub(super) fn line_of(name: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!(" {cell} |").replace("  |", " |")).collect();
    format!("| {name} |{cells}\n")
}

fn factor_text(factor: f64) -> String {
    format!("{factor:.2}")
}

/// What stands in the place of a number that is not there.
pub(super) fn describe_missing(error: Option<&str>) -> String {
    error.map_or(String::new(), |error| error.replace('|', "/"))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{row, table};
    use super::*;

    #[test]
    fn only_what_is_between_markers_is_written() {
        let page = "A\n<!-- bench x: begin -->\nold\n<!-- bench x: end -->\nB\n";
        let want = "A\n<!-- bench x: begin -->\nnew\n<!-- bench x: end -->\nB\n";
        assert_eq!(replaced(page, "x", "new\n").as_deref(), Ok(want));
        assert_eq!(replaced(want, "x", "new").as_deref(), Ok(want));
        assert!(replaced(page, "y", "new").is_err());
    }

    #[test]
    fn machines_of_another_width_keep_their_tables() {
        let names = ["machine", "configurations", "isolated", "nests", "drivers"];
        let part = |name: &str, bits: u32| {
            format!("<!-- bench {name} {bits}: begin -->\nold\n<!-- bench {name} {bits}: end -->\n")
        };
        let page = |bits| names.map(|name| part(name, bits)).concat();
        let mut evidence = Evidence::default();
        evidence.machine.register_bits = 256;
        let text = with_tables(&(page(512) + &page(256)), &evidence, "c.svg").expect("both have their places");
        let tables = text.strip_prefix(&page(512)).expect("as it was");
        assert!(
            tables.contains("registers of 256 bits")
                && tables.contains("(c.svg)")
                && tables.contains(&part("isolated", 256))
                && tables.matches("old").count() == 1,
            "{text}"
        );
        assert!(with_tables(&page(512), &evidence, "c.svg").is_err());
    }

    #[test]
    fn the_papers_figures_stand_beside_ours() {
        let columns = ["scalar", "unival", "unicf", "default"];
        let rows = vec![row("dct", &[800, 200, 100, 100]), row("horner", &[800, 400, 100, 50])];
        let text = configurations(&table(&columns, rows));
        assert!(text.contains("| dct | 0.800 | 4.00 (0.85) | 8.00 (1.78) | 8.00 |\n"), "{text}");
        assert!(text.contains("| horner | 0.800 | 2.00 | 8.00 | 16.00 |\n"), "{text}");
        assert!(text.contains("| geometric mean of these | | **4.00** |"), "{text}");
        assert!(text.ends_with("| dct | 2.00 | 2.09 |\n"), "{text}");
    }

    #[test]
    fn nests_have_what_is_left_of_their_gain() {
        let names = ["nest_1_10_k0", "nest_1_10_k3", "nest_1_10_k8"];
        let rows = names.iter().zip([100, 125, 400]).map(|(name, time)| row(name, &[1000, time])).collect();
        let table = table(&["scalar", "default"], rows);
        let text = nests(&table);
        assert!(text.starts_with("| of 16 leave | 10/1 | 1/1 | 1/10 | 1/100 |\n"), "{text}");
        assert!(text.contains("| 3 | | | 8.00 (80 %) | |\n"), "{text}");
        let text = configurations(&table.shown());
        assert!(text.contains("nest_1_10_k8") && !text.contains("nest_1_10_k3"), "{text}");
    }

    #[test]
    fn ours_is_compared_with_each_driver_and_with_the_limit() {
        let rows = vec![row("dct_large", &[100, 400, 50]), row("triad", &[100, 50, 25])];
        let text = drivers(&table(&["lockstep", "intel", "limit"], rows));
        assert!(text.contains("| kernel | lockstep, ms | over intel | share of the limit |\n"), "{text}");
        assert!(text.contains("| dct_large | 0.100 | 4.00 (1.74) | 50 % |\n"), "{text}");
        assert!(text.contains("| triad | 0.100 | 0.50 | 25 % |\n"), "{text}");
        assert!(text.contains("| **1.41** of 2, 1 slower |"), "{text}");
    }

    #[test]
    fn lines_are_as_wide_as_their_head() {
        let names = ["lockstep", "intel"].map(str::to_owned);
        assert!(line_of_names(&names).len() >= line(&row("dct", &[100, 200])).len());
        assert!(line(&row("dct", &[100, 200])).ends_with("0.50x (0.00)"));
    }
}
