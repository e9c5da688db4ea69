//! The reference of the program is that of its own declarations.

use std::{fs, path::Path};

use super::common::Program;

#[test]
fn the_reference_in_the_guide_is_what_the_program_prints() {
    let program = Program::new();
    let printed = program.run(&["manual"]).works();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/reference.md");
    if std::env::var_os("SENV_PIN").is_some_and(|value| value == "write") {
        fs::write(&path, &printed.stdout).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(kept, printed.stdout, "senv manual > docs/guide/reference.md");
}

#[test]
fn every_command_has_a_man_page() {
    let program = Program::new();
    program.run(&["manual", "--man", "man"]).works();
    let page = |name: &str| fs::read_to_string(program.path("man").join(name)).unwrap();
    assert!(page("senv.1").contains(".TH"));
    assert!(page("senv-train-cse.1").contains("margin") && page("senv-similarity.1").contains("cosine"));
}
