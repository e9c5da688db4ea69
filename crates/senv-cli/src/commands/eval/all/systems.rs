//! The systems of a bench: models, vectors of other programs, the models' word vectors with other weights, and what
//! takes no training.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use ndarray::Array2;
use senv::{AverageEncoder, Model, Snli, WeightScheme};
use senv_core::{NoObserver, Rows, SentenceEncoder, TextOptions, TextReader, Tokenizer};
use senv_eval::{
    BenchData, BenchOptions, DEFAULT_BINS, Figure, Scoring, SentenceVectors, SystemKind, SystemRecord, sha256_of_bytes,
    sha256_of_file,
};
use senv_metrics::Bootstrap;
use senv_ngram::{WordNgramParams, WordNgrams};

use super::BenchProgress;
use crate::{
    commands::{
        eval::{floor::Floor, nli::own, norm_profile_of},
        file_name,
        known_words::known_share,
    },
    failure::{Failure, Result},
    output::{duration, plural},
};

/// Dimension of random vectors where there is no model to take it from.
const RANDOM_DIM: usize = 300;

/// Vectors that another program made.
#[derive(Debug, clap::Args)]
pub(super) struct VectorsArg {
    /// Vectors of another program, a NumPy matrix with a row for each line of --sentences; may be given several times.
    #[arg(long, value_name = "FILE.npy", requires = "sentences")]
    vectors: Vec<PathBuf>,
    /// The sentences of --vectors, one a line, in the same order.
    #[arg(long, value_name = "FILE", requires = "vectors")]
    sentences: Vec<PathBuf>,
}

impl VectorsArg {
    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.vectors.iter().chain(&self.sentences)
    }
}

/// What to run, and on what.
pub(super) struct Systems<'a> {
    pub(super) models: &'a [PathBuf],
    pub(super) vectors: &'a VectorsArg,
    pub(super) baselines: bool,
    pub(super) data: &'a BenchData,
    /// The distinct sentences of all tasks.
    pub(super) sentences: &'a [&'a str],
    /// Those that words and common components are counted on.
    pub(super) counted: &'a [&'a str],
    pub(super) options: BenchOptions,
    pub(super) bootstrap: Bootstrap,
    pub(super) progress: &'a BenchProgress,
}

/// A system before it is run.
struct Described {
    name: String,
    kind: SystemKind,
    source: String,
    sha256: Option<String>,
    known_word_share: Option<f64>,
    figures: Vec<Figure>,
}

impl Described {
    fn baseline(name: &str, source: &str) -> Self {
        let (name, source) = (name.to_owned(), source.to_owned());
        Self { name, kind: SystemKind::Baseline, source, sha256: None, known_word_share: None, figures: Vec::new() }
    }
}

impl Systems<'_> {
    /// Runs all systems: the models in their order, vectors of other programs, other weights, baselines.
    pub(super) fn run(&self) -> Result<Vec<SystemRecord>> {
        let VectorsArg { vectors, sentences } = self.vectors;
        if vectors.len() != sentences.len() {
            let (n, m) = (vectors.len(), sentences.len());
            return Err(Failure::Usage(format!(
                "--vectors is given {n} times and --sentences {m} times; give one for one"
            )));
        }
        let english = [PathBuf::from("english")];
        let models = if self.models.is_empty() && vectors.is_empty() { &english } else { self.models };
        let names = names(models.iter().chain(vectors))?;
        let (of_models, of_vectors) = names.split_at(models.len());
        // All models are opened first: a name that is wrong costs no run.
        let opened = models.iter().map(Model::open).collect::<senv::Result<Vec<Model>>>()?;
        let others = vectors.iter().zip(sentences).map(|(v, s)| read_vectors(v, s)).collect::<Result<Vec<_>>>()?;

        let mut records = Vec::new();
        for ((path, name), model) in models.iter().zip(of_models).zip(&opened) {
            let sha256 =
                if senv::is_english(path) { sha256_of_bytes(senv_english::BYTES) } else { sha256_of_file(path)? };
            let sha256 = Some(sha256);
            let source = if senv::is_english(path) {
                format!("the model in senv {}", env!("CARGO_PKG_VERSION"))
            } else {
                path.display().to_string()
            };
            let norms = norm_profile_of(model, DEFAULT_BINS).ok().map(|profile| profile.to_figure());
            model.prepare_for_many();
            let figures = norms.into_iter().chain(self.label_figures(model)).collect();
            let known_word_share = self.progress.apart(|| known_share(path, model, self.sentences.iter().copied()));
            let (name, kind) = (name.clone(), SystemKind::Model);
            records.push(self.encoded(
                Described { name, kind, source, sha256, known_word_share, figures },
                model,
                model.downcast_ref::<Snli>(),
            )?);
        }
        for ((path, name), embeddings) in vectors.iter().zip(of_vectors).zip(&others) {
            let (kind, source, sha256) = (SystemKind::Vectors, path.display().to_string(), Some(sha256_of_file(path)?));
            let figures = self.label_figures(embeddings);
            let described = Described { name: name.clone(), kind, source, sha256, known_word_share: None, figures };
            records.push(self.scored(described, &Scoring::Vectors(embeddings), Some(embeddings.dim()), None)?);
        }
        // A classifier's own tasks have no sentences to be encoded.
        if self.baselines && !self.sentences.is_empty() {
            for (i, (name, model)) in of_models.iter().zip(&opened).enumerate() {
                // Records of the models come first, in their order.
                let sha256 = records[i].sha256.clone();
                self.reweighted(name, model, sha256, &mut records)?;
            }
            self.baselines(opened.first(), &mut records)?;
        }
        Ok(records)
    }

    /// Cosines by label; none where the system lacks a vector, as those of another program may.
    fn label_figures(&self, encoder: &dyn SentenceEncoder) -> Vec<Figure> {
        self.data.label_figures(encoder).unwrap_or_default()
    }

    /// A system that encodes, each distinct sentence once, and may have a classifier of its own.
    fn encoded(
        &self,
        described: Described,
        encoder: &dyn SentenceEncoder,
        classifier: Option<&Snli>,
    ) -> Result<SystemRecord> {
        let n_sentences = plural(self.sentences.len() as u64, "sentence");
        self.progress.next(&format!("{}: encoding {n_sentences}", described.name));
        let started = Instant::now();
        let embeddings = SentenceVectors::encode(encoder, self.sentences.iter().copied())?;
        let rate = self.sentences.len() as f64 / started.elapsed().as_secs_f64().max(1e-9);
        let own = classifier.map(own);
        let scoring = match &own {
            Some(own) => Scoring::Classifier(&embeddings, own),
            None => Scoring::Vectors(&embeddings),
        };
        self.scored(described, &scoring, Some(encoder.dim()), Some(rate))
    }

    /// A system with vectors or scores.
    fn scored(
        &self,
        described: Described,
        scoring: &Scoring<'_>,
        dim: Option<usize>,
        sentences_per_second: Option<f64>,
    ) -> Result<SystemRecord> {
        let started = Instant::now();
        let name = &described.name;
        let each = |task: &senv_eval::Task| {
            self.progress.next(&format!("{name}: {}", task.key()));
            true
        };
        let results = self.data.run(scoring, &self.options, self.bootstrap, &NoObserver, each)?;
        self.progress.done(&format!("{name}: {}", duration(started.elapsed())));
        let Described { name, kind, source, sha256, known_word_share, figures } = described;
        Ok(SystemRecord { name, kind, source, sha256, dim, known_word_share, sentences_per_second, results, figures })
    }

    /// SIF and uSIF on the word vectors of a model of this checksum, where it has words with counts.
    fn reweighted(&self, name: &str, model: &Model, sha256: Option<String>, records: &mut Vec<SystemRecord>) -> Result {
        let Some(plain) = plain_average(model) else { return Ok(()) };
        for (scheme, suffix) in [(WeightScheme::SIF, "SIF"), (WeightScheme::USIF, "uSIF")] {
            let described = Described {
                name: format!("{name} + {suffix}"),
                kind: SystemKind::Reweighted,
                source: format!("word vectors of {name}, {suffix} weights, common components of the sentences judged"),
                sha256: sha256.clone(),
                known_word_share: None,
                figures: Vec::new(),
            };
            // A vocabulary without counts has no weights.
            if let Ok(weighted) = plain.clone().weighted_on(Some(scheme), self.counted, self.options.seed) {
                records.push(self.encoded(described, &weighted, None)?);
            }
        }
        Ok(())
    }

    /// What takes no training, with the tokenizer, the dimension and the counts of the first model.
    fn baselines(&self, model: Option<&Model>, records: &mut Vec<SystemRecord>) -> Result {
        let usual = Tokenizer::words().lowercase(true);
        let tokenizer = model.map_or(&usual, |model| model.tokenizer());
        let dim = model.map_or(RANDOM_DIM, SentenceEncoder::dim);
        self.progress.next("baselines");
        let counts = model.map(|model| model.vocabulary());
        let floor = Floor::new(tokenizer, counts, dim, self.sentences, self.counted, self.options.seed)?;
        let overlap = floor.overlap();
        let described = Described::baseline("word overlap", "shared words by all words of two sentences");
        records.push(self.scored(described, &Scoring::Pairs(&overlap), None, None)?);
        let tf_idf = floor.tf_idf();
        let described = Described::baseline("TF-IDF", "sparse vectors, counted on the sentences judged");
        records.push(self.scored(described, &Scoring::Pairs(&tf_idf), None, None)?);
        let described = Described::baseline("random vectors", "averages of random word vectors");
        records.push(self.encoded(described, &floor.random, None)?);
        if let Some(weighted) = &floor.weighted {
            let described = Described::baseline("random vectors + SIF", "averages of random word vectors, SIF weights");
            records.push(self.encoded(described, weighted, None)?);
        }
        Ok(())
    }
}

/// The plain average of the word vectors of a model that averages them.
fn plain_average(model: &Model) -> Option<AverageEncoder> {
    if let Some(average) = model.average() {
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

/// A name for each file: its own, and its path where two have the same.
fn names<'a>(paths: impl Iterator<Item = &'a PathBuf> + Clone) -> Result<Vec<String>> {
    let short = |path: &Path| {
        let name = file_name(path);
        let ends = [".senv", ".npy", ".vec", ".txt"];
        ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned()
    };
    let name = |path: &PathBuf| {
        let alone = paths.clone().filter(|other| short(other) == short(path)).count() == 1;
        if alone { short(path) } else { path.display().to_string() }
    };
    let names: Vec<String> = paths.clone().map(name).collect();
    match (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        Some(i) => Err(Failure::Usage(format!("{} is given twice; name each model once", names[i]))),
        None => Ok(names),
    }
}

/// Sentences and their vectors, read from two files.
fn read_vectors(vectors: &Path, sentences: &Path) -> Result<SentenceVectors> {
    let mut lines = Vec::new();
    let mut reader = TextReader::open(&[sentences], &TextOptions::default())?;
    while let Some(line) = reader.next_line()? {
        lines.push(line.text.to_owned());
    }
    let table = senv_store::read_npy(vectors)?;
    if table.n_rows() != lines.len() {
        let reason = format!(
            "it has {} rows for the {} lines of {}; give a vector for each line, in the same order",
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
