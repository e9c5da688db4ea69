//! The modules of a crate, read from its source: the file of each, its imports and its re-exports.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, ItemMod, Macro, UseTree,
    visit::{self, Visit},
};

/// A module by its path: `["text", "token"]` is `crate::text::token`, the empty path the root.
pub(super) type ModulePath = Vec<String>;

/// One module.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The file that contains it, relative to `src`.
    pub(super) file: PathBuf,
    /// Names that `use` brings into the module, with the path of each.
    pub(super) names: BTreeMap<String, Vec<String>>,
    /// Modules imported with `*`.
    pub(super) globs: Vec<Vec<String>>,
    /// Paths in the code of the module, including those of `use`.
    pub(super) mentions: Vec<Vec<String>>,
}

/// All modules of a crate except tests.
pub(super) fn modules(src: &Path, root: &str) -> BTreeMap<ModulePath, Module> {
    let mut found = BTreeMap::new();
    read(src, Path::new(root), &[], &mut found);
    found
}

/// Reads the module at `path` from its file, and its children.
fn read(src: &Path, file: &Path, path: &[String], found: &mut BTreeMap<ModulePath, Module>) {
    let source = fs::read_to_string(src.join(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let is_root = path.is_empty() || file.ends_with("mod.rs");
    let folder = if is_root { file.parent().unwrap_or(Path::new("")).to_owned() } else { file.with_extension("") };
    collect(src, file, &folder, path, &parsed.items, found);
}

fn collect(
    src: &Path,
    file: &Path,
    folder: &Path,
    path: &[String],
    items: &[Item],
    found: &mut BTreeMap<ModulePath, Module>,
) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    for item in items.iter().filter(|item| !is_test(attributes(item))) {
        match item {
            Item::Mod(ItemMod { ident, content, .. }) => {
                let name = ident.to_string();
                let child = [path, std::slice::from_ref(&name)].concat();
                match content {
                    Some((_, items)) => collect(src, file, &folder.join(&name), &child, items, found),
                    None => {
                        let alone = folder.join(&name).with_extension("rs");
                        let file = if src.join(&alone).exists() { alone } else { folder.join(&name).join("mod.rs") };
                        read(src, &file, &child, found);
                    }
                }
            }
            Item::Use(item) => import(&item.tree, &mut Vec::new(), &mut module),
            item => Mentions(&mut module).visit_item(item),
        }
    }
    found.insert(path.to_owned(), module);
}

/// What a `use` imports.
fn import(tree: &UseTree, prefix: &mut Vec<String>, module: &mut Module) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            import(&path.tree, prefix, module);
            prefix.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(tree, prefix, module)),
        UseTree::Glob(_) => {
            module.mentions.push(prefix.clone());
            module.globs.push(prefix.clone());
        }
        UseTree::Name(name) => bind(&name.ident.to_string(), None, prefix, module),
        UseTree::Rename(name) => bind(&name.ident.to_string(), Some(name.rename.to_string()), prefix, module),
    }
}

fn bind(name: &str, rename: Option<String>, prefix: &[String], module: &mut Module) {
    let mut target = prefix.to_vec();
    if name != "self" {
        target.push(name.to_owned());
    }
    let bound = rename.unwrap_or_else(|| target.last().cloned().unwrap_or_default());
    module.mentions.push(target.clone());
    module.names.insert(bound, target);
}

/// Collects the paths that an item names.
struct Mentions<'m>(&'m mut Module);

impl Visit<'_> for Mentions<'_> {
    fn visit_item_mod(&mut self, module: &ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        // Names imported in a function stay inside it.
        let mut inner = Module::default();
        import(&item.tree, &mut Vec::new(), &mut inner);
        self.0.mentions.append(&mut inner.mentions);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        if path.segments.len() > 1 {
            self.0.mentions.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &Macro) {
        self.visit_path(&invoked.path);
        in_tokens(invoked.tokens.clone(), &mut self.0.mentions);
    }
}

/// Paths of two or more names in the tokens of a macro.
fn in_tokens(tokens: TokenStream, mentions: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    end(&mut path, mentions);
                }
                path.push(name.to_string());
                colons = 0;
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' && !path.is_empty() => colons += 1,
            TokenTree::Group(group) => {
                end(&mut path, mentions);
                colons = 0;
                in_tokens(group.stream(), mentions);
            }
            _ => {
                end(&mut path, mentions);
                colons = 0;
            }
        }
    }
    end(&mut path, mentions);
}

fn end(path: &mut Vec<String>, mentions: &mut Vec<Vec<String>>) {
    if path.len() > 1 {
        mentions.push(std::mem::take(path));
    }
    path.clear();
}

fn attributes(item: &Item) -> &[Attribute] {
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

/// Whether an item is compiled only for tests.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        attribute.path().is_ident("cfg") && (tokens == "test" || tokens == "doctest")
    })
}
