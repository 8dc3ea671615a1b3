//! Every place where ICD loaders look for drivers, and whether ours is there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::Finding;
use crate::installation::DRIVER;

/// The loaders' folder.
const VENDORS: &str = "/etc/OpenCL/vendors";
/// Where `install.sh --user` registers, which no loader reads unasked.
const USER_VENDORS: &str = ".local/share/OpenCL/vendors";

/// What the environment says about places, to the loader that is installed.
#[derive(Default)]
pub struct Environment {
    /// `OCL_ICD_VENDORS`: a folder, an `.icd` file or a library, in the place of the loaders' folder.
    pub vendors: Option<OsString>,
    /// `OPENCL_VENDOR_PATH`: another folder in the place of the loaders' own, if the other variable is not set. Only ocl-icd reads it.
    pub vendor_path: Option<OsString>,
    /// `OCL_ICD_FILENAMES`: libraries besides, with colons between them. Only the Khronos loader reads it.
    pub file_names: Option<OsString>,
    pub home: Option<OsString>,
    /// Which loader that is.
    pub kind: LoaderKind,
}

/// A loader, by the variables that it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoaderKind {
    /// Most systems have it.
    #[default]
    OclIcd,
    Khronos,
}

impl Environment {
    /// That of this process, for a loader of this kind.
    pub fn of_this_process(kind: LoaderKind) -> Environment {
        let read = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            vendors: read("OCL_ICD_VENDORS"),
            vendor_path: read("OPENCL_VENDOR_PATH").filter(|_| kind == LoaderKind::OclIcd),
            file_names: read("OCL_ICD_FILENAMES").filter(|_| kind == LoaderKind::Khronos),
            home: read("HOME"),
            kind,
        }
    }

    /// The folder that the loader reads where `OCL_ICD_VENDORS` says nothing.
    fn default_folder(&self, root: &Path) -> PathBuf {
        self.vendor_path.as_ref().map_or_else(|| root.join(VENDORS.trim_start_matches('/')), PathBuf::from)
    }

    /// How a user leads programs of a shell to a driver.
    fn advise_variable(&self, driver: &Path) -> String {
        let driver = driver.display();
        match self.kind {
            LoaderKind::Khronos => format!("export OCL_ICD_FILENAMES={driver} adds it for the programs of a shell"),
            LoaderKind::OclIcd => {
                format!("export OCL_ICD_VENDORS={driver} leads the programs of a shell to it, and to no other driver")
            }
        }
    }
}

/// A line that names a driver to loaders.
#[derive(Debug, PartialEq, Eq)]
struct Registration {
    /// The `.icd` file or the variable that it comes from.
    origin: String,
    /// The driver's library. A bare name is one that the system's linker looks for.
    driver: PathBuf,
}

/// Looks at all of them.
///
/// `root` is the folder with `etc`: `/`, except in tests.
pub fn examine_registrations(driver: &Path, environment: &Environment, root: &Path) -> Vec<Finding> {
    let registrations = list_registrations(environment, root);
    let (ours, others): (Vec<_>, Vec<_>) = registrations.iter().partition(|each| is_same_file(&each.driver, driver));
    let mut findings = vec![match ours.first() {
        Some(found) => Finding::fine("registered", format!("by {}", found.origin)),
        None => describe_absence(driver, environment, root),
    }];
    let copies = others.iter().filter(|each| each.driver.file_name().is_some_and(|name| name == DRIVER));
    findings.extend(copies.map(|copy| describe_copy(copy, ours.first().copied(), &registrations)));
    findings.extend(others.iter().filter(|each| is_lost(&each.driver)).map(|lost| {
        let words = format!("{} names {}, which is not there: remove that file", lost.origin, lost.driver.display());
        Finding::lacking("registered", words)
    }));
    findings
}

/// What is registered, in the order in which loaders read it.
fn list_registrations(environment: &Environment, root: &Path) -> Vec<Registration> {
    let mut found = Vec::new();
    match &environment.vendors {
        Some(place) => found.extend(read_place(Path::new(place), "OCL_ICD_VENDORS")),
        None => found.extend(read_folder(&environment.default_folder(root))),
    }
    let libraries = environment.file_names.iter().flat_map(std::env::split_paths);
    found.extend(libraries.map(|driver| Registration { origin: "OCL_ICD_FILENAMES".to_owned(), driver }));
    found
}

/// What `OCL_ICD_VENDORS` leads to.
fn read_place(place: &Path, origin: &str) -> Vec<Registration> {
    if place.is_dir() {
        return read_folder(place);
    }
    match place.extension().is_some_and(|end| end == "icd") {
        true => read_icd(place).into_iter().collect(),
        false => vec![Registration { origin: origin.to_owned(), driver: place.to_owned() }],
    }
}

/// The `.icd` files of a folder, in order of their names.
fn read_folder(folder: &Path) -> Vec<Registration> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "icd")).collect();
    files.sort();
    files.iter().filter_map(|file| read_icd(file)).collect()
}

fn read_icd(file: &Path) -> Option<Registration> {
    let text = fs::read_to_string(file).ok()?;
    let driver = PathBuf::from(text.lines().next()?.trim());
    Some(Registration { origin: file.display().to_string(), driver })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether a library has a path, and nothing lies there.
fn is_lost(library: &Path) -> bool {
    library.is_absolute() && !library.exists()
}

/// Ours is not among them: why, and what to do.
fn describe_absence(driver: &Path, environment: &Environment, root: &Path) -> Finding {
    let advice = environment.advise_variable(driver);
    // Python's package lies beside pyopencl's own loader.
    if driver.with_file_name("lockstep.icd").exists() {
        let words = format!(
            "for pyopencl by {}; for other programs: {advice}",
            driver.with_file_name("lockstep.icd").display()
        );
        return Finding::fine("registered", words);
    }
    let place = match &environment.vendors {
        Some(place) => format!("OCL_ICD_VENDORS leads loaders to {} alone, which does not name it", place.display()),
        None => format!("nothing in {} names it", environment.default_folder(root).display()),
    };
    let users = environment.home.as_ref().map(|home| Path::new(home).join(USER_VENDORS));
    let in_users = users.filter(|folder| read_folder(folder).iter().any(|each| is_same_file(&each.driver, driver)));
    let advice = match in_users {
        Some(folder) => {
            format!("export OCL_ICD_VENDORS={}/ leads them to where it is registered; {advice}", folder.display())
        }
        None => advice,
    };
    Finding::broken("registered", format!("{place}: applications do not find this driver; {advice}"))
}

/// Another Lockstep is registered as well.
fn describe_copy(copy: &Registration, ours: Option<&Registration>, all: &[Registration]) -> Finding {
    let place_of = |wanted: &Registration| all.iter().position(|each| std::ptr::eq(each, wanted));
    let comes_first = ours.is_none_or(|ours| place_of(copy) < place_of(ours));
    let order = if comes_first { "before this one" } else { "after this one" };
    let words = format!(
        "{} names another Lockstep, {}, which loaders list {order}: applications that take the first platform get the first of \
         the two; remove one of them",
        copy.origin,
        copy.driver.display()
    );
    Finding::lacking("registered", words)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    /// A root with a folder for `.icd` files, and a driver.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Machine {
            let machine = Machine(tempfile::tempdir().unwrap());
            machine.write("driver/liblockstep.so", "");
            machine
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
            fs::write(self.path(name), text).unwrap();
        }

        /// Has an `.icd` file name a library.
        fn register(&self, icd: &str, library: &str) {
            self.write(icd, &format!("{}\n", self.path(library).display()));
        }

        fn examine(&self, environment: &Environment) -> Vec<Finding> {
            examine_registrations(&self.path("driver/liblockstep.so"), environment, self.0.path())
        }
    }

    fn vendors(place: PathBuf) -> Environment {
        Environment { vendors: Some(place.into()), ..Environment::default() }
    }

    #[test]
    fn a_variable_takes_the_place_of_the_folder() {
        let machine = Machine::new();
        machine.register("etc/OpenCL/vendors/lockstep.icd", "driver/liblockstep.so");
        machine.register("mine/lockstep.icd", "driver/liblockstep.so");
        machine.write("none/other.icd", "libother.so\n");
        let state = |environment: &Environment| machine.examine(environment)[0].state;
        assert_eq!(state(&Environment::default()), State::Fine);
        for place in ["mine", "mine/lockstep.icd", "driver/liblockstep.so"] {
            assert_eq!(state(&vendors(machine.path(place))), State::Fine, "{place}");
        }
        let found = machine.examine(&vendors(machine.path("none")));
        assert_eq!((found.len(), found[0].state), (1, State::Broken));
        assert!(found[0].words.contains("OCL_ICD_VENDORS leads loaders to") && found[0].words.contains("none alone"));
        let mut both = vendors(machine.path("none"));
        both.file_names = Some(format!("/no/such.so:{}", machine.path("driver/liblockstep.so").display()).into());
        assert_eq!(state(&both), State::Fine);
        let other_folder =
            |name: &str| Environment { vendor_path: Some(machine.path(name).into()), ..Environment::default() };
        assert_eq!([state(&other_folder("mine")), state(&other_folder("none"))], [State::Fine, State::Broken]);
    }

    #[test]
    fn the_variable_that_is_named_is_one_that_the_loader_reads() {
        let machine = Machine::new();
        let words = |kind| machine.examine(&Environment { kind, ..Environment::default() })[0].words.clone();
        let driver = machine.path("driver/liblockstep.so");
        let named = |name: &str| format!("export {name}={} ", driver.display());
        assert!(words(LoaderKind::OclIcd).contains(&named("OCL_ICD_VENDORS")));
        assert!(words(LoaderKind::Khronos).contains(&named("OCL_ICD_FILENAMES")));
    }

    #[test]
    fn who_registers_at_home_is_told_the_variable() {
        let machine = Machine::new();
        let environment = Environment {
            home: Some(machine.path("home").into()),
            kind: LoaderKind::Khronos,
            ..Environment::default()
        };
        assert!(!machine.examine(&environment)[0].words.contains("OCL_ICD_VENDORS="));
        machine.register("home/.local/share/OpenCL/vendors/lockstep.icd", "driver/liblockstep.so");
        let found = machine.examine(&environment);
        assert_eq!(found[0].state, State::Broken);
        let wanted = format!("export OCL_ICD_VENDORS={}/ ", machine.path("home").join(USER_VENDORS).display());
        assert!(found[0].words.contains(&wanted), "{}", found[0].words);
        machine.write("driver/lockstep.icd", "liblockstep.so\n");
        let found = machine.examine(&Environment::default());
        assert_eq!(found[0].state, State::Fine, "Python's package");
    }

    #[test]
    fn of_two_versions_it_is_said_which_comes_first() {
        let machine = Machine::new();
        machine.register("etc/OpenCL/vendors/m.icd", "driver/liblockstep.so");
        machine.write("old/liblockstep.so", "");
        for (icd, order) in [("a", "before this one"), ("z", "after this one")] {
            let icd = format!("etc/OpenCL/vendors/{icd}.icd");
            machine.register(&icd, "old/liblockstep.so");
            let found = machine.examine(&Environment::default());
            assert_eq!((found.len(), found[0].state, found[1].state), (2, State::Fine, State::Lacking));
            assert!(
                found[1].words.contains(order) && found[1].words.contains("old/liblockstep.so"),
                "{}",
                found[1].words
            );
            fs::remove_file(machine.path(&icd)).unwrap();
        }
    }

    #[test]
    fn files_that_name_nothing_are_told_of() {
        let machine = Machine::new();
        machine.register("etc/OpenCL/vendors/lockstep.icd", "driver/liblockstep.so");
        machine.register("etc/OpenCL/vendors/gone.icd", "gone/libgone.so");
        machine.write("etc/OpenCL/vendors/bare.icd", "libbare.so\n");
        machine.write("etc/OpenCL/vendors/notes.txt", "/no/such/library.so\n");
        let found = machine.examine(&Environment::default());
        assert_eq!((found.len(), found[1].state), (2, State::Lacking));
        assert!(found[1].words.contains("gone.icd names"), "{}", found[1].words);
    }
}
