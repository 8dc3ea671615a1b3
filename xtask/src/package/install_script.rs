//! Tests of `install.sh`: what it writes for whom, what it says, and that nothing of it stays.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::tree::{INSTALL_SCRIPT, set_modes, write_file};

/// An unpacked package whose programs say that they run, a home, and a place to stage files.
struct Package(tempfile::TempDir);

impl Package {
    fn new() -> Package {
        let package = Package(tempfile::tempdir().expect("a folder"));
        package.write_tree("one");
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A tree whose files hold their version.
    fn write_tree(&self, version: &str) {
        let write = |name: &str, text: &str| write_file(&self.path("a package").join(name), text).expect("written");
        write("bin/lockstep", &format!("#!/bin/sh\necho lockstep {version}\n"));
        write("lib/lockstep/liblockstep.so", version);
        write("lib/lockstep/lockstep-compiler", version);
        write("share/man/man1/lockstep.1", version);
        write("share/doc/lockstep/CHANGELOG.md", version);
        write("install.sh", INSTALL_SCRIPT);
        set_modes(&self.path("a package")).expect("ours");
    }

    /// Runs the script of a folder.
    fn run(&self, script: &Path, words: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new("sh");
        command.arg(script).args(words).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command.current_dir(self.0.path()).envs(variables.iter().copied()).output().expect("there is a shell")
    }

    #[track_caller]
    fn install(&self, words: &[&str], variables: &[(&str, &Path)]) -> String {
        let output = self.run(&self.path("a package/install.sh"), words, variables);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The files below a folder.
    fn files(&self, folder: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect_files(&self.path(folder), "", &mut found);
        found
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it is there")
    }
}

fn collect_files(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => collect_files(&entry.path(), &format!("{name}/"), found),
            false => drop(found.insert(name)),
        }
    }
}

#[test]
fn at_home_it_says_what_to_set_and_nothing_stays() {
    let package = Package::new();
    let text = package.install(&[], &[]);
    assert!(text.starts_with("lockstep one\n"), "it was tried: {text}");
    let vendors = package.path("home/.local/share/OpenCL/vendors");
    assert!(text.contains(&format!("export OCL_ICD_VENDORS={}/\n", vendors.display())), "{text}");
    let driver = package.path("home/.local/lib/lockstep/liblockstep.so");
    assert_eq!(package.read("home/.local/share/OpenCL/vendors/lockstep.icd"), format!("{}\n", driver.display()));
    let wanted = [
        "bin/lockstep",
        "lib/lockstep/install.sh",
        "lib/lockstep/installed-files",
        "lib/lockstep/liblockstep.so",
        "lib/lockstep/lockstep-compiler",
        "share/OpenCL/vendors/lockstep.icd",
        "share/doc/lockstep/CHANGELOG.md",
        "share/man/man1/lockstep.1",
    ];
    assert_eq!(package.files("home/.local").iter().map(String::as_str).collect::<Vec<_>>(), wanted);
    let mode = |name: &str| fs::metadata(package.path("home/.local").join(name)).expect("there").permissions().mode();
    assert_eq!([mode("bin/lockstep"), mode("lib/lockstep/liblockstep.so")].map(|mode| mode & 0o777), [0o755, 0o644]);
    let own_script = package.path("home/.local/lib/lockstep/install.sh");
    assert!(!package.run(&own_script, &[], &[]).status.success(), "it has nothing to install");
    assert!(package.run(&own_script, &["--uninstall"], &[]).status.success());
    assert_eq!(package.files("home"), BTreeSet::new());
    assert!(!package.path("home/.local/lib/lockstep").exists());
}

#[test]
fn packagers_stage_files_whose_paths_are_those_of_later() {
    let package = Package::new();
    let stage = package.path("stage");
    let text = package.install(&["--prefix", "/usr"], &[("DESTDIR", &stage)]);
    assert_eq!(package.read("stage/etc/OpenCL/vendors/lockstep.icd"), "/usr/lib/lockstep/liblockstep.so\n");
    assert!(!text.contains("OCL_ICD_VENDORS") && !text.contains("--uninstall"), "{text}");
    package.install(&["--system"], &[("DESTDIR", &stage)]);
    assert_eq!(package.read("stage/etc/OpenCL/vendors/lockstep.icd"), "/usr/local/lib/lockstep/liblockstep.so\n");
    package.install(&["--prefix", "some/folder"], &[]);
    let driver = package.path("some/folder/lib/lockstep/liblockstep.so");
    assert_eq!(package.read("some/folder/etc/OpenCL/vendors/lockstep.icd"), format!("{}\n", driver.display()));
}

#[test]
fn a_new_version_takes_the_place_of_the_old_one() {
    let package = Package::new();
    package.install(&[], &[]);
    let driver = package.path("home/.local/lib/lockstep/liblockstep.so");
    let old = fs::metadata(&driver).expect("there").ino();
    fs::remove_file(package.path("a package/share/man/man1/lockstep.1")).expect("ours");
    fs::write(package.path("home/.local/share/man/man1/other.1"), "").expect("ours");
    for name in ["bin/lockstep", "lib/lockstep/liblockstep.so"] {
        fs::write(package.path("a package").join(name), "#!/bin/sh\necho two\n").expect("ours");
    }
    assert!(package.install(&[], &[]).starts_with("two\n"));
    assert_ne!(fs::metadata(&driver).expect("there").ino(), old, "who has the old file mapped keeps it");
    assert_eq!(package.files("home/.local/share/man"), BTreeSet::from(["man1/other.1".to_owned()]));
}

#[test]
fn where_there_is_no_room_the_old_version_stays_whole() {
    let package = Package::new();
    package.install(&[], &[]);
    let before = package.files("home");
    package.write_tree("two");
    // A program that writes all but the last of the large files.
    let tools = package.path("tools");
    let script = "#!/bin/sh\ncase $4 in *liblockstep.so.new) exit 1 ;; esac\nexec /usr/bin/install \"$@\"\n";
    write_file(&tools.join("install"), script).expect("ours");
    fs::set_permissions(tools.join("install"), fs::Permissions::from_mode(0o755)).expect("ours");
    let path = PathBuf::from(format!("{}:/usr/bin:/bin", tools.display()));
    let output = package.run(&package.path("a package/install.sh"), &[], &[("PATH", &path)]);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("is there room"),
        "{output:?}"
    );
    assert_eq!(package.files("home"), before);
    for name in ["lockstep-compiler", "liblockstep.so"] {
        assert_eq!(package.read(&format!("home/.local/lib/lockstep/{name}")), "one", "{name}");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let package = Package::new();
    let refusal = |words: &[&str], variables: &[(&str, &Path)]| {
        let output = package.run(&package.path("a package/install.sh"), words, variables);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(refusal(&[], &[("HOME", Path::new(""))]).contains("HOME is not set"));
    assert!(refusal(&["--prefix"], &[]).contains("needs a folder"));
    assert!(refusal(&["--everywhere"], &[]).contains("no option --everywhere"));
    assert!(refusal(&["--uninstall"], &[]).contains("nothing is installed in"));
    assert!(refusal(&["--prefix", "/proc/nowhere"], &[]).contains("cannot make /proc/nowhere/lib/lockstep"));
    // A machine of another kind, and one with an old C library.
    let tools = package.path("tools");
    write_file(&tools.join("uname"), "#!/bin/sh\necho aarch64\n").expect("ours");
    let mode = |name: &str| fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).expect("ours");
    mode("uname");
    let path = PathBuf::from(format!("{}:/usr/bin:/bin", tools.display()));
    assert!(refusal(&[], &[("PATH", &path)]).contains("is for x86-64 and this machine is aarch64"));
    fs::remove_file(tools.join("uname")).expect("ours");
    write_file(&tools.join("getconf"), "#!/bin/sh\necho glibc 2.12\n").expect("ours");
    mode("getconf");
    assert!(refusal(&[], &[("PATH", &path)]).contains("needs glibc 2.17 or later and this machine has 2.12"));
    // A program that does not run stands for a folder in which none may.
    fs::write(package.path("a package/bin/lockstep"), "#!/no/such/interpreter\n").expect("ours");
    assert!(refusal(&[], &[]).contains("is it mounted with noexec?"));
    assert_eq!(package.files("home"), BTreeSet::new(), "nothing is left");
}
