//! `walkthroughs`: applies each patch of `docs/walkthroughs` to a copy of the tree and runs what the patch says, so that the
//! examples of CONTRIBUTING.md work.
//!
//! A patch begins with lines that say what it shows and which commands have to pass with it; git passes over them.
//!
//! ```text
//! Walk-through: a pass with a switch
//! Run: cargo test --package lockstep-ir --test filetests straighten_branches
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::progress::step;
use crate::{process, workspace};

/// The folder of the patches.
pub const FOLDER: &str = "docs/walkthroughs";
/// What the line with the title begins with.
const TITLE: &str = "Walk-through: ";
/// What a line with a command begins with.
const RUN: &str = "Run: ";
/// What the line about a file that a patch changes or makes begins with.
const CHANGED: &str = "+++ b/";
/// What the line about a file that a patch changes begins with.
const BEFORE: &str = "--- a/";

/// A patch of the folder.
#[derive(Debug, PartialEq, Eq)]
pub struct Walkthrough<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The commands that have to pass with it, in the order in which they run.
    pub commands: Vec<&'a str>,
    /// The files that it changes or makes, from the workspace's root.
    pub files: Vec<&'a str>,
}

impl<'a> Walkthrough<'a> {
    /// Reads a patch.
    ///
    /// # Errors
    ///
    /// What it lacks: a title, a command, or a file.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let after =
            |prefix: &'static str| text.lines().filter_map(move |line| line.strip_prefix(prefix)).map(str::trim);
        let commands: Vec<&str> = after(RUN).collect();
        let files: Vec<&str> = after(CHANGED).collect();
        let title = after(TITLE).next().ok_or_else(|| format!("no line begins with `{TITLE}`"))?;
        if commands.is_empty() {
            return Err(format!("no line begins with `{RUN}`: a walk-through that nothing runs goes stale"));
        }
        if files.is_empty() {
            return Err("it changes no file".to_owned());
        }
        Ok(Self { title, commands, files })
    }
}

/// A piece of a patch.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// The file that it changes, from the workspace's root.
    pub file: &'a str,
    /// The lines that it looks for there, each with its end.
    pub old_text: String,
}

impl<'a> Hunk<'a> {
    /// The pieces of a patch that change files which are there.
    pub fn find_hunks(patch: &'a str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut changed = None;
        let mut in_hunk = false;
        for line in patch.lines() {
            if line.starts_with("diff --git ") {
                (changed, in_hunk) = (None, false);
            } else if line.starts_with("@@ ") {
                found.extend(changed.map(|file| Self { file, old_text: String::new() }));
                in_hunk = changed.is_some();
            } else if !in_hunk {
                changed = line.strip_prefix(BEFORE).or(changed);
            } else if let Some(hunk) = found.last_mut()
                && let Some(text) = line.strip_prefix([' ', '-'])
            {
                hunk.old_text.extend([text, "\n"]);
            }
        }
        found
    }
}

/// Which walk-throughs to run.
#[derive(clap::Args)]
pub struct Options {
    /// Only the patches whose file names contain one of these
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let patches = find_patches(&options.names)?;
    let scratch = Scratch::new();
    let mut failed = Vec::new();
    for patch in &patches {
        let text = fs::read_to_string(patch).with_context(|| format!("cannot read {}", patch.display()))?;
        let walkthrough = Walkthrough::parse(&text).map_err(|what| anyhow::anyhow!("{}: {what}", patch.display()))?;
        let walking = step(format!("walk-through: {}", walkthrough.title));
        match scratch.walk(patch, &walkthrough) {
            Ok(()) => walking.done(),
            Err(error) => {
                println!("    {error:#}");
                failed.push(walkthrough.title.to_owned());
            }
        }
    }
    if !failed.is_empty() {
        bail!(
            "walk-throughs that no longer work: {} (docs/walkthroughs/README.md says how to mend one)",
            failed.join(", ")
        );
    }
    println!("walkthroughs: {} work", patches.len());
    Ok(())
}

/// The patches to walk through, in order of their names.
fn find_patches(names: &[String]) -> Result<Vec<PathBuf>> {
    let folder = workspace::root().join(FOLDER);
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_wanted = names.is_empty() || names.iter().any(|part| name.contains(part));
        if is_wanted && path.extension().is_some_and(|extension| extension == "patch") {
            found.push(path);
        }
    }
    if found.is_empty() {
        bail!("{FOLDER} has no patch of that name");
    }
    found.sort();
    Ok(found)
}

/// A copy of the tree, kept between runs so that what did not change need not be built again.
struct Scratch {
    tree: PathBuf,
    target: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = workspace::target().join("walkthroughs");
        Self { tree: folder.join("tree"), target: folder.join("target") }
    }

    /// Makes the copy as the tree is, applies a patch and runs its commands.
    fn walk(&self, patch: &Path, walkthrough: &Walkthrough) -> Result<()> {
        self.copy_tree()?;
        // Outside a repository, git applies a patch to the files below its folder. The copy lies inside one.
        let mut apply = Command::new("git");
        apply.current_dir(&self.tree).env("GIT_CEILING_DIRECTORIES", self.tree.parent().unwrap_or(&self.tree));
        process::run(apply.args(["apply", "--whitespace=nowarn"]).arg(patch)).context("the patch does not apply")?;
        for command in &walkthrough.commands {
            process::run(&mut self.command(command)?).context("it applies, but does not work")?;
        }
        Ok(())
    }

    /// Puts the files that git knows, or would take, into the copy. A file that is the same stays as it is: cargo goes by times.
    fn copy_tree(&self) -> Result<()> {
        let root = workspace::root();
        let wanted = list_files(root)?;
        for file in files_below(&self.tree)? {
            if !wanted.contains(&file) {
                fs::remove_file(self.tree.join(&file)).with_context(|| format!("cannot remove {}", file.display()))?;
            }
        }
        for file in &wanted {
            let (from, to) = (root.join(file), self.tree.join(file));
            let fresh = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
            if fs::read(&to).is_ok_and(|old| old == fresh) {
                continue;
            }
            fs::create_dir_all(to.parent().unwrap_or(&to)).with_context(|| format!("cannot make {}", to.display()))?;
            fs::write(&to, fresh).with_context(|| format!("cannot write {}", to.display()))?;
        }
        Ok(())
    }

    /// A command of a patch: variables, then a program and its words.
    fn command(&self, text: &str) -> Result<Command> {
        let mut words = text.split_whitespace().peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            variables.push((name, value));
            words.next();
        }
        let mut command = Command::new(words.next().context("a command without a program")?);
        command.args(words).envs(variables).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        Ok(command)
    }
}

/// The files of the working tree that git knows or would take, without those that were deleted.
fn list_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut list = Command::new("git");
    list.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = process::output_of(&mut list).context("git cannot list the files of the tree")?;
    let files = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(files.filter(|file| root.join(file).is_file()).collect())
}

/// The files below a folder, from there; none where it is not there.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder)?.to_owned());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
Walk-through: an identity
Run: cargo test one
Run: BLESS=1 cargo test two

diff --git a/src/a.rs b/src/a.rs
--- a/src/a.rs
+++ b/src/a.rs
@@ -1 +1 @@
-old
+new
diff --git a/b.pir b/b.pir
new file mode 100644
--- /dev/null
+++ b/b.pir
@@ -0,0 +1 @@
+text
";

    #[test]
    fn a_patch_says_what_it_shows_and_what_runs() {
        let walkthrough = Walkthrough::parse(PATCH).expect("well-formed");
        assert_eq!(walkthrough.title, "an identity");
        assert_eq!(walkthrough.commands, ["cargo test one", "BLESS=1 cargo test two"]);
        assert_eq!(walkthrough.files, ["src/a.rs", "b.pir"]);
    }

    #[test]
    fn pieces_hold_the_lines_they_look_for() {
        let patch = format!(
            "{PATCH}diff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1,3 +1 @@\n one\n--- a/two\n+2\n@@ -9 +9 @@\n-nine\n"
        );
        let pieces = Hunk::find_hunks(&patch);
        let texts: Vec<_> = pieces.iter().map(|hunk| (hunk.file, hunk.old_text.as_str())).collect();
        assert_eq!(texts, [("src/a.rs", "old\n"), ("c", "one\n-- a/two\n"), ("c", "nine\n")]);
    }

    #[test]
    fn a_patch_without_a_command_is_refused() {
        let text: String =
            PATCH.lines().filter(|line| !line.starts_with(RUN)).map(|line| format!("{line}\n")).collect();
        assert!(Walkthrough::parse(&text).expect_err("nothing runs").contains("Run: "));
    }

    #[test]
    fn commands_may_begin_with_variables() {
        let command = Scratch::new().command("BLESS=1 cargo test a=b").expect("a program");
        assert_eq!(command.get_program(), "cargo");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["test", "a=b"]);
        assert!(command.get_envs().any(|(name, value)| name == "BLESS" && value.is_some_and(|value| value == "1")));
    }
}
