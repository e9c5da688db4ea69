//! SIF and uSIF weights for the words and n-grams of any model, from the counts of a given text. They also work for
//! word vectors from elsewhere, which have no counts. A model that senv trains can have the same weights itself
//! (`weighting` of its parameters), from its own counts.
//!
//! The equations are `sif-weight`, `usif-weight`, `feature-weight` and `common-component-removal`: S. Arora, Y. Liang
//! and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017; K. Ethayarajh, "Unsupervised
//! Random Walk Sentence Embeddings", RepL4NLP 2018. Weights and components are fitted once on text and kept with the
//! model, so a sentence has the same vector in any batch.

use senv_store::ModelFile;
use std::path::{Path, PathBuf};

use senv_core::{
    Coverage, Error as CoreError, Observer, Scratch, SentenceEncoder, Table, TextOptions, TextReader, Tokenizer,
    Vocabulary, files::Destination, text::ReadingProgress, words::VocabularyBuilder,
};
use senv_ngram::{WordNgramParams, WordNgrams};
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        component_search::ComponentSearch,
        encoder::{AverageEncoder, words},
        file::write_average,
        unknown_words::{HashedWords, UnknownWords},
        weight_scheme::WeightScheme,
        weighting::Weighting,
    },
    base::{configuration::Configuration, file, range::require, text_files::TextFiles, train_options::TrainOptions},
    error::{Error, Result},
    model::{
        handle::Model,
        saved::{Abilities, OpenModel, SavedModel, model_file_methods},
    },
};

/// Hyperparameters of weighted averages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedParams {
    /// The weighting scheme.
    pub scheme: WeightScheme,
    /// The number of common components that are removed; 0 for none.
    pub n_components: usize,
    /// The maximum number of sentences, from the start of the text, used to find the components; at least 1.
    pub max_sentences: usize,
    /// How unknown words are treated; `None` (default) to keep what the base model does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_words: Option<UnknownWords>,
    /// The word of the base model whose row replaces every unknown word ([`AverageEncoder::with_unknown_row`]); `None`
    /// (default) for `unknown_words`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_row: Option<String>,
}

impl WeightedParams {
    /// SIF with one component.
    #[must_use]
    pub fn sif() -> Self {
        Self::of(WeightScheme::SIF)
    }

    /// uSIF with five components.
    #[must_use]
    pub fn usif() -> Self {
        Self::of(WeightScheme::USIF)
    }

    fn of(scheme: WeightScheme) -> Self {
        let n_components = scheme.n_components();
        Self { scheme, n_components, max_sentences: 1_000_000, unknown_words: None, unknown_row: None }
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] with the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        require(self.max_sentences >= 1, "max_sentences", "at least 1", self.max_sentences as f64)?;
        self.scheme.check()
    }

    /// Weights the words and n-grams of `base` by the word counts of the text files, and finds the common components of
    /// the text. Weights that the model already has are replaced.
    ///
    /// # Errors
    /// [`Error::NotWords`] if the sentence vectors of `base` are not averages of words; the errors of reading the text.
    pub fn fit_files(&self, base: &Model, text: impl TextFiles, options: &TrainOptions<'_>) -> Result<Weighted> {
        self.check()?;
        let paths = &text.paths();
        let TrainOptions { observer, .. } = *options;
        let reading = &options.text;
        let average = base.word_average()?;
        let (n, dim) = (self.n_components, average.rows().dim());
        require(n < dim, "n_components", "below the dimension of the vectors", n as f64)?;
        let unknown = match (self.unknown_words, self.unknown_row.as_deref(), average.unknown_row()) {
            // What was requested, or what the base model has.
            (_, Some(row), _) | (None, None, Some(row)) => Unknown::Row(row),
            (words, None, _) => Unknown::Words(words.unwrap_or(average.unknown_words())),
        };
        let encoder = unknown.in_look_up(without_unused_rows(&average)?)?;
        let counts = count(paths, encoder.tokenizer(), reading, observer)?;
        let weighting = Weighting::new(self.scheme, self.scheme.word_weights(encoder.vocabulary(), &counts)?);
        let n_grams = *encoder.features().params();
        let config = WeightedConfig {
            base: base.kind().to_owned(),
            dim,
            tokenizer: encoder.tokenizer().clone(),
            n_grams: (n_grams.max_n > 1).then_some(n_grams),
            params: unknown.recorded(self.clone()),
        };
        let encoder = match n {
            0 => encoder.with_weighting(Some(weighting))?,
            _ => self.with_components(encoder, weighting, paths, reading, observer)?,
        };
        Ok(Weighted { config, encoder: unknown.in_vectors(encoder) })
    }

    fn with_components<P: AsRef<Path>>(
        &self,
        encoder: AverageEncoder,
        weighting: Weighting,
        paths: &[P],
        options: &TextOptions,
        observer: &dyn Observer,
    ) -> Result<AverageEncoder> {
        let look_up = encoder.look_up();
        let n = self.max_sentences as u64;
        let mut search = ComponentSearch::new(encoder, weighting, n, n, 0)?;
        let (mut text, mut tokens) = (String::new(), Vec::new());
        each_line(paths, options, observer, |line| {
            if look_up.tokens(line, &mut text, &mut tokens).is_empty() { Ok(true) } else { search.add(&tokens) }
        })?;
        if search.is_empty() {
            return Err(Error::NoKnownWords { paths: paths.iter().map(|path| path.as_ref().to_owned()).collect() });
        }
        let encoder = search.finish(self.n_components)?;
        let components = encoder.weighting().and_then(Weighting::components).map_or(0, |found| found.lambdas().len());
        if components < self.n_components {
            observer.note(&format!(
                "removing {components} common components instead of {}: removing more would leave nothing of the \
                sentences; give more text",
                self.n_components
            ));
        }
        Ok(encoder)
    }
}

/// The treatment of unknown words. A row applies in the look-up, before the components are found; `Words` applies to
/// the vectors afterwards.
#[derive(Clone, Copy)]
enum Unknown<'a> {
    Words(UnknownWords),
    Row(&'a str),
}

impl Unknown<'_> {
    fn in_look_up(self, encoder: AverageEncoder) -> Result<AverageEncoder> {
        match self {
            Self::Words(_) => Ok(encoder.with_unknown_words(UnknownWords::Skip)),
            Self::Row(row) => Ok(encoder.with_unknown_row(row)?),
        }
    }

    fn in_vectors(self, encoder: AverageEncoder) -> AverageEncoder {
        match self {
            Self::Words(words) => encoder.with_unknown_words(words),
            Self::Row(_) => encoder,
        }
    }

    fn recorded(self, params: WeightedParams) -> WeightedParams {
        match self {
            Self::Words(words) => WeightedParams { unknown_words: Some(words), ..params },
            Self::Row(row) => WeightedParams { unknown_words: None, unknown_row: Some(row.to_owned()), ..params },
        }
    }
}

/// The encoder of a model without its weights; for a model of words only, just the rows of words are kept.
fn without_unused_rows(average: &AverageEncoder) -> Result<AverageEncoder> {
    if average.features().max_span() > 1 {
        return Ok(average.clone().with_weighting(None)?);
    }
    let vocabulary = average.vocabulary().clone();
    let mut rows = Table::zeros(vocabulary.len(), average.rows().dim())?;
    for (i, (_, _, row)) in average.words().enumerate() {
        rows.row_mut(i).copy_from_slice(row);
    }
    let features = words(&vocabulary)?;
    Ok(AverageEncoder::new(average.tokenizer().clone(), vocabulary, features, rows)?)
}

/// The name of the phase, for progress and interruption.
const READING: &str = "reading the text";

/// Passes the lines of text to `each` until it returns false.
fn each_line<P: AsRef<Path>>(
    paths: &[P],
    options: &TextOptions,
    observer: &dyn Observer,
    mut each: impl FnMut(&str) -> Result<bool>,
) -> Result<()> {
    let mut reader = TextReader::open(paths, options)?;
    let mut progress = ReadingProgress::new(paths, READING);
    while let Some(line) = reader.next_line()? {
        if !line.is_blank() && !each(line.text)? {
            break;
        }
        progress.report(reader.bytes_read(), None, observer)?;
    }
    // A stop can be requested while reading waits for the end of a pipe.
    observer.go_on(READING)?;
    Ok(())
}

fn count<P: AsRef<Path>>(
    paths: &[P],
    tokenizer: &Tokenizer,
    options: &TextOptions,
    observer: &dyn Observer,
) -> Result<Vocabulary> {
    let (mut builder, mut scratch) = (VocabularyBuilder::default(), String::new());
    each_line(paths, options, observer, |line| {
        tokenizer.for_each(line, &mut scratch, |token| {
            builder.add(token);
        });
        Ok(true)
    })?;
    if builder.is_empty() {
        let path = paths.first().map_or_else(PathBuf::new, |path| path.as_ref().to_owned());
        return Err(CoreError::EmptyInput { path }.into());
    }
    Ok(builder.finish(1)?)
}

/// The configuration of weighted averages, as stored in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedConfig {
    /// The kind of the base model.
    pub base: String,
    /// Embedding dimension.
    pub dim: usize,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The n-grams of the base model; `None` for words only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_grams: Option<WordNgramParams>,
    /// The parameters of the fit.
    pub params: WeightedParams,
}

/// Weighted averages of words and n-grams, with common components removed.
#[derive(Debug, Clone)]
pub struct Weighted {
    config: WeightedConfig,
    encoder: AverageEncoder,
}

impl Weighted {
    /// The kind name in model files.
    pub const KIND: &'static str = "weighted";

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &WeightedConfig {
        &self.config
    }

    /// The known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        self.encoder.vocabulary()
    }

    /// The words, features, unweighted rows and weights.
    #[must_use]
    pub fn encoder(&self) -> &AverageEncoder {
        &self.encoder
    }

    /// The weight of each word.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        self.encoder.weighting().map_or(&[], Weighting::words)
    }
}

impl Configuration for WeightedConfig {
    /// The rest is checked where it is built: n-grams, weights, the shape of the table.
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        file::check_dim(self.dim)?;
        self.params.scheme.check()
    }
}

impl OpenModel for Weighted {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, rows) = file::parts::<WeightedConfig>(Self::KIND, file)?;
        let features = match config.n_grams {
            Some(params) => WordNgrams::new(&vocabulary, params)?,
            None => words(&vocabulary)?,
        };
        file::expect_rows(file, &rows, features.n_rows(), config.dim)?;
        let WeightedParams { scheme, n_components, unknown_words, ref unknown_row, .. } = config.params;
        let weighting = Weighting::open(file, scheme, vocabulary.len(), config.dim, n_components)?;
        let encoder = AverageEncoder::new(config.tokenizer.clone(), vocabulary, features, rows)?;
        let hashed = HashedWords::open(file, unknown_words.unwrap_or_default())?;
        let mut encoder = encoder.with_weighting(Some(weighting))?.with_hashed(hashed);
        if let Some(row) = unknown_row {
            let lacks = |error: senv_core::Error| {
                let reason = format!("its unknown word is not in its vocabulary: {error}");
                Error::BadModel { path: file.path().to_owned(), reason }
            };
            encoder = encoder.with_unknown_row(row).map_err(lacks)?;
        }
        Ok(Self { encoder, config })
    }
}

impl SavedModel for Weighted {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.encoder.vocabulary()
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.encoder.tokenizer()
    }

    fn rows(&self) -> Result<&Table> {
        Ok(self.encoder.rows())
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        write_average(Self::KIND, &self.config, &self.encoder, to)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { average: Some(self.encoder()), ..Abilities::default() }
    }
}

senv_core::encoding_methods!([] Weighted);
model_file_methods!([] Weighted);

impl SentenceEncoder for Weighted {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
