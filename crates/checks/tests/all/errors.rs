//! Error enums and all other public enums of the libraries can gain variants without breaking callers. The test reads
//! the source.

use std::fs;

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Visibility};

use crate::workspace::{crate_folders, rust_files};

fn derives_error(attribute: &Attribute) -> bool {
    attribute.path().is_ident("derive")
        && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("Error"))
}

/// The error enums in a file, and whether each is `#[non_exhaustive]`.
fn error_enums(source: &str) -> Vec<(String, bool)> {
    let file = syn::parse_file(source).expect("Rust");
    let enums = file.items.iter().filter_map(|item| if let Item::Enum(item) = item { Some(item) } else { None });
    enums
        .filter(|item| item.attrs.iter().any(derives_error))
        .map(|item| {
            (item.ident.to_string(), item.attrs.iter().any(|attribute| attribute.path().is_ident("non_exhaustive")))
        })
        .collect()
}

#[test]
fn enums_of_errors_are_non_exhaustive() {
    let mut seen = 0;
    for folder in crate_folders() {
        for file in rust_files(&folder.join("src")) {
            let source = fs::read_to_string(&file).expect("a file");
            // Parsing is slow, and most files have no such enum.
            if !source.contains("thiserror") {
                continue;
            }
            for (name, open) in error_enums(&source) {
                assert!(open, "{}: {name} lacks #[non_exhaustive]", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "only {seen} enums of errors were found; each of ten libraries has one");
}

/// Whether an attribute is a line of documentation with the reason.
fn says_why(attribute: &Attribute) -> bool {
    let Meta::NameValue(line) = &attribute.meta else { return false };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &line.value else { return false };
    line.path.is_ident("doc") && text.value().contains("Exhaustive on purpose: ")
}

/// The public enums in a file that cannot gain variants and do not say why.
fn closed_enums(source: &str) -> Vec<String> {
    let file = syn::parse_file(source).expect("Rust");
    let enums = file.items.iter().filter_map(|item| if let Item::Enum(item) = item { Some(item) } else { None });
    enums
        .filter(|item| matches!(item.vis, Visibility::Public(_)))
        .filter(|item| !item.attrs.iter().any(|attribute| attribute.path().is_ident("non_exhaustive")))
        .filter(|item| !item.attrs.iter().any(says_why))
        .map(|item| item.ident.to_string())
        .collect()
}

#[test]
fn public_enums_are_non_exhaustive_or_say_why_not() {
    for folder in crate_folders() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("senv") || ["senv-cli", "senv-reproduce"].contains(&name.as_str()) {
            continue;
        }
        for file in rust_files(&folder.join("src")) {
            let source = fs::read_to_string(&file).expect("a file");
            if source.contains("pub enum") {
                let closed = closed_enums(&source);
                assert!(closed.is_empty(), "{}: {closed:?} lack #[non_exhaustive] or a reason", file.display());
            }
        }
    }
}

#[test]
fn an_enum_without_the_attribute_is_found() {
    let source = "#[derive(Debug, thiserror::Error)] pub enum A { X }
        #[derive(Debug, thiserror::Error)] #[non_exhaustive] pub enum B { X }
        #[derive(Debug)] pub enum C { X }";
    assert_eq!(error_enums(source), [("A".to_owned(), false), ("B".to_owned(), true)]);
    let source = "pub enum A { X } #[non_exhaustive] pub enum B { X } enum C { X }
        /// Y.
        ///
        /// Exhaustive on purpose: Z.
        pub enum D { X }";
    assert_eq!(closed_enums(source), ["A"]);
}
