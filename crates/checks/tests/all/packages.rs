//! What users of a package registry see: links, names, versions and documentation.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::workspace::{files, metadata, root};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The published packages.
fn published() -> Vec<Value> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let found: Vec<Value> = packages.filter(|package| package["publish"].is_null()).cloned().collect();
    assert!(found.len() > 15, "only {} packages are published", found.len());
    found
}

fn folder(package: &Value) -> PathBuf {
    Path::new(text(&package["manifest_path"])).parent().expect("the folder of a manifest").to_owned()
}

/// The targets of the links of a page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

#[test]
fn a_readme_links_to_nothing_that_its_package_lacks() {
    let is_kept = |link: &str| link.starts_with("https://") || link.starts_with('#');
    for package in published() {
        let readme = fs::read_to_string(folder(&package).join("README.md")).unwrap();
        let broken: Vec<&str> = links(&readme).filter(|link| !is_kept(link)).collect();
        assert!(broken.is_empty(), "the README of {} has links into the repository: {broken:?}", package["name"]);
    }
    assert_eq!(
        links("[a](b.md) and [c](#d), [e](https://f.g \"h\")").collect::<Vec<_>>(),
        ["b.md", "#d", "https://f.g"]
    );
}

#[test]
fn the_place_of_the_source_stands_in_one_manifest() {
    for package in published() {
        let manifest = fs::read_to_string(folder(&package).join("Cargo.toml")).unwrap();
        for key in ["repository", "homepage"] {
            assert!(manifest.contains(&format!("\n{key}.workspace = true\n")), "{}: {key}.workspace", package["name"]);
        }
    }
}

#[test]
fn documentation_has_all_features_and_says_what_needs_one() {
    for package in published() {
        let (name, docs) = (text(&package["name"]), &package["metadata"]["docs"]["rs"]);
        assert_eq!(docs["all-features"], true, "{name}: package.metadata.docs.rs");
        assert_eq!(docs["rustdoc-args"], serde_json::json!(["--cfg", "docsrs"]), "{name}: package.metadata.docs.rs");
        let Ok(library) = fs::read_to_string(folder(&package).join("src/lib.rs")) else { continue };
        assert!(library.contains("\n#![cfg_attr(docsrs, feature(doc_cfg))]\n"), "{name}: src/lib.rs has no doc_cfg");
    }
}

/// Whether a line tells the reader to install the package `senv`, which is another program.
fn takes_another_program(line: &str) -> bool {
    let by_command = ["cargo add senv", "cargo install senv"].iter().any(|command| {
        let behind = line.split(command).skip(1);
        behind.into_iter().any(|rest| !rest.starts_with(['-', '_']))
    });
    let line = line.trim_start_matches(['/', '!', '*', ' ', '>']);
    let by_name = line.strip_prefix("senv").is_some_and(|rest| {
        let rest = rest.trim_start();
        (rest.starts_with("= \"") || rest.starts_with("= {")) && !rest.contains("package = \"senv-lib\"")
    });
    by_command || by_name
}

#[test]
fn no_page_has_the_reader_take_the_other_package_of_this_name() {
    let mut n = 0;
    for path in files(root(), &["md", "rs", "html"]) {
        if path.starts_with(root().join("crates/checks")) {
            continue;
        }
        n += 1;
        for (i, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            assert!(!takes_another_program(line), "{}:{}: the package is senv-lib: {line}", path.display(), i + 1);
        }
    }
    assert!(n > 500, "only {n} files were found");
    for line in
        ["senv = \"0.1\"", "/// senv = { version = \"0.1\" }", "cargo add senv", "`cargo install senv --locked`"]
    {
        assert!(takes_another_program(line), "{line}");
    }
    for line in [
        "senv = { package = \"senv-lib\", version = \"0.1\" }",
        "cargo add senv-lib",
        "cargo install senv-cli",
        "senv-lib = 1",
    ] {
        assert!(!takes_another_program(line), "{line}");
    }
}

#[test]
fn the_page_on_stability_has_the_versions_of_public_dependencies() {
    let page = fs::read_to_string(root().join("docs/stability.md")).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| public dependency |")).skip(2);
    let rows: Vec<Vec<&str>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    assert!(rows.len() >= 5, "docs/stability.md has no table of public dependencies");
    let packages = published();
    for row in rows {
        let (name, version) = (row[1], format!("^{}", row[2]));
        let dependencies =
            packages.iter().flat_map(|package| package["dependencies"].as_array().expect("dependencies"));
        let requirements: Vec<&str> = dependencies
            .filter(|dependency| dependency["name"] == name && dependency["kind"].is_null())
            .map(|dependency| text(&dependency["req"]))
            .collect();
        assert!(!requirements.is_empty(), "docs/stability.md: nobody depends on {name}");
        assert!(
            requirements.iter().all(|&one| one == version),
            "docs/stability.md: {name} {version}, {requirements:?}"
        );
    }
}

/// The packages that contain the English model.
const WITH_MODEL: [&str; 2] = ["senv-english", "senv-web"];

#[test]
fn the_license_of_the_english_model_is_the_same_wherever_it_stands() {
    let english = senv::english().unwrap();
    let terms = senv::Terms::new(english.terms().expect("terms"));
    let (model, code) = (terms.spdx().expect("a license of SPDX"), "MIT OR Apache-2.0");
    let both = if model == code { code.to_owned() } else { format!("({code}) AND {model}") };
    let exceptions = fs::read_to_string(root().join("deny.toml")).unwrap();
    let metadata = metadata();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = text(&package["name"]);
        let has_model = WITH_MODEL.contains(&name);
        assert_eq!(
            text(&package["license"]),
            if has_model { &both } else { code },
            "license in the manifest of {name}"
        );
        // Without an exception, `cargo deny check licenses` accepts only its list of licenses.
        let exception = format!("{{ crate = \"{name}\", allow = [\"{model}\"] }},");
        let any = exceptions.contains(&format!("{{ crate = \"{name}\","));
        assert_eq!((any, exceptions.contains(&exception)), (has_model && both != code, any), "deny.toml: {name}");
    }
    for page in
        ["README.md", "crates/senv-english/README.md", "crates/senv-english/MODEL_CARD.md", "crates/web/README.md"]
    {
        let page_text = fs::read_to_string(root().join(page)).unwrap();
        assert!(page_text.contains(terms.license()), "{page} does not name {}", terms.license());
    }
}
