//! PV-DM, the other kind of paragraph vectors: a vector per sentence and the words around a word predict the word.
//!
//! Q. Le and T. Mikolov, "Distributed Representations of Sentences and Documents", ICML 2014. Training is
//! `pv-dm-context`. A new sentence is fitted among the frozen words by [`senv_negative_sampling::infer_among_words`].
//! Its random numbers depend only on its words and the seed, so it has the same vector every time.

use std::path::{Path, PathBuf};

use senv_core::{
    Corpus, Coverage, Rows, Scratch, SentenceEncoder, Table, TextOptions, Tokenizer, Vocabulary,
    files::Destination,
    hyperparameters::{Hyperparameters, hyperparameters},
};
use senv_negative_sampling::{
    Composition, DistributedMemory, Inference, NegativeSamplingParams, Noise, Subsampling, Surroundings, Tables,
    WindowSide, fit, infer_among_words,
};
use senv_store::{ModelFile, ModelWriter};
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

/// Name of the table of predicted words in the file.
const OUTPUTS: &str = "outputs";

hyperparameters! {
    /// Hyperparameters of PV-DM.
    ///
    /// The defaults adapt to the text: a high learning rate and many epochs. Values that depend on the size of the text
    /// are automatic (`None`). [`PvDmParams::large_text`] has settings for billions of words.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PvDmParams {
        /// Embedding dimension of documents and words.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// How the vectors of document and words are combined.
        pub combine: Composition = Composition::Mean => Training;
        /// The maximum number of words to either side; exactly that number if they are concatenated.
        pub window: usize = 5 => Training[from 1 to 1000];
        /// Which words around a word predict it.
        pub window_side: WindowSide = WindowSide::Both => Training;
        /// Whether document and words of a mean each get the whole gradient, as in word2vec and gensim, instead of
        /// their share.
        pub whole_gradient: bool = false => Training;
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Subsampling threshold t, a relative frequency: more frequent words are often skipped.
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

impl PvDmParams {
    /// Settings for billions of words, which no paper states. Windows of 5 and the whole gradient for every row are
    /// those of the programs that the papers used; minimum count 5, t = 1e-5, five epochs at 0.05.
    #[must_use]
    pub fn large_text() -> Self {
        Self {
            dim: 100,
            combine: Composition::Mean,
            window: 5,
            window_side: WindowSide::Both,
            whole_gradient: true,
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

    /// The rows that form contexts, for a vocabulary of `n_words`.
    fn surroundings(&self, n_words: usize) -> Surroundings {
        let Self { combine, window, window_side, whole_gradient, .. } = *self;
        Surroundings { window, side: window_side, combine, whole_gradient, n_words }
    }
}

impl System for PvDmParams {
    type Model = PvDm;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    const INFERS_VECTORS: bool = true;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: PvDm::KIND,
        summary: "PV-DM: a vector for each sentence that predicts its words together with the words around; new \
            sentences are fitted",
        examples: &[
            "senv train pv-dm --input text.txt --output model.senv",
            "senv train pv-dm --input text.txt --output model.senv --combine concat --window 2 --window-side before",
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

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<PvDm>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for PvDmParams {
    const TRAINS_DOCUMENTS: bool = true;

    fn write_document_vectors(
        model: &PvDm,
        texts: &[PathBuf],
        options: &TextOptions,
        path: &Path,
    ) -> Result<Option<u64>> {
        let n = model.write_document_vectors(texts, options, path)?;
        Ok(Some(n as u64))
    }

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
    ) -> Result<Trained<PvDm>> {
        let start = options.vectors;
        self.check()?;
        let seed = self.training.seed;
        let start_rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        document_vectors::check_memory(corpus, self.dim)?;
        let surroundings = self.surroundings(vocabulary.len());
        let (n_rows, n_documents) = (surroundings.n_rows(), document_vectors::n_documents(corpus));
        let n_outputs = vocabulary.len().saturating_mul(surroundings.n_places());
        let subsampling = Subsampling::new(
            vocabulary.counts(),
            vocabulary.corpus_tokens(),
            self.subsample.unwrap_or(f64::INFINITY),
            1,
        )?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let examples = DistributedMemory::new(surroundings, n_documents, subsampling);
        let initial = || {
            let mut source = initial::uniform_rows(n_rows.saturating_add(n_documents), self.dim, seed)?;
            for (i, row) in start_rows.iter().flat_map(Table::iter).enumerate() {
                source.row_mut(i).copy_from_slice(row);
            }
            Ok(Tables { source, target: Table::zeros(n_outputs, self.dim)? })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?;
        let outputs = std::mem::replace(&mut outcome.tables.target, Table::zeros(0, self.dim)?);
        let source = &outcome.tables.source;
        let words = part(source, 0, n_rows)?;
        let documents = || document_vectors::trained(part(source, n_rows, n_documents)?, corpus);
        let documents = options.document_vectors.then(documents).transpose()?;
        let model = PvDm { params: self.clone(), vocabulary, noise, words, outputs, documents };
        Trained::new(&self.training, &outcome, report, model)
    }
}

/// A copy of `n` rows of a table, starting at row `first`.
fn part(table: &Table, first: usize, n: usize) -> Result<Table> {
    let mut copy = Table::zeros(n, table.dim())?;
    (0..n).for_each(|i| copy.row_mut(i).copy_from_slice(table.row(first + i)));
    Ok(copy)
}

/// A trained PV-DM model: the rows of words as contexts and as predictions, among which sentence vectors are fitted.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
/// # std::fs::write(&text, "rain falls from clouds\nbread bakes in an oven\n".repeat(20))?;
/// use senv::{PvDm, PvDmParams, prelude::*};
/// let params = PvDmParams { dim: 8, ..PvDmParams::default() };
/// params.train(&text)?.save(&path)?;
/// assert_eq!(PvDm::open(&path)?.encode(&["rain falls"])?.dim(), (1, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PvDm {
    params: PvDmParams,
    vocabulary: Vocabulary,
    noise: Noise,
    /// A row for each context word, and the null row if vectors are concatenated.
    words: Table,
    /// The predicted rows: one for each word, or one for each word and position.
    outputs: Table,
    /// A row for each sentence of the text; kept only in memory after training.
    documents: Option<Table>,
}

impl PvDm {
    /// The kind name in model files.
    pub const KIND: &'static str = "pv-dm";

    /// Trains on text files (one sentence per line; plain, `.gz` or `.zst`) with settings that fit their size and
    /// script, on all cores. To set parameters, use [`TextSystem::train`]; for progress and options,
    /// [`TextSystem::fit_files`].
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_files`].
    pub fn train(text: impl TextFiles) -> Result<Self> {
        PvDmParams::default().train(text)
    }

    /// The training parameters.
    #[must_use]
    pub fn params(&self) -> &PvDmParams {
        &self.params
    }

    /// The known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rows of context words, one per word. If vectors are concatenated, the null row for positions outside the
    /// document comes last.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// The predicted rows: one per word or, if vectors are concatenated, one per word and position.
    #[must_use]
    pub fn outputs(&self) -> &Table {
        &self.outputs
    }

    /// The trained vectors of the sentences of the training text, in order; zero for a sentence without a known word.
    /// `None` unless [`TrainOptions::document_vectors`](crate::TrainOptions::document_vectors) is set. They are not
    /// stored in the model file.
    #[must_use]
    pub fn document_vectors(&self) -> Option<&Table> {
        self.documents.as_ref()
    }

    /// Writes these vectors, like [`PvDbow::write_document_vectors`](crate::PvDbow::write_document_vectors).
    ///
    /// # Errors
    /// The errors of that method.
    pub fn write_document_vectors(
        &self,
        texts: &[impl AsRef<Path>],
        options: &TextOptions,
        path: impl AsRef<Path>,
    ) -> Result<usize> {
        document_vectors::write(self.documents.as_ref(), &self.params.tokenizer, texts, options, path.as_ref())
    }
}

impl Configuration for PvDmParams {
    /// Checks the window and the inference settings too, because they determine memory and time.
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        self.check_ranges()?;
        Ok(self.inference.check_ranges()?)
    }
}

impl OpenModel for PvDm {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, words) = file::parts::<PvDmParams>(Self::KIND, file)?;
        let surroundings = params.surroundings(vocabulary.len());
        file::expect_rows(file, &words, surroundings.n_rows(), params.dim)?;
        let outputs = file.table(OUTPUTS)?;
        let n_outputs = vocabulary.len().saturating_mul(surroundings.n_places());
        file::expect_table(file.path(), OUTPUTS, &outputs, n_outputs, params.dim)?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        Ok(Self { params, vocabulary, noise, words, outputs, documents: None })
    }
}

impl SavedModel for PvDm {
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
        let config = file::to_json(&self.params)?;
        let writer = ModelWriter::new(Self::KIND).config(&config).vocabulary(&self.vocabulary);
        Ok(writer.table(file::ROWS, &self.words).table(OUTPUTS, &self.outputs).write(to)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { cost: EncodingCost::Inferred, ..Abilities::default() }
    }
}

senv_core::encoding_methods!([] PvDm);
model_file_methods!([] PvDm);

impl SentenceEncoder for PvDm {
    fn dim(&self) -> usize {
        self.words.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let Scratch { text, tokens, .. } = scratch;
        let coverage = known_tokens(&self.params.tokenizer, &self.vocabulary, sentence, text, tokens);
        let surroundings = self.params.surroundings(self.vocabulary.len());
        let Self { words, outputs, noise, params, .. } = self;
        infer_among_words(tokens, &surroundings, words, outputs, noise, &params.inference, out);
        coverage
    }
}

#[cfg(test)]
mod tests;
