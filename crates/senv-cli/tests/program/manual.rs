//! The reference of the program is made from its own declarations.

use std::fs;

use crate::common::Folder;

/// The names that a page of help lists under "Commands:".
fn listed(help: &str) -> Vec<String> {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let first = names.filter_map(|line| line.split_whitespace().next());
    first.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_reference_has_the_help_of_every_command() {
    let folder = Folder::new();
    let reference = folder.run(&["manual"]).ok().out;
    let mut commands = vec![Vec::new()];
    let mut n = 0;
    while let Some(command) = commands.pop() {
        let heading = [&["## senv".to_owned()], &command[..]].concat().join(" ");
        let section = reference.split(&format!("{heading}\n")).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n## ").next().unwrap();
        assert!(section.contains("Usage: "), "{heading}");
        n += 1;
        commands.extend(listed(section).into_iter().map(|name| [&command[..], &[name]].concat()));
    }
    assert_eq!(n, reference.matches("\n## senv").count(), "a section of no command");
    assert!(n > 50, "{n}");
}

#[test]
fn every_command_has_a_man_page() {
    let folder = Folder::new();
    folder.run(&["manual", "--man", "man"]).ok();
    let page = |name: &str| fs::read_to_string(folder.path("man").join(name)).unwrap();
    assert!(page("senv.1").contains(".TH"));
    assert!(page("senv-train-cse.1").contains("margin") && page("senv-similarity.1").contains("cosine"));
}
