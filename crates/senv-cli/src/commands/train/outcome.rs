//! The result of a training run, for standard error and for JSON.

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

/// A model and the report about it.
pub(crate) struct Outcome<M> {
    pub(crate) model: M,
    pub(crate) stopped: Stopped,
    /// Lines for standard error.
    pub(crate) lines: Vec<String>,
    /// Warnings to print even without a check; the check also has the one about the model.
    pub(crate) unlearned: Unlearned,
    /// The text to check the model on, if any.
    pub(crate) sample: Option<(CheckText, CheckParams)>,
    /// A file to write besides the model.
    pub(crate) beside: Option<Beside<M>>,
    /// For `--json`.
    pub(crate) facts: Map<String, Value>,
}

/// The warnings about stages whose loss is that of guessing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unlearned {
    pub(crate) first_stage: Option<CheckWarning>,
    pub(crate) model: Option<CheckWarning>,
}

/// A file that is made from a trained model and is not part of it.
pub(crate) struct Beside<M> {
    /// Its content, for messages.
    pub(crate) what: &'static str,
    pub(crate) path: PathBuf,
    /// Writes it to a path; returns a line about it.
    pub(crate) write: WriteBeside<M>,
}

pub(crate) type WriteBeside<M> = Box<dyn Fn(&M, &Path) -> senv::Result<String>>;

impl<M> Outcome<M> {
    /// The outcome of a trained model, counted in `unit`.
    pub(crate) fn new(unit: Unit, trained: Trained<M>) -> Self {
        Self::of_job(unit, trained.into())
    }

    /// The outcome of a run.
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

/// The report about a training run, as lines and as JSON.
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
        lines.push(format!("stopped early at step {at}, because the validation score stopped improving"));
    }
    if let Some((step, score)) = trained.best {
        lines.push(format!("best validation {score:.4} at step {}; these weights are kept", grouped(step)));
    }
    if trained.best.is_none() && !trained.history.is_empty() {
        lines.push("no validation gave a score; the last weights are kept".into());
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

/// The time of each phase of the steps; drawing the next batch runs in parallel.
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

/// What was used from a file and what was left out.
fn source_json(report: &SourceReport) -> Value {
    json!({
        "path": report.path.display().to_string(),
        "groups": report.groups,
        "identical": report.identical,
        "contaminated": report.contaminated,
        "singletons": report.singletons,
    })
}
