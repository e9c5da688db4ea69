//! Allowed dependencies between the crates of the workspace, checked against the manifests.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::workspace::{metadata, root};

/// The senv crates that a crate may depend on, in any kind of dependency.
fn allowed(krate: &str) -> Option<&'static [&'static str]> {
    Some(match krate {
        "senv-base" | "senv-same-build" => &[],
        // The crates of the core cover one subject each, from the bottom up; `senv-core` re-exports them.
        "senv-kernels" | "senv-text" => &["senv-base"],
        "senv-model" => &["senv-base", "senv-kernels", "senv-text"],
        "senv-training" => &["senv-base", "senv-kernels", "senv-text", "senv-model"],
        "senv-core" => &["senv-base", "senv-kernels", "senv-text", "senv-model", "senv-training"],
        // Readers of data sets, and the seven parts. Code that two of them need goes into the core.
        "senv-store"
        | "senv-index"
        | "senv-ngram"
        | "senv-negative-sampling"
        | "senv-encoders"
        | "senv-losses"
        | "senv-metrics"
        | "senv-data" => &["senv-core"],
        // A model file, and the encoder of the core.
        "senv-english" => &["senv-core"],
        // The same model on a web page.
        "senv-web" => &["senv-core", "senv-english"],
        // Regressions on frozen vectors use score distributions, like the relatedness heads; retrieval ranks documents.
        "senv-eval" => &["senv-core", "senv-data", "senv-index", "senv-losses", "senv-metrics"],
        // Compares published figures with the output of commands. It runs the program and does not call a model.
        "senv-reproduce" => &["senv-core", "senv-eval"],
        // The facade. The built-in model and the evaluation are features of it.
        "senv-lib" => &[
            "senv-core",
            "senv-data",
            "senv-english",
            "senv-eval",
            "senv-store",
            "senv-index",
            "senv-ngram",
            "senv-negative-sampling",
            "senv-encoders",
            "senv-losses",
            "senv-metrics",
        ],
        "senv-checks" => &["senv-eval", "senv-lib"],
        "senv-cli" => &[
            "senv-core",
            "senv-data",
            "senv-store",
            "senv-index",
            "senv-ngram",
            "senv-negative-sampling",
            "senv-encoders",
            "senv-losses",
            "senv-metrics",
            "senv-lib",
            "senv-eval",
            "senv-reproduce",
            "senv-english",
        ],
        _ => return None,
    })
}

/// Each crate under `crates/` with the senv crates that it depends on, by their real names and in any kind of
/// dependency.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let crates = root().join("crates");
    let metadata = metadata();
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let of_senv = |name: &String| name.starts_with("senv");
    // In tests only: features of other packages, and the facade, which the examples of its crates use.
    let is_of_tests = |dependency: &&Value| {
        dependency["kind"] == "dev" && (dependency["name"] == "senv-same-build" || dependency["name"] == "senv-core")
    };
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages
        .filter(|package| Path::new(&text(&package["manifest_path"])).starts_with(&crates))
        .map(|package| {
            let named = package["dependencies"].as_array().expect("dependencies").iter();
            let named = named.filter(|dependency| !is_of_tests(dependency));
            (text(&package["name"]), named.map(|dependency| text(&dependency["name"])).filter(of_senv).collect())
        })
        .collect()
}

/// Violations among these dependencies.
fn violations(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (krate, named) in dependencies {
        let Some(allowed) = allowed(krate) else {
            found.push(format!("{krate} is not listed: say in this file what it may depend on"));
            continue;
        };
        for name in named.iter().filter(|name| !allowed.contains(&name.as_str())) {
            found.push(format!("{krate} depends on {name}: put what both need into senv-core"));
        }
    }
    found
}

#[test]
fn parts_depend_on_the_core_alone() {
    let dependencies = dependencies();
    for krate in [
        "senv-core",
        "senv-store",
        "senv-index",
        "senv-ngram",
        "senv-negative-sampling",
        "senv-metrics",
        "senv-data",
        "senv-eval",
    ] {
        assert!(dependencies.contains_key(krate), "{krate} is missing");
    }
    let found = violations(&dependencies);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_forbidden_dependency_is_found() {
    for (krate, name, forbidden) in [
        ("senv-core", "senv-metrics", true),
        ("senv-store", "senv-ngram", true),
        ("senv-index", "senv-store", true),
        ("senv-losses", "senv-lib", true),
        ("senv-eval", "senv-store", true),
        ("senv-eval", "senv-lib", true),
        ("senv-reproduce", "senv-lib", true),
        ("senv-new", "senv-core", true),
        ("senv-store", "senv-core", false),
        ("senv-eval", "senv-metrics", false),
        ("senv-cli", "senv-eval", false),
    ] {
        let dependencies = BTreeMap::from([(krate.to_owned(), vec![name.to_owned()])]);
        assert_eq!(!violations(&dependencies).is_empty(), forbidden, "{krate} on {name}");
    }
}
