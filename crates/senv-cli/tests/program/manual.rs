//! The reference is generated from the declarations of the commands.

use std::{collections::BTreeMap, fs};

use crate::common::Folder;

#[test]
fn the_reference_has_the_help_of_every_command() {
    let folder = Folder::new();
    let reference = folder.run(&["manual"]).ok().out;
    let sections: BTreeMap<&str, &str> =
        reference.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap()).collect();
    assert!(sections.len() > 60, "{}", sections.len());
    for (command, help) in &sections {
        assert!(help.contains("Usage: "), "{command}");
        // Its parent lists it.
        let Some((parent, name)) = command.rsplit_once(' ') else { continue };
        let lists = |line: &str| line.starts_with("  ") && line.split_whitespace().next() == Some(name);
        assert!(sections[parent].lines().any(lists), "{parent} does not list {name}");
    }
    let listed = sections["senv"].lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !name.starts_with('-');
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).filter(is_name).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "senv") {
        assert!(sections.contains_key(format!("senv {name}").as_str()), "no section of senv {name}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let folder = Folder::new();
    folder.run(&["manual", "--man", "man"]).ok();
    let page = |name: &str| fs::read_to_string(folder.path("man").join(name)).unwrap();
    assert!(page("senv.1").contains(".TH"));
    assert!(page("senv-train-cse.1").contains("margin") && page("senv-similarity.1").contains("cosine"));
}
