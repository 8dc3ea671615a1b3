//! What is counted in one file: functions, names, closures, doc comments and lines. Items for tests are left out.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use anyhow::Result;
use proc_macro2::{Ident, Span};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprClosure, ExprLet, FnArg, ImplItemFn, ItemFn, ItemImpl, ItemMod, ItemUse, Lit, Local,
    Macro, Meta, Pat, PatIdent, Signature, Token, TraitItemFn,
};

use super::crates::{CrateFile, is_for_tests};
use crate::rust_text;

/// What was counted in a file.
#[derive(Default)]
pub struct Measures {
    /// Lines that are not empty.
    pub lines: usize,
    /// Lines of comments alone.
    pub comment_lines: usize,
    /// All lines, empty ones and tests included.
    pub length: usize,
    /// Functions with a body.
    pub functions: Vec<Function>,
    /// The names of functions that the project chose.
    pub function_names: Vec<Name>,
    /// Names that `let` binds, and parameters of functions and closures.
    pub local_names: Vec<Name>,
    /// Every closure.
    pub closures: Vec<Extent>,
    /// Every doc comment.
    pub docs: Vec<Doc>,
}

/// A function with a body.
pub struct Function {
    /// Its name, whoever chose it.
    pub name: Name,
    /// Where it is.
    pub extent: Extent,
    /// Closures in it, those of functions within it left out.
    pub closures: usize,
}

/// A name where it is declared.
pub struct Name {
    /// The name.
    pub text: String,
    /// Its line, from one.
    pub line: usize,
}

/// Lines of a file.
#[derive(Clone, Copy)]
pub struct Extent {
    /// The first, from one.
    pub line: usize,
    /// How many they are.
    pub length: usize,
}

/// A doc comment.
pub struct Doc {
    /// Its text, without the slashes.
    pub text: String,
    /// Its first line, from one.
    pub line: usize,
    /// Its last line.
    last_line: usize,
}

impl Name {
    fn of(ident: &Ident) -> Self {
        let text = ident.to_string();
        Self { text: text.trim_start_matches("r#").to_owned(), line: ident.span().start().line }
    }

    /// How many letters it has, digits and underscores among them.
    pub fn letters(&self) -> usize {
        self.text.chars().count()
    }

    /// Whether it is one word.
    pub fn is_one_word(&self) -> bool {
        !self.text.trim_matches('_').contains('_')
    }

    /// Whether OpenCL chose it: `clGetDeviceIDs`.
    fn is_of_opencl(&self) -> bool {
        self.text.strip_prefix("cl").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    }
}

impl Extent {
    fn of(lines: &RangeInclusive<usize>) -> Self {
        Self { line: *lines.start(), length: lines.end() + 1 - lines.start() }
    }
}

impl Doc {
    /// How many words it has; a word has a letter or a digit.
    pub fn words(&self) -> usize {
        self.text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
    }
}

/// Counts in a file. A method's name is the project's where the trait is one of `own_traits`.
pub fn measure(file: &CrateFile, own_traits: &BTreeSet<String>) -> Result<Measures> {
    let mut measurer =
        Measurer { found: Measures::default(), own_traits, around: Vec::new(), is_foreign: false, tests: Vec::new() };
    measurer.visit_file(&file.syntax);
    let Measurer { mut found, tests, .. } = measurer;
    let comments = rust_text::comment_lines(&file.text)?;
    for (index, (text, is_comment)) in file.text.lines().zip(comments).enumerate() {
        let is_counted = !text.trim().is_empty() && !tests.iter().any(|lines| lines.contains(&(index + 1)));
        found.lines += usize::from(is_counted);
        found.comment_lines += usize::from(is_counted && is_comment);
        found.length += 1;
    }
    Ok(found)
}

struct Measurer<'a> {
    found: Measures,
    own_traits: &'a BTreeSet<String>,
    /// The functions around, by their indices.
    around: Vec<usize>,
    /// Whether the methods here are those of a trait that is not ours.
    is_foreign: bool,
    /// The lines of items for tests.
    tests: Vec<RangeInclusive<usize>>,
}

impl Measurer<'_> {
    /// Notes an item for tests. False where it is none.
    fn skips(&mut self, attributes: &[Attribute], item: &impl Spanned) -> bool {
        let is_test = is_for_tests(attributes);
        self.tests.extend(is_test.then(|| lines_of(item.span())));
        is_test
    }

    fn count_name(&mut self, signature: &Signature) {
        let name = Name::of(&signature.ident);
        if !self.is_foreign && !name.is_of_opencl() {
            self.found.function_names.push(name);
        }
    }

    fn count_function(&mut self, signature: &Signature, body: &Block, visit_inside: impl FnOnce(&mut Self)) {
        self.count_name(signature);
        let lines = signature.span().start().line..=body.span().end().line;
        let function = Function { name: Name::of(&signature.ident), extent: Extent::of(&lines), closures: 0 };
        self.around.push(self.found.functions.len());
        self.found.functions.push(function);
        // Functions within one are not of the trait.
        let is_foreign = std::mem::take(&mut self.is_foreign);
        visit_inside(self);
        self.is_foreign = is_foreign;
        self.around.pop();
    }

    fn count_local_names(&mut self, pattern: &Pat) {
        let mut names = BoundNames(Vec::new());
        names.visit_pat(pattern);
        self.found.local_names.append(&mut names.0);
    }
}

impl<'ast> Visit<'ast> for Measurer<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !self.skips(&item.attrs, item) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.skips(&item.attrs, item);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if self.skips(&item.attrs, item) {
            return;
        }
        let declared = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let is_foreign = declared.is_some_and(|name| !self.own_traits.contains(&name.ident.to_string()));
        let around = std::mem::replace(&mut self.is_foreign, is_foreign);
        visit::visit_item_impl(self, item);
        self.is_foreign = around;
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !self.skips(&item.attrs, item) {
            self.count_function(&item.sig, &item.block, |inside| visit::visit_item_fn(inside, item));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !self.skips(&item.attrs, item) {
            self.count_function(&item.sig, &item.block, |inside| visit::visit_impl_item_fn(inside, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        match &item.default {
            Some(body) => self.count_function(&item.sig, body, |inside| visit::visit_trait_item_fn(inside, item)),
            None => {
                self.count_name(&item.sig);
                visit::visit_trait_item_fn(self, item);
            }
        }
    }

    fn visit_fn_arg(&mut self, parameter: &'ast FnArg) {
        if let FnArg::Typed(typed) = parameter {
            self.count_local_names(&typed.pat);
        }
        visit::visit_fn_arg(self, parameter);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.found.closures.push(Extent::of(&lines_of(closure.span())));
        if let Some(&function) = self.around.last() {
            self.found.functions[function].closures += 1;
        }
        closure.inputs.iter().for_each(|parameter| self.count_local_names(parameter));
        visit::visit_expr_closure(self, closure);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        self.count_local_names(&local.pat);
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, condition: &'ast ExprLet) {
        self.count_local_names(&condition.pat);
        visit::visit_expr_let(self, condition);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Some(text) = doc_text(attribute) else {
            return;
        };
        let lines = lines_of(attribute.span());
        match self.found.docs.last_mut() {
            // The next line of the same comment.
            Some(doc) if doc.last_line + 1 == *lines.start() => {
                doc.text += &text;
                doc.last_line = *lines.end();
            }
            _ => self.found.docs.push(Doc { text, line: *lines.start(), last_line: *lines.end() }),
        }
    }

    /// What a macro is given is looked at where it is expressions, as in `assert!` and `vec!`.
    fn visit_macro(&mut self, invocation: &'ast Macro) {
        for expression in expressions_in(invocation).iter().flatten() {
            self.visit_expr(expression);
        }
    }
}

/// What a macro is given, where that is a list of expressions.
pub fn expressions_in(invocation: &Macro) -> Option<Punctuated<Expr, Token![,]>> {
    invocation.parse_body_with(Punctuated::parse_terminated).ok()
}

/// The names that a pattern binds.
struct BoundNames(Vec<Name>);

impl Visit<'_> for BoundNames {
    fn visit_pat_ident(&mut self, pattern: &PatIdent) {
        // `None` and constants are names of patterns, too.
        let name = Name::of(&pattern.ident);
        if name.text.starts_with(|first: char| first.is_lowercase() || first == '_') {
            self.0.push(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    // Default values of a pattern's constants bind nothing.
    fn visit_expr(&mut self, _: &Expr) {}
}

fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(literal) if pair.path.is_ident("doc") => match &literal.lit {
            Lit::Str(text) => Some(text.value() + "\n"),
            _ => None,
        },
        _ => None,
    }
}

fn lines_of(span: Span) -> RangeInclusive<usize> {
    span.start().line..=span.end().line
}

#[cfg(test)]
mod tests {
    use super::super::crates::tests::crate_of;
    use super::*;

    fn measured(text: &str) -> Measures {
        let read = crate_of(&[("lib.rs", text)]);
        measure(&read.files[0], &read.trait_names()).expect("Rust")
    }

    fn texts(names: &[Name]) -> Vec<&str> {
        names.iter().map(|name| name.text.as_str()).collect()
    }

    #[test]
    fn names_of_others_are_not_counted() {
        let found = measured(
            "trait Own { fn pass(&self); }\n\
             impl Own for T { fn pass(&self) {} }\n\
             impl std::fmt::Display for T { fn fmt(&self) { fn inner() {} } }\n\
             extern \"C\" fn clGetDeviceIDs() {}\n\
             fn make_it() {}\n\
             #[cfg(test)] mod tests { fn t() {} }\n",
        );
        assert_eq!(texts(&found.function_names), ["pass", "pass", "inner", "make_it"]);
        assert_eq!(found.functions.len(), 5);
    }

    #[test]
    fn words_are_told_by_underscores() {
        let found = measured("fn run() {} fn _run() {} fn run_it() {} fn r#loop() {}");
        let one_word: Vec<bool> = found.function_names.iter().map(Name::is_one_word).collect();
        assert_eq!(one_word, [true, true, false, true]);
        assert_eq!(found.function_names[2].letters(), 6);
        assert_eq!(found.function_names[3].text, "loop");
    }

    #[test]
    fn locals_are_bindings_and_parameters_but_no_loop_indices() {
        let found = measured(
            "fn f(first: u8, (second, _): (u8, u8)) {\n\
             let Some(third) = g() else { return };\n\
             if let None | Some(T { fourth, x: fifth }) = h {}\n\
             for index in 0..9 { let sixth = |seventh| seventh; }\n\
             assert!(v.iter().all(|eighth| *eighth));\n\
             match m { Some(arm) => {} }\n}\n",
        );
        let expected = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
        assert_eq!(texts(&found.local_names), expected);
        assert_eq!((found.closures.len(), found.functions[0].closures), (2, 2));
    }

    #[test]
    fn lengths_are_lines() {
        let found = measured("\n/// Says what.\nfn f(\n) {\n    g(|| {\n        1\n    })\n}\n");
        assert_eq!((found.functions[0].extent.line, found.functions[0].extent.length), (3, 6));
        assert_eq!((found.closures[0].line, found.closures[0].length), (5, 3));
        assert_eq!((found.lines, found.comment_lines, found.length), (7, 1, 8));
    }

    #[test]
    fn doc_comments_are_whole() {
        let found =
            measured("//! Two words.\n\n/// What.\n/// And why - so.\nstruct S {\n  /// One `field`.\n  f: u8 }\n");
        let docs: Vec<(usize, usize)> = found.docs.iter().map(|doc| (doc.line, doc.words())).collect();
        assert_eq!(docs, [(1, 2), (3, 4), (6, 2)]);
    }

    #[test]
    fn tests_are_no_lines() {
        let found = measured("fn f() {}\n\n#[cfg(test)]\nmod tests {\n    // Nothing.\n}\n// The end.\n");
        assert_eq!((found.lines, found.comment_lines, found.length), (2, 1, 7));
    }
}
