//! The reference of the program is that of its own declarations.

use std::{fs, path::Path};

use crate::common::Folder;

#[test]
fn the_reference_in_the_guide_is_what_the_program_prints() {
    let folder = Folder::new();
    let printed = folder.run(&["manual"]).ok();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/reference.md");
    if std::env::var_os("SENV_PIN").is_some_and(|value| value == "write") {
        fs::write(&path, &printed.out).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(kept, printed.out, "senv manual > docs/guide/reference.md");
}

#[test]
fn every_command_has_a_man_page() {
    let folder = Folder::new();
    folder.run(&["manual", "--man", "man"]).ok();
    let page = |name: &str| fs::read_to_string(folder.path("man").join(name)).unwrap();
    assert!(page("senv.1").contains(".TH"));
    assert!(page("senv-train-cse.1").contains("margin") && page("senv-similarity.1").contains("cosine"));
}
