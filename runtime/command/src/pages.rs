//! `lockstep write-pages`: man pages and completions for shells, made of what the command knows of its words.

use std::fs;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// Where each shell looks for completions, from the folder `share`.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Writes them below a folder `share`.
///
/// # Errors
///
/// A file cannot be written.
pub fn write_pages(mut command: Command, share: &Path) -> std::io::Result<()> {
    let manual = share.join("man/man1");
    fs::create_dir_all(&manual)?;
    clap_mangen::generate_to(command.clone(), manual)?;
    for (shell, folder) in COMPLETIONS {
        let folder = share.join(folder);
        fs::create_dir_all(&folder)?;
        let name = command.get_name().to_owned();
        let written = clap_complete::generate_to(shell, &mut command, name, &folder)?;
        // bash-completion looks for a file with the command's name alone.
        if shell == Shell::Bash {
            fs::rename(written, folder.join("lockstep"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Arguments;

    #[test]
    fn pages_name_the_subcommands_that_users_see() {
        let share = tempfile::tempdir().unwrap();
        write_pages(Arguments::command(), share.path()).unwrap();
        let read = |name: &str| fs::read_to_string(share.path().join(name)).unwrap();
        for page in ["man/man1/lockstep.1", "bash-completion/completions/lockstep", "zsh/site-functions/_lockstep"] {
            assert!(read(page).contains("doctor"), "{page}");
        }
        assert!(read("fish/vendor_completions.d/lockstep.fish").contains("doctor"));
        assert!(!read("man/man1/lockstep.1").contains("write\\-pages"), "hidden");
        assert!(read("man/man1/lockstep-doctor.1").contains("in its place"));
    }
}
