//! SIF and uSIF on the words of any model: weighted averages without what all sentences share.
//!
//! The weights are `sif-weights` and `usif-weights`, the removal `common-component-removal`: S. Arora, Y. Liang and T. Ma,
//! "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017; K. Ethayarajh, "Unsupervised Random Walk
//! Sentence Embeddings", RepL4NLP 2018. Both are fitted once on text and kept with the model, so a sentence has the same
//! vector alone and among a million.

use std::path::{Path, PathBuf};

use senv_core::{
    Coverage, Error as CoreError, Observer, Progress, Rows, Scratch, SentenceEncoder, Table, TextOptions, TextReader,
    TokenId, Tokenizer, Vocabulary, VocabularyBuilder,
};
use senv_store::{
    CommonComponents, ModelFile, ModelWriter, SecondMoment, Sif, Usif, load_weights_from, save_weights_into,
    weighted_sentence,
};
use serde::{Deserialize, Serialize};

use crate::{Error, Model, Result, average::known_tokens, file, fit::require};

/// Whose weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightScheme {
    /// a / (a + p), and the first common direction taken out whole.
    Sif {
        /// Where the weight is one half; above 0, 1e-3 by default.
        a: f64,
    },
    /// The weights follow from the counts; several directions are taken out by their shares.
    Usif {
        /// Mean number of words of a sentence, at least 1; 11 by default.
        mean_length: f64,
    },
}

/// What weighted averages can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedParams {
    /// Whose weights.
    pub scheme: WeightScheme,
    /// Common directions that are taken out; 0 for none.
    pub n_components: usize,
    /// Sentences that the directions are found on, at most, at least 1: the first of the text.
    pub max_sentences: usize,
}

impl WeightedParams {
    /// SIF with one direction.
    #[must_use]
    pub fn sif() -> Self {
        let scheme = WeightScheme::Sif { a: senv_store::DEFAULT_SIF_A };
        Self { scheme, n_components: 1, max_sentences: 1_000_000 }
    }

    /// uSIF with five directions.
    #[must_use]
    pub fn usif() -> Self {
        let scheme = WeightScheme::Usif { mean_length: senv_store::DEFAULT_USIF_LENGTH };
        Self { scheme, n_components: 5, max_sentences: 1_000_000 }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        require(self.max_sentences >= 1, "max_sentences", "at least 1", self.max_sentences as f64)?;
        match self.scheme {
            WeightScheme::Sif { a } => require(a.is_finite() && a > 0.0, "a", "above 0", a),
            WeightScheme::Usif { mean_length: n } => require(n.is_finite() && n >= 1.0, "mean_length", "at least 1", n),
        }
    }

    /// Weights the words of `base` by how often they occur in the text files, and finds the common directions there.
    ///
    /// # Errors
    /// [`Error::NotWords`] for a model whose sentence vectors are no averages of words; whatever is wrong with the text.
    pub fn fit_files<P: AsRef<Path>>(
        &self,
        base: &Model,
        paths: &[P],
        options: &TextOptions,
        observer: &dyn Observer,
    ) -> Result<Weighted> {
        self.check()?;
        let average = base.average().ok_or(Error::NotWords { kind: base.kind() })?;
        let (n, dim) = (self.n_components, average.rows().dim());
        require(n < dim, "n_components", "below the dimension of the vectors", n as f64)?;
        let (tokenizer, vocabulary) = (average.tokenizer().clone(), average.vocabulary().clone());
        let mut words = Table::zeros(vocabulary.len(), average.rows().dim())?;
        for (id, token, _) in vocabulary.iter() {
            words.row_mut(id.index()).copy_from_slice(average.word(token).unwrap_or_default());
        }
        let counts = count(paths, &tokenizer, options, observer)?;
        let weights = match self.scheme {
            WeightScheme::Sif { a } => Sif { a }.weights_by(&vocabulary, &counts)?,
            WeightScheme::Usif { mean_length } => Usif { mean_length }.weights_by(&vocabulary, &counts)?,
        };
        let mut model = Weighted {
            config: WeightedConfig { base: base.kind().to_owned(), dim: words.dim(), tokenizer, params: self.clone() },
            vocabulary,
            words,
            weights,
            components: None,
        };
        if self.n_components > 0 {
            model.components = Some(self.components(&model, paths, options, observer)?);
        }
        Ok(model)
    }

    fn components<P: AsRef<Path>>(
        &self,
        model: &Weighted,
        paths: &[P],
        options: &TextOptions,
        observer: &dyn Observer,
    ) -> Result<CommonComponents> {
        let mut moment = SecondMoment::new(model.words.dim())?;
        let (mut scratch, mut vector) = (Scratch::default(), vec![0.0; model.words.dim()]);
        each_line(paths, options, observer, |line| {
            if !model.encode_into(line, &mut scratch, &mut vector).is_empty() {
                moment.add(&vector)?;
            }
            Ok(moment.n_vectors() < self.max_sentences)
        })?;
        let scaled = matches!(self.scheme, WeightScheme::Usif { .. });
        Ok(moment.common_components(self.n_components, scaled)?)
    }
}

/// Hands the lines of text to `each` until it wants no more.
fn each_line<P: AsRef<Path>>(
    paths: &[P],
    options: &TextOptions,
    observer: &dyn Observer,
    mut each: impl FnMut(&str) -> Result<bool>,
) -> Result<()> {
    let mut reader = TextReader::open(paths, options)?;
    let mut n = 0_u64;
    while let Some(line) = reader.next_line()? {
        if !line.is_blank() && !each(line.text)? {
            break;
        }
        n += 1;
        let stop = n.is_multiple_of(1 << 15)
            && observer.progress(&Progress { units: n, ..Progress::default() }) == senv_core::Control::Stop;
        if stop {
            return Err(CoreError::Interrupted { action: "reading the text" }.into());
        }
    }
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

/// The settings of weighted averages, as the file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedConfig {
    /// The kind of the model that the words are of.
    pub base: String,
    /// Numbers of a vector.
    pub dim: usize,
    /// How text is cut into tokens.
    pub tokenizer: Tokenizer,
    /// How it was fitted.
    pub params: WeightedParams,
}

/// Weighted averages of words without what all sentences share.
#[derive(Debug, Clone)]
pub struct Weighted {
    config: WeightedConfig,
    vocabulary: Vocabulary,
    words: Table,
    weights: Vec<f32>,
    components: Option<CommonComponents>,
}

impl Weighted {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "weighted-average";

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &WeightedConfig {
        &self.config
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors, unweighted.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// The weight of each word.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn encode_tokens(&self, tokens: &[TokenId], out: &mut [f32]) {
        let rows = tokens.iter().map(|token| (self.words.row(token.index()), self.weights[token.index()]));
        let by_dimension = matches!(self.config.params.scheme, WeightScheme::Usif { .. });
        // Rows are as long as `out`: both have the dimension of the table.
        if weighted_sentence(rows, by_dimension, out).unwrap_or(0) == 0 {
            out.fill(0.0);
        } else if let Some(components) = &self.components {
            components.remove(out);
        }
    }

    /// Writes the model to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let config = file::to_json(&self.config)?;
        let writer = ModelWriter::new(Self::KIND).config(&config).vocabulary(&self.vocabulary);
        let writer = save_weights_into(&self.weights, writer.table(file::ROWS, &self.words));
        let writer = match &self.components {
            Some(components) => components.save_into(writer),
            None => writer,
        };
        Ok(writer.save(path)?)
    }

    /// Opens a model; its word vectors are mapped, not read.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (config, vocabulary, words) = file::open::<WeightedConfig>(Self::KIND, path)?;
        file::expect_rows(path, &words, vocabulary.len(), config.dim)?;
        let model = ModelFile::open(path)?;
        let missing =
            || Error::BadModel { path: path.to_owned(), reason: "the weights of the words are missing".into() };
        let weights = load_weights_from(&model, vocabulary.len())?.ok_or_else(missing)?;
        let components = CommonComponents::load_from(&model, config.dim)?;
        Ok(Self { config, vocabulary, words, weights, components })
    }
}

impl SentenceEncoder for Weighted {
    fn dim(&self) -> usize {
        self.words.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = known_tokens(&self.config.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        self.encode_tokens(&tokens, out);
        scratch.tokens = tokens;
        coverage
    }
}
