//! The assembly that the driver dumps, as texts to compare.

use std::collections::BTreeMap;
use std::path::Path;

/// How the names end of the files that hold a kernel's assembly. Which stage it is by number differs among builds.
const ENDING: &str = "-optimize.s";

/// Assembly by the kernel's name and the launch that it was made for.
pub type Texts = BTreeMap<String, String>;

/// Moves the assembly from the folder of dumps, which stays, to that of kept ones and removes the other dumps: the next launch may
/// have code made for a kernel of the same name. `launch` tells its files from those of other launches.
pub fn keep_assembly(dumps: &Path, kept: &Path, launch: &str) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(dumps) {
        Ok(entries) => entries,
        // Nothing was compiled.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    std::fs::create_dir_all(kept)?;
    for entry in entries {
        let entry = entry?;
        if let Some(kernel) = kernel_of_file(&entry.file_name().to_string_lossy()) {
            std::fs::rename(entry.path(), kept.join(format!("{kernel}{launch}")))?;
        }
    }
    empty_folder(dumps)
}

/// The kernel of which a dumped file holds the assembly.
fn kernel_of_file(name: &str) -> Option<&str> {
    let (kernel, stage) = name.strip_suffix(ENDING)?.rsplit_once('.')?;
    stage.parse::<u32>().is_ok().then_some(kernel)
}

/// Reads and removes all kept files.
pub fn take_texts(kept: &Path) -> Result<Texts, String> {
    let read = || -> std::io::Result<Texts> {
        let mut texts = Texts::new();
        for entry in std::fs::read_dir(kept)? {
            let entry = entry?;
            let text = std::fs::read_to_string(entry.path())?;
            texts.insert(entry.file_name().to_string_lossy().into_owned(), instructions(&text));
        }
        std::fs::remove_dir_all(kept)?;
        Ok(texts)
    };
    match read() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Texts::new()),
        texts => texts.map_err(|error| format!("cannot read {}: {error}", kept.display())),
    }
}

/// Removes the files of a folder, and leaves the folder: a compiler process that stays may write to this one and no other.
pub fn empty_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::read_dir(folder)?.try_for_each(|entry| std::fs::remove_file(entry?.path()))
}

/// The text without comments, which name values and blocks of LLVM IR, and without what names files and producers.
fn instructions(text: &str) -> String {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line).trim_end());
    let says_nothing = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && ![".file", ".ident"].iter().any(|directive| line.starts_with(directive))
    };
    lines.filter(says_nothing).flat_map(|line| [line, "\n"]).collect()
}

/// Writes one build's code of a kernel for whoever wants to see the difference. It is a help: where it cannot be written,
/// the comparison still says what differs.
pub fn keep_text(texts: &Texts, kernel: &str, folder: &Path, build: &str) {
    if let Some(text) = texts.get(kernel) {
        let path = folder.join(format!("{kernel}.{build}.s"));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
        written.unwrap_or_else(|error| eprintln!("cannot write {}: {error}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stage_by_any_number_is_found() {
        assert_eq!(kernel_of_file("dct.8-optimize.s"), Some("dct"));
        assert_eq!(kernel_of_file("dct.11-optimize.s"), Some("dct"));
        assert_eq!(kernel_of_file("dct.7-codegen.ll"), None);
        assert_eq!(kernel_of_file("dct.x-optimize.s"), None);
    }

    #[test]
    fn comments_and_names_of_files_are_no_code() {
        let text = "\t.file\t\"a\"\nk:                    # @k\n# %bb.0:\n\tret\t# end\n\n\t.ident\t\"clang\"\n";
        assert_eq!(instructions(text), "k:\n\tret\n");
    }

    #[test]
    fn launches_keep_files_of_their_own() {
        let folder = std::env::temp_dir().join(format!("lockstep-assembly-{}", std::process::id()));
        let (dumps, kept) = (folder.join("dumps"), folder.join("kept"));
        for (launch, code) in [("", "ret\n"), ("@2", "nop\n")] {
            std::fs::create_dir_all(&dumps).expect("made");
            std::fs::write(dumps.join("k.8-optimize.s"), code).expect("written");
            std::fs::write(dumps.join("k.7-codegen.ll"), "define").expect("written");
            keep_assembly(&dumps, &kept, launch).expect("moved");
            assert_eq!(std::fs::read_dir(&dumps).expect("the folder stays").count(), 0);
        }
        keep_assembly(&dumps, &kept, "@3").expect("nothing to move");
        let found = take_texts(&kept).expect("read");
        assert_eq!(found, [("k", "ret\n"), ("k@2", "nop\n")].map(|(a, b)| (a.to_owned(), b.to_owned())).into());
        assert_eq!(take_texts(&kept), Ok(Texts::new()));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
