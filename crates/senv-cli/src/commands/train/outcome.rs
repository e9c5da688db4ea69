//! The result of a training run of any system, for standard error and for JSON.

use std::path::{Path, PathBuf};

use senv::{Phases, SourceReport, Stopped, Trained};
use serde_json::{Map, Value, json};

use super::check_args::Checker;
use crate::{
    output::{duration, grouped, plural, short},
    progress::Unit,
};

/// A model, and what there is to say about it.
pub(crate) struct Outcome<M> {
    pub(crate) model: M,
    pub(crate) stopped: Stopped,
    /// For the reader of standard error.
    pub(crate) lines: Vec<String>,
    /// The check of the model, where one is made.
    pub(crate) check: Option<Checker<M>>,
    /// What is written beside the model.
    pub(crate) beside: Option<Beside<M>>,
    /// For `--json`.
    pub(crate) facts: Map<String, Value>,
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
    /// Of a system trained by negative sampling.
    pub(crate) fn of_text(trained: Trained<M>) -> Self {
        let (words, time) = (plural(trained.units, "word"), duration(trained.training));
        let (rate, loss) = (trained.units_per_second(), trained.loss);
        let line = format!("trained on {words} in {time} ({} words/s), loss {loss:.3}", short(rate));
        let facts = json!({
            "tokens": trained.units,
            "loss": loss,
            "training_seconds": trained.training.as_secs_f64(),
            "tokens_per_second": rate,
        });
        let (model, stopped, lines, facts) = (trained.model, trained.stopped, vec![line], object(facts));
        Self { model, stopped, lines, check: None, beside: None, facts }
    }

    /// The same with another form of the model, which is not checked and has nothing beside it.
    pub(crate) fn map<N>(self, model: impl FnOnce(M) -> N) -> Outcome<N> {
        let Self { model: trained, stopped, lines, facts, .. } = self;
        Outcome { model: model(trained), stopped, lines, check: None, beside: None, facts }
    }

    /// Of a system trained on pairs.
    pub(crate) fn of_gradient(trained: Trained<M>) -> Self {
        Self::of_gradient_in(Unit::Pairs, trained)
    }

    /// Of a system trained on examples of this name.
    pub(crate) fn of_gradient_in(unit: Unit, trained: Trained<M>) -> Self {
        let (n, time, rate) = (trained.units, duration(trained.training), trained.units_per_second());
        let mut lines = vec![format!(
            "trained on {} in {time} ({} {}s/s), {}, loss {:.4}",
            plural(n, unit.name()),
            short(rate),
            unit.name(),
            plural(trained.steps, "step"),
            trained.loss
        )];
        if trained.stopped == Stopped::Early {
            lines.push(format!(
                "stopped early, at step {}: the validation score had not risen any more",
                grouped(trained.steps)
            ));
        }
        if let Some((step, score)) = trained.best {
            lines.push(format!("best validation {score:.4}, at step {}: these weights are kept", grouped(step)));
        }
        if trained.best.is_none() && !trained.history.is_empty() && trained.stopped != Stopped::Interrupted {
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
        let (model, stopped, facts) = (trained.model, trained.stopped, object(facts));
        Self { model, stopped, lines, check: None, beside: None, facts }
    }
}

/// Where the time of the steps went; drawing the next batch goes on beside the rest.
fn seconds_of(phases: &Phases) -> Value {
    let Phases { draw, encode, loss, backward, update } = phases;
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

/// What was taken of a file, and what was left out, in a line.
pub(crate) fn source_line(report: &SourceReport) -> String {
    let mut text = format!("{}: {}", report.path.display(), plural(report.groups as u64, "group"));
    let left_out = [
        (report.identical, "of equal sentences"),
        (report.contaminated, "held out"),
        (report.singletons, "without a second sentence or a known word"),
    ];
    let left_out: Vec<String> =
        left_out.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{} {why}", grouped(*n))).collect();
    if !left_out.is_empty() {
        text += &format!("; left out: {}", left_out.join(", "));
    }
    text
}

/// The same as JSON.
pub(crate) fn source_json(report: &SourceReport) -> Value {
    json!({
        "path": report.path.display().to_string(),
        "groups": report.groups,
        "identical": report.identical,
        "contaminated": report.contaminated,
        "singletons": report.singletons,
    })
}
