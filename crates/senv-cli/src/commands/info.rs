//! `senv info`: the contents of a file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv::{
    Model,
    check::{Check, CheckParams, CheckText},
    jobs::TextGroups,
    model::EncodingCost,
};
use senv_core::{checkpoint, files::Verification, hyperparameters::Hyperparameter};
use senv_store::ModelFile;
use serde_json::{Value, json};

use super::{
    READINGS, check_report,
    train::{InputFile, Origin},
};
use crate::{
    failure::Result,
    output::{self, bytes, grouped, plural},
    text::{TextArgs, note_typing},
};

/// Show what is in a model, word vectors, a checkpoint or a collection.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv info model.senv
  senv info --check model.senv --text news.txt
  senv info --verify model.senv
  senv info text.index")]
pub(crate) struct Info {
    /// File, or folder of a collection; english is the built-in model.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check the whole file: its checksums, and that no value is NaN or infinite.
    #[arg(long)]
    verify: bool,
    /// Check on a text whether the vectors are useful.
    ///
    /// Reports whether the vectors of random sentences point in one direction, neighboring sentences are nearer,
    /// cosines follow shared words, and words are known.
    #[arg(long, requires = "text")]
    check: bool,
    /// Text to check on, one sentence per line, with a blank line between documents.
    ///
    /// Plain, .gz or .zst; - is standard input.
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Text")]
    text: Vec<PathBuf>,
    #[command(flatten)]
    reading: TextArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(crate) fn run(self) -> Result {
        if self.file.is_dir() && self.file.join("manifest").exists() {
            let facts = super::collection_facts::of(&self.file, self.verify)?;
            return if self.json { output::print_json(&facts) } else { print(&facts, String::new()) };
        }
        let is_english = senv::is_english(&self.file);
        let size = match is_english {
            true => senv_english::BYTES.len() as u64,
            false => fs::metadata(&self.file).map_err(|e| senv_core::Error::io("open", &self.file, e))?.len(),
        };
        let verified = if self.verify { self.verified()? } else { None };
        let mut checked = None;
        let mut facts = match checkpoint::kind(&self.file) {
            Ok(kind) if !self.check => of_checkpoint(&self.file, &kind),
            _ if ModelFile::open(&self.file).is_ok_and(|file| file.kind() == TextGroups::KIND) => {
                of_groups(&self.file)?
            }
            _ => {
                let model = Model::open(&self.file)?;
                if self.check {
                    checked = Some(self.checked(&model)?);
                }
                of_model(&model)?
            }
        };
        let file = if is_english { ModelFile::from_bytes(senv_english::BYTES) } else { ModelFile::open(&self.file) };
        if let Ok(file) = file {
            let (tensors, numbers) = tensors(&file);
            (facts["numbers"], facts["tensors"]) = (json!(numbers), tensors);
        }
        facts["file"] = json!(self.file.display().to_string());
        facts["file_bytes"] = json!(size);
        if let Some(verified) = verified {
            facts["verified"] = verified;
        }
        if self.json {
            checked.iter().for_each(check_report::warn_of);
            if let Some(check) = &checked {
                facts["check"] = check_report::json(check);
            }
            return output::print_json(&facts);
        }
        // The file also has them nested as in the structs, and some models have values derived from them.
        if facts["hyperparameters"].as_object().is_some_and(|listed| !listed.is_empty()) {
            match facts["parameters"].get_mut("params") {
                Some(params) => *params = Value::Null,
                None => facts["parameters"] = Value::Null,
            }
        }
        print(&facts, checked.iter().flat_map(check_report::lines).map(|line| line + "\n").collect())?;
        checked.iter().for_each(check_report::warn_of);
        Ok(())
    }

    /// Compares a senv file with its checksums. Files of other formats have none, and opening reads them as a whole.
    fn verified(&self) -> Result<Option<Value>> {
        let path = &self.file;
        if checkpoint::kind(path).is_ok() {
            checkpoint::verify(path)?;
            return Ok(Some(json!("the whole file, by its checksum")));
        }
        let file =
            if senv::is_english(path) { ModelFile::from_bytes(senv_english::BYTES) } else { ModelFile::open(path) };
        let Ok(file) = file else { return Ok(None) };
        let Verification { tensors, checksums } = file.verify()?;
        if checksums < tensors {
            let without = plural((tensors - checksums) as u64, "tensor");
            output::warn(&format!("{without} without a checksum; another program wrote the file"));
        }
        Ok(Some(json!({ "tensors": tensors, "by_checksum": checksums })))
    }

    fn checked(&self, model: &Model) -> Result<Check> {
        self.reading.check_tables(&self.text)?;
        note_typing(&self.text, "text");
        // The word counts tell the size of the training text; the loss is unknown.
        let words = Some(model.vocabulary().corpus_tokens()).filter(|&words| words > 0);
        let is_slow = model.abilities().cost != EncodingCost::PerSentence;
        let weights_may_help = model.abilities().average.is_some_and(|average| average.weighting().is_none());
        let start_may_help = model.abilities().average.is_some();
        let params = CheckParams {
            training_words: words,
            weights_may_help,
            start_may_help,
            ..CheckParams::for_encoder(is_slow)
        };
        let text = CheckText::read(&self.text, &self.reading.options(), &params)?;
        model.prepare_for_many();
        Ok(senv::check(model, &text, &params)?)
    }
}

/// The facts of groups saved by `senv cluster`.
fn of_groups(path: &Path) -> Result<Value> {
    let (groups, model) = TextGroups::open(path)?;
    let sentences: usize = groups.groups.iter().map(|group| group.size).sum();
    Ok(json!({
        "kind": TextGroups::KIND,
        "groups": groups.groups.len(),
        "sentences": sentences,
        "dim": groups.centroids.dim(),
        "min_cosine": groups.min_cosine,
        "model": model,
    }))
}

/// The longest name of a fact, in characters, for which values are still aligned.
const WIDEST_NAME: usize = 60;

/// Prints one line per fact, and the report.
fn print(facts: &Value, report: String) -> Result {
    let mut lines = Vec::new();
    push("", facts, &mut lines);
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default().min(WIDEST_NAME);
    let line = |(name, value): &(String, String)| format!("{:width$}  {}\n", output::cell(name), output::cell(value));
    let lines: String = lines.iter().map(line).collect();
    output::print(&(lines + &report))
}

/// The facts of the run that a checkpoint belongs to.
fn of_checkpoint(path: &Path, kind: &str) -> Value {
    let mut facts = json!({ "kind": "checkpoint", "of": kind });
    let Some((about, origin)) = Origin::of_checkpoint(path) else { return facts };
    facts["done_percent"] = json!((1000.0 * about.done).round() / 10.0);
    if origin.is_known() {
        facts["command"] = json!(origin.command());
    }
    let files = origin.files.iter().map(|InputFile { path, bytes }| match bytes {
        Some(n) => format!("{path} ({})", plural(*n, "byte")),
        None => path.clone(),
    });
    facts["text"] = json!(files.collect::<Vec<_>>());
    if READINGS.contains(&kind) {
        return facts;
    }
    // Trainers can write more before and after the settings: the kind of the model, fingerprints.
    let start = about.settings.find('{').unwrap_or(about.settings.len());
    let settings = serde_json::Deserializer::from_str(&about.settings[start..]).into_iter().next();
    facts["settings"] = settings.and_then(std::result::Result::ok).unwrap_or_else(|| json!(about.settings));
    facts
}

fn of_model(model: &Model) -> Result<Value> {
    let (vocabulary, rows) = (model.vocabulary(), model.rows()?);
    let most_frequent: Vec<&str> = vocabulary.iter().take(10).map(|(_, word, _)| word).collect();
    Ok(json!({
        "kind": model.kind(),
        "dim": model.dim(),
        "word_dim": (model.dim() != rows.dim()).then_some(rows.dim()),
        "words": vocabulary.len(),
        "rows": rows.n_rows(),
        "numbers": rows.n_rows() * rows.dim(),
        "corpus_tokens": vocabulary.corpus_tokens(),
        "terms": vocabulary.terms(),
        "weights": weights(model),
        "first_words": most_frequent,
        "hyperparameters": hyperparameters(model),
        "parameters": serde_json::from_str::<Value>(&model.config_json()).unwrap_or_default(),
    }))
}

/// The hyperparameters of the training run, under the names of the options of `senv train`; those that do not apply are
/// left out.
fn hyperparameters(model: &Model) -> Value {
    let listed = model.hyperparameters().into_iter().filter(|parameter| parameter.applies);
    let named = |parameter: Hyperparameter| {
        let value = parameter.value.unwrap_or_else(|| "none".into());
        (parameter.name.replace('_', "-"), json!(value))
    };
    Value::Object(listed.map(named).collect())
}

/// The weights of an average and the number of removed common components; nothing for other kinds.
fn weights(model: &Model) -> Value {
    let Some(average) = model.abilities().average else { return Value::Null };
    let Some(weighting) = average.weighting() else { return json!("none") };
    let components = weighting.components().map_or(0, |components| components.lambdas().len());
    json!({ "scheme": weighting.scheme().name(), "common_components": components })
}

/// The type and shape of every tensor except those of the vocabulary, and their total number of values.
fn tensors(file: &ModelFile) -> (Value, usize) {
    let trained = |(name, _, _, _): &(&str, String, &[usize], usize)| !name.starts_with("vocabulary.");
    let (mut numbers, mut tensors) = (0, serde_json::Map::new());
    for (name, kind, shape, _) in file.tensors().filter(trained) {
        numbers += shape.iter().product::<usize>();
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        tensors.insert(name.to_owned(), json!(format!("{kind} [{}]", shape.join(", "))));
    }
    (Value::Object(tensors), numbers)
}

/// Appends the name and value of each fact. Dots join the names of nested facts, and items of lists are numbered from
/// 1.
fn push(prefix: &str, facts: &Value, lines: &mut Vec<(String, String)>) {
    let Value::Object(facts) = facts else { return };
    for (name, value) in facts {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(_) => push(&name, value, lines),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for (number, item) in (1..).zip(items) {
                    push(&format!("{name}.{number}"), item, lines);
                }
            }
            Value::Number(n) if name == "file_bytes" => lines.push((name, bytes(n.as_u64().unwrap_or_default()))),
            _ => lines.extend(text(value).map(|value| (name, value))),
        }
    }
}

/// A fact on one line; `None` for null and for an object.
fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null | Value::Object(_) => return None,
        Value::Array(items) => items.iter().filter_map(text).collect::<Vec<_>>().join(" "),
        Value::String(value) => value.clone(),
        // Parameters are f32; as f64 they would show spurious digits.
        Value::Number(n) if n.is_f64() => (n.as_f64().unwrap_or_default() as f32).to_string(),
        Value::Number(n) => n.as_u64().map_or_else(|| n.to_string(), grouped),
        Value::Bool(value) => value.to_string(),
    })
}
