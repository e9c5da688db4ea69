//! `senv train snli`: judged pairs to an encoder and its classifier, from the start or from Skip-thoughts.

use std::path::{Path, PathBuf};

use senv_eval::NliSet;
use senv_models::{
    Error as ModelError, GruTopology, Model, NliPairs, SkipThought, Snli, SnliEncoder, SnliParams, Trained,
};
use senv_store::Embeddings;

use super::{
    data_args::{VectorArgs, WordArgs},
    decoder_args::{LongArg, StyleArg},
    files::{RunFiles, with_suffix},
    fit_args::{FitArgs, StartArgs, epochs_of},
    job::Job,
    names::{names, set},
    outcome::Outcome,
};
use crate::{
    destination::Content,
    failure::{Failure, Result},
    output::{self, plural},
    progress::{TrainingProgress, Unit},
};
use clap::ValueEnum;

names!(TopologyArg for GruTopology {
    Forward => GruTopology::Forward, Separate => GruTopology::Separate, Interleaved => GruTopology::Interleaved,
});

/// Arguments of the SNLI models.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SnliArgs {
    /// Judged pairs to learn from: LABEL (entailment, neutral, contradiction), PREMISE, HYPOTHESIS, separated by tabs; a
    /// published snli_1.0_*.txt or .jsonl; or a part of SICK. Pairs without a label (-) are passed over.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    train: Vec<PathBuf>,
    /// Judged pairs that choose the best weights, by the share of right labels; without them the last weights are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    /// What turns a sentence into a vector: bow (the sum of its words), rnn (a recurrent encoder), or a Skip-thought
    /// model that is tuned. Of a combined one both parts are, each with a classifier of its own; the result is a
    /// Skip-thought model again.
    #[arg(long, value_name = "bow|rnn|MODEL", default_value = "bow", help_heading = "Training")]
    encoder: String,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    start: StartArgs,
    #[command(flatten)]
    fit: FitArgs,
    /// Units of a reader in a layer, of rnn [default: 2400]
    #[arg(long, value_name = "N", help_heading = "Training")]
    sentence_dim: Option<usize>,
    /// Layers of rnn, at least 1 [default: 1]
    #[arg(long, value_name = "N", help_heading = "Training")]
    layers: Option<usize>,
    /// How directions and layers of rnn are joined: forward, or both directions [default: forward]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    topology: Option<TopologyArg>,
    /// The form of the cells of rnn [default: paper]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    style: Option<StyleArg>,
    /// Hidden units of the classifier, at least 1.
    #[arg(long, value_name = "N", help_heading = "Training")]
    hidden: Option<usize>,
    /// At most so many words, the most frequent [default: no limit]
    #[arg(long, visible_alias = "vocabulary", value_name = "N", help_heading = "Text")]
    max_vocabulary: Option<usize>,
    /// Words of a sentence that are read, at least 1.
    #[arg(long, value_name = "N", help_heading = "Text")]
    max_tokens: Option<usize>,
    /// What becomes of longer sentences: they are cut, or their pair is left out, of --dev too.
    #[arg(long, value_name = "WHAT", help_heading = "Text")]
    long: Option<LongArg>,
    #[command(flatten)]
    words: WordArgs,
}

impl SnliArgs {
    /// The arguments that say what only `rnn` has.
    fn of_rnn(&self) -> [(&'static str, bool); 4] {
        [
            ("--sentence-dim", self.sentence_dim.is_some()),
            ("--layers", self.layers.is_some()),
            ("--topology", self.topology.is_some()),
            ("--style", self.style.is_some()),
        ]
    }

    /// The arguments that say what a model to be tuned brings itself.
    fn of_new_words(&self) -> [(&'static str, bool); 7] {
        [
            ("--dim", self.start.dim.is_some()),
            ("--init-vectors", self.vectors.init_vectors.is_some()),
            ("--min-count", self.words.min_count.is_some()),
            ("--max-vocabulary", self.max_vocabulary.is_some()),
            ("--max-tokens", self.max_tokens.is_some()),
            ("--tokenizer", self.words.tokenizer.is_some()),
            ("--lowercase", self.words.lowercase.is_some()),
        ]
    }

    /// The encoder, where it is not a model; refuses what it has no use for.
    fn encoder(&self) -> Result<Option<SnliEncoder>> {
        let refuse = |arguments: &[(&'static str, bool)], why: &str| match arguments.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::Usage(format!("{name} {why}"))),
            None => Ok(()),
        };
        match self.encoder.as_str() {
            "bow" => {
                refuse(&self.of_rnn(), "goes with --encoder rnn")?;
                Ok(Some(SnliEncoder::Bow))
            }
            "rnn" => {
                let mut form = SnliEncoder::rnn();
                if let SnliEncoder::Rnn { hidden, layers, topology, style, .. } = &mut form {
                    set(hidden, self.sentence_dim);
                    set(layers, self.layers);
                    set(topology, self.topology);
                    set(style, self.style);
                }
                Ok(Some(form))
            }
            _ => {
                refuse(&self.of_rnn(), "goes with --encoder rnn; a model that is tuned keeps its form")?;
                refuse(&self.of_new_words(), "goes with --encoder bow or rnn; a model that is tuned brings its words")?;
                Ok(None)
            }
        }
    }

    fn params(&self, encoder: Option<SnliEncoder>, threads: usize) -> SnliParams {
        let mut params = SnliParams::default();
        if let Some(encoder) = encoder {
            params.encoder = encoder;
        } else {
            params.fit.lr = TUNING_LR;
        }
        self.start.apply(&mut params.dim, &mut params.initial, None);
        self.fit.apply(&mut params.fit);
        self.words.apply(&mut params.tokenizer);
        set(&mut params.min_count, self.words.min_count);
        set(&mut params.max_vocabulary, self.max_vocabulary);
        set(&mut params.max_tokens, self.max_tokens);
        set(&mut params.long, self.long);
        set(&mut params.hidden, self.hidden);
        params.fit.threads = threads;
        params.fit.checkpoint = Some(self.files.plan());
        params
    }

    pub(crate) fn run(&self, threads: usize) -> Result {
        self.fit.check(!self.dev.is_empty())?;
        let encoder = self.encoder()?;
        let base = encoder.is_none().then(|| Path::new(&self.encoder));
        let params = self.params(encoder, threads);
        let files = self.train.iter().chain(&self.dev).chain(&self.vectors.init_vectors).map(PathBuf::as_path);
        let job = Job::new(&self.files, &files.chain(base).collect::<Vec<_>>())?;
        let epochs = epochs_of(&params.fit);
        let (train, dev) = (read(&self.train)?, read(&self.dev)?);
        let train = train.ok_or_else(|| Failure::Usage("give pairs to learn from with --train FILE".into()))?;
        let pairs = (&train, dev.as_ref());
        let Some(base) = base else {
            return job.run(
                epochs,
                Unit::Pairs,
                |progress| self.anew(params, pairs, progress),
                |model, path| model.save(path),
            );
        };
        let base = skip_thought(base)?;
        if base.config().parts.len() == 1 {
            let tune = |progress: &TrainingProgress| {
                Ok(Outcome::of_gradient(params.fit_skip_thought(&base, 0, pairs.0, pairs.1, progress)?))
            };
            return job.run(epochs, Unit::Pairs, tune, |model, path| model.save(path));
        }
        let contents = [Content::Model, Content::Checkpoint];
        let job = job.keeping(self.part_files().into_iter().zip(contents))?;
        job.run(
            epochs,
            Unit::Pairs,
            |progress| self.both_parts(&base, params, pairs, progress),
            |model, path| model.save(path),
        )
    }

    fn anew(
        &self,
        mut params: SnliParams,
        (train, dev): Labelled<'_>,
        progress: &TrainingProgress,
    ) -> senv_models::Result<Outcome<Snli>> {
        let vectors = self.vectors.open()?;
        self.start.apply(&mut params.dim, &mut params.initial, vectors.as_ref().map(Embeddings::dim));
        let lines = train.pairs.iter().take(5000).flat_map(|(_, premise, hypothesis)| [&premise[..], hypothesis]);
        self.words.fit_tokenizer_to(&mut params.tokenizer, lines, progress);
        let trained = params.fit(train, dev, vectors.as_ref(), progress)?;
        let found = self.vectors.line(trained.initial);
        let mut outcome = Outcome::of_gradient(trained);
        outcome.lines.insert(0, found);
        Ok(outcome)
    }

    /// The first part when it is tuned, and the checkpoint of the second.
    fn part_files(&self) -> [PathBuf; 2] {
        ["part1", "part2"].map(|part| with_suffix(&self.files.checkpoint(), &format!(".{part}")))
    }

    /// Tunes both parts of a combined model in turn.
    fn both_parts(
        &self,
        base: &SkipThought,
        params: SnliParams,
        (train, dev): Labelled<'_>,
        progress: &TrainingProgress,
    ) -> senv_models::Result<Outcome<SkipThought>> {
        let [kept, checkpoint] = self.part_files();
        let tune = |part: usize, params: &SnliParams| -> senv_models::Result<Trained<Snli>> {
            progress.stage(format!("part {}/2", part + 1));
            params.fit_skip_thought(base, part, train, dev, progress)
        };
        let mut lines = Vec::new();
        let first = if self.files.resume && kept.exists() {
            let first = Snli::open(&kept)?;
            let text = |params: &SnliParams| serde_json::to_value(params).ok();
            if text(&first.config().params) != text(&params) {
                let what = "other settings of the first part".into();
                return Err(ModelError::CheckpointMismatch { path: kept, what });
            }
            first
        } else {
            let outcome = Outcome::of_gradient(tune(0, &params)?);
            if !outcome.stopped.is_complete() {
                let Outcome { stopped, lines, facts, .. } = outcome;
                return Ok(Outcome { model: base.clone(), stopped, lines, check: None, facts });
            }
            outcome.model.save(&kept)?;
            lines.extend(outcome.lines.into_iter().map(|line| format!("part 1: {line}")));
            outcome.model
        };
        let mut second = params.clone();
        second.fit.checkpoint = Some(self.files.plan_at(checkpoint));
        let outcome = Outcome::of_gradient(tune(1, &second)?);
        lines.extend(outcome.lines.into_iter().map(|line| format!("part 2: {line}")));
        let model = base.with_tuned(0, &first)?.with_tuned(1, &outcome.model)?;
        Ok(Outcome { model, stopped: outcome.stopped, lines, check: None, facts: outcome.facts })
    }
}

/// Pairs to learn from, and held-out ones.
type Labelled<'a> = (&'a NliPairs, Option<&'a NliPairs>);

/// The labelled pairs of all files together; none without a file.
fn read(paths: &[PathBuf]) -> Result<Option<NliPairs>> {
    let sets = paths.iter().map(NliSet::read).collect::<senv_eval::Result<Vec<_>>>()?;
    let Some(first) = sets.first() else { return Ok(None) };
    for set in sets.iter().filter(|set| set.n_unlabeled > 0) {
        let pairs = plural(set.n_unlabeled as u64, "pair");
        output::note(&format!("{}: {pairs} without a label, passed over", set.path.display()));
    }
    let pairs = sets.iter().flat_map(|set| &set.pairs);
    let pairs = pairs.map(|pair| (pair.label.name(), &pair.premise[..], &pair.hypothesis[..]));
    Ok(Some(NliPairs::new(first.path.display().to_string(), pairs)?))
}

/// The rate for a model that is tuned: what it has learned should bend, not break.
const TUNING_LR: f64 = 1e-4;

/// Opens the model to be tuned.
fn skip_thought(path: &Path) -> Result<SkipThought> {
    Model::open_verified(path)?.downcast_ref().cloned().ok_or_else(|| {
        Failure::Usage(format!("--encoder {}: neither bow nor rnn nor a Skip-thought model", path.display()))
    })
}
