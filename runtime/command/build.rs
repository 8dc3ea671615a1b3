//! Names the commit that is built.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    let output = Command::new("git").args(["rev-parse", "--short", "HEAD"]).output();
    let commit =
        output.ok().filter(|output| output.status.success()).and_then(|output| String::from_utf8(output.stdout).ok());
    let commit = commit.map_or_else(|| "no commit".to_owned(), |commit| commit.trim().to_owned());
    println!("cargo:rustc-env=LOCKSTEP_COMMIT={commit}");
}
