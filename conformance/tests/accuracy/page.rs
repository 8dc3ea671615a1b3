//! `docs/accuracy.md`: a table for each type and mode, whose rows a run replaces.

use std::fmt::Write;
use std::sync::Mutex;
use std::{env, fs};

use crate::format::Type;
use crate::functions::Function;
use crate::guarantees;
use crate::measure::Worst;

/// A table of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Float,
    Double,
    Half,
    Rounded,
    Relaxed,
    HalfForms,
    NativeForms,
}

impl Section {
    const ALL: [Self; 7] =
        [Self::Float, Self::Double, Self::Half, Self::Rounded, Self::Relaxed, Self::HalfForms, Self::NativeForms];

    /// Its headline.
    pub fn title(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Double => "double",
            Self::Half => "half",
            Self::Rounded => "float with -cl-fp32-correctly-rounded-divide-sqrt",
            Self::Relaxed => "float with -cl-fast-relaxed-math",
            Self::HalfForms => "half_ functions of float",
            Self::NativeForms => "native_ functions of float",
        }
    }
}

/// One function's line: its name, and the rest as it is written.
pub struct Row {
    name: String,
    rest: String,
}

impl Row {
    /// The line of what was measured.
    pub fn new(ty: Type, function: &Function, wanted: String, worst: &Worst) -> Self {
        let digits = if ty == Type::Half {
            4
        } else if ty == Type::Float {
            8
        } else {
            16
        };
        let with_int = function.takes == crate::samples::Takes::WithInt;
        let shown = |(place, value): (usize, &f64)| {
            if place == 1 && with_int { format!("{value}") } else { format!("0x{:0digits$x}", ty.bits(*value)) }
        };
        let arguments: Vec<String> = worst.arguments.iter().enumerate().map(shown).collect();
        let all = function.takes == crate::samples::Takes::One
            && worst.compared
                >= match ty {
                    Type::Half => 1 << 16,
                    Type::Float => 1 << 32,
                    Type::Double => u64::MAX,
                };
        let compared = if all { "all".to_owned() } else { worst.compared.to_string() };
        let error = if worst.error == 0.0 { "0".to_owned() } else { format!("{:.4}", worst.error) };
        Self {
            name: function.name.to_owned(),
            rest: format!(" {wanted} | {error} | {} | {compared} |", arguments.join(", ")),
        }
    }
}

const HEAD: &str = "\
# Accuracy

How far results are from the exact value at most, in units of the last place (ulp), beside the bound of the OpenCL C 3.0
specification, section 7.4. `cargo xtask accuracy` measures this through the ICD loader, on the machine it runs on, and
writes the page; every test run compares at the edges of section 7.5 and at a sample of arguments, and fails where a
result is beyond its bound or of another kind than the exact one (NaN, infinity, the sign of a zero).

References have 120 bits and come from MPFR. For floats and halves a value in double by the host's library, whose error
does not show there, finds the results that may be the worst, and MPFR is asked about those. The column of arguments has
their bits (an integer as it is); `all` are all values of the type. An error of up to 0.5 is a correctly rounded result.
Denormals are numbers like others; the `half_` and `native_` forms may take them for zeros, as operands and as results.
`native_divide` is not compared for divisors beyond 2^126, whose reciprocals may be zero. Both forms' roots and
quotients come from the machine's estimates, of 14 bits with AVX-512 (the rows of `half_divide` and of both forms of `rsqrt`) and
of 11 without: there the worst of `half_divide` was 5199 ulp, of `half_rsqrt` 2893, of `native_rsqrt` 2.4 and of
`native_divide` 2660, which is infinity for a quotient next to the largest float.
";

const PROMISES: &str = "
## Ranges and exact results

Beyond the bounds, no result of these functions leaves its range, in float, double and half; its limits are those rounded
to nearest. So `acos(cos(x))` is no NaN for finite x. And results are exact at the arguments in the last column: `x^n` there
is a power whose bits fit the type's. Both hold with `-cl-fast-relaxed-math` as well (of floats and doubles), and neither of
the `half_` and `native_` forms. Every test run checks ranges wherever it compares errors, which `cargo xtask accuracy` does
at all floats, and at a sample around multiples of π/2 and 1/2 and where functions come close to their limits; and exact
results at all such arguments or at some hundred thousand.

On machines without fused multiply-add (before AVX2), `cbrt` of floats and `log10` of doubles miss some of their exact
results by one unit. Where `LOCKSTEP_SIMD=128` keeps the driver from using the one that a machine has, so do these, and sines
and cosines of floats may be one unit beyond 1.

| function | range | exact |
| --- | --- | --- |
";

/// Replaces the rows in the page that `LOCKSTEP_TEST_WRITE` names, if it does.
pub fn update(section: Section, rows: Vec<Row>) {
    static WRITING: Mutex<()> = Mutex::new(());
    let Ok(path) = env::var("LOCKSTEP_TEST_WRITE") else { return };
    let _alone = WRITING.lock();
    let mut tables = tables(&fs::read_to_string(&path).unwrap_or_default());
    let table = &mut tables[Section::ALL.iter().position(|other| *other == section).expect("all are listed")];
    for row in rows {
        match table.iter_mut().find(|old| old.name == row.name) {
            Some(old) => *old = row,
            None => table.push(row),
        }
    }
    fs::write(&path, page(&tables)).unwrap_or_else(|error| panic!("{path}: {error}"));
}

/// The rows of a page, by section.
fn tables(text: &str) -> Vec<Vec<Row>> {
    let mut tables: Vec<Vec<Row>> = Section::ALL.iter().map(|_| Vec::new()).collect();
    let mut current = None;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            current = Section::ALL.iter().position(|section| section.title() == title);
        } else if let (Some(current), Some(line)) = (current, line.strip_prefix("| "))
            && let Some((name, rest)) = line.split_once(" |")
            && name != "function"
            && !name.starts_with('-')
        {
            tables[current].push(Row { name: name.to_owned(), rest: rest.to_owned() });
        }
    }
    tables
}

fn page(tables: &[Vec<Row>]) -> String {
    let mut text = HEAD.to_owned() + PROMISES;
    for guarantee in guarantees::ALL {
        let range = guarantee.range.map_or("", |range| range.shown);
        let _ = writeln!(text, "| {} | {range} | {} |", guarantee.name, guarantee.exact);
    }
    for (section, rows) in Section::ALL.iter().zip(tables) {
        if rows.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n| function | bound | worst | at | compared |\n", section.title());
        text += "| --- | --- | --- | --- | --- |\n";
        for row in rows {
            let _ = writeln!(text, "| {} |{}", row.name, row.rest);
        }
    }
    text
}

#[test]
fn a_page_is_read_as_it_was_written() {
    let row = |name: &str, rest: &str| Row { name: name.to_owned(), rest: rest.to_owned() };
    let mut written: Vec<Vec<Row>> = Section::ALL.iter().map(|_| Vec::new()).collect();
    written[0] = vec![row("sin", " 4 | 0.5 | 0x1 | all |"), row("x / y", " 2.5 | 0.5 | 0x1, 0x2 | 7 |")];
    written[4] = vec![row("remquo, quotient", " exact | 0 |  | 9 |")];
    let text = page(&written);
    assert_eq!(page(&tables(&text)), text);
    assert_eq!(tables(&text)[0].len(), 2);
}
