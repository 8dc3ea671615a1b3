//! The files of a crate as its `mod` items lead to them, without its tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, ItemMod, ItemTrait, Meta};

/// A crate's files, the root first.
pub struct Crate {
    /// Each file once.
    pub files: Vec<CrateFile>,
}

/// A file of a crate.
pub struct CrateFile {
    /// From the workspace's root, with `/`.
    pub path: String,
    /// The module that it is, from the crate's root on.
    pub module: Vec<String>,
    /// As it is.
    pub text: String,
    /// What it says.
    pub syntax: syn::File,
}

/// Reads a file of the workspace, or gives nothing where there is none.
pub type Reader<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Crate {
    /// Reads the crate whose root is this file.
    pub fn read(root: &str, reader: Reader<'_>) -> Result<Self> {
        let mut files = Vec::new();
        let text = reader(root).with_context(|| format!("there is no {root}"))?;
        read_file(&mut files, root.to_owned(), Vec::new(), text, reader)?;
        Ok(Self { files })
    }

    /// The names of the traits that it declares.
    pub fn trait_names(&self) -> BTreeSet<String> {
        let mut names = TraitNames::default();
        self.files.iter().for_each(|file| names.visit_file(&file.syntax));
        names.0
    }
}

#[derive(Default)]
struct TraitNames(BTreeSet<String>);

impl Visit<'_> for TraitNames {
    fn visit_item_trait(&mut self, item: &ItemTrait) {
        self.0.insert(item.ident.to_string());
    }
}

/// The roots of all crates in a folder of the workspace and below: libraries and programs.
pub fn find_roots(workspace: &Path, folder: &str) -> Result<Vec<String>> {
    let mut roots = Vec::new();
    collect_roots(&workspace.join(folder), &mut roots)?;
    let relative = |path: &PathBuf| Some(path.strip_prefix(workspace).ok()?.to_string_lossy().into_owned());
    let mut roots: Vec<String> = roots.iter().filter_map(relative).collect();
    roots.sort();
    Ok(roots)
}

fn collect_roots(folder: &Path, roots: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("Cargo.toml").exists() {
        roots.extend(
            ["src/lib.rs", "src/main.rs"].map(|name| folder.join(name)).into_iter().filter(|path| path.exists()),
        );
    }
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let is_for_sources = entry.file_name() != "src" && entry.file_name() != "target";
        if entry.file_type()?.is_dir() && is_for_sources {
            collect_roots(&entry.path(), roots)?;
        }
    }
    Ok(())
}

fn read_file(
    files: &mut Vec<CrateFile>,
    path: String,
    module: Vec<String>,
    text: String,
    reader: Reader<'_>,
) -> Result<()> {
    let syntax = syn::parse_file(&text).with_context(|| format!("cannot read {path}"))?;
    let mut children = DeclaredModules::default();
    children.visit_file(&syntax);
    let prefix = prefix_of_children(&path);
    files.push(CrateFile { path: path.clone(), module: module.clone(), text, syntax });
    for child in children.found {
        let base = format!("{prefix}{}", child.join("/"));
        let candidates = [format!("{base}.rs"), format!("{base}/mod.rs")];
        let Some((path, text)) = candidates.into_iter().find_map(|path| Some((path.clone(), reader(&path)?))) else {
            bail!("{path} declares a module {} whose file is not there", child.join("::"));
        };
        read_file(files, path, [module.clone(), child].concat(), text, reader)?;
    }
    Ok(())
}

/// What the paths of the files of a file's modules begin with.
fn prefix_of_children(path: &str) -> String {
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let is_root = matches!(&path[folder.len()..], "lib.rs" | "main.rs" | "mod.rs");
    if is_root { folder.to_owned() } else { format!("{}/", path.trim_end_matches(".rs")) }
}

/// The modules of a file that are files of their own, by their paths from that file on.
#[derive(Default)]
struct DeclaredModules {
    /// Those in whose braces we are.
    around: Vec<String>,
    found: Vec<Vec<String>>,
}

impl Visit<'_> for DeclaredModules {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if is_for_tests(&item.attrs) {
            return;
        }
        self.around.push(item.ident.to_string());
        match &item.content {
            None => self.found.push(self.around.clone()),
            Some(_) => syn::visit::visit_item_mod(self, item),
        }
        self.around.pop();
    }
}

/// Whether only builds for tests have the item.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| match &attribute.meta {
        Meta::List(list) => implies_test(list.tokens.clone()),
        _ => false,
    })
}

/// Whether the predicate is `test`, or `all` of it and others.
fn implies_test(predicate: TokenStream) -> bool {
    let trees: Vec<TokenTree> = predicate.into_iter().collect();
    match &trees[..] {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "all" => {
            group.stream().into_iter().any(|tree| matches!(tree, TokenTree::Ident(name) if name == "test"))
        }
        _ => false,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A crate of the files that are given, the root first.
    pub fn crate_of(files: &[(&str, &str)]) -> Crate {
        let find = |wanted: &str| files.iter().find(|(path, _)| *path == wanted).map(|(_, text)| (*text).to_owned());
        Crate::read(files[0].0, &find).expect("a crate")
    }

    #[test]
    fn modules_are_found_where_the_compiler_looks() {
        let read = crate_of(&[
            ("a/src/lib.rs", "mod b; mod c; #[cfg(test)] mod tests; mod i { mod j; }"),
            ("a/src/b.rs", "mod d;"),
            ("a/src/b/d.rs", ""),
            ("a/src/c/mod.rs", "mod e; #[cfg(all(test, unix))] mod f;"),
            ("a/src/c/e.rs", ""),
            ("a/src/i/j.rs", ""),
        ]);
        let modules: Vec<String> = read.files.iter().map(|file| file.module.join("::")).collect();
        assert_eq!(modules, ["", "b", "b::d", "c", "c::e", "i::j"]);
    }

    #[test]
    fn a_file_that_is_missing_is_an_error() {
        let find = |path: &str| (path == "lib.rs").then(|| "mod gone;".to_owned());
        let error = Crate::read("lib.rs", &find).err().expect("there is no such file");
        assert!(error.to_string().contains("gone"), "{error}");
    }

    #[test]
    fn what_is_not_for_tests_alone_is_no_test() {
        let of = |text: &str| is_for_tests(&syn::parse_str::<ItemMod>(text).expect("a module").attrs);
        assert!(of("#[cfg(test)] mod a {}"));
        assert!(!of("#[cfg(not(test))] mod a {}"));
        assert!(!of("#[cfg(any(test, feature = \"testing\"))] mod a {}"));
    }
}
