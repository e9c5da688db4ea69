//! The plan of a run: every command once, no matter how many rows and papers need it.

use std::{ffi::OsString, path::PathBuf};

use senv_eval::sha256_of_bytes;

use crate::{
    data::Data,
    paper::{Evaluation, Paper},
};

/// The name of the built-in model.
const ENGLISH: &str = "english";

/// A command of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedCommand {
    /// The key of the command in the folder of a run. It is a checksum of the command, of the sizes of its data files,
    /// and of the keys of the steps that it needs. A changed command therefore runs again, with everything that depends
    /// on it.
    pub(crate) key: String,
    /// The command as a user types it, with `$DATA` and `$OUT`.
    pub(crate) shown: String,
    /// The arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Expected seconds on two idle cores.
    pub(crate) seconds: f64,
    /// The model that it writes.
    pub(crate) model: Option<PathBuf>,
    /// The file of its result, if it is not standard output.
    pub(crate) result: Option<PathBuf>,
    /// The steps whose models it reads.
    pub(crate) needs: Vec<usize>,
    /// The data files that it reads.
    pub(crate) data: Vec<PathBuf>,
    /// Why it cannot run, if it cannot.
    pub(crate) missing: Option<String>,
}

/// All steps, each after the steps that it needs.
#[derive(Debug)]
pub(crate) struct Plan {
    data: Data,
    data_folder: PathBuf,
    out: PathBuf,
    quick: bool,
    pub(crate) steps: Vec<PlannedCommand>,
}

/// The purpose of a command.
enum Purpose<'a> {
    /// Creating this file.
    Model(&'a str),
    /// Evaluating the model in this file.
    Evaluation(&'a str),
}

impl Purpose<'_> {
    /// Returns whether its purpose is to create this file.
    fn makes(&self, file: &str) -> bool {
        matches!(self, Self::Model(made) if *made == file)
    }
}

/// Options whose values `--quick` replaces.
const QUICK: &[(&str, &str)] = &[
    ("--epochs", "1"),
    ("--steps", "2"),
    ("--dim", "16"),
    ("--sentence-dim", "8"),
    ("--hidden", "8"),
    ("--filters", "4"),
    ("--samples", "16"),
];

impl Plan {
    /// Creates a plan without steps.
    pub(crate) fn new(data: Data, data_folder: PathBuf, out: PathBuf, quick: bool) -> Self {
        Self { data, data_folder, out, quick, steps: Vec::new() }
    }

    /// Returns why a data set is missing; `None` if it was found.
    pub(crate) fn why_not(&self, set: &str) -> Option<String> {
        self.data.find(set).err()
    }

    /// Returns the step that creates a model of a paper; `None` for the built-in model.
    pub(crate) fn model(&mut self, paper: &Paper, file: &str) -> Option<usize> {
        if file == ENGLISH {
            return None;
        }
        let Some(model) = paper.models.iter().find(|model| model.file == file) else {
            let missing = Some(format!("the paper has no model {file}"));
            return Some(self.push(PlannedCommand { missing, ..empty(file) }));
        };
        Some(self.add(paper, &model.command, model.seconds, &Purpose::Model(file)))
    }

    /// Returns the step that evaluates a model of a paper.
    pub(crate) fn evaluation(&mut self, paper: &Paper, evaluation: &Evaluation, file: &str) -> usize {
        self.add(paper, evaluation.command, evaluation.seconds, &Purpose::Evaluation(file))
    }

    fn add(&mut self, paper: &Paper, command: &str, seconds: f64, purpose: &Purpose<'_>) -> usize {
        let mut step = PlannedCommand { seconds, ..empty("") };
        let mut shown = vec!["senv".to_owned()];
        let mut identity = String::new();
        let mut takes_result = None;
        let mut quick = None;
        for word in command.split_whitespace() {
            let (word, replaced) = match (self.quick, quick.take()) {
                (true, Some(value)) => (value, true),
                _ => (word, false),
            };
            quick = QUICK.iter().find(|(option, _)| !replaced && *option == word).map(|(_, value)| *value);
            let word = match (word, purpose) {
                ("$MODEL", Purpose::Evaluation(ENGLISH)) => ENGLISH.to_owned(),
                ("$MODEL", Purpose::Evaluation(file)) => format!("$OUT/{file}"),
                ("$MODEL.npy", Purpose::Evaluation(file)) => format!("$OUT/{}", file.replace(".senv", ".npy")),
                (_, Purpose::Evaluation(file)) => word.replace("$STEM", stem(file)),
                _ => word.to_owned(),
            };
            if let Some(set) = word.strip_prefix(['@', '?']) {
                let is_argument = word.starts_with('@');
                let (set, otherwise) = set.split_once('|').map_or((set, None), |(set, option)| (set, Some(option)));
                match (self.data.find(set), otherwise) {
                    (Ok(found), _) => {
                        for path in &found.paths {
                            let size = std::fs::metadata(path).map_or(0, |file| file.len());
                            identity += &format!("{} {size}\n", path.file_name().unwrap_or_default().to_string_lossy());
                        }
                        if is_argument {
                            shown.extend(found.shown);
                            step.arguments.extend(found.paths.iter().map(Into::into));
                        }
                        step.data.extend(found.paths);
                    }
                    (Err(_), Some("")) => {}
                    (Err(_), Some(option)) => {
                        shown.push(option.to_owned());
                        step.arguments.push(option.into());
                    }
                    (Err(reason), None) => {
                        if is_argument {
                            shown.push(word.clone());
                        }
                        step.missing.get_or_insert(reason);
                    }
                }
                continue;
            }
            if let Some(file) = word.strip_prefix("$OUT/") {
                let writer = paper.models.iter().find(|model| model.writes(file)).map(|model| &model.file[..]);
                // Plan a model that the paper lacks too, so that its rows state the reason.
                let needed = writer.or(file.ends_with(".senv").then_some(file));
                if purpose.makes(file) {
                    step.model = Some(self.out.join(file));
                } else if let Some(needed) = needed.filter(|needed| !purpose.makes(needed)) {
                    step.needs.extend(self.model(paper, needed));
                }
                step.arguments.push(self.out.join(file).into());
            } else if word == "$RESULT" {
                takes_result = Some(step.arguments.len());
                step.arguments.push(OsString::new());
                shown.push("$OUT/result.json".to_owned());
                continue;
            } else if word == "$DATA" {
                step.arguments.push(self.data_folder.clone().into());
            } else {
                step.arguments.push(word.clone().into());
            }
            shown.push(word);
        }
        step.shown = shown.join(" ");
        identity += &step.shown;
        for &needed in &step.needs {
            let needed = &self.steps[needed];
            identity += &needed.key;
            if step.missing.is_none() {
                step.missing.clone_from(&needed.missing);
            }
        }
        step.key = sha256_of_bytes(identity.as_bytes()).chars().take(16).collect();
        if let Some(place) = takes_result {
            let path = self.out.join("runs").join(format!("{}.result.json", step.key));
            step.arguments[place] = path.clone().into();
            step.result = Some(path);
        }
        self.push(step)
    }

    /// Returns the index of a step, and adds the step if it is new.
    fn push(&mut self, step: PlannedCommand) -> usize {
        self.steps.iter().position(|other| other.key == step.key && other.shown == step.shown).unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        })
    }
}

/// Returns the file name of a model without its extension.
pub(crate) fn stem(file: &str) -> &str {
    file.strip_suffix(".senv").unwrap_or(file)
}

fn empty(key: &str) -> PlannedCommand {
    PlannedCommand {
        key: key.to_owned(),
        shown: String::new(),
        arguments: Vec::new(),
        seconds: 0.0,
        model: None,
        result: None,
        needs: Vec::new(),
        data: Vec::new(),
        missing: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{paper::Model, paper_name::PaperName};

    fn paper(epochs: u32) -> Paper {
        let train = format!("train word2vec --input @small-text --dim 300 --epochs {epochs}");
        Paper {
            name: PaperName::Cse,
            title: "",
            about: "",
            models: vec![
                Model::new("a.senv", 2.0, train),
                Model::new("b.senv", 1.0, "train weighted --model $OUT/a.senv --input @small-text"),
            ],
            tables: Vec::new(),
            claims: Vec::new(),
        }
    }

    const SOUP: Evaluation = Evaluation { command: "eval soup --model $MODEL --json", seconds: 1.0 };

    fn plan(text: &str, quick: bool) -> Plan {
        let data = Data::new("nowhere".as_ref(), &[PathBuf::from(text)]);
        Plan::new(data, "nowhere".into(), "out".into(), quick)
    }

    #[test]
    fn a_command_is_planned_once_and_after_what_it_needs() {
        let mut plan = plan("t.txt", false);
        let soup = plan.evaluation(&paper(5), &SOUP, "b.senv");
        assert_eq!(plan.evaluation(&paper(5), &SOUP, "b.senv"), soup);
        let shown: Vec<&str> = plan.steps.iter().map(|step| &step.shown[..]).collect();
        assert_eq!(
            shown,
            [
                "senv train word2vec --input t.txt --dim 300 --epochs 5 --output $OUT/a.senv",
                "senv train weighted --model $OUT/a.senv --input t.txt --output $OUT/b.senv",
                "senv eval soup --model $OUT/b.senv --json",
            ]
        );
        assert_eq!(plan.steps[2].needs, [1]);
        assert_eq!(plan.steps[1].model, Some("out/b.senv".into()));
        assert_eq!(plan.steps[2].arguments[3], "out/b.senv");
    }

    #[test]
    fn a_changed_command_changes_the_key_of_all_that_stands_on_it() {
        let keys = |epochs: u32, text: &str| {
            let mut plan = plan(text, false);
            plan.evaluation(&paper(epochs), &SOUP, "b.senv");
            plan.steps.into_iter().map(|step| step.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(5, "t.txt"), keys(5, "t.txt"));
        for other in [keys(6, "t.txt"), keys(5, "u.txt")] {
            assert!(keys(5, "t.txt").iter().zip(&other).all(|(a, b)| a != b));
        }
    }

    #[test]
    fn files_beside_a_model_and_texts_are_made_before_they_are_read() {
        let train = "train pv-dbow --input $OUT/t.txt --document-vectors $OUT/v.npy";
        let models = vec![Model::new("t.txt", 1.0, "eval sentences ?small-text"), Model::new("v.senv", 2.0, train)];
        let paper = Paper { models, ..paper(1) };
        let command = "eval all --vectors $MODEL.npy --sentences $OUT/t.txt";
        let mut plan = plan("t.txt", false);
        let bench = plan.evaluation(&paper, &Evaluation { command, seconds: 1.0 }, "v.senv");
        assert_eq!(plan.steps[bench].shown, "senv eval all --vectors $OUT/v.npy --sentences $OUT/t.txt");
        let of = |file: &str| plan.steps.iter().position(|step| step.model == Some(PathBuf::from("out").join(file)));
        let (text, vectors) = (of("t.txt").unwrap(), of("v.senv").unwrap());
        assert_eq!(plan.steps[bench].needs, [vectors, text]);
        assert_eq!((&plan.steps[vectors].needs[..], &plan.steps[text].needs[..]), (&[text][..], &[][..]));
        // A data set that the command finds itself is not an argument, but the plan knows it.
        assert_eq!(plan.steps[text].shown, "senv eval sentences --output $OUT/t.txt");
        assert_eq!(plan.steps[text].data, [PathBuf::from("t.txt")]);
    }

    #[test]
    fn an_option_stands_for_data_that_are_not_there() {
        let evaluation = Evaluation { command: "eval msrp @msrp-test|--hold-out ?small-text --json", seconds: 1.0 };
        let mut plan = plan("t.txt", false);
        let step = plan.evaluation(&paper(5), &evaluation, "english");
        assert_eq!(plan.steps[step].shown, "senv eval msrp --hold-out --json");
        assert_eq!(plan.steps[step].missing, None);
        assert_eq!(plan.steps[step].arguments, ["eval", "msrp", "--hold-out", "--json"]);
        let without = Evaluation { command: "eval msrp @msrp-test| --svg $OUT/figures/a-$STEM.svg", seconds: 1.0 };
        let step = plan.evaluation(&paper(5), &without, "a.senv");
        assert_eq!(plan.steps[step].shown, "senv eval msrp --svg $OUT/figures/a-a.svg");
        let needs = Evaluation { command: "eval msrp ?msrp-train --json", seconds: 1.0 };
        let step = plan.evaluation(&paper(5), &needs, "english");
        assert_eq!(plan.steps[step].shown, "senv eval msrp --json");
        assert!(plan.steps[step].missing.as_ref().unwrap().starts_with("no data: msrp/train.tsv"));
    }

    #[test]
    fn quick_changes_sizes_alone() {
        let mut plan = plan("t.txt", true);
        plan.evaluation(&paper(5), &SOUP, "a.senv");
        assert!(plan.steps[0].shown.contains("--dim 16 --epochs 1 --output"), "{}", plan.steps[0].shown);
    }

    #[test]
    fn missing_data_is_told_of_all_that_needs_it() {
        let data = Data::new("nowhere".as_ref(), &[]);
        let mut plan = Plan::new(data, "nowhere".into(), "out".into(), false);
        let soup = plan.evaluation(&paper(5), &SOUP, "b.senv");
        let reason = plan.steps[soup].missing.as_deref().unwrap();
        assert!(reason.starts_with("no data: corpus/bbc.txt"), "{reason}");
        let english = plan.evaluation(&paper(5), &SOUP, "english");
        assert_eq!(plan.steps[english].missing, None);
        let unknown = plan.evaluation(&paper(5), &SOUP, "c.senv");
        assert_eq!(plan.steps[unknown].missing.as_deref(), Some("the paper has no model c.senv"));
    }
}
