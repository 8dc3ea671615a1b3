//! Names the commit that is built.

use std::path::Path;
use std::process::Command;

/// The workspace, from this crate.
const ROOT: &str = "../..";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Where these are depends on the kind of working tree; in an unpacked archive there are none.
    for name in ["HEAD", "logs/HEAD"] {
        let path = ask_git(&["rev-parse", "--git-path", name]).map(|path| Path::new(ROOT).join(path));
        // One that is not there would have this crate built each time.
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    // An archive may lie within a repository of somebody else.
    let is_own = ask_git(&["rev-parse", "--show-cdup"]).is_some_and(|way_up| way_up.is_empty());
    let commit = ask_git(&["rev-parse", "--short", "HEAD"]).filter(|_| is_own);
    println!("cargo:rustc-env=LOCKSTEP_COMMIT={}", commit.as_deref().unwrap_or("no commit"));
}

/// What git says of the workspace, if it knows it.
fn ask_git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(ROOT).args(words).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}
