//! The systems of a bench: models, vectors from other programs, the models' word vectors with other weights, and
//! baselines without training.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use ndarray::Array2;
use senv_core::{NoObserver, Rows, SentenceEncoder, TextOptions, TextReader, Tokenizer};
use senv_eval::{
    BenchData, BenchOptions, BenchPart, DEFAULT_BINS, Figure, NormOptions, NormProfile, PairScorer, Scoring,
    SentenceVectors, SystemKind, SystemRecord, norm_profile,
};
use senv_metrics::Bootstrap;
use senv_ngram::{WordNgramParams, WordNgrams};

use super::untrained::Untrained;
use crate::{
    average::{encoder::AverageEncoder, weight_scheme::WeightScheme},
    error::Result,
    model::handle::Model,
    systems::Snli,
};

/// The dimension of random vectors if there is no model to take it from.
const RANDOM_DIM: usize = 300;

/// What is recorded of a system in addition to its results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchSystem {
    /// Its unique name.
    pub name: String,
    /// The file it comes from, or how it is built.
    pub source: String,
    /// SHA-256 of that file.
    pub sha256: Option<String>,
    /// The size of a model's file in bytes.
    pub bytes: Option<u64>,
}

/// An event of a bench.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum BenchEvent<'a> {
    /// It encodes this many sentences.
    Encoding(&'a str, usize),
    /// It starts this task.
    Task(&'a str, &'a str),
    /// It counts words for the baselines.
    Untrained,
    /// It finished a system, whose tasks took this long.
    Done(&'a str, Duration),
}

/// A bench that runs systems on all tasks, one after another.
pub struct BenchRun<'a> {
    data: &'a BenchData,
    options: BenchOptions,
    bootstrap: Bootstrap,
    /// The parts that have tasks.
    parts: Vec<PartSentences<'a>>,
    on_event: &'a dyn Fn(BenchEvent<'_>),
    /// The records of the systems so far.
    pub records: Vec<SystemRecord>,
}

/// A part of the tasks. Words are counted for each alone, so that own data change no figure of published ones.
struct PartSentences<'a> {
    part: BenchPart,
    /// The distinct sentences of its tasks.
    sentences: Vec<&'a str>,
    /// The sentences on which words and common components are counted.
    counted: Vec<&'a str>,
}

impl<'a> BenchRun<'a> {
    /// Creates a bench without results.
    #[must_use]
    pub fn new(
        data: &'a BenchData,
        options: BenchOptions,
        bootstrap: Bootstrap,
        on_event: &'a dyn Fn(BenchEvent<'_>),
    ) -> Self {
        let has_tasks = |part: &BenchPart| data.tasks.iter().any(|task| BenchPart::of(task) == *part);
        let parts = BenchPart::ALL.into_iter().filter(has_tasks).map(|part| PartSentences {
            part,
            sentences: data.sentences_of(part),
            counted: data.counted_sentences(part),
        });
        Self { data, options, bootstrap, parts: parts.collect(), on_event, records: Vec::new() }
    }

    /// Runs a model; `known_word_share` is the share of known words in the sentences.
    ///
    /// # Errors
    /// The errors of encoding; [`senv_core::Error::Interrupted`].
    pub fn model(&mut self, system: BenchSystem, model: &Model, known_word_share: Option<f64>) -> Result<()> {
        let norms = norm_profile_of(model, DEFAULT_BINS).ok().map(|profile| profile.to_figure());
        model.prepare_for_many();
        let figures = norms.into_iter().chain(self.label_figures(model)).collect();
        // Documents are ranked as in a search, without word order.
        let topics = model.without_order()?;
        topics.prepare_for_many();
        let encoders = self.parts.iter().map(|of| if of.part == BenchPart::Retrieval { &topics } else { model });
        let encoders: Vec<&dyn SentenceEncoder> = encoders.map(|encoder| encoder as &dyn SentenceEncoder).collect();
        self.encoded(SystemKind::Model, system, &encoders, model.downcast_ref::<Snli>())?;
        if let Some(record) = self.records.last_mut() {
            (record.known_word_share, record.figures) = (known_word_share, figures);
        }
        Ok(())
    }

    /// Runs vectors from another program.
    ///
    /// # Errors
    /// The errors of [`BenchRun::model`].
    pub fn vectors(&mut self, system: BenchSystem, vectors: &SentenceVectors) -> Result<()> {
        let figures = self.label_figures(vectors);
        let scorings = vec![Scoring::Vectors(vectors); self.parts.len()];
        self.scored(SystemKind::Vectors, system, &scorings, Some(vectors.dim()), None)?;
        if let Some(record) = self.records.last_mut() {
            record.figures = figures;
        }
        Ok(())
    }

    /// Runs SIF and uSIF on the word vectors of a model that was run as `system`, if its words have counts.
    ///
    /// # Errors
    /// The errors of [`BenchRun::model`].
    pub fn reweighted(&mut self, system: &BenchSystem, model: &Model) -> Result<()> {
        let Some(plain) = plain_average(model) else { return Ok(()) };
        let BenchSystem { name, sha256, .. } = system;
        for (scheme, suffix) in [(WeightScheme::SIF, "SIF"), (WeightScheme::USIF, "uSIF")] {
            let system = BenchSystem {
                name: format!("{name} + {suffix}"),
                source: format!(
                    "word vectors of {name}, {suffix} weights, common components of the evaluated \
                    sentences"
                ),
                sha256: sha256.clone(),
                bytes: None,
            };
            let weigh =
                |of: &PartSentences<'_>| plain.clone().weighted_on(Some(scheme), &of.counted, self.options.seed).ok();
            let weighted = self.parts.iter().map(weigh);
            // A vocabulary without counts cannot be weighted.
            if let Some(weighted) = weighted.collect::<Option<Vec<_>>>() {
                self.encoded(SystemKind::Reweighted, system, &as_encoders(&weighted), None)?;
            }
        }
        Ok(())
    }

    /// Runs the baselines without training, with the tokenizer, dimension and counts of a model.
    ///
    /// # Errors
    /// The errors of [`BenchRun::model`].
    pub fn untrained(&mut self, model: Option<&Model>) -> Result<()> {
        let usual = Tokenizer::words().lowercase(true);
        let tokenizer = model.map_or(&usual, |model| model.tokenizer());
        let dim = model.map_or(RANDOM_DIM, SentenceEncoder::dim);
        (self.on_event)(BenchEvent::Untrained);
        let counts = model.map(|model| model.vocabulary());
        let untrained = self
            .parts
            .iter()
            .map(|of| Untrained::new(tokenizer, counts, dim, &of.sentences, &of.counted, self.options.seed));
        let untrained = untrained.collect::<Result<Vec<Untrained>>>()?;
        let system = |name: &str, source: &str| BenchSystem {
            name: name.into(),
            source: source.into(),
            ..BenchSystem::default()
        };
        let kind = SystemKind::Baseline;
        let overlap = system("word overlap", "shared words divided by all words of both sentences");
        let overlaps: Vec<_> = untrained.iter().map(Untrained::overlap).collect();
        self.scored(kind, overlap, &as_scorings(&overlaps), None, None)?;
        let tf_idf = system("TF-IDF", "sparse vectors, counted on the evaluated sentences");
        let cosines: Vec<_> = untrained.iter().map(Untrained::tf_idf).collect();
        self.scored(kind, tf_idf, &as_scorings(&cosines), None, None)?;
        let random = system("random vectors", "averages of random word vectors");
        let encoders: Vec<_> = untrained.iter().map(|of| &of.random as &dyn SentenceEncoder).collect();
        self.encoded(kind, random, &encoders, None)?;
        let weighted = untrained.iter().map(|of| of.weighted.as_ref().map(|of| of as &dyn SentenceEncoder));
        if let Some(weighted) = weighted.collect::<Option<Vec<_>>>() {
            let sif = system("random vectors + SIF", "averages of random word vectors, SIF weights");
            self.encoded(kind, sif, &weighted, None)?;
        }
        Ok(())
    }

    /// Returns cosines by label; empty if the system lacks a vector, as vectors from another program can.
    fn label_figures(&self, encoder: &dyn SentenceEncoder) -> Vec<Figure> {
        self.data.label_figures(encoder).unwrap_or_default()
    }

    /// Runs a system that encodes each distinct sentence of a part once, with an encoder for each part, and can have
    /// its own classifier.
    fn encoded(
        &mut self,
        kind: SystemKind,
        system: BenchSystem,
        encoders: &[&dyn SentenceEncoder],
        classifier: Option<&Snli>,
    ) -> Result<()> {
        let n: usize = self.parts.iter().map(|of| of.sentences.len()).sum();
        (self.on_event)(BenchEvent::Encoding(&system.name, n));
        let started = Instant::now();
        let vectors = self.parts.iter().zip(encoders);
        let vectors = vectors.map(|(of, encoder)| SentenceVectors::encode(*encoder, of.sentences.iter().copied()));
        let vectors = vectors.collect::<senv_eval::Result<Vec<SentenceVectors>>>()?;
        let rate = n as f64 / started.elapsed().as_secs_f64().max(1e-9);
        let scorings: Vec<Scoring<'_>> = vectors
            .iter()
            .map(|vectors| match classifier {
                Some(own) => Scoring::Classifier(vectors, own),
                None => Scoring::Vectors(vectors),
            })
            .collect();
        self.scored(kind, system, &scorings, encoders.first().map(|encoder| encoder.dim()), Some(rate))
    }

    /// Runs a system with vectors or scores for each part.
    fn scored(
        &mut self,
        kind: SystemKind,
        system: BenchSystem,
        scorings: &[Scoring<'_>],
        dim: Option<usize>,
        sentences_per_second: Option<f64>,
    ) -> Result<()> {
        let started = Instant::now();
        let BenchSystem { name, source, sha256, bytes } = system;
        let each = |task: &senv_eval::Task| {
            (self.on_event)(BenchEvent::Task(&name, &task.key()));
            true
        };
        let mut results = Vec::new();
        for (of, scoring) in self.parts.iter().zip(scorings) {
            let (options, bootstrap) = (&self.options, self.bootstrap);
            results.extend(self.data.run_part(of.part, scoring, options, bootstrap, &NoObserver, each)?);
        }
        (self.on_event)(BenchEvent::Done(&name, started.elapsed()));
        let (known_word_share, figures) = (None, Vec::new());
        self.records.push(SystemRecord {
            name,
            kind,
            source,
            sha256,
            bytes,
            dim,
            known_word_share,
            sentences_per_second,
            results,
            figures,
        });
        Ok(())
    }
}

fn as_encoders(encoders: &[AverageEncoder]) -> Vec<&dyn SentenceEncoder> {
    encoders.iter().map(|encoder| encoder as &dyn SentenceEncoder).collect()
}

fn as_scorings<S: PairScorer>(scorers: &[S]) -> Vec<Scoring<'_>> {
    scorers.iter().map(|scorer| Scoring::Pairs(scorer)).collect()
}

/// Returns how the norms of the word vectors of a model depend on word frequency, before weights are applied.
///
/// # Errors
/// The errors of [`norm_profile`]; an error for a model without rows for its words.
pub fn norm_profile_of(model: &Model, n_bins: usize) -> Result<NormProfile> {
    let options = NormOptions { n_bins, ..NormOptions::default() };
    Ok(match model.abilities().average {
        Some(encoder) => norm_profile(encoder.words(), &options)?,
        None => {
            let (vocabulary, rows) = (model.vocabulary(), model.rows()?);
            let words = vocabulary.iter();
            norm_profile(words.map(|(id, word, _)| (word, vocabulary.frequency(id), rows.row(id.index()))), &options)?
        }
    })
}

/// Returns the plain average of the word vectors of a model that averages them.
fn plain_average(model: &Model) -> Option<AverageEncoder> {
    if let Some(average) = model.abilities().average {
        return average.clone().with_weighting(None).ok();
    }
    if model.kind() != "static" {
        return None;
    }
    let embeddings = model.to_embeddings().ok()?;
    let (vocabulary, table) = embeddings.into_parts();
    let words = WordNgrams::new(&vocabulary, WordNgramParams { max_n: 1, ..WordNgramParams::default() }).ok()?;
    AverageEncoder::new(model.tokenizer().clone(), vocabulary, words, table).ok()
}

/// Reads sentences, one per line, and their vectors, one row per line, from a NumPy matrix.
///
/// # Errors
/// The errors of reading; [`senv_core::Error::BadFile`] if their numbers differ.
pub fn read_sentence_vectors(vectors: &Path, sentences: &Path) -> Result<SentenceVectors> {
    let mut lines = Vec::new();
    let mut reader = TextReader::open(&[sentences], &TextOptions::default())?;
    while let Some(line) = reader.next_line()? {
        lines.push(line.text.to_owned());
    }
    let table = senv_store::read_npy(vectors)?;
    if table.n_rows() != lines.len() {
        let reason = format!(
            "it has {} rows, but there are {} lines in {}; give one vector per line, in the same order",
            table.n_rows(),
            lines.len(),
            sentences.display()
        );
        return Err(senv_core::Error::BadFile { path: vectors.to_owned(), reason }.into());
    }
    let values: Vec<f32> = (0..table.n_rows()).flat_map(|i| table.row(i).to_vec()).collect();
    let too_large = |_| senv_core::Error::TooLarge { rows: table.n_rows(), dim: table.dim() };
    let values = Array2::from_shape_vec((table.n_rows(), table.dim()), values).map_err(too_large)?;
    Ok(SentenceVectors::from_vectors(lines, values)?)
}
