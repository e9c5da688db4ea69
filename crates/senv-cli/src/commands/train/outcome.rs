//! The result of a training run of any system, for standard error and for JSON.

use std::path::{Path, PathBuf};

use senv::{
    Trained,
    check::{CheckParams, CheckText, CheckWarning, LossAgainstChance},
    data::SourceReport,
    gradient::{Phases, Stopped},
    train_job::JobOutcome,
};
use serde_json::{Map, Value, json};

use crate::{
    commands::check_report::warning_json,
    output::{duration, grouped, plural, short},
    progress::Unit,
};

/// A model, and what there is to say about it.
pub(crate) struct Outcome<M> {
    pub(crate) model: M,
    pub(crate) stopped: Stopped,
    /// For the reader of standard error.
    pub(crate) lines: Vec<String>,
    /// What is to be warned of, whether the model is checked or not: its own warning a check has as well.
    pub(crate) unlearned: Unlearned,
    /// What the model is checked on, if it is.
    pub(crate) sample: Option<(CheckText, CheckParams)>,
    /// What is written beside the model.
    pub(crate) beside: Option<Beside<M>>,
    /// For `--json`.
    pub(crate) facts: Map<String, Value>,
}

/// The stages of a run whose loss is that of guessing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unlearned {
    pub(crate) first_stage: Option<CheckWarning>,
    pub(crate) model: Option<CheckWarning>,
}

/// A file that is made of a trained model and is no part of it.
pub(crate) struct Beside<M> {
    /// What it holds, for messages.
    pub(crate) what: &'static str,
    pub(crate) path: PathBuf,
    /// Writes it to a path; returns what there is to say about it.
    pub(crate) write: WriteBeside<M>,
}

pub(crate) type WriteBeside<M> = Box<dyn Fn(&M, &Path) -> senv::Result<String>>;

impl<M> Outcome<M> {
    /// Of a model that was trained on so many of these.
    pub(crate) fn new(unit: Unit, trained: Trained<M>) -> Self {
        Self::of_job(unit, trained.into())
    }

    /// Of a run.
    pub(crate) fn of_job(unit: Unit, outcome: JobOutcome<M>) -> Self {
        let JobOutcome { mut trained, sources, sample, .. } = outcome;
        let first = trained.first_stage.take();
        let warning = |loss: Option<LossAgainstChance>| loss.and_then(CheckWarning::of_loss);
        let unlearned = Unlearned {
            first_stage: first.as_ref().and_then(|first| warning(first.against_chance)),
            model: warning(trained.against_chance),
        };
        let (mut lines, mut facts) = said(unit, &trained);
        if let Some(first) = first {
            let (of_first, facts_of_first) = said(unit, &first);
            let of_second = std::mem::take(&mut lines);
            lines.extend(of_first.into_iter().map(|line| format!("stage 1: {line}")));
            lines.extend(of_second.into_iter().map(|line| format!("stage 2: {line}")));
            facts.insert("stage1".into(), Value::Object(facts_of_first));
        }
        if !sources.is_empty() {
            facts.insert("sources".into(), sources.iter().map(source_json).collect());
        }
        let Trained { model, stopped, .. } = trained;
        Self { model, stopped, lines, unlearned, sample, beside: None, facts }
    }
}

/// What there is to say of a training, for people and as JSON.
fn said<M>(unit: Unit, trained: &Trained<M>) -> (Vec<String>, Map<String, Value>) {
    let (lines, mut facts) = said_of_run(unit, trained);
    let against_chance = trained.against_chance;
    facts.insert("chance".into(), json!(against_chance.map(|loss| loss.chance)));
    facts.insert("learned".into(), json!(against_chance.map(|loss| loss.has_learned())));
    if let Some(warning) = against_chance.and_then(CheckWarning::of_loss) {
        facts.insert("warning".into(), warning_json(&warning));
    }
    (lines, facts)
}

fn said_of_run<M>(unit: Unit, trained: &Trained<M>) -> (Vec<String>, Map<String, Value>) {
    let (n, time, rate) = (trained.units, duration(trained.training), trained.units_per_second());
    let (of, per) = (plural(n, unit.name()), short(rate));
    if unit == Unit::Words {
        let facts = json!({
            "tokens": n,
            "loss": trained.loss,
            "training_seconds": trained.training.as_secs_f64(),
            "tokens_per_second": rate,
        });
        return (vec![format!("trained on {of} in {time} ({per} words/s), loss {:.3}", trained.loss)], object(facts));
    }
    let (name, steps) = (unit.name(), plural(trained.steps, "step"));
    let mut lines = vec![format!("trained on {of} in {time} ({per} {name}s/s), {steps}, loss {:.4}", trained.loss)];
    if trained.stopped == Stopped::Early {
        let at = grouped(trained.steps);
        lines.push(format!("stopped early, at step {at}: the validation score had not risen any more"));
    }
    if let Some((step, score)) = trained.best {
        lines.push(format!("best validation {score:.4}, at step {}: these weights are kept", grouped(step)));
    }
    if trained.best.is_none() && !trained.history.is_empty() {
        lines.push("no validation gave a score: the last weights are kept".into());
    }
    let facts = json!({
        "words": trained.initial.words,
        "words_found": trained.initial.found,
        "examples": n,
        "steps": trained.steps,
        "loss": trained.loss,
        "best": trained.best.map(|(step, score)| json!({ "step": step, "validation": score })),
        "history": trained.history,
        "stopped": trained.stopped.name(),
        "training_seconds": trained.training.as_secs_f64(),
        "examples_per_second": rate,
        "phase_seconds": seconds_of(&trained.phases),
    });
    (lines, object(facts))
}

/// Where the time of the steps went; drawing the next batch goes on beside the rest.
fn seconds_of(phases: &Phases) -> Value {
    let Phases { draw, encode, loss, backward, update, .. } = phases;
    json!({
        "draw": draw.as_secs_f64(),
        "encode": encode.as_secs_f64(),
        "loss": loss.as_secs_f64(),
        "backward": backward.as_secs_f64(),
        "update": update.as_secs_f64(),
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// What was taken of a file, and what was left out.
fn source_json(report: &SourceReport) -> Value {
    json!({
        "path": report.path.display().to_string(),
        "groups": report.groups,
        "identical": report.identical,
        "contaminated": report.contaminated,
        "singletons": report.singletons,
    })
}
