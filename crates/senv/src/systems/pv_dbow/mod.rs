//! PV-DBOW, the usual paragraph vectors: a vector per sentence predicts the words of the sentence.
//!
//! Q. Le and T. Mikolov, "Distributed Representations of Sentences and Documents", ICML 2014. Training is
//! `pv-dbow-context`. A new sentence is fitted against the frozen words by [`senv_negative_sampling::infer`]. Its
//! random numbers depend only on its words and the seed, so it has the same vector every time.

mod documents;

use senv_store::ModelFile;
use std::path::{Path, PathBuf};

use senv_core::{
    Corpus, Coverage, Scratch, SentenceEncoder, Table, TextOptions, Tokenizer, Vocabulary,
    files::Destination,
    hyperparameters::{Hyperparameters, hyperparameters},
    init,
};
use senv_negative_sampling::{
    DistributedBagOfWords, Inference, NegativeSamplingParams, Noise, Subsampling, Tables, fit, infer,
};
use serde::{Deserialize, Serialize};

use crate::{
    average::encoder::known_tokens,
    base::{
        configuration::Configuration, file, text_files::TextFiles, text_size::TextSize, train_options::TrainOptions,
    },
    error::Result,
    model::{
        saved::{Abilities, EncodingCost, OpenModel, SavedModel, model_file_methods},
        trained::Trained,
    },
    start::initial::{self, InitialVectorReport},
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        text_data::TextData,
        text_system::{TextSystem, fit_text, read_text},
    },
    systems::document_vectors::{self, NOISE_POWER},
};

hyperparameters! {
    /// Hyperparameters of PV-DBOW.
    ///
    /// The defaults adapt to the text: a high learning rate and many epochs. Values that depend on the size of the text
    /// are automatic (`None`). [`PvDbowParams::large_text`] has settings for billions of words.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PvDbowParams {
        /// Embedding dimension.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Subsampling threshold t of targets, a relative frequency: more frequent words are often skipped.
        ///
        /// By default 1e-4, or about 1 / (number of words in the text) if that is larger.
        @[serde(default, deserialize_with = "crate::base::configuration::infinity_of_null", skip_serializing_if = "Option::is_none")]
        pub subsample: Option<f64> = None => Training[above 0 or_infinite];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Inference of the vectors of new sentences.
        pub inference: Inference = Inference::default() => group;
        /// Hyperparameters of the trainer.
        pub training: NegativeSamplingParams =
            NegativeSamplingParams { negatives: 5, ..NegativeSamplingParams::default() } => group;
    }
}

impl PvDbowParams {
    /// Settings for billions of words. No paper states any: these are word2vec's, with minimum count 5, t = 1e-5, five
    /// epochs at 0.05.
    #[must_use]
    pub fn large_text() -> Self {
        Self {
            dim: 100,
            min_count: Some(5),
            subsample: Some(1e-5),
            tokenizer: Tokenizer::for_typed_text(),
            inference: Inference::default(),
            training: NegativeSamplingParams {
                epochs: Some(5),
                lr: Some(0.05),
                negatives: 5,
                ..NegativeSamplingParams::default()
            },
        }
    }
}

impl System for PvDbowParams {
    type Model = PvDbow;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    const INFERS_VECTORS: bool = true;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: PvDbow::KIND,
        summary: "PV-DBOW: a vector for each sentence that predicts its words; new sentences are fitted",
        examples: &[
            "senv train pv-dbow --input text.txt --output model.senv",
            "senv train pv-dbow --input captions.txt --output model.senv --document-vectors captions.npy",
        ],
        note: "",
        preset: "Start from a named preset instead of settings that fit the text; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "large-text",
        help: "For billions of words, as for word2vec; no paper prints settings",
        settings: Self::large_text,
    }];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        Ok(self.training.check()?)
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, training, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::NegativeSampling(training) }
    }

    fn read_input<'a>(
        &mut self,
        paths: &'a [PathBuf],
        start: Start<'a>,
        options: &TrainOptions<'_>,
    ) -> Result<TextData<'a>> {
        read_text(self, paths, start, options)
    }

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<PvDbow>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for PvDbowParams {
    fn write_document_vectors(
        model: &PvDbow,
        texts: &[PathBuf],
        options: &TextOptions,
        path: &Path,
    ) -> Result<Option<u64>> {
        let n = model.write_document_vectors(texts, options, path)?;
        Ok(Some(n as u64))
    }
    const TRAINS_DOCUMENTS: bool = true;

    fn resolve(&mut self, size: TextSize) {
        let Self { min_count, subsample, training, .. } = self;
        min_count.get_or_insert(size.min_count());
        subsample.get_or_insert(size.subsample(1e-4));
        training.epochs.get_or_insert(size.epochs(40.0, 2, 60));
        training.lr.get_or_insert(0.2);
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<PvDbow>> {
        let start = options.vectors;
        self.check()?;
        let seed = self.training.seed;
        let rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        document_vectors::check_memory(corpus, self.dim)?;
        let n_sentences = document_vectors::n_documents(corpus);
        let subsampling = Subsampling::new(
            vocabulary.counts(),
            vocabulary.corpus_tokens(),
            self.subsample.unwrap_or(f64::INFINITY),
            1,
        )?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let examples = DistributedBagOfWords::new(n_sentences, subsampling, vocabulary.len());
        let initial = || {
            let mut source = Table::zeros(n_sentences, self.dim)?;
            init::uniform_rows(&mut source, 0..n_sentences, 0.5 / self.dim as f32, seed)?;
            let target = rows.map_or_else(|| Table::zeros(vocabulary.len(), self.dim), Ok)?;
            Ok(Tables { source, target })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?;
        let none = || Table::zeros(0, self.dim);
        let words = std::mem::replace(&mut outcome.tables.target, none()?);
        let documents = std::mem::replace(&mut outcome.tables.source, none()?);
        let documents = options.document_vectors.then(|| document_vectors::trained(documents, corpus)).transpose()?;
        Trained::new(
            &self.training,
            &outcome,
            report,
            PvDbow { params: self.clone(), vocabulary, noise, words, documents },
        )
    }
}

/// A trained PV-DBOW model: the rows of words, against which sentence vectors are fitted.
#[derive(Debug, Clone)]
pub struct PvDbow {
    params: PvDbowParams,
    vocabulary: Vocabulary,
    noise: Noise,
    words: Table,
    /// A row for each sentence of the text; kept only in memory after training.
    documents: Option<Table>,
}

impl PvDbow {
    /// The kind name in model files.
    pub const KIND: &'static str = "pv-dbow";

    /// Trains on text files (one sentence per line; plain, `.gz` or `.zst`) with settings that fit their size and
    /// script, on all cores. To set parameters, use [`TextSystem::train`]; for progress and options,
    /// [`TextSystem::fit_files`].
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_files`].
    pub fn train(text: impl TextFiles) -> Result<Self> {
        PvDbowParams::default().train(text)
    }

    /// The training parameters.
    #[must_use]
    pub fn params(&self) -> &PvDbowParams {
        &self.params
    }

    /// The known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The predicted rows, one per word.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }
}

impl Configuration for PvDbowParams {
    /// Checks the inference settings too, because they determine the time it takes.
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        file::check_dim(self.dim)?;
        Ok(self.inference.check_ranges()?)
    }
}

impl OpenModel for PvDbow {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, words) = file::parts::<PvDbowParams>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), params.dim)?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        Ok(Self { params, vocabulary, noise, words, documents: None })
    }
}

impl SavedModel for PvDbow {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.params.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.words)
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.params).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.params.hyperparameters()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        file::write(Self::KIND, &self.params, &self.vocabulary, &self.words, to)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { cost: EncodingCost::Inferred, ..Abilities::default() }
    }
}

senv_core::encoding_methods!([] PvDbow);
model_file_methods!([] PvDbow);

impl SentenceEncoder for PvDbow {
    fn dim(&self) -> usize {
        self.words.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let Scratch { text, tokens, .. } = scratch;
        let coverage = known_tokens(&self.params.tokenizer, &self.vocabulary, sentence, text, tokens);
        infer(tokens, &self.words, &self.noise, &self.params.inference, out);
        coverage
    }
}
