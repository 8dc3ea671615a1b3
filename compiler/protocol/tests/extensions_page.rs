//! The tables of `docs/extensions.md` are those of the code.

use std::fmt::Write;
use std::path::Path;

use lockstep_protocol::features::{EXTENSIONS, FEATURES, Version};

/// With `BLESS=1` in the environment the page is rewritten.
#[test]
fn the_page_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/extensions.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let wanted =
        replace_table(&replace_table(&page, "extensions", &describe_extensions()), "features", &describe_features());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the page can be written");
    } else {
        assert!(page == wanted, "docs/extensions.md differs from the code's tables (BLESS=1 rewrites it)");
    }
}

/// The page with another table between the lines that name it.
fn replace_table(page: &str, name: &str, table: &str) -> String {
    let begin = format!("<!-- from the code: {name} -->\n");
    let (before, rest) = page.split_once(&begin).expect("the table's first line");
    let (_, after) = rest.split_once("<!-- end -->\n").expect("the table's last line");
    format!("{before}{begin}{table}<!-- end -->\n{after}")
}

fn describe_extensions() -> String {
    let mut table = "| extension | version | of | what it gives |\n| --- | --- | --- | --- |\n".to_owned();
    for extension in EXTENSIONS {
        let kind = if extension.language { "OpenCL C" } else { "the API" };
        let version = describe_version(extension.version);
        writeln!(table, "| `{}` | {version} | {kind} | {} |", extension.name, extension.purpose).expect("a text");
    }
    table
}

fn describe_features() -> String {
    let mut table = "| feature | what it gives |\n| --- | --- |\n".to_owned();
    for feature in FEATURES {
        writeln!(table, "| `{}` | {} |", feature.name, feature.purpose).expect("a text");
    }
    table
}

fn describe_version(Version { major, minor, patch }: Version) -> String {
    format!("{major}.{minor}.{patch}")
}
