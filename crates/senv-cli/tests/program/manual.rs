//! The reference of the program is made from its own declarations.

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
        // Its parent lists it, under a heading of its own or another.
        let Some((parent, name)) = command.rsplit_once(' ') else { continue };
        let lists = |line: &str| line.starts_with("  ") && line.split_whitespace().next() == Some(name);
        assert!(sections[parent].lines().any(lists), "{parent} does not list {name}");
    }
    let commands = sections["senv"].lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = commands.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    for name in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
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
