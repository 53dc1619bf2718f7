//! Which file uses what of which other file: an arrow for each path that is written, outside of
//! tests.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item};

use crate::modules::{Crate, Path, attributes, is_test, leaves, re_exports, segments};

/// From a file to a file, with the names that are used.
pub type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The arrows among the files of a crate.
///
/// A path leads to the file which defines what it names, whatever re-exports are between; a
/// re-export alone makes none. A method leads to its file where this is not its type's own, and no
/// other method has its name; else the path to the type says it.
pub fn arrows(of: &Crate) -> Arrows {
    let mut walk = Walk { of, module: 0, strayed: strayed(of), arrows: Arrows::new() };
    for (module, file) in &of.files {
        walk.module = *module;
        walk.visit_file(file);
    }
    walk.arrows
}

/// The file of each method that does not stand in the file of its type; none where several methods
/// have its name.
fn strayed(of: &Crate) -> BTreeMap<String, Option<String>> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for block in &of.impls {
        let here = &of.modules[block.module].file;
        let strays =
            !block.of_trait && of.defining_file(block.module, &block.of).is_some_and(|file| file != here);
        for method in &block.methods {
            let file = found.entry(method.clone());
            file.and_modify(|file| *file = None).or_insert_with(|| strays.then(|| here.clone()));
        }
    }
    found
}

struct Walk<'a> {
    of: &'a Crate,
    module: usize,
    strayed: BTreeMap<String, Option<String>>,
    arrows: Arrows,
}

impl Walk<'_> {
    fn uses(&mut self, path: &[String]) {
        if let Some(to) = self.of.defining_file(self.module, path) {
            self.arrow(to, name_in(path));
        }
    }

    fn arrow(&mut self, to: &str, name: String) {
        let from = &self.of.modules[self.module].file;
        if to != from {
            self.arrows.entry((from.clone(), to.to_string())).or_default().insert(name);
        }
    }

    /// The paths in what a macro is given.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        // After an identifier no colon, one, or two; a name that follows a dot is a field or a
        // method.
        let (mut colons, mut dot) = (0, false);
        for token in tokens {
            let follows = colons == 2 && !path.is_empty();
            match token {
                TokenTree::Ident(name) => {
                    if !follows {
                        self.uses(&std::mem::take(&mut path));
                    }
                    if !dot {
                        path.push(name.to_string());
                    }
                    (colons, dot) = (0, false);
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(mark) => dot = mark.as_char() == '.',
                TokenTree::Literal(_) => dot = false,
            }
            self.uses(&std::mem::take(&mut path));
            colons = 0;
        }
        self.uses(&path);
    }
}

impl<'a> Visit<'a> for Walk<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if let Some((_, items)) = &item.content {
            let outer = self.module;
            self.module = self.of.child(outer, &item.ident.to_string()).expect("was read");
            items.iter().for_each(|item| self.visit_item(item));
            self.module = outer;
        }
    }

    fn visit_item_use(&mut self, import: &'a syn::ItemUse) {
        if !re_exports(import) {
            leaves(&import.tree).iter().for_each(|(_, path)| self.uses(path));
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            self.uses(&segments(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some(Some(to)) = self.strayed.get(&name).cloned() {
            self.arrow(&to, name);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    /// Documentation may link where it likes.
    fn visit_attribute(&mut self, _: &'a Attribute) {}
}

/// The name to show for a path: the first that is no module's, or else the last.
fn name_in(path: &[String]) -> String {
    let item = path.iter().find(|name| name.starts_with(char::is_uppercase));
    item.or(path.last()).cloned().unwrap_or_default()
}
