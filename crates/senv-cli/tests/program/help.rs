//! `-h` fits one screen and has examples; `--help` has every option.

use crate::common::{Ended, Folder};

/// The long options that a help text lists.
fn options_of(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines.filter_map(|line| line.split([' ', '=', '[']).find(|word| word.starts_with("--"))).collect()
}

#[test]
fn short_help_of_every_command_fits_a_screen_and_has_examples() {
    let folder = Folder::new();
    let reference = folder.run(&["manual"]).ok().out;
    let commands = reference.lines().filter_map(|line| line.strip_prefix("## senv"));
    let mut n = 0;
    for command in commands {
        n += 1;
        let with = |more: &str| -> Ended {
            let args: Vec<&str> = command.split_whitespace().chain([more]).collect();
            folder.run(&args).ok()
        };
        let (short, long) = (with("-h").out, with("--help").out);
        assert!(short.lines().count() <= 40, "senv{command} -h has {} lines", short.lines().count());
        let widest = |help: &str| help.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest(&short) <= 100, "senv{command} -h:\n{short}");
        let examples = short.lines().skip_while(|line| !line.starts_with("Example"));
        let title = examples.clone().next().unwrap_or_default();
        let n_examples = examples.skip(1).filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count();
        let expected = if title == "Example:" { 1..=1 } else { 2..=2 };
        assert!(expected.contains(&n_examples), "senv{command} -h has {n_examples} examples:\n{short}");
        let all = options_of(&long);
        for option in options_of(&short) {
            assert!(all.contains(&option), "senv{command} --help lacks {option}");
        }
    }
    assert!(n > 60, "{n}");
}

#[test]
fn help_groups_the_commands_and_a_command_alone_shows_short_help() {
    let folder = Folder::new();
    let [short, long] = ["-h", "--help"].map(|option| folder.run(&[option]).ok().out);
    for help in [&short, &long] {
        for group in ["Compare and search:", "Explore and clean text:", "Train and evaluate:"] {
            assert!(help.contains(&format!("\n{group}\n")), "{group} is missing in {help}");
        }
    }
    assert_eq!(folder.run(&["help"]).ok().out, long);
    assert!(long.contains("Exit codes:") && !short.contains("Exit codes:"));
    let help = folder.run(&["help", "train", "sent2vec"]).ok().out;
    assert_eq!(help, folder.run(&["train", "sent2vec", "--help"]).ok().out);
    assert_eq!(folder.run(&["train"]).err, folder.run(&["train", "-h"]).ok().out);
}

#[test]
fn options_that_all_models_share_come_last() {
    let folder = Folder::new();
    let help = folder.run(&["dedupe", "--help"]).ok().out;
    let headings: Vec<&str> = help.lines().filter(|line| !line.starts_with(' ') && line.ends_with(':')).collect();
    assert_eq!(headings, ["Arguments:", "Options:", "Text:", "Model:", "Global options:", "Examples:"]);
    let shared = help.split("\nModel:\n").nth(1).unwrap();
    for option in ["--verify", "--copy", "--unknown-row", "--order"] {
        assert!(shared.contains(option), "{option}");
        assert!(!folder.run(&["dedupe", "-h"]).ok().out.contains(option), "{option}");
    }
}

#[test]
fn the_model_in_use_is_named_only_on_request() {
    let folder = Folder::new();
    let similarity = ["similarity", "a cat sat", "a kitten sat"];
    assert_eq!(folder.run(&similarity).ok().err, "");
    let said = folder.run(&[&similarity[..], &["--verbose"]].concat()).ok().err;
    assert_eq!(said, "using the built-in English model (change it with --model)\n");
}
