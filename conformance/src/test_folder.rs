//! A folder of a test's own.

use std::path::{Path, PathBuf};

use crate::child::is_child;

/// An empty folder, which goes with the value. In a child of a test it is nothing: children are told what they use.
pub struct TestFolder {
    folder: PathBuf,
}

impl TestFolder {
    /// That of a test, whose name no other test of the workspace has.
    pub fn of_test(test: &str) -> TestFolder {
        let folder = std::env::temp_dir().join(format!("lockstep-{test}-{}", std::process::id()));
        if !is_child() {
            std::fs::create_dir_all(&folder).expect("a folder");
        }
        TestFolder { folder }
    }

    /// The folder itself.
    pub fn as_path(&self) -> &Path {
        &self.folder
    }

    /// The path of a file in it, as switches are told it.
    pub fn path_of(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("a plain path").to_owned()
    }

    /// What a file in it says.
    pub fn read_text(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        if !is_child() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
