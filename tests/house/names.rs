//! Names that say too little: types with one name in two places, functions called `of`, and
//! parameters that are tuples. How many there are is a number that only falls.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{ImplItem, Item, Signature, Type};

use crate::modules::{Crate, attributes, is_test};

/// What is found in the files of some crates, outside of tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The names of types, with the files that declare them.
    types: BTreeMap<String, BTreeSet<String>>,
    /// Functions called `of`.
    pub of: Vec<String>,
    /// Functions with a parameter that is a tuple.
    pub tuples: Vec<String>,
    file: String,
}

impl Names {
    pub fn read(crates: impl Iterator<Item = Crate>) -> Self {
        let mut names = Self::default();
        for one in crates {
            for (module, file) in &one.files {
                names.file.clone_from(&one.modules[*module].file);
                names.visit_file(file);
            }
        }
        names
    }

    /// The types that several files declare.
    pub fn declared_again(&self) -> Vec<String> {
        let several = self.types.iter().filter(|(_, files)| files.len() > 1);
        several.map(|(name, files)| format!("{name}: {files:?}")).collect()
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_item(&mut self, item: &'a Item) {
        if is_test(attributes(item)) {
            return;
        }
        let name = match item {
            Item::Enum(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if let Some(name) = name {
            self.types.entry(name.to_string()).or_default().insert(self.file.clone());
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        if !matches!(item, ImplItem::Fn(item) if is_test(&item.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'a Signature) {
        let here = format!("{}: {}", self.file, signature.ident);
        if signature.ident == "of" {
            self.of.push(here.clone());
        }
        let is_tuple = |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(input) if matches!(&*input.ty, Type::Tuple(tuple) if !tuple.elems.is_empty()));
        if signature.inputs.iter().any(is_tuple) {
            self.tuples.push(here);
        }
        visit::visit_signature(self, signature);
    }
}

/// Reports whether there are as many as the house says, which only writes smaller numbers.
pub fn ratchet(what: &str, found: &[String], most: usize) -> Vec<String> {
    match found.len() {
        now if now > most => {
            let list = found.join("\n    ");
            vec![format!("{now} {what}, at most {most} are allowed:\n    {list}")]
        }
        now if now < most => {
            vec![format!("only {now} {what} are left: write this number in place of {most}")]
        }
        _ => Vec::new(),
    }
}
