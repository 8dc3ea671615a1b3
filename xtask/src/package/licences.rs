//! `THIRD-PARTY.txt`: the licences of all that is inside the files which is not ours.
//!
//! Those of crates come from cargo-about, those of LLVM, clang and the C and C++ libraries from the packages whose archives were
//! linked, so they are of the versions that are inside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::package::tools::{CARGO_ABOUT, CARGO_DENY};
use crate::package::tree::{copy_file, write_file};
use crate::process;

/// The crates that are linked to the three files, from the workspace's root.
const MANIFESTS: [&str; 3] = ["icd/Cargo.toml", "runtime/command/Cargo.toml", "compiler/process/Cargo.toml"];

/// Archives that are linked to the compiler, as the package manager knows their owners, and what of them is inside.
const LIBRARIES: [(&str, &str); 4] = [
    ("llvm-22-dev", "LLVM"),
    ("libclang-22-dev", "clang"),
    ("libstdc++-12-dev", "libstdc++ and libgcc, under the GPL with the GCC Runtime Library Exception"),
    ("libc6-dev", "the GNU C library, under the LGPL: licences.md says how to link the compiler with another version"),
];

/// Licences that those texts name instead of repeating them.
const COMMON_LICENCES: [&str; 3] = ["Apache-2.0", "GPL-3", "LGPL-2.1"];

/// What cargo-about finds.
#[derive(Deserialize)]
struct About {
    licenses: Vec<License>,
}

/// A text, and the crates that are under it.
#[derive(Deserialize)]
struct License {
    id: String,
    text: String,
    used_by: Vec<Use>,
}

#[derive(Deserialize)]
struct Use {
    #[serde(rename = "crate")]
    krate: Crate,
}

#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
}

/// Licences' names and texts, and the crates under each.
type Crates = BTreeMap<(String, String), BTreeSet<String>>;

/// `licences`: has cargo-deny look where crates come from and under which licences they are, by `deny.toml`.
pub fn check_crates() -> Result<()> {
    process::run(CARGO_DENY.prepare_command()?.args(["check", "licenses", "bans", "sources"]))
}

/// Writes the file, and what Rust says of its standard library.
///
/// # Errors
///
/// A crate has a licence that `about.toml` does not accept, or a text is missing.
pub fn write_licences(folder: &Path) -> Result<()> {
    let mut text =
        "What is inside Lockstep's files that others wrote. licences.md says which part is in which file.\n".to_owned();
    for (package, what) in LIBRARIES {
        append_part(&mut text, what, &read_text(&Path::new("/usr/share/doc").join(package).join("copyright"))?);
    }
    for name in COMMON_LICENCES {
        append_part(&mut text, name, &read_text(&Path::new("/usr/share/common-licenses").join(name))?);
    }
    append_part(
        &mut text,
        "Rust's standard library, and libunwind in the driver and the command",
        "The first is under MIT or Apache-2.0, with parts under other licences that COPYRIGHT-library.html lists; the second is \
         LLVM's, under Apache-2.0 with the LLVM exception.\n",
    );
    for ((licence, licence_text), crates) in collect_crates()? {
        let names: Vec<String> = crates.into_iter().collect();
        append_part(&mut text, &format!("{licence}: {}", names.join(", ")), &licence_text);
    }
    write_file(&folder.join("THIRD-PARTY.txt"), &text)?;
    let rust = rust_documents()?.join("COPYRIGHT-library.html");
    copy_file(&rust, &folder.join("COPYRIGHT-library.html"))
}

fn append_part(text: &mut String, title: &str, part: &str) {
    let line = "=".repeat(80);
    write!(text, "\n{line}\n{title}\n{line}\n\n{}\n", part.trim_end()).expect("texts can be written to");
}

fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("no licence of what is linked: {}", path.display()))
}

/// Asks cargo-about about each of the three files.
fn collect_crates() -> Result<Crates> {
    let mut crates = Crates::new();
    for manifest in MANIFESTS {
        let mut command = CARGO_ABOUT.prepare_command()?;
        command.args(["generate", "--format", "json", "--fail", "--config", "about.toml", "--manifest-path", manifest]);
        let output = command.output().context("cargo-about does not start")?;
        if !output.status.success() {
            bail!("cargo-about: {}", String::from_utf8_lossy(&output.stderr));
        }
        let about = serde_json::from_slice(&output.stdout).context("cargo-about writes something else")?;
        add_crates(&mut crates, about);
    }
    Ok(crates)
}

/// Adds crates to their licences. Ours are not third parties.
fn add_crates(crates: &mut Crates, about: About) {
    for License { id, text, used_by } in about.licenses {
        let others = used_by.into_iter().filter(|each| !each.krate.name.starts_with("lockstep"));
        let names: Vec<String> = others.map(|each| format!("{} {}", each.krate.name, each.krate.version)).collect();
        if !names.is_empty() {
            crates.entry((id, text)).or_default().extend(names);
        }
    }
}

fn rust_documents() -> Result<PathBuf> {
    let root = process::output_of(Command::new("rustc").args(["--print", "sysroot"])).context("there is no rustc")?;
    Ok(Path::new(root.trim()).join("share/doc/rust"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_several_files_are_named_once_and_ours_never() {
        let of = |name: &str| -> About {
            let json = format!(
                r#"{{"licenses":[{{"id":"MIT","text":"as is","used_by":[
                    {{"crate":{{"name":"{name}","version":"1.2.0"}}}},
                    {{"crate":{{"name":"lockstep-ir","version":"0.1.0"}}}}]}}]}}"#
            );
            serde_json::from_str(&json).expect("well-formed")
        };
        let mut crates = Crates::new();
        for name in ["libc", "half", "libc", "lockstep-runtime"] {
            add_crates(&mut crates, of(name));
        }
        let found: Vec<_> = crates.into_iter().collect();
        let names = ["half 1.2.0", "libc 1.2.0"].map(str::to_owned);
        assert_eq!(found, [(("MIT".to_owned(), "as is".to_owned()), BTreeSet::from(names))]);
    }
}
