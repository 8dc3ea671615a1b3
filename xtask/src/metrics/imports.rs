//! Which file of a crate uses which: the graph of imports, and its circles.
//!
//! A file uses another if it names something that is declared there, by a `use` or by a path. Who re-exports it is
//! passed over, and a `pub use` alone is no use. What methods and macros without expressions reach is not seen.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, Path, UseTree, Visibility};

use super::crates::{Crate, is_for_tests};
use super::measure::expressions_in;

/// A use of one file by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// Who uses.
    pub from: usize,
    /// Who is used.
    pub to: usize,
    /// The first line that does.
    pub line: usize,
    /// What it names there.
    pub name: String,
}

/// Files each of which reaches all others by imports.
pub struct Circle {
    /// The files, by their indices in the crate.
    pub files: Vec<usize>,
    /// The imports between them.
    pub imports: Vec<Import>,
}

/// The circles of more than `most` files, the largest first.
pub fn find_circles(imports: &[Import], most: usize) -> Vec<Circle> {
    let graph: DiGraphMap<usize, ()> = imports.iter().map(|import| (import.from, import.to)).collect();
    let mut circles: Vec<Circle> = tarjan_scc(&graph)
        .into_iter()
        .filter(|files| files.len() > most)
        .map(|files| circle_of(files, imports))
        .collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.files.len()));
    circles
}

fn circle_of(mut files: Vec<usize>, imports: &[Import]) -> Circle {
    files.sort_unstable();
    let is_within = |import: &&Import| files.contains(&import.from) && files.contains(&import.to);
    let imports = imports.iter().filter(is_within).cloned().collect();
    Circle { files, imports }
}

/// The imports between a crate's files, each pair of files once.
pub fn find_imports(of: &Crate) -> Vec<Import> {
    let modules = Modules::read(of);
    let mut found: BTreeMap<(usize, usize), Import> = BTreeMap::new();
    for (from, file) in of.files.iter().enumerate() {
        let mut uses = Uses { found: Vec::new(), module: file.module.clone() };
        uses.visit_file(&file.syntax);
        for used in uses.found {
            if let Some(to) = modules.file_of_use(&used).filter(|to| *to != from) {
                let import = Import { from, to, line: used.line, name: used.path.join("::") };
                found.entry((from, to)).or_insert(import);
            }
        }
    }
    found.into_values().collect()
}

/// A path that is written in a module.
struct Use {
    module: Vec<String>,
    path: Vec<String>,
    line: usize,
}

/// What a module declares.
#[derive(Default)]
struct Module {
    /// The file that it stands in.
    file: usize,
    /// Names of its items.
    items: BTreeSet<String>,
    /// What other names mean here: paths as they are written.
    aliases: BTreeMap<String, Vec<String>>,
    /// The modules all of whose names are known here, as they are written.
    globs: Vec<Vec<String>>,
}

/// All modules of a crate by their paths.
struct Modules(BTreeMap<Vec<String>, Module>);

/// As many names may stand for one another, before we take them for a circle.
const MOST_ALIASES: usize = 16;

impl Modules {
    fn read(of: &Crate) -> Self {
        let mut declarations = Declarations::default();
        for (file, source) in of.files.iter().enumerate() {
            declarations.file = file;
            declarations.module.clone_from(&source.module);
            declarations.modules.entry(source.module.clone()).or_default().file = file;
            declarations.visit_file(&source.syntax);
        }
        Self(declarations.modules)
    }

    fn file_of_use(&self, used: &Use) -> Option<usize> {
        self.file_of_path(&used.module, &used.path, MOST_ALIASES)
    }

    /// The file that declares what a path means in a module; none for another crate's, and for names that are no items.
    fn file_of_path(&self, module: &[String], path: &[String], aliases_left: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.file_of_items(&[], rest, aliases_left),
            "self" => self.file_of_items(module, rest, aliases_left),
            "super" => self.file_of_path_from_parent(module.split_last()?.1, rest, aliases_left),
            _ => self.file_of_items(module, path, aliases_left).filter(|_| self.declares(module, first, aliases_left)),
        }
    }

    /// The same after `super`, which may stand there again.
    fn file_of_path_from_parent(&self, parent: &[String], path: &[String], aliases_left: usize) -> Option<usize> {
        match path.first() {
            Some(first) if first == "super" => self.file_of_path(parent, path, aliases_left),
            _ => self.file_of_items(parent, path, aliases_left),
        }
    }

    /// The file of what a path names from a module on.
    fn file_of_items(&self, module: &[String], path: &[String], aliases_left: usize) -> Option<usize> {
        let declared = self.0.get(module)?;
        let Some((first, rest)) = path.split_first() else {
            return Some(declared.file);
        };
        let child = [module, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return self.file_of_items(&child, rest, aliases_left);
        }
        if declared.items.contains(first) {
            return Some(declared.file);
        }
        let aliases_left = aliases_left.checked_sub(1)?;
        if let Some(meaning) = declared.aliases.get(first) {
            return self.file_of_path(module, &[meaning, rest].concat(), aliases_left);
        }
        let through = |glob: &Vec<String>| {
            let whole = [glob, path].concat();
            self.file_of_glob(module, glob, first, aliases_left)
                .and_then(|()| self.file_of_path(module, &whole, aliases_left))
        };
        // A macro may declare what we do not see.
        declared.globs.iter().find_map(through).or(Some(declared.file))
    }

    /// Whether the module that a glob names declares a name.
    fn file_of_glob(&self, module: &[String], glob: &[String], name: &String, aliases_left: usize) -> Option<()> {
        let named = self.module_of_path(module, glob)?;
        self.declares(&named, name, aliases_left).then_some(())
    }

    /// Whether a name is known in a module.
    fn declares(&self, module: &[String], name: &String, aliases_left: usize) -> bool {
        let Some(declared) = self.0.get(module) else {
            return false;
        };
        let is_child = || self.0.contains_key(&[module, std::slice::from_ref(name)].concat());
        let is_known = declared.items.contains(name) || declared.aliases.contains_key(name) || is_child();
        let Some(aliases_left) = aliases_left.checked_sub(1) else {
            return is_known;
        };
        is_known || declared.globs.iter().any(|glob| self.file_of_glob(module, glob, name, aliases_left).is_some())
    }

    /// The module that a path of modules alone names.
    fn module_of_path(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut at = module.to_vec();
        for (index, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" if index == 0 => at.clear(),
                "self" if index == 0 => {}
                "super" => drop(at.pop()?),
                _ => at.push(name.clone()),
            }
        }
        self.0.contains_key(&at).then_some(at)
    }
}

/// Collects what the modules of files declare.
#[derive(Default)]
struct Declarations {
    modules: BTreeMap<Vec<String>, Module>,
    file: usize,
    module: Vec<String>,
}

impl Declarations {
    fn here(&mut self) -> &mut Module {
        self.modules.entry(self.module.clone()).or_default()
    }
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(name) = name_of(item) {
            self.here().items.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_none() || is_for_tests(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        self.here().file = self.file;
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        for leaf in leaves_of(&item.tree) {
            match leaf.alias {
                Some(alias) => drop(self.here().aliases.insert(alias, leaf.path)),
                None => self.here().globs.push(leaf.path),
            }
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Collects the paths that a file writes.
struct Uses {
    found: Vec<Use>,
    module: Vec<String>,
}

impl Uses {
    fn note(&mut self, path: Vec<String>, line: usize) {
        self.found.push(Use { module: self.module.clone(), path, line });
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes_of(item).is_some_and(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            let line = item.use_token.span.start().line;
            leaves_of(&item.tree).into_iter().for_each(|leaf| self.note(leaf.path, line));
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first().filter(|_| path.leading_colon.is_none()) {
            let line = first.ident.span().start().line;
            self.note(path.segments.iter().map(|segment| segment.ident.to_string()).collect(), line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        visit::visit_macro(self, invocation);
        for expression in expressions_in(invocation).iter().flatten() {
            self.visit_expr(expression);
        }
    }

    // Neither says what the code needs.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn attributes_of(item: &Item) -> Option<&[Attribute]> {
    match item {
        Item::Fn(item) => Some(&item.attrs),
        Item::Impl(item) => Some(&item.attrs),
        Item::Mod(item) => Some(&item.attrs),
        Item::Use(item) => Some(&item.attrs),
        _ => None,
    }
}

/// One name of a `use`.
struct Leaf {
    path: Vec<String>,
    /// The name here; none for all names of the path.
    alias: Option<String>,
}

fn leaves_of(tree: &UseTree) -> Vec<Leaf> {
    match tree {
        UseTree::Path(path) => {
            let mut leaves = leaves_of(&path.tree);
            leaves.iter_mut().for_each(|leaf| prepend(leaf, path.ident.to_string()));
            leaves
        }
        UseTree::Name(name) => {
            vec![Leaf { path: vec![name.ident.to_string()], alias: Some(name.ident.to_string()) }]
        }
        UseTree::Rename(rename) => {
            vec![Leaf { path: vec![rename.ident.to_string()], alias: Some(rename.rename.to_string()) }]
        }
        UseTree::Glob(_) => vec![Leaf { path: Vec::new(), alias: None }],
        UseTree::Group(group) => group.items.iter().flat_map(leaves_of).collect(),
    }
}

/// Puts a name before a path. `self` at the end of a path stands for what is before it.
fn prepend(leaf: &mut Leaf, name: String) {
    if leaf.path == ["self"] {
        leaf.path.clear();
        if leaf.alias.as_deref() == Some("self") {
            leaf.alias = Some(name.clone());
        }
    }
    leaf.path.insert(0, name);
}

#[cfg(test)]
mod tests {
    use super::super::crates::tests::crate_of;
    use super::*;

    /// The imports of a crate as pairs of modules.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let of = crate_of(files);
        let name = |file: usize| if file == 0 { "crate".to_owned() } else { of.files[file].module.join("::") };
        find_imports(&of).iter().map(|import| format!("{} {}", name(import.from), name(import.to))).collect()
    }

    #[test]
    fn uses_and_paths_are_imports() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; fn f() { c::g() }"),
            ("a.rs", "use crate::b::{self, T as U}; fn f() -> U {}"),
            ("b.rs", "pub struct T(super::d::S); fn f() { assert!(crate::c::g()); }"),
            ("c.rs", "use std::fmt; pub fn g() { fmt::x(); other::y(); }"),
            ("d.rs", "pub struct S;"),
        ]);
        assert_eq!(found, ["crate c", "a b", "b c", "b d"]);
    }

    #[test]
    fn who_reexports_is_passed_over() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b; pub use a::*;"),
            ("a/mod.rs", "mod one; mod two; pub use one::First; pub(crate) use two::*;"),
            ("a/one.rs", "use super::Second; pub struct First;"),
            ("a/two.rs", "pub struct Second;"),
            ("b.rs", "use crate::a; use crate::First; fn f(_: a::Second) {}"),
        ]);
        assert_eq!(found, ["a::one a::two", "b a", "b a::one", "b a::two"]);
    }

    #[test]
    fn names_from_globs_lead_to_their_file() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct S; pub fn f() {}"),
            ("b.rs", "use super::a::*; fn g(_: S) { f(); h(); }"),
        ]);
        assert_eq!(found, ["b a"]);
    }

    #[test]
    fn what_tests_use_is_left_out() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "#[cfg(test)] use crate::b::f; #[cfg(test)] mod tests { use crate::b; } #[cfg(test)] fn t() { crate::b::f() }",
            ),
            ("b.rs", "pub fn f() {}"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn names_that_stand_for_one_another_end() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use super::b::X; pub use super::b::*;"),
            ("b.rs", "pub use super::a::X; pub use super::a::*; fn f(_: X) {} fn g(_: Y) {}"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn circles_are_found_with_their_imports() {
        let of = crate_of(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "\nuse crate::d; use crate::a;"),
            ("d.rs", "use crate::a;"),
        ]);
        let imports = find_imports(&of);
        let circles = find_circles(&imports, 3);
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].files, [1, 2, 3, 4]);
        assert_eq!((circles[0].imports.len(), circles[0].imports[2].line), (5, 2));
        assert!(find_circles(&imports, 4).is_empty());
        let lines: Vec<Import> = imports.into_iter().filter(|import| import.from != 3).collect();
        assert!(find_circles(&lines, 1).is_empty());
    }
}
