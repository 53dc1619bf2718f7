//! The modules of a crate as its files declare them, and which file defines the thing that a path
//! names.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, ImplItem, Item, UseTree, Visibility};

/// The text of each file, by its path.
pub type Sources = BTreeMap<String, String>;

/// The segments of a path.
pub type Path = Vec<String>;

/// A module, be it a file's or between braces.
#[derive(Default)]
pub struct Module {
    /// The file where its items stand.
    pub file: String,
    parent: usize,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<Path>>,
    globs: Vec<Path>,
}

/// What a path names.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Module(usize),
    /// Something that this module defines.
    Item(usize),
}

/// Methods of a type.
pub struct Impl {
    /// The module where they stand.
    pub module: usize,
    /// The type's name there; empty if it is no plain name.
    pub of: Path,
    /// Whether a trait asks for them.
    pub of_trait: bool,
    /// Their names.
    pub methods: Vec<String>,
}

/// All modules of a crate but those of its tests.
#[derive(Default)]
pub struct Crate {
    /// The root comes first.
    pub modules: Vec<Module>,
    /// The parsed files with the number of their module.
    pub files: Vec<(usize, syn::File)>,
    /// All methods.
    pub impls: Vec<Impl>,
    /// The files of tests, which no rule here is for.
    pub tests: BTreeSet<String>,
}

impl Crate {
    /// Reads the modules from `root` on; panics where a module has no file, or a file no Rust.
    pub fn read(sources: &Sources, root: &str) -> Self {
        let mut all = Self::default();
        all.modules.push(Module::default());
        all.read_file(sources, 0, root);
        all
    }

    fn read_file(&mut self, sources: &Sources, module: usize, path: &str) {
        let text =
            sources.get(path).unwrap_or_else(|| panic!("{path} is declared as a module, but is not there"));
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let (folder, name) = stem.rsplit_once('/').expect("below a folder");
        let folder = if ["mod", "lib"].contains(&name) { folder } else { stem };
        self.modules[module].file = path.to_string();
        self.read_items(sources, module, folder, &parsed.items);
        self.files.push((module, parsed));
    }

    fn read_items(&mut self, sources: &Sources, module: usize, folder: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(inner) => self.read_mod(sources, module, folder, inner),
                _ if is_test(attributes(item)) => {}
                Item::Use(import) => {
                    for (name, path) in leaves(&import.tree) {
                        let module = &mut self.modules[module];
                        match name {
                            Some(name) => module.imports.entry(name).or_default().push(path),
                            None => module.globs.push(path),
                        }
                    }
                }
                Item::Impl(block) => self.impls.push(methods(module, block)),
                _ => self.modules[module].items.extend(defined(item)),
            }
        }
    }

    fn read_mod(&mut self, sources: &Sources, parent: usize, folder: &str, declared: &syn::ItemMod) {
        let name = declared.ident.to_string();
        let below = format!("{folder}/{name}");
        let beside = [format!("{below}.rs"), format!("{below}/mod.rs")];
        let named = at_path(&declared.attrs).map(|path| format!("{folder}/{path}"));
        let found = named.iter().chain(&beside).find(|path| sources.contains_key(*path));
        if is_test(&declared.attrs) {
            let inside = format!("{below}/");
            self.tests.extend(sources.keys().filter(|path| path.starts_with(&inside)).cloned());
            self.tests.extend(found.cloned());
            return;
        }
        let module = self.modules.len();
        let file = self.modules[parent].file.clone();
        self.modules.push(Module { file, parent, ..Module::default() });
        self.modules[parent].children.insert(name, module);
        match &declared.content {
            Some((_, items)) => self.read_items(sources, module, &below, items),
            None => self.read_file(sources, module, found.unwrap_or(&beside[0])),
        }
    }

    /// The child of a module of that name.
    pub fn child(&self, module: usize, name: &str) -> Option<usize> {
        self.modules[module].children.get(name).copied()
    }

    /// The file that defines what a path in a module names, re-exports followed; none for modules
    /// as such and for names of other crates, of parameters and variables.
    pub fn defining_file(&self, module: usize, path: &[String]) -> Option<&str> {
        match self.resolve(module, path, &mut Vec::new())? {
            Target::Item(module) => Some(&self.modules[module].file),
            Target::Module(_) => None,
        }
    }

    fn resolve(&self, module: usize, path: &[String], under_way: &mut Vec<(usize, Path)>) -> Option<Target> {
        let here = (module, path.to_vec());
        if under_way.contains(&here) {
            return None;
        }
        under_way.push(here);
        let mut at = module;
        let mut target = Some(Target::Module(at));
        for (nth, name) in path.iter().enumerate() {
            target = match name.as_str() {
                "crate" => Some(Target::Module(0)),
                "self" => Some(Target::Module(at)),
                "super" => Some(Target::Module(self.modules[at].parent)),
                _ => self.look_up(at, name, nth + 1 == path.len(), under_way),
            };
            match target {
                Some(Target::Module(found)) => at = found,
                // What follows is a variant, a constant or a function of its own.
                _ => break,
            }
        }
        under_way.pop();
        target
    }

    /// What a name means in a module. A module and a function may have the same name: `last` says
    /// that nothing follows.
    fn look_up(
        &self,
        at: usize,
        name: &str,
        last: bool,
        under_way: &mut Vec<(usize, Path)>,
    ) -> Option<Target> {
        let module = &self.modules[at];
        let mut found = Vec::new();
        found.extend(module.items.contains(name).then_some(Target::Item(at)));
        found.extend(module.children.get(name).map(|child| Target::Module(*child)));
        for path in module.imports.get(name).into_iter().flatten() {
            found.extend(self.resolve(at, path, under_way));
        }
        if found.is_empty() {
            for glob in &module.globs {
                if let Some(Target::Module(of)) =
                    self.resolve(at, glob, under_way).filter(|of| *of != Target::Module(at))
                {
                    found.extend(self.look_up(of, name, last, under_way));
                }
            }
        }
        let wanted = |target: &&Target| matches!(target, Target::Item(_)) == last;
        found.iter().find(wanted).or(found.first()).copied()
    }
}

/// The file that `#[path]` names for a module.
fn at_path(attributes: &[Attribute]) -> Option<String> {
    let named = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    match &named.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
        _ => None,
    }
}

fn methods(module: usize, block: &syn::ItemImpl) -> Impl {
    let of = match &*block.self_ty {
        syn::Type::Path(path) => segments(&path.path),
        _ => Path::new(),
    };
    let methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    });
    Impl { module, of, of_trait: block.trait_.is_some(), methods: methods.collect() }
}

/// The names of a path, without what stands in angle brackets.
pub fn segments(path: &syn::Path) -> Path {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The names and paths that a `use` brings in; no name for all of a module.
pub fn leaves(tree: &UseTree) -> Vec<(Option<String>, Path)> {
    fn walk(tree: &UseTree, before: &[String], found: &mut Vec<(Option<String>, Path)>) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => walk(&path.tree, &with(path.ident.to_string()), found),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, before, found)),
            UseTree::Glob(_) => found.push((None, before.to_vec())),
            UseTree::Name(name) if name.ident == "self" => {
                found.push((before.last().cloned(), before.to_vec()))
            }
            UseTree::Name(name) => found.push((Some(name.ident.to_string()), with(name.ident.to_string()))),
            UseTree::Rename(name) => {
                found.push((Some(name.rename.to_string()), with(name.ident.to_string())))
            }
        }
    }
    let mut found = Vec::new();
    walk(tree, &[], &mut found);
    found
}

/// Whether a `use` gives names on to others.
pub fn re_exports(import: &syn::ItemUse) -> bool {
    !matches!(import.vis, Visibility::Inherited)
}

/// Whether something is there for tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let condition = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        condition == "test" || condition.contains("\"pg_test\"") || condition.starts_with("all (test")
    })
}

fn defined(item: &Item) -> Option<String> {
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

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
