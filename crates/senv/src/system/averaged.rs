//! Models whose training result is a table of word and n-gram vectors: storing, weighting, saving, opening and
//! encoding.

use senv_store::ModelFile;
use std::fmt::Debug;

use senv_core::{Corpus, Coverage, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary, files::Destination};
use senv_ngram::WordNgrams;
use serde::{Serialize, de::DeserializeOwned};

use super::contract::{Common, System};
use crate::{
    average::{
        component_search::{TokenSentences, weighted},
        encoder::{AverageEncoder, words},
        file::write_average,
        unknown_words::{HashedWords, UnknownWords},
        weight_scheme::WeightScheme,
        weighting::Weighting,
    },
    base::{configuration::Configuration, file, sealed::Sealed},
    error::Result,
    model::saved::{Abilities, OpenModel, SavedModel, model_file_methods},
};

/// A system whose model is a table of vectors. Like [`System`], it is sealed.
pub trait AveragedSystem:
    System<Model = Averaged<Self>> + Serialize + DeserializeOwned + Debug + PartialEq + Send + Sync
{
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Whether it is trained on pairs, so the lengths of its word vectors encode frequency weights.
    const TRAINED_ON_PAIRS: bool = false;

    /// Returns the weights of words after training, `None` for a plain mean, and the treatment of unknown words.
    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords);

    /// Returns the features of a sentence and their rows; by default only words.
    ///
    /// # Errors
    /// If the features of these settings do not fit into a table.
    fn features(&self, vocabulary: &Vocabulary) -> Result<WordNgrams> {
        words(vocabulary)
    }
}

/// The settings of a system that an average uses.
struct AverageSettings {
    dim: usize,
    tokenizer: Tokenizer,
    seed: u64,
    weighting: Option<WeightScheme>,
    unknown_words: UnknownWords,
}

impl AverageSettings {
    fn of<P: AveragedSystem>(params: &P) -> Self {
        let mut params = params.clone();
        let (&mut weighting, &mut unknown_words) = params.weights();
        let Common { dim, tokenizer, trainer } = params.common();
        Self { dim: *dim, tokenizer: tokenizer.clone(), seed: trainer.seed(), weighting, unknown_words }
    }
}

/// A trained model whose sentence vector is the mean of the rows of its words and n-grams, equation `feature-average`.
/// With a [`WeightScheme`] it is a weighted mean without common components, equation `feature-weight`.
#[derive(Debug, Clone)]
pub struct Averaged<P> {
    params: P,
    encoder: AverageEncoder,
}

impl<P> Sealed for Averaged<P> {}

impl<P: AveragedSystem> Averaged<P> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = P::KIND;

    /// Builds the model from these rows, weighted as the parameters say by the sentences it was trained on.
    pub(crate) fn new(params: P, vocabulary: Vocabulary, rows: Table, sentences: &dyn TokenSentences) -> Result<Self> {
        let features = params.features(&vocabulary)?;
        let AverageSettings { tokenizer, weighting, unknown_words, seed, .. } = AverageSettings::of(&params);
        let encoder = AverageEncoder::new(tokenizer, vocabulary, features, rows)?;
        let encoder = weighted(encoder, weighting, sentences, seed)?;
        Ok(Self { encoder: encoder.with_unknown_words(unknown_words), params })
    }

    /// Builds the model of an encoder that these parameters describe.
    pub(crate) fn from_parts(params: P, encoder: AverageEncoder) -> Self {
        Self { params, encoder }
    }

    /// Returns the same model with other weights, or none. Weights follow the counts of its vocabulary. The common
    /// components are those of a random sample (at most [`crate::average::WEIGHTING_SENTENCES`]) of the sentences of
    /// `corpus`, whose ids must be of that vocabulary. The parameters of the model record the weights; its rows do not
    /// change.
    ///
    /// ```
    /// use senv_core::{Corpus, CorpusOptions, NoObserver, SentenceEncoder};
    /// use senv::{TextSystem, Word2VecParams, average::WeightScheme};
    /// # let folder = tempfile::tempdir()?;
    /// # let text = folder.path().join("text.txt");
    /// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
    /// let params = Word2VecParams { dim: 8, weighting: None, ..Default::default() };
    /// let options = CorpusOptions { tokenizer: params.tokenizer.clone(), min_count: 1, ..Default::default() };
    /// let (vocabulary, corpus) = Corpus::read(&[text], &options, &NoObserver)?;
    /// let model = params.fit(vocabulary, &corpus, &Default::default())?.model;
    /// let weighted = model.clone().with_weighting(Some(WeightScheme::SIF), &corpus)?;
    /// assert_eq!(weighted.encoder().rows().values(), model.encoder().rows().values());
    /// assert_ne!(weighted.encode(&["the cat"])?, model.encode(&["the cat"])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`AverageEncoder::weighted`].
    pub fn with_weighting(mut self, scheme: Option<WeightScheme>, corpus: &Corpus) -> Result<Self> {
        self.encoder = self.encoder.weighted(scheme, corpus, AverageSettings::of(&self.params).seed)?;
        *self.params.weights().0 = scheme;
        Ok(self)
    }

    /// Does the same as [`Averaged::with_weighting`], on sentences in memory.
    ///
    /// # Errors
    /// The errors of [`AverageEncoder::weighted`].
    pub fn with_weighting_on<S: AsRef<str>>(mut self, scheme: Option<WeightScheme>, sentences: &[S]) -> Result<Self> {
        self.encoder = self.encoder.weighted_on(scheme, sentences, AverageSettings::of(&self.params).seed)?;
        *self.params.weights().0 = scheme;
        Ok(self)
    }

    /// Returns the same model with or without vectors for unknown words, which its parameters record.
    #[must_use]
    pub fn with_unknown_words(mut self, unknown: UnknownWords) -> Self {
        self.encoder = self.encoder.with_unknown_words(unknown);
        *self.params.weights().1 = unknown;
        self
    }

    /// The parameters that it was trained with.
    #[must_use]
    pub fn params(&self) -> &P {
        &self.params
    }

    /// Its words, features, rows and weights.
    #[must_use]
    pub fn encoder(&self) -> &AverageEncoder {
        &self.encoder
    }
}

impl<P: AveragedSystem> Configuration for P {
    /// The other parts of an average check themselves when it is built: n-grams, weights, the shape of the table.
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        let AverageSettings { dim, weighting, .. } = AverageSettings::of(self);
        file::check_dim(dim)?;
        weighting.map_or(Ok(()), WeightScheme::check)
    }
}

impl<P: AveragedSystem> OpenModel for Averaged<P> {
    const KIND: &'static str = P::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, rows) = file::parts::<P>(P::KIND, file)?;
        let features = params.features(&vocabulary)?;
        let AverageSettings { dim, tokenizer, weighting, unknown_words, .. } = AverageSettings::of(&params);
        file::expect_rows(file, &rows, features.n_rows(), dim)?;
        let open = |scheme: WeightScheme| Weighting::open(file, scheme, vocabulary.len(), dim, scheme.n_components());
        let weighting = weighting.map(open).transpose()?;
        let encoder = AverageEncoder::new(tokenizer, vocabulary, features, rows)?;
        let hashed = HashedWords::open(file, unknown_words)?;
        Ok(Self { encoder: encoder.with_weighting(weighting)?.with_hashed(hashed), params })
    }
}

impl<P: AveragedSystem> SavedModel for Averaged<P> {
    fn kind(&self) -> &'static str {
        P::KIND
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
        serde_json::to_string(&self.params).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.params.hyperparameters()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        write_average(P::KIND, &self.params, &self.encoder, to)
    }

    fn abilities(&self) -> Abilities<'_> {
        let average = Some(self.encoder());
        Abilities { average, holds_frequency_weights: P::TRAINED_ON_PAIRS, ..Abilities::default() }
    }
}

senv_core::encoding_methods!([P: AveragedSystem] Averaged<P>);
model_file_methods!([P: AveragedSystem] Averaged<P>);

impl<P: AveragedSystem> SentenceEncoder for Averaged<P> {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
