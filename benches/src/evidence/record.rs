//! What a run of the evidence found, as it is kept in JSON, from which page and chart are made.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::Spread;
use crate::by_hand::ABSENT;
use crate::cases::nests;
use crate::compare::{Cells, Measured};
use crate::side_by_side::Factor;

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Where it was measured last.
    pub machine: Machine,
    /// Our driver's configurations, one thread.
    pub configurations: Table,
    /// The paper's configurations by themselves, one thread.
    #[serde(default)]
    pub isolated: Table,
    /// Drivers, all threads.
    pub drivers: Table,
}

/// Kernels by columns, of which the first is what the others are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Their names.
    pub columns: Vec<String>,
    /// In the suite's order.
    pub rows: Vec<Row>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Turns of each column.
    pub rounds: usize,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// What a column did with a kernel; all `None` where it has nothing for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Nanoseconds of a run: a tenth are below the first, half below the second, a tenth above the third.
    pub time: Option<[u64; 3]>,
    /// How many times as fast as the first column, pair by pair of turns beside each other; spread as above.
    pub factor: Option<[f64; 3]>,
    /// Where the median of the factor lies with 95 %.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// What went wrong.
    pub error: Option<String>,
}

impl Evidence {
    /// Reads what an earlier run kept; nothing where there is none.
    pub fn read(path: &Path) -> Result<Self, String> {
        match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        }
    }

    /// Keeps it. A run that is stopped while this goes on leaves the file as it was.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let fresh = path.with_extension("new");
        std::fs::write(&fresh, text + "\n")
            .and_then(|()| std::fs::rename(&fresh, path))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

impl Table {
    /// Makes sure that the rows have these columns: what was measured beside others does not go into one table with it.
    pub fn fit(&mut self, columns: &[String]) -> Result<(), String> {
        if !self.rows.is_empty() && self.columns != columns {
            let (kept, wanted) = (self.columns.join(", "), columns.join(", "));
            return Err(format!(
                "the numbers that are kept have the columns {kept} and not {wanted}: measure all anew"
            ));
        }
        self.columns = columns.to_vec();
        Ok(())
    }

    /// Whether a kernel was measured, and nothing went wrong.
    pub fn has(&self, name: &str) -> bool {
        self.row(name).is_some_and(|row| row.cells.iter().all(|cell| cell.error.is_none()))
    }

    /// The kernel of this name.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// With the rows that page and chart show one by one: of the nests these are a few.
    pub fn shown(&self) -> Self {
        let rows = self.rows.iter().filter(|row| !nests::is_between(&row.name)).cloned().collect();
        Self { columns: self.columns.clone(), rows }
    }

    /// Puts a row in place of an earlier one, in the order of the names.
    pub fn put(&mut self, row: Row, order: &[&str]) {
        self.rows.retain(|other| other.name != row.name);
        self.rows.push(row);
        let place = |row: &Row| order.iter().position(|name| *name == row.name).unwrap_or(order.len());
        self.rows.sort_by_key(place);
    }

    /// Where the column of this name is.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The geometric mean of a column's factors over rows of these names, and how many there are.
    pub fn mean(&self, column: usize, wanted: impl Fn(&str) -> bool) -> Option<(f64, usize)> {
        let rows = self.rows.iter().filter(|row| wanted(&row.name));
        let logs: Vec<f64> = rows.filter_map(|row| Some(row.cells[column].median_factor()?.ln())).collect();
        (!logs.is_empty()).then(|| ((logs.iter().sum::<f64>() / logs.len() as f64).exp(), logs.len()))
    }
}

impl Row {
    /// Of what was measured.
    pub fn of(name: &str, rounds: usize, cells: Cells<Measured>) -> Self {
        let factors: Vec<Option<Factor>> =
            cells.iter().map(|cell| Some(Factor::of(cell.as_ref().ok()?, cells.first()?.as_ref().ok()?))).collect();
        let cells = cells.into_iter().zip(factors).map(|(cell, factor)| match cell {
            Ok(measured) => Cell {
                time: Some(nanoseconds(measured.time)),
                factor: factor.map(|Factor { low, median, high, .. }| [low, median, high]),
                interval: factor.and_then(|factor| factor.interval),
                error: None,
            },
            Err(error) => Cell { error: (error != ABSENT).then_some(error), ..Cell::default() },
        });
        Self { name: name.to_owned(), rounds, cells: cells.collect() }
    }

    /// What went wrong, column by column.
    pub fn errors(&self, columns: &[String]) -> Vec<String> {
        let wrong = columns.iter().zip(&self.cells).filter_map(|(column, cell)| Some((column, cell.error.as_ref()?)));
        wrong.map(|(column, error)| format!("{}, {column}: {error}", self.name)).collect()
    }
}

impl Cell {
    /// The median of a run's time in milliseconds.
    pub fn milliseconds(&self) -> Option<f64> {
        self.time.map(|[_, median, _]| median as f64 / 1e6)
    }

    /// How far the tenths are from each other, as a part of the median.
    pub fn spread(&self) -> Option<f64> {
        self.time.map(|[low, median, high]| (high - low) as f64 / median.max(1) as f64)
    }

    /// How many times as fast as the first column.
    pub fn median_factor(&self) -> Option<f64> {
        self.factor.map(|[_, median, _]| median)
    }
}

fn nanoseconds(time: Spread) -> [u64; 3] {
    [time.low, time.median, time.high].map(|time| time.as_nanos() as u64)
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;

    /// A row whose columns take these times in microseconds, the same in each turn.
    pub fn row(name: &str, micros: &[u64]) -> Row {
        row_of_turns(name, &micros.iter().map(|&time| vec![time; 3]).collect::<Vec<_>>())
    }

    /// A row whose columns take these times in microseconds, turn by turn.
    pub fn row_of_turns(name: &str, columns: &[Vec<u64>]) -> Row {
        let measured = |micros: &Vec<u64>| {
            let turns: Vec<Duration> = micros.iter().map(|&time| Duration::from_micros(time)).collect();
            Ok(Measured { time: Spread::of(turns.clone()), turns, sum: String::new() })
        };
        Row::of(name, columns[0].len(), columns.iter().map(measured).collect())
    }

    /// A table of these columns.
    pub fn table(columns: &[&str], rows: Vec<Row>) -> Table {
        Table { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows }
    }

    #[test]
    fn factors_say_how_many_times_as_fast_as_the_first() {
        let row = row("dct", &[800, 100]);
        assert_eq!(row.cells[1].median_factor(), Some(8.0));
        assert_eq!(row.cells[0].milliseconds(), Some(0.8));
        assert_eq!(row.cells[0].spread(), Some(0.0));
    }

    #[test]
    fn what_is_absent_is_no_error() {
        let row = Row::of("dct", 3, vec![Err(ABSENT.to_owned()), Err("wrong".to_owned())]);
        assert_eq!(row.errors(&["a".to_owned(), "b".to_owned()]), ["dct, b: wrong"]);
    }

    #[test]
    fn rows_are_replaced_and_stay_in_order() {
        let mut table = table(&["a", "b"], vec![row("one", &[1, 1]), row("three", &[1, 1])]);
        let order = ["one", "two", "three"];
        table.put(row("two", &[1, 2]), &order);
        table.put(row("one", &[4, 2]), &order);
        let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, order);
        assert_eq!(table.mean(1, |name| name != "three"), Some((1.0, 2)));
        assert!(table.has("two") && !table.has("four"));
        assert!(table.fit(&["a".to_owned()]).is_err());
        assert!(table.fit(&["a".to_owned(), "b".to_owned()]).is_ok() && table.rows.len() == 3);
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        let path = std::env::temp_dir().join(format!("lockstep-evidence-{}.json", std::process::id()));
        assert_eq!(Evidence::read(&path), Ok(Evidence::default()));
        let drivers = table(&["ours", "other"], vec![row("dct", &[2, 3])]);
        let evidence = Evidence { drivers, ..Evidence::default() };
        evidence.write(&path).expect("the folder is there");
        assert_eq!(Evidence::read(&path), Ok(evidence));
        std::fs::remove_file(&path).expect("it is there");
    }
}
