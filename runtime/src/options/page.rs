//! The tables of `docs/options.md` are those of the code.

use std::fmt::Write;
use std::path::Path;

use lockstep_protocol::pass_switches::PassSwitch;

use super::table::{ALIASES, TABLE};

/// Where a generated part of the page begins and ends.
const BEGIN: &str = "<!-- from the code: ";
const END: &str = "<!-- end -->\n";

/// The page's text with the tables that the code has.
fn with_tables(page_text: &str) -> String {
    let parts = [("switches", switches()), ("passes", passes()), ("old names", old_names())];
    parts.iter().fold(page_text.to_owned(), |page_text, (name, table_text)| {
        let begin = format!("{BEGIN}{name} -->\n");
        let (text_before, text_rest) =
            page_text.split_once(&begin).unwrap_or_else(|| panic!("the page has no {begin}"));
        let (_, text_after) = text_rest.split_once(END).unwrap_or_else(|| panic!("{begin} has no end"));
        format!("{text_before}{begin}{table_text}{END}{text_after}")
    })
}

fn switches() -> String {
    let mut table_text = "| variable | default | what it does |\n| --- | --- | --- |\n".to_owned();
    for switch in TABLE {
        let _ = writeln!(table_text, "| `{}` | {} | {} |", switch.name, switch.default, switch.meaning);
    }
    table_text
}

fn passes() -> String {
    let mut table_text = "| name | what happens where it is switched on |\n| --- | --- |\n".to_owned();
    for pass in PassSwitch::ALL {
        let _ = writeln!(table_text, "| `{}` | {} |", pass.name(), pass.meaning());
    }
    table_text
}

fn old_names() -> String {
    let mut table_text = "| variable | pass |\n| --- | --- |\n".to_owned();
    for (name, pass) in ALIASES {
        let _ = writeln!(table_text, "| `{name}` | `{}` |", pass.name());
    }
    table_text
}

/// With `BLESS=1` in the environment the page is rewritten.
#[test]
fn the_page_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/options.md");
    let page_text = std::fs::read_to_string(&path).expect("the page is there");
    let wanted = with_tables(&page_text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the page can be written");
    } else {
        assert!(page_text == wanted, "docs/options.md differs from the code's tables (BLESS=1 rewrites it)");
    }
}
